"""Reading recorded debates from files: one module a format, chosen by `FORMATS`."""

from stability.log.readers.read import FORMATS, read_log

__all__ = ["FORMATS", "read_log"]
