"""Reading recorded debates from files: one module a format, chosen by `FORMATS`."""

from stability.log.readers.read import DOCUMENTS, FORMATS, OTHERS, read_log

__all__ = ["DOCUMENTS", "FORMATS", "OTHERS", "read_log"]
