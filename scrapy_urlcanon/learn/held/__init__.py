"""What is held of the many URLs of a large site: numbers in arrays, and texts each once."""
