"""The version of the package, which is also known if the package was copied and not installed."""

__version__ = "0.1.0.dev0"
