"""Records what a crawl saw, for ``scrapy urlcanon learn``: ``URLCANON_RECORD``."""
