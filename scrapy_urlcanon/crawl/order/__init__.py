"""Fetches first what is expected to bring something new: ``URLCANON_ORDER``."""
