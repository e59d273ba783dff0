"""Compares pages while crawling: what the rules merge, and what pages declare."""
