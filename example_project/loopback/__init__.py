"""A web server for any number of host names, on 127.0.0.1, that records its hits.

Crawlers reach it as their HTTP proxy. So the URLs that they see have real host
names and default ports, for ``http`` and for ``https``, and no name is resolved::

    from loopback import Loopback, Request, Response, page

    def respond(request: Request) -> Response:
        return page(f"<p>This is {request.url}</p>")

    with Loopback(respond) as server:
        subprocess.run(["scrapy", "crawl", "shop"], env=os.environ | server.proxies)
        print(server.hits)  # ["https://www.shop.example/", ...]
"""

from loopback.exchange import Fault, Request, Respond, Response, page, redirect
from loopback.server import Loopback

__all__ = ["Fault", "Loopback", "Request", "Respond", "Response", "page", "redirect"]
