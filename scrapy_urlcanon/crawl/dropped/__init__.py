"""Attributes dropped requests to the rules that made them duplicates, and counts and logs them."""
