"""Running rules over recorded debates and saying what came out."""

from stability.evaluate.audit import Audit, audit
from stability.evaluate.certificate import Certificate
from stability.evaluate.certify import certify
from stability.evaluate.compare import (
    DistanceBootstrap,
    RoundComparison,
    bootstrap_distance,
    compare_rounds,
)
from stability.evaluate.detect import detect
from stability.evaluate.fingerprint import fingerprint
from stability.evaluate.outlook import outlook, outlook_by_source
from stability.evaluate.plan import Plan, items_for_certificate, pilot_sd, plan
from stability.evaluate.replay import replay
from stability.evaluate.sweep import sweep_ks
from stability.evaluate.tables import published_table
from stability.evaluate.trace import RoundReport, StabilityTrace

__all__ = [
    "Audit",
    "Certificate",
    "DistanceBootstrap",
    "Plan",
    "RoundComparison",
    "RoundReport",
    "StabilityTrace",
    "audit",
    "bootstrap_distance",
    "certify",
    "compare_rounds",
    "detect",
    "fingerprint",
    "items_for_certificate",
    "outlook",
    "outlook_by_source",
    "pilot_sd",
    "plan",
    "published_table",
    "replay",
    "sweep_ks",
]
