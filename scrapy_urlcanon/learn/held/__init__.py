"""Compact storage for the URLs of a large site: numbers in arrays, and each text once."""
