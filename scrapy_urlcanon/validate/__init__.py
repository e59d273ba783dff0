"""Fetches what rules make one, and finds out which rules hold."""
