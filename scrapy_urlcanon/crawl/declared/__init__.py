"""Drops what pages declare to be their canonical URLs, where that has proved right."""
