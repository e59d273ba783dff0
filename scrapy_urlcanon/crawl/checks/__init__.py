"""Compares pages while crawling, to see whether what the rules merge is one."""
