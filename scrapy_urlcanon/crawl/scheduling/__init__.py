"""Access to Scrapy's engine and scheduler: what waits, what was seen, and what is dropped."""
