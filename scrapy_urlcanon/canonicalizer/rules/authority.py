"""Options for what stands before the path: scheme, userinfo and host."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.inner_loops import without_www
from scrapy_urlcanon.canonicalizer.names import AnyCaseMatcher
from scrapy_urlcanon.canonicalizer.registrable_domain import registrable_domain, suffix_names
from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, Presets, Rule, distinct
from scrapy_urlcanon.canonicalizer.url import DEFAULT_PORTS, Url, made_of
from scrapy_urlcanon.canonicalizer.values import Choice, HostMap, NameList

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.canonicalizer.values import Setting

_WWW = re.compile("www[0-9]*")


class Scheme(Rule):
    """Treat ``http://`` and ``https://`` as one.

    What it does: sets the scheme to the given one. A URL with an explicit port keeps its scheme,
    because the port belongs to it.

    Why it is safe: nearly every site answers both, or redirects one to the other.

    When it is wrong: one of the two is another site, typically the default page of the hosting
    company, or does not answer at all and was the one seen first.
    """

    name = "scheme"
    component = "authority"
    values = Choice(("keep", "http", "https"))
    neutral = "keep"
    presets = Presets(aggressive="https")
    place = 110
    classical = (Classical("Limiting protocols", "http://example.com/", value="https"),)
    changes = (
        Example("https", "http://example.com/", "https://example.com/"),
        Example("http", "https://example.com:443/", "http://example.com/"),
    )
    keeps = (Example("https", "http://example.com:8080/", "http://example.com:8080/"),)

    def apply(self, url: Url) -> Url:
        return url if url.port or url.scheme == self.value else made_of((self.value, *url[1:]))


class Www(Rule):
    """Treat ``www.example.com`` and ``example.com`` as one.

    What it does: ``strip`` drops the first label of the host if it is ``www``, with or without
    digits (``www2``); ``strip_www`` only if it is exactly ``www``. Both do so as long as a
    registrable domain remains, by the Public Suffix List. ``add`` puts ``www`` before a registrable
    domain.

    Why it is safe: where both names exist, one nearly always redirects to the other.

    When it is wrong: the bare domain has no address or serves something else, as at universities
    and public bodies; or ``www2`` is a machine with content of its own.
    """

    name = "www"
    component = "authority"
    values = Choice(("keep", "strip", "strip_www", "add"))
    neutral = "keep"
    presets = Presets(aggressive="strip")
    place = 140
    classical = (Classical("`www` as the first label", "http://www2.example.com/", value="strip"),)
    changes = (
        Example("strip", "http://www.example.com/a", "http://example.com/a"),
        Example("strip", "http://www.www2.example.co.uk/", "http://example.co.uk/"),
        Example("strip_www", "http://www.example.com/", "http://example.com/"),
        Example("add", "http://example.co.uk/", "http://www.example.co.uk/"),
    )
    keeps = (
        Example("strip", "http://www.com/", "http://www.com/"),
        Example("strip", "http://www.co.uk/", "http://www.co.uk/"),
        Example("strip", "http://wwwx.example.com/", "http://wwwx.example.com/"),
        Example("strip_www", "http://www2.example.com/", "http://www2.example.com/"),
        Example("add", "http://shop.example.com/", "http://shop.example.com/"),
        Example("add", "http://192.0.2.1/", "http://192.0.2.1/"),
    )

    def apply(self, url: Url) -> Url:
        host = self.host(url.host)
        return url if host == url.host else url.with_host(host)

    def host(self, host: str) -> str:
        """Return what becomes of the normalized *host*."""
        if self.value == "add":
            return f"www.{host}" if registrable_domain(host) == host else host
        # The usual host has none: that is found out without the Public Suffix List.
        if not host.startswith("www"):
            return host
        return without_www(host, suffix_names(), numbered=self.value == "strip")


class Port(Rule):
    """Drop the port.

    What it does: ``http://example.com:8080/a`` becomes ``http://example.com/a``. The default port
    of the scheme is always dropped.

    Why it is safe: a site that is linked with a port by mistake, such as that of the server behind
    a proxy, is the same site without it.

    When it is wrong: another port is mostly another program: a test system, an admin interface, a
    service.
    """

    name = "port"
    component = "authority"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    # Before the scheme, which heeds a port.
    place = 105
    classical = (Classical("Explicit port", "http://example.com:8080/", value="drop"),)
    changes = (Example("drop", "http://example.com:8080/a", "http://example.com/a"),)
    keeps = (Example("drop", "http://example.com/a:8080", "http://example.com/a:8080"),)

    def apply(self, url: Url) -> Url:
        return url._replace(port=None)


class DropLabels(Rule):
    """Drop labels of the host that stand for another view of the site.

    What it does: with ``["m", "mobile", "amp"]``, ``m.example.com`` becomes ``example.com``, and
    ``en.m.example.com`` becomes ``en.example.com``. The registrable domain, by the Public Suffix
    List, stays. To merge ``m.`` and ``www.``, set ``www`` too.

    Why it is safe: a site for phones has the pages of the main site at the same paths.

    When it is wrong: it has fewer pages, others, or other paths; or the label is a site of its own
    (``m`` may be the first letter of a name).
    """

    name = "drop_labels"
    component = "authority"
    values = NameList()
    neutral = ()
    place = 135
    classical = (Classical("Mobile and AMP hosts", "http://m.example.com/", value=["m", "amp"]),)
    changes = (
        Example(["m", "mobile"], "http://m.example.com/a", "http://example.com/a"),
        Example(["m"], "http://en.m.example.co.uk/", "http://en.example.co.uk/"),
        Example(["m"], "http://m.m.com/", "http://m.com/"),
    )
    keeps = (
        Example(["m"], "http://m.com/", "http://m.com/"),
        Example(["m"], "http://mm.example.com/", "http://mm.example.com/"),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._labels = AnyCaseMatcher(self.value)

    @classmethod
    def is_usual(cls, name: str) -> bool:
        return name in {"m", "mobile", "amp", "wap", "touch", "i"}

    def apply(self, url: Url) -> Url:
        dropped = self._dropped(url.host)
        if not dropped:
            return url
        domain = registrable_domain(url.host) or ""
        labels = url.host.removesuffix(domain).split(".")
        return url._replace(
            host=".".join(label for label in labels if label not in dropped) + domain
        )

    def _dropped(self, host: str) -> dict[str, Cause]:
        domain = registrable_domain(host)
        if domain is None or domain == host:
            return {}
        labels = host.removesuffix(f".{domain}").split(".")
        causes = {label: self._labels.cause_of(label) for label in labels}
        return {label: cause for label, cause in causes.items() if cause}

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        return distinct(self._dropped(before.host).values())


class Userinfo(Rule):
    """Drop the user name and password before the host.

    What it does: ``http://user:password@example.com/`` becomes ``http://example.com/``.

    Why it is safe: most servers never look at it, and browsers do not show it.

    When it is wrong: the server asks for a login. Then one user's page is not another's, and the
    URL without a name, which may be the one seen first, gets a 401.
    """

    name = "userinfo"
    component = "authority"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    place = 120
    classical = (Classical("User name and password", "http://me:pw@example.com/", value="drop"),)
    changes = (Example("drop", "http://me:secret@example.com/a", "http://example.com/a"),)
    keeps = (
        Example("drop", "http://example.com/@me", "http://example.com/@me"),
        Example("drop", "http://example.com/?q=me%40b", "http://example.com/?q=me%40b"),
    )

    def apply(self, url: Url) -> Url:
        return url._replace(userinfo=None)


class HostAliases(Rule):
    """Treat a host and its other names as one.

    What it does: replaces each host in the mapping by the one that it is mapped to, and keeps the
    port. A host given with a port is replaced at that port only, and the port is dropped;
    ``example.com:80`` means ``http://example.com/`` too. Subdomains of a host are not included.
    Where a stronger layer maps to a host, what weaker layers map that host to does not apply.

    Why it is safe: an IP address and the name of the machine, or a site and its mirror, have the
    same pages, if you know that they do.

    When it is wrong: one IP address serves several sites (nearly all do) and tells them apart by
    name; or a mirror is out of date or incomplete.
    """

    name = "host_aliases"
    component = "authority"
    values = HostMap()
    neutral = MappingProxyType({})
    place = 130
    classical = (
        Classical(
            "IP address and domain name",
            "http://208.77.188.166/",
            value={"208.77.188.166": "www.example.com"},
        ),
        Classical(
            "Mirror hosts",
            "http://mirror.example.org/a",
            value={"mirror.example.org": "example.com"},
        ),
    )
    changes = (
        Example(
            {"208.77.188.166": "www.example.com"},
            "http://208.77.188.166/",
            "http://www.example.com/",
        ),
        Example(
            {"de.mirror.example": "mirror.example", "mirror.example": "example.com"},
            "http://de.mirror.example/a",
            "http://example.com/a",
        ),
        Example(
            {"example.com:8080": "example.com"},
            "http://example.com:8080/a",
            "http://example.com/a",
        ),
        Example(
            {"mirror.example:80": "example.com"},
            "http://mirror.example/a",
            "http://example.com/a",
        ),
        Example(
            {"mirror.example": "example.com"},
            "http://mirror.example:8080/a",
            "http://example.com:8080/a",
        ),
    )
    keeps = (
        Example(
            {"mirror.example": "example.com"},
            "http://a.mirror.example/",
            "http://a.mirror.example/",
        ),
        Example(
            {"example.com:8080": "example.com"},
            "http://example.com:8081/",
            "http://example.com:8081/",
        ),
        Example(
            {"mirror.example:80": "example.com"},
            "https://mirror.example/",
            "https://mirror.example/",
        ),
    )

    def apply(self, url: Url) -> Url:
        for entry in self._entries(url):
            port = url.port if entry == url.host else None
            url = url._replace(host=self.value[entry][0], port=port)
        return url

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        return distinct(Cause(self.value[entry][1], entry) for entry in self._entries(before))

    def _entries(self, url: Url) -> Iterator[str]:
        """Yield what is replaced, one after the other; a port goes with the first."""
        entry = f"{url.host}:{url.port or DEFAULT_PORTS[url.scheme]}"
        if entry not in self.value:
            entry = url.host
        while entry in self.value:
            yield entry
            entry = self.value[entry][0]


class SubdomainToPath(Rule):
    """Treat ``user.example.com/x`` and ``www.example.com/user/x`` as one.

    What it does: where the host is a single label before a registrable domain, by the Public
    Suffix List, and the label is on the list, the label becomes the first segment of the path. The
    host becomes ``www.`` and the registrable domain, or the domain alone where ``www`` is stripped.
    ``*`` stands for any text; ``www``, with or without digits, is never moved.

    Why it is safe: hosts of shops, blogs and home pages that began to give each user a subdomain
    kept the old addresses working, for the links that lead there.

    When it is wrong: the subdomain is a site of its own, like ``shop``, ``api`` or a language, or
    the two addresses never existed side by side. With ``*``, take such labels back (``!api``).
    """

    name = "subdomain_to_path"
    component = "url"
    values = NameList()
    neutral = ()
    place = 150
    classical = (
        Classical(
            "Subdomain and directory of a user", "http://shuchao.example.com/", value=["shuchao"]
        ),
    )
    changes = (
        Example(["shuchao"], "http://shuchao.example.com/", "http://www.example.com/shuchao/"),
        Example(["*", "!api"], "http://ann.example.com/a?b=1", "http://www.example.com/ann/a?b=1"),
    )
    keeps = (
        Example(["*", "!api"], "http://api.example.com/a", "http://api.example.com/a"),
        Example(["*"], "http://www.example.com/ann/", "http://www.example.com/ann/"),
        Example(["*"], "http://a.b.example.com/", "http://a.b.example.com/"),
        Example(["*"], "http://example.co.uk/", "http://example.co.uk/"),
        Example(["*"], "http://ann.github.io/", "http://ann.github.io/"),
    )

    def __init__(self, options: Mapping[str, Setting]) -> None:
        super().__init__(options)
        self._labels = AnyCaseMatcher(self.value)
        www = options.get(Www.name)
        self._prefix = "" if www and www.value in {"strip", "strip_www"} else "www."

    def apply(self, url: Url) -> Url:
        label, _, domain = url.host.partition(".")
        if (
            label not in self._labels
            or _WWW.fullmatch(label)
            or registrable_domain(url.host) != domain
        ):
            return url
        return url._replace(host=self._prefix + domain, path=f"/{label}{url.path}")

    def causes(self, before: Url, after: Url) -> tuple[Cause, ...]:
        del after
        return distinct((self._labels.cause_of(before.host.partition(".")[0]),))
