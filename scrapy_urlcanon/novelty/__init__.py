"""What a crawl may expect of a URL, learned while it runs: neither Scrapy nor Twisted."""
