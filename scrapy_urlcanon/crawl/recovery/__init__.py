"""What sees to it that no page is lost where a request for it fails."""
