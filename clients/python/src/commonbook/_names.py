"""The names in the memory that stand for those of a framework."""

from __future__ import annotations

import re


def child_of(name: str | None, child: str | None) -> str | None:
    """The name of an agent of a framework: a child of the name of the client, such as `google-adk/weather`; `name` itself if
    either is missing."""
    label = re.sub(r"[^\w.-]+", "-", child or "").strip("-_.")
    return f"{name}/{label}" if name and label else name


def session_name(session: str | None) -> str | None:
    """The session that stands for one of a framework."""
    return re.sub(r"[^\w.:@/+=#-]", "-", session, flags=re.ASCII)[:128] if session else None
