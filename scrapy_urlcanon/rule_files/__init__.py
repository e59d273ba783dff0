"""Rule files: ours in and out, and those of other programs."""
