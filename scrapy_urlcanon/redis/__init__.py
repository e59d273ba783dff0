"""Crawls of many processes through scrapy-redis: its scheduler and duplicate filter, with ours."""

from scrapy_urlcanon.redis.dupefilter import RFPDupeFilter
from scrapy_urlcanon.redis.scheduler import Scheduler

__all__ = ["RFPDupeFilter", "Scheduler"]
