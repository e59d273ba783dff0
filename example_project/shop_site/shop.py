"""The pages of the shop: in two languages, with offers and sort orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shop_site.markup import BARE_HOST, HOST, document, listing
from shop_site.stock import CATEGORIES, INFO, LANGUAGES, PRODUCTS

if TYPE_CHECKING:
    from shop_site.markup import View
    from shop_site.stock import Product

_PER_PAGE = 6
_LANGUAGE_NAMES = {"en": "English", "de": "Deutsch"}


def home(view: View) -> str:
    """Return the start page. Its offers are links that an advertisement made."""
    offers = [
        product_link(view, PRODUCTS[number], utm_source="home", utm_medium="banner")
        for number in range(5, len(PRODUCTS), 11)
    ]
    advertised = view.shop_link(view.words["new"], "/new/", gclid="EAIaIQobChMI")
    content = f"<h2>{view.words['offers']}</h2>{listing(offers)}<p>{advertised}</p>"
    return _document(view, "home", view.words["home"], content)


def category(view: View, name: str) -> str:
    """Return the things of one kind, in the order asked for."""
    products = [product for product in PRODUCTS.values() if product.category == name]
    if view.params.get("sort") == "price":
        products.sort(key=lambda product: product.price)
    if view.params.get("order") == "desc":
        products.reverse()
    orders = [
        view.shop_link(f"{view.words[key]} {arrow}", view.path, sort=key, order=order)
        for key in ("name", "price")
        for order, arrow in (("asc", "↑"), ("desc", "↓"))
    ]
    items = [
        f"{product_link(view, product)}, {product.price} €, {'★' * product.stars}"
        for product in products
    ]
    content = f"<p>{view.words['sort']}: {' '.join(orders)}</p>{listing(items)}"
    title = CATEGORIES[name][view.language][1]
    return _document(view, name, title, content)


def new(view: View) -> str | None:
    """Return one page of all things, the newest first."""
    number, last = view.number("page", 1), -(-len(PRODUCTS) // _PER_PAGE)
    if not 1 <= number <= last:
        return None
    first = len(PRODUCTS) - (number - 1) * _PER_PAGE
    items = [product_link(view, PRODUCTS[n]) for n in range(first, first - _PER_PAGE, -1)]
    pages = [view.shop_link(str(n), "/new/", page=n) for n in range(1, last + 1)]
    title = f"{view.words['new']}, {view.words['page']} {number}"
    content = f"{listing(items)}<p>{view.words['page']} {' '.join(pages)}</p>"
    return _document(view, f"new-{number}", title, content, page=number)


def info(view: View, name: str) -> str:
    """Return a page about the shop."""
    title, text = INFO[name][view.language]
    return _document(view, name, title, f"<p>{text}</p>")


def product(view: View, product: Product) -> str:
    """Return the page of one thing. Links to share it are old: http, and tagged."""
    related = [
        product_link(
            view, PRODUCTS[(product.number + step) % len(PRODUCTS) + 1], utm_source="related"
        )
        for step in (9, 20, 31)
    ]
    share = view.shop_link(
        view.words["share"],
        f"http://{HOST}{view.path}",
        utm_source="share",
        utm_medium="link",
    )
    discuss = view.link(view.words["discuss"], "/forum/viewtopic", t=product.number)
    content = (
        f"<p>{product.description(view.language)}</p><p>{'★' * product.stars}</p>"
        f"<p>{discuss} | {share}</p><h2>{view.words['related']}</h2>{listing(related)}"
    )
    return _document(
        view,
        f"product-{product.number}",
        product.name(view.language),
        content,
        {language: product.path(language) for language in LANGUAGES},
    )


def product_link(view: View, product: Product, **params: object) -> str:
    """Return a link to the page of one thing."""
    language = view.language
    return view.shop_link(product.name(language), product.path(language), **params)


def _document(
    view: View,
    page_id: str,
    title: str,
    content: str,
    paths: dict[str, str] | None = None,
    **params: object,
) -> str:
    """Return the whole page; it is found under *paths*, by language, with *params*."""
    paths = paths or dict.fromkeys(LANGUAGES, view.path)
    languages = [
        view.link(_LANGUAGE_NAMES[language], path, **params, lang=language)
        for language, path in paths.items()
    ]
    categories = [
        view.shop_link(names[view.language][1], f"/{category}/")
        for category, names in CATEGORIES.items()
    ]
    new = view.shop_link(view.words["new"], "/new/")
    forum = view.link(view.words["forum"], "/forum/")
    # Without the slash at the end: the server redirects to the page with it. The imprint
    # is linked as it was before there was https and www., so by a chain of redirects.
    information = [
        view.shop_link(
            texts[view.language][0],
            f"http://{BARE_HOST}/{name}" if name == "imprint" else f"/{name}",
        )
        for name, texts in INFO.items()
    ]
    return document(
        view,
        f"{page_id}-{view.language}",
        title,
        content,
        header=[*categories, new, forum, *languages],
        footer=information,
    )
