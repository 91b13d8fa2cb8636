"""Jinja templates over JSON data: bounded, without a way to anything but the data."""

from agenttrace.templates.template import Template, is_template

__all__ = ["Template", "is_template"]
