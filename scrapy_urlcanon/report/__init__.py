"""What one crawl dropped and why: as HTML, JSON, CSV and at the terminal.

:mod:`~scrapy_urlcanon.report.writer` is what a crawl starts. It hands each drop and each page to
the sections (:mod:`~scrapy_urlcanon.report.section`); the others turn the
:class:`~scrapy_urlcanon.report.document.Report` that comes of it into something to look at.
"""
