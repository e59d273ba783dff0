"""Serve the site until interrupted: ``python -m shop_site [PORT]``."""

import sys
import threading
from contextlib import suppress

from loopback import Loopback

from shop_site import START, respond

with Loopback(respond, port=int(sys.argv[1]) if len(sys.argv) > 1 else 0) as server:
    print(f"In a browser:      {server.address}/")
    print(f"To a crawler:      {START}, with these in its environment:")
    for name, value in server.proxies.items():
        print(f"                   {name}={value}")
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
