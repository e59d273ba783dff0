"""Fetches URLs that rules merge, to see which rules are right: ``scrapy urlcanon validate``."""
