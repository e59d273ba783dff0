"""From text to a URL with the normalizations that are always on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import Cause
from scrapy_urlcanon.canonicalizer.explanation import Step
from scrapy_urlcanon.canonicalizer.layers import ALWAYS
from scrapy_urlcanon.canonicalizer.rules import NORMALIZATIONS, TEXT_NORMALIZATIONS
from scrapy_urlcanon.canonicalizer.url import is_utf8, split
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url


def parse(text: str, steps: list[Step]) -> Url:
    """Return the components of *text*, which is normalized as far as that takes.

    :param steps: gets a step for each normalization that changed it.
    :raises UnparsableUrlError: if it is not an http or https URL.
    """
    if not is_utf8(text):
        raise UnparsableUrlError("it holds half of a surrogate pair")
    for normalization in TEXT_NORMALIZATIONS:
        changed = normalization.apply(text)
        if changed != text:
            steps.append(Step(normalization.name, text, changed, (Cause(ALWAYS),)))
            text = changed
    return split(text)


def normalize(url: Url, steps: list[Step]) -> Url:
    """Return *url* with the normalizations that are always on.

    :param steps: gets a step for each that changed it.
    :raises UnparsableUrlError: if its host or its port cannot be one.
    """
    for normalization in NORMALIZATIONS:
        changed = normalization.apply(url)
        if changed != url:
            steps.append(Step(normalization.name, str(url), str(changed), (Cause(ALWAYS),)))
            url = changed
    return url
