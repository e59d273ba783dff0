"""Where a page needs what is a tracking parameter elsewhere.

Each is a fact that users of filter lists reported or their authors wrote down: with the parameter
taken off, a redirect, a log-in or a page of the site did not work. Where a source names no
parameter, those of campaigns are meant.
"""

from __future__ import annotations


class TrackingException:
    """URLs on which parameters of the tracking list are not dropped.

    :param pattern: in the form of the keys of ``URLCANON_RULES``.
    :param source: the report, or the list that has the exception.
    """

    def __init__(self, pattern: str, names: tuple[str, ...], source: str) -> None:
        self.pattern = pattern
        self.names = names
        self.source = source


_ISSUES = "https://github.com/AdguardTeam/AdguardFilters/issues/"
_SHORTENER = "https://github.com/DandelionSprout/adfilt/blob/master/LegitimateURLShortener.txt"
_CAMPAIGN = ("utm_*",)
_SOURCE = ("utm_source",)

EXCEPTIONS: tuple[TrackingException, ...] = (
    TrackingException("tradedoubler.com", ("tduid",), f"{_ISSUES}144144"),
    TrackingException(
        "redirects.tradedoubler.com", ("utm_content", "utm_campaign"), f"{_ISSUES}148757"
    ),
    *(
        TrackingException(f"{host}/td_redirect", ("tduid",), _SHORTENER)
        for host in ("cdon.com", "cdon.dk", "cdon.fi", "cdon.no", "cdon.se")
    ),
    TrackingException("google.com/maps", ("utm_campaign",), _SHORTENER),
    TrackingException("mywot.com/user", _CAMPAIGN, _SHORTENER),
    TrackingException(
        "carrefourpl.snrpage.com",
        _SOURCE,
        "https://github.com/DandelionSprout/adfilt/discussions/163#discussioncomment-4621746",
    ),
    TrackingException("transfernow.net", _SOURCE, f"{_ISSUES}134007"),
    TrackingException("assetstore.unity.com/packages", _CAMPAIGN, f"{_ISSUES}124425"),
    TrackingException("mmcref.pl", ("utm_medium",), f"{_ISSUES}117491"),
    TrackingException("sendgb.com", _SOURCE, f"{_ISSUES}100285"),
    TrackingException("plex.tv/api", _SOURCE, f"{_ISSUES}96746"),
    TrackingException("urldefense.com", _CAMPAIGN, f"{_ISSUES}89618"),
    TrackingException("insurancexblog.blogspot.com", _SOURCE, f"{_ISSUES}85388"),
    TrackingException("gizmodo.com/embed/comments", _CAMPAIGN, f"{_ISSUES}85160"),
    TrackingException("lanacion.com.ar", _SOURCE, f"{_ISSUES}78392"),
    TrackingException(
        "t.send.vt.edu/r", ("utm_source", "utm_medium", "utm_campaign"), f"{_ISSUES}69031"
    ),
    *(
        TrackingException(f"{host}?srcc=ucs", _SOURCE, f"{_ISSUES}52925")
        for host in (
            "auto-swiat.pl",
            "businessinsider.com.pl",
            "fakt.pl",
            "komputerswiat.pl",
            "medonet.pl",
            "noizz.pl",
            "ofeminin.pl",
            "plejada.pl",
            "przegladsportowy.pl",
        )
    ),
    TrackingException("onet.pl", _SOURCE, f"{_ISSUES}34644"),
    TrackingException("tix.axs.com", _CAMPAIGN, "https://github.com/ClearURLs/Rules/issues/30"),
)
"""They are weaker than every rule."""
