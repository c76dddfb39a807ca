"""Statistics of debates between language-model agents: from recorded answers to a stop."""

__version__ = "0.1.0"
