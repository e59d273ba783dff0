"""The scheduler: what it has, what its duplicate filter has seen, and what that drops."""
