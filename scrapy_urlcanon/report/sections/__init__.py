"""The sections of a report: each a class, and beside it its part of the HTML page.

:mod:`scrapy_urlcanon.report.section` says what a section is, and finds them here.
"""
