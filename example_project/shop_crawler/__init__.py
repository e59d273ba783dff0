"""A Scrapy project to copy from."""
