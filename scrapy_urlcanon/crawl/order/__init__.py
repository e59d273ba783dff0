"""The order in which a crawl fetches, by what is expected of each request."""
