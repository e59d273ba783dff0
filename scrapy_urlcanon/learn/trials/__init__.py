"""Trying candidates on all URLs of a site, and what speaks against those that seem right."""
