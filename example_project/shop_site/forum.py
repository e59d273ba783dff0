"""The pages of the forum: older software, which carries a session id in its links."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, TypeVar

from shop_site.markup import BARE_HOST, document, listing
from shop_site.stock import BOARDS, PRODUCTS, posts, topics

if TYPE_CHECKING:
    from shop_site.markup import View

_Item = TypeVar("_Item", int, str)

_TOPICS_PER_PAGE = 5
_POSTS_PER_PAGE = 5

# What a visitor without a session gets is one of these: there is no end of session
# ids elsewhere, but a crawl of this site is to end with the plugin off, too.
_SESSIONS = [hashlib.sha256(b"%d" % n).hexdigest()[:32] for n in range(2)]


def forum(view: View) -> str | None:
    """Return the page of the forum that *view* asks for, or None."""
    if view.path == "/forum/":
        return _index(view)
    if view.path == "/forum/viewforum" and view.number("f", 0) in BOARDS:
        return _board(view, view.number("f", 0), view.number("page", 1))
    if view.path == "/forum/viewtopic" and view.number("t", 0) in PRODUCTS:
        return _topic(view, view.number("t", 0), view.number("page", 1))
    return None


def _index(view: View) -> str:
    boards = [_link(view, name, "/forum/viewforum", f=number) for number, name in BOARDS.items()]
    return _document(view, "forum", "Forum", listing(boards))


def _board(view: View, board: int, number: int) -> str | None:
    shown, pages = _paginate(view, topics(board), _TOPICS_PER_PAGE, number, f=board)
    if not shown:
        return None
    items = [
        _link(view, PRODUCTS[topic].name("en"), "/forum/viewtopic", t=topic) for topic in shown
    ]
    title = f"{BOARDS[board]}, page {number}"
    return _document(view, f"board-{board}-{number}", title, listing(items) + pages)


def _topic(view: View, topic: int, number: int) -> str | None:
    shown, pages = _paginate(view, posts(topic), _POSTS_PER_PAGE, number, t=topic)
    if not shown:
        return None
    product = PRODUCTS[topic]
    # Customers link to products under whatever slug, and to pages that have moved.
    links = [
        view.link(product.name("en"), f"/product/-/{product.number}"),
        view.link("shipping", f"http://{BARE_HOST}/shipping"),
    ]
    title = f"{product.name('en')}, page {number}"
    content = f"{listing(shown)}{pages}<p>{' | '.join(links)}</p>"
    return _document(view, f"topic-{topic}-{number}", title, content)


def _document(view: View, page_id: str, title: str, content: str) -> str:
    header = [view.link("Forum", "/forum/")]
    return document(view, page_id, title, content, header=header, footer=[])


def _paginate(
    view: View, items: list[_Item], per_page: int, number: int, **params: object
) -> tuple[list[_Item], str]:
    """Return the items of page *number*, and links to all pages."""
    if number < 1:
        return [], ""
    last = -(-len(items) // per_page)
    pages = [_link(view, str(n), view.path, **params, page=n) for n in range(1, last + 1)]
    shown = items[(number - 1) * per_page : number * per_page]
    return shown, f"<p>Page {' '.join(pages)}</p>"


def _link(view: View, label: str, path: str, **params: object) -> str:
    """Return a link that carries the session on, or a new one."""
    new = _SESSIONS[zlib.crc32(view.request.target.encode()) % len(_SESSIONS)]
    return view.link(label, path, **params, sid=view.params.get("sid", new))
