"""Builds what is compiled; all else stands in ``setup.cfg``."""

from Cython.Build import cythonize
from setuptools import setup

_EXTENSIONS = cythonize("scrapy_urlcanon/**/compiled.pyx")
for extension in _EXTENSIONS:
    # Where it cannot be built, the functions in Python are used that it stands for.
    extension.optional = True

setup(ext_modules=_EXTENSIONS)
