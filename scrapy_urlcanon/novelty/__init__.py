"""Predicts while a crawl runs how much new text each URL brings. Without Scrapy and Twisted."""
