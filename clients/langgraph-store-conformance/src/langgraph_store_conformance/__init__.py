"""Checks whether a store of LangGraph does what its base class promises:

    from langgraph_store_conformance import conforms

    assert conforms(make_store)

`make_store` returns a new, empty store, or a context manager of one. `CHECKS` are the checks one by one, for pytest."""

from .checks import CHECKS, Check
from .faces import Face, Factory
from .report import FACES, Result, conforms, run

__all__ = ["CHECKS", "FACES", "Check", "Face", "Factory", "Result", "conforms", "run"]
