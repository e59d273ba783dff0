"""The Scrapy half of the plugin: makes canonical URLs the keys of requests, and loses no page."""
