"""The programs that the sites of a crawl run on: recognised, and what is known of them used."""
