"""The version, as one constant that needs no metadata look-up."""

__version__ = "0.2.0.dev0"
