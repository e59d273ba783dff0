"""The pages that earlier runs have got, and that are not fetched again."""
