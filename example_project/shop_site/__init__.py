"""A small shop with a forum, at ``https://www.shop.example/``.

It has the duplicates that real sites have. Each page, however many URLs lead to it,
carries one identity, in ``<meta name="page-id">``::

    python -m shop_site    # serves it, to look at in a browser
"""

from shop_site.site import START, respond

__all__ = ["START", "respond"]
