"""What a page says: its text, its signature, and whether two responses are one page."""
