"""All programs, and those that are not available, with the reason."""

from __future__ import annotations

from benchmarks.programs import (
    blogs,
    content_management,
    django_sites,
    documentation,
    forums,
    galleries,
    listings,
    manuals,
    others,
    pages,
    repositories,
    shops,
    trackers,
    wikis,
)

_MODULES = (
    wikis,
    repositories,
    listings,
    django_sites,
    shops,
    forums,
    blogs,
    galleries,
    content_management,
    trackers,
    documentation,
    manuals,
    others,
    pages,
)
PROGRAMS = {program.name: program for module in _MODULES for program in module.PROGRAMS}

_NOT_PACKAGED = "in no current release of Debian, and not on Python's registry"
ABSENT = {
    "vBulletin, XenForo, Flarum": _NOT_PACKAGED,
    "Joomla, TYPO3, Moodle, Gallery": _NOT_PACKAGED,
    "Magento, WooCommerce, PrestaShop, Shopify, osCommerce": _NOT_PACKAGED,
    "Bugzilla, Mailman 2": _NOT_PACKAGED,
    "Discourse": "needs its own image of a machine",
    "FlaskBB": "its release asks for versions that do not build with a current Python",
}
