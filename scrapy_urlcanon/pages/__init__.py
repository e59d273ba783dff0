"""Reads pages: text, signature, canonical URL, and whether two of them are the same page."""
