"""Audits: fetches a sample of the dropped URLs to check whether the rules merge right."""
