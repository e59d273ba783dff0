"""Sets of seen fingerprints that take less memory than Scrapy's own: ``URLCANON_SEEN_SET``."""
