"""The version of the package, which is known where it was copied and not installed, too."""

__version__ = "0.1.0.dev0"
