"""The exceptions of the package. Each one is a ValueError or a RuntimeError."""


class LogFormatError(ValueError):
    """A recorded debate cannot be read; the message names file, row and rule."""


class RoundRefusedError(ValueError):
    """A rule was given a round that cannot follow the one before it."""


class NeedsAnswersError(ValueError):
    """A rule needs answers, or graded answers, that the round does not hold."""


class ScopeError(ValueError):
    """A batch rule was given a single debate, or an adapter a rule it cannot run."""
