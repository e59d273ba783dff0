"""All programs, and those that cannot be had, with the reason."""

from __future__ import annotations

from benchmarks.programs import (
    blogs,
    django_sites,
    documentation,
    listings,
    others,
    repositories,
    trackers,
    wikis,
)

_MODULES = (wikis, repositories, listings, django_sites, blogs, trackers, documentation, others)
PROGRAMS = {program.name: program for module in _MODULES for program in module.PROGRAMS}

_NOT_PACKAGED = "in no current release of Debian, and not on Python's registry"
ABSENT = {
    "phpBB, SMF, MyBB, vBulletin, XenForo, Flarum": _NOT_PACKAGED,
    "Drupal, Joomla, TYPO3, Moodle, Gallery, Piwigo": _NOT_PACKAGED,
    "Magento, WooCommerce, PrestaShop, OpenCart, Shopify, osCommerce": _NOT_PACKAGED,
    "Bugzilla, ViewVC, Mailman 2": _NOT_PACKAGED,
    "Discourse": "needs its own image of a machine",
    "Redmine": "Debian's package asks Ruby's registry for gems, which is not reached",
    "FlaskBB": "its release asks for versions that do not build with a current Python",
}
