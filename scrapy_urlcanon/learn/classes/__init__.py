"""Classes of URLs: those to skip, those that show one page, and those that no rule explains."""
