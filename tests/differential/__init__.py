"""Random sites, crawled with the plugin off and on: see :mod:`differential.law`."""
