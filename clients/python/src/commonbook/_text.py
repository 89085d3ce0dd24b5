"""Texts and queries of frameworks, as the server takes them."""

from __future__ import annotations

import re

# The server takes 16,384 bytes, and with them the path.
QUERY_LETTERS = 3500


def is_blank(text: str) -> bool:
    """Whether a text has no letter that somebody sees: no document has such a text."""
    return not any(letter.isprintable() and not letter.isspace() for letter in text)


def words_of(query: str) -> str:
    """The words of a query, in which nothing is an operator of the server's, cut to its limit."""
    return " ".join(re.sub(r'[":=>]|(?<!\S)-+', " ", query[:QUERY_LETTERS]).split())
