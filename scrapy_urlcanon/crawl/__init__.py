"""The Scrapy half: how the canonical URL becomes the key of a request."""
