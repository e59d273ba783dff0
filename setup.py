"""Builds what is compiled; all else stands in ``setup.cfg``."""

from Cython.Build import cythonize
from setuptools import Extension, setup

# Where it cannot be built, the functions in Python are used that it stands for.
_COMPILED = Extension(
    "scrapy_urlcanon.canonicalizer.compiled",
    ["scrapy_urlcanon/canonicalizer/compiled.pyx"],
    optional=True,
)

setup(ext_modules=cythonize([_COMPILED]))
