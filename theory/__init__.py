"""Exact theory of debate in finite latent-concept models.

A model says what agents believe and how they answer (`AgentType`, `DebateModel`), what stands
between an answer and its readers (`DiversityPruning`, `QualityPruning`, `Refutation`), and has an
exact law (`CountChain`). Nothing is simulated.
"""

from theory.beyond.jury import effective_votes, gated_jury_accuracy, jury_accuracy, jury_limit
from theory.beyond.opinions import (
    degroot,
    degroot_limit,
    disagreement_rate,
    friedkin_johnsen,
    friedkin_johnsen_limit,
)
from theory.beyond.tempering import critical_strength, with_strength
from theory.beyond.urn import UrnDebate
from theory.model.ablation import ablation
from theory.model.chain import ChainTooLargeError, CountChain
from theory.model.concepts import AgentType, DebateModel
from theory.model.cumulative import CumulativeChain
from theory.model.interventions import DiversityPruning, QualityPruning, Refutation
from theory.model.others import OthersChain
from theory.model.random_models import random_model
from theory.model.response import leading_concept, next_law, posterior
from theory.model.selection import divergence, diversity_subset, quality_subset
from theory.model.stationary import expected_rounds, stationary_law
from theory.model.vectors import VectorChain
from theory.theorems import THEOREMS, Counterexample, Theorem, Verdict, check
from theory.theorems.echo_chamber import chernoff_information, switch_bound
from theory.theorems.search import Search, search_counterexample
from theory.theorems.shared_misconception import critical_share
from theory.ties import Ties

__all__ = [
    "THEOREMS",
    "AgentType",
    "ChainTooLargeError",
    "CountChain",
    "Counterexample",
    "CumulativeChain",
    "DebateModel",
    "DiversityPruning",
    "OthersChain",
    "QualityPruning",
    "Refutation",
    "Search",
    "Theorem",
    "Ties",
    "UrnDebate",
    "VectorChain",
    "Verdict",
    "ablation",
    "check",
    "chernoff_information",
    "critical_share",
    "critical_strength",
    "degroot",
    "degroot_limit",
    "disagreement_rate",
    "divergence",
    "diversity_subset",
    "effective_votes",
    "expected_rounds",
    "friedkin_johnsen",
    "friedkin_johnsen_limit",
    "gated_jury_accuracy",
    "jury_accuracy",
    "jury_limit",
    "leading_concept",
    "next_law",
    "posterior",
    "quality_subset",
    "random_model",
    "search_counterexample",
    "stationary_law",
    "switch_bound",
    "with_strength",
]
