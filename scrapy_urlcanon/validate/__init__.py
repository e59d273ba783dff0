"""Fetches URLs that rules merge, and finds out which rules hold."""
