"""What is dropped: why, how often, and how that is said."""
