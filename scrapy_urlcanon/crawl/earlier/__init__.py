"""Remembers the pages that earlier runs have got, so that they are not fetched again."""
