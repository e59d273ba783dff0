"""Observations from files, whatever wrote them."""
