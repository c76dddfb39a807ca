"""Recorded debates: the log, its rounds, and the readers of files."""

from stability.log.debatelog import DebateLog
from stability.log.readers import FORMATS, read_log
from stability.log.round import SILENT, Round
from stability.log.ties import Ties

__all__ = ["FORMATS", "SILENT", "DebateLog", "Round", "Ties", "read_log"]
