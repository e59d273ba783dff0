"""The fingerprints that a crawl has seen, in less memory than Scrapy's own duplicate filter."""
