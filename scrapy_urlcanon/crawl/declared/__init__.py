"""Uses what pages and sites declare: canonical URLs that have proved right, and Clean-param."""
