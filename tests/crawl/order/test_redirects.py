"""The order learns what redirects lead to, and that each costs a fetch."""

import pytest
from loopback import page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import RequestFingerprinter
from trap_sites import words

NOVELTY = {"URLCANON_ORDER": "novelty", "CONCURRENT_REQUESTS": 1}
COUNT = 60


class OtherFingerprinter:
    """An add-on that replaces our fingerprinter."""

    def update_settings(self, settings):
        settings.set("REQUEST_FINGERPRINTER_CLASS", RequestFingerprinter, "cmdline")


OTHER = {"ADDONS": {"scrapy_urlcanon.Addon": 500, OtherFingerprinter: 600}}


@pytest.mark.parametrize(
    ("target", "settings"), [("/", {}), ("/missing", {}), ("/article/{}", {}), ("/", OTHER)]
)
@deferred_f_from_coro_f
async def test_what_redirects_to_nothing_new_comes_last(crawl, target, settings):
    """Redirects to fetched pages, to errors, or to pages that are linked directly come last."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        if not kind:
            return page(
                "".join(f"<p><a href=/{k}/{n}>x</a>" for n in range(COUNT) for k in ("go", "essay"))
            )
        if kind == "go":
            return redirect(target.format(number), 302)
        if kind == "missing":
            return page("missing", status=404)
        return page(words(request.target, 40))

    result = await crawl(respond, {**NOVELTY, **settings})
    first = [hit for hit in result.hits[: COUNT + 25] if "essay" in hit]
    assert len(first) >= 0.8 * COUNT
    assert len({hit for hit in result.hits if hit.startswith("/go/")}) == COUNT
