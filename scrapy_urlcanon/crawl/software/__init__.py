"""Recognises the programs that the sites of a crawl run on, and applies their profiles."""
