"""What one crawl dropped and why: as HTML, JSON, CSV and at the terminal.

:mod:`~scrapy_urlcanon.report.writer` is the only module here that knows of a running
crawl; the others turn a :class:`~scrapy_urlcanon.report.document.Report` into something
to look at.
"""
