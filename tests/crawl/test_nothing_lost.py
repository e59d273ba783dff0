"""On random sites, under random rules, a crawl reaches every page that one without rules does."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from simulation import MAX_REDIRECTS, Simulation

PAGES = range(3)

# All URLs of a page are one, by the rules of all options below.
urls = st.builds(
    "http://{}/p{}{}{}".format,
    st.sampled_from(["site.example", "www.site.example"]),
    st.sampled_from(PAGES),
    st.sampled_from(["", "/"]),
    st.sampled_from(["", "?sid=1", "?sid=2", "?utm_source=x", "#top"]),
)
RULES = {
    "www": "strip",
    "drop_params": ["sid"],
    "trailing_slash": "strip",
}


def page_of(url):
    """Return the number of the page that *url* leads to."""
    return int(url.partition("/p")[2][0])


def without_fragment(url):
    """Return *url* as it is sent to the server."""
    return url.partition("#")[0]


class NothingLost(RuleBasedStateMachine):
    """A random site with dead and redirecting URLs, crawled anew after each step."""

    def __init__(self):
        super().__init__()
        self.links = {page: [] for page in PAGES}
        self.dead = set()
        self.redirects = {}
        self.rules = dict(RULES)
        self.audit = 0
        self.lifo = True

    linked = Bundle("linked")

    @rule(target=linked, page=st.sampled_from(PAGES), found=st.lists(urls, min_size=1, max_size=5))
    def link(self, page, found):
        """Add links to *page*."""
        self.links[page] += found
        return multiple(*found)

    @rule(url=linked)
    def break_url(self, url):
        """Make *url* answer 404."""
        self.dead.add(without_fragment(url))

    @rule(url=linked, other=urls)
    def redirect(self, url, other):
        """Make *url* redirect to another URL of the same page."""
        target = other.replace(f"/p{page_of(other)}", f"/p{page_of(url)}")
        self.redirects[without_fragment(url)] = without_fragment(target)

    @rule(option=st.sampled_from(sorted(RULES)))
    def toggle_rule(self, option):
        """Turn an option on or off."""
        if self.rules.pop(option, None) is None:
            self.rules[option] = RULES[option]

    @rule(audit=st.sampled_from([0, 0.5, 1]), lifo=st.booleans())
    def change_crawl(self, audit, lifo):
        """Change the share of variants that is audited, and the order of the queue."""
        self.audit, self.lifo = audit, lifo

    def answer(self, url):
        """Return what the site answers to *url*."""
        url = without_fragment(url)
        if url in self.dead:
            return ("error",)
        if url in self.redirects:
            return ("redirect", self.redirects[url])
        return ("page", page_of(url), self.links[page_of(url)])

    def gives_page(self, url):
        """Tell whether a crawler that requests *url* and follows its redirects gets the page."""
        for _ in range(MAX_REDIRECTS + 1):
            answer = self.answer(url)
            if answer[0] == "page":
                return True
            if answer[0] == "error":
                return False
            url = answer[1]
        return False

    def reachable(self, start):
        """Return the pages that a crawler reaches which requests every linked URL."""
        found, to_follow = set(), [start]
        while to_follow:
            url = to_follow.pop()
            page = page_of(url)
            if page not in found and self.gives_page(url):
                found.add(page)
                to_follow += self.links[page]
        return found

    @invariant()
    def nothing_is_lost(self):
        """Check that the crawl reaches every reachable page, and that its stats add up."""
        start = "http://site.example/p0"
        simulation = Simulation(
            self.answer,
            {"URLCANON_RULES": {"*": self.rules}, "URLCANON_AUDIT": self.audit},
            lifo=self.lifo,
        )
        assert simulation.run(start) == self.reachable(start)
        stats = simulation.crawler.stats.get_stats()
        assert (
            stats["urlcanon/dropped/exact"] + stats["urlcanon/dropped/variant"]
            == (stats["urlcanon/dropped"])
        )
        assert "urlcanon/audit/false_merge" not in stats


def test_nothing_is_lost():
    """No page is lost under rules that merge only URLs of one page, whatever fails or redirects."""
    fewer = settings(max_examples=settings.default.max_examples // 5, stateful_step_count=15)
    run_state_machine_as_test(NothingLost, settings=fewer)
