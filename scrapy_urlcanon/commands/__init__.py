"""The command ``scrapy urlcanon``, one module for each of its actions."""
