"""From what an agent said to a label: extractors to pass to ``read_log(extract=...)``.

Each is a function (text) -> label or None; None is unread. They take what is said last where
several candidates stand in a text, as debaters correct themselves; none of them guesses.
"""

import json
import re
from collections.abc import Callable
from typing import Any

Extract = Callable[[str], str | None]
_BOXED = re.compile(r"\\boxed\s*\{")
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_YES_NO = re.compile(r"\b(yes|no|unknown|uncertain|not sure)\b", re.IGNORECASE)


def option_letter(letters: str = "ABCDE") -> Extract:
    r"""Return an extractor of option letters: (B), \boxed{B}, "answer is B", "B." or B alone.

    Examples
    --------
    >>> read = option_letter()
    >>> [read(text) for text in ("The answer is (C).", "B", "A or B? So D)", "a bird")]
    ['C', 'B', 'D', None]
    """
    if not letters or not letters.isalpha() or len(set(letters.upper())) != len(letters):
        raise ValueError(f"`letters` must be different letters, got {letters!r}")
    one = f"[{letters.upper()}{letters.lower()}]"
    big = f"[{letters.upper()}]"
    said = re.compile(
        rf"\({one}\)|\\boxed\s*\{{\s*\(?{one}\)?\s*\}}|\b(?i:answer|option|choice)\W*(?:is|:)?\W*{big}\b"
        rf"|\b{big}\s*\)|^\s*\W*{one}\W*$",
        re.MULTILINE,
    )
    letter = re.compile(rf"{one}(?![A-Za-z])")

    def read(text: str) -> str | None:
        found = said.findall(text)
        if not found:
            return None
        last: str = letter.findall(found[-1])[-1]
        return last.upper()

    return read


def boxed(text: str) -> str | None:
    r"""Return what stands in the last \boxed{...}, braces matched.

    Examples
    --------
    >>> boxed(r"so \boxed{\frac{1}{2}}"), boxed("so one half")
    ('\\frac{1}{2}', None)
    """
    found = None
    for match in _BOXED.finditer(text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        if depth == 0:
            found = text[match.end() : at - 1].strip()
    return found or None


def last_number(text: str) -> str | None:
    r"""Return the number in the last \boxed{...} or after the last ####, else the last number.

    Thousands separators and trailing zeros go, so that 1,200.00 and 1200 are one label.

    Examples
    --------
    >>> last_number("3 + 4 = 7, so $1,200.50 in all"), last_number("#### 18"), last_number("none")
    ('1200.5', '18', None)
    """
    inner = boxed(text)
    marked = text.rpartition("####")[2] if "####" in text else None
    for part in (inner, marked, text):
        numbers = _NUMBER.findall(part) if part is not None else []
        if numbers:
            plain = numbers[-1].replace(",", "").lstrip("+")
            if "." in plain and "e" not in plain.lower():
                plain = plain.rstrip("0").rstrip(".")
            return "0" if plain in ("-0", "") else plain
    return None


def yes_no(text: str) -> str | None:
    """Return "yes", "no" or "unknown", whichever is said last.

    Examples
    --------
    >>> yes_no("Yes... on reflection, no."), yes_no("I am uncertain."), yes_no("Maybe.")
    ('no', 'unknown', None)
    """
    found = _YES_NO.findall(text)
    if not found:
        return None
    word = found[-1].lower()
    return word if word in ("yes", "no") else "unknown"


def json_field(name: str) -> Extract:
    """Return an extractor of a field of the last JSON object in a text.

    Examples
    --------
    >>> read = json_field("answer")
    >>> read('I think {"answer": "B", "confidence": 3}'), read('{"other": 1}'), read("B")
    ('B', None, None)
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"`name` must be the name of a field, got {name!r}")
    decoder = json.JSONDecoder()

    def read(text: str) -> str | None:
        found: Any = None
        at = text.find("{")
        while at >= 0:
            try:
                value, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                end = at + 1
            else:
                if isinstance(value, dict) and name in value:
                    found = value[name]
            at = text.find("{", end)
        if isinstance(found, bool):
            return str(found)
        if isinstance(found, int | float | str):
            return str(found).strip() or None
        return None

    return read


def score_bin(low: float = 1, high: float = 10, width: float = 1) -> Extract:
    """Return an extractor of judge scores, in bins; what lies outside low..high is unread.

    Examples
    --------
    >>> read = score_bin(1, 10, 3)
    >>> read("Score: 8/10"), read("I give it 11"), read("8.5")
    ('7-10', None, '7-10')
    """
    if not low < high or not width > 0:
        raise ValueError(f"`low` < `high` and `width` > 0 must hold, got {low}, {high}, {width}")
    score = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)(?:\s*/\s*\d+)?")

    def read(text: str) -> str | None:
        found = score.findall(text)
        value = float(found[-1]) if found else float("nan")
        if not low <= value <= high:
            return None
        if width == 1 and value == int(value):
            return str(int(value))
        place = int((min(value, high - 1e-12) - low) // width)
        start = low + place * width
        end = min(start + width, high)
        return f"{start:g}-{end:g}"

    return read


def pattern(regex: str) -> Extract:
    """Return an extractor of the last match of a regular expression, its first group if it has one.

    Examples
    --------
    >>> read = pattern(r"Action (\\d)")
    >>> read("Action 1, no: Action 2"), read("neither")
    ('2', None)
    """
    try:
        compiled = re.compile(regex)
    except (re.error, TypeError) as error:
        raise ValueError(f"`regex` must be a regular expression, got {regex!r}: {error}") from None

    def read(text: str) -> str | None:
        found = None
        for match in compiled.finditer(text):
            found = match[1] if compiled.groups else match[0]
        return found.strip() or None if found else None

    return read


EXTRACTORS: dict[str, Extract] = {
    "option": option_letter(),
    "boxed": boxed,
    "number": last_number,
    "yes-no": yes_no,
    "score": score_bin(),
}
"""Extractors by name, for the command line."""
