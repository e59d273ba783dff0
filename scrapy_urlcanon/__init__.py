"""Scrapy plugin that fetches each page once, under whatever URLs it is linked."""
