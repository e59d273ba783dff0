"""Keeps what a crawl saw, to learn rules from."""
