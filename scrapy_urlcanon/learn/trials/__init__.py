"""Tests candidates on all URLs of a site, and looks for evidence against those that pass."""
