"""Running rules over recorded debates and saying what came out."""

from stability.evaluate.detect import detect
from stability.evaluate.trace import RoundReport, StabilityTrace

__all__ = ["RoundReport", "StabilityTrace", "detect"]
