"""The index finds the templates that a URL may fit without matching all of them."""

from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.exceptions import TemplateError
from scrapy_urlcanon.learn.classes.index import ClassIndex
from scrapy_urlcanon.learn.classes.shapes import templates_of
from scrapy_urlcanon.learn.location import host_of, locate, to_url

TEXTS = st.text("a17-_.%é\u0661{}0 ;", min_size=1, max_size=5) | st.sampled_from(["7", "cats-7"])
URLS = st.builds(
    "http://{}a.example/{}?{}{}".format,
    st.sampled_from(["", "www."]),
    st.lists(TEXTS, max_size=3).map("/".join),
    st.lists(st.tuples(st.sampled_from("pqé"), TEXTS).map("=".join), max_size=2).map("&".join),
    st.sampled_from(["", "&7-a", "&a/7"]),
)


@example(["http://a.example" + "/1.2.3" * 5 + "/a-1/a-2?p=1"])  # more numbers than names
@given(st.lists(URLS, max_size=12))
def test_index_leaves_out_no_template_that_fits(urls):
    """Each template that fits a URL is among those found."""
    locations = list(map(locate, urls))
    index = ClassIndex()
    templates, first = {}, {}
    for location in locations:
        for text in templates_of(location):
            with suppress(TemplateError):
                key = host_of(location.origin), text
                if key not in templates:
                    templates[key], first[key] = parse_template(text), location
                    index.add(location, templates[key], key)

    def outline(location, text):
        names = [param.partition("=")[0] for param in location.params]
        return names, "{rest:path}" in text or location.path.count("/")

    for location in locations:
        fitting = {
            key
            for key, template in templates.items()
            if key[0] == host_of(location.origin)
            and outline(location, key[1]) == outline(first[key], key[1])
            and template.match(to_url(location)) is not None
        }
        assert fitting <= {key for _, key in index.likely(location)}
