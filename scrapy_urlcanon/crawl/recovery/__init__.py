"""Makes sure that no page is lost because the one request for it failed or its callback raised."""
