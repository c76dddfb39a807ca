"""Statistics of debates between language-model agents: from recorded answers to a stop.

The path: a ``DebateLog`` (or one live ``Round`` after the other) holds what the agents answered;
``fit_mixture`` estimates how many of the n agents are right on an item, a mixture of
Beta-Binomials, S ~ sum_c w_c BB(n, alpha_c, beta_c); ``ks_distance`` says how far two rounds lie
apart, D_t = sup |F_t - F_(t-1)|; a rule turns rounds into decisions to stop; ``detect`` runs a
rule over a recording, ``Monitor`` and ``debate_loop`` over a live debate. ``stability.plots``
draws it.

What to use when: one live debate, ``single_debate_rule`` with a ``Monitor`` or ``debate_loop``;
a recorded batch, ``read_log`` and ``detect``.

Sources: arXiv 2510.12697 (the mixture, the distance rule), arXiv 2505.22192 and 2311.07076 (the
debates), NeurIPS 2024 "Multi-LLM Debate: Framework, Principals, and Interventions".
"""

from stability.arviz import to_arviz
from stability.datasets import (
    DatasetInfo,
    list_datasets,
    load_count_table,
    load_recording,
    load_smollm_debates,
)
from stability.errors import LogFormatError, NeedsAnswersError, RoundRefusedError, ScopeError
from stability.evaluate import (
    Audit,
    Certificate,
    Plan,
    RoundReport,
    StabilityTrace,
    audit,
    certify,
    detect,
    fingerprint,
    items_for_certificate,
    outlook,
    outlook_by_source,
    pilot_sd,
    plan,
    published_table,
    replay,
    sweep_ks,
)
from stability.fit import (
    BetaBinomial,
    FitStatus,
    MixtureFit,
    MixtureFits,
    detection_power,
    fit_mixture,
    fit_mixtures,
    ks_distance,
    noise_floor,
    null_distances,
    swap_test,
)
from stability.log import SILENT, DebateLog, Round, Ties, read_log
from stability.loop import Debate, async_debate_loop, debate_loop
from stability.monitor import Monitor
from stability.rules import (
    SPRT,
    AllOf,
    AnyOf,
    BetaPosterior,
    Decision,
    EntropyBelow,
    FlipRateBelow,
    JensenShannonBelow,
    KSRule,
    MaxRounds,
    MinRounds,
    NoAnswerChanged,
    PairedEquivalence,
    Patience,
    PluralityShare,
    PluralityUnchanged,
    Reason,
    Rule,
    RuleState,
    StableMargin,
    SwapTest,
    Unanimity,
    rule_from_dict,
    rule_from_text,
    rule_to_text,
    single_debate_rule,
)
from stability.views import Failure, Message, Response, View

__version__ = "0.1.0"

__all__ = [
    "SILENT",
    "SPRT",
    "AllOf",
    "AnyOf",
    "Audit",
    "BetaBinomial",
    "BetaPosterior",
    "Certificate",
    "DatasetInfo",
    "Debate",
    "DebateLog",
    "Decision",
    "EntropyBelow",
    "Failure",
    "FitStatus",
    "FlipRateBelow",
    "JensenShannonBelow",
    "KSRule",
    "LogFormatError",
    "MaxRounds",
    "Message",
    "MinRounds",
    "MixtureFit",
    "MixtureFits",
    "Monitor",
    "NeedsAnswersError",
    "NoAnswerChanged",
    "PairedEquivalence",
    "Patience",
    "Plan",
    "PluralityShare",
    "PluralityUnchanged",
    "Reason",
    "Response",
    "Round",
    "RoundRefusedError",
    "RoundReport",
    "Rule",
    "RuleState",
    "ScopeError",
    "StabilityTrace",
    "StableMargin",
    "SwapTest",
    "Ties",
    "Unanimity",
    "View",
    "async_debate_loop",
    "audit",
    "certify",
    "debate_loop",
    "detect",
    "detection_power",
    "fingerprint",
    "fit_mixture",
    "fit_mixtures",
    "items_for_certificate",
    "ks_distance",
    "list_datasets",
    "load_count_table",
    "load_recording",
    "load_smollm_debates",
    "noise_floor",
    "null_distances",
    "outlook",
    "outlook_by_source",
    "pilot_sd",
    "plan",
    "published_table",
    "read_log",
    "replay",
    "rule_from_dict",
    "rule_from_text",
    "rule_to_text",
    "single_debate_rule",
    "swap_test",
    "sweep_ks",
    "to_arviz",
]
