"""Checks a store:

    langgraph-store-conformance MODULE:FACTORY [--face sync|async] [--only CHECK …] [--operations N] [--seed N]

The exit status is 1 if a check failed."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from .report import FACES, printed, run
from .sequence import OPERATIONS, SEED


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(prog="langgraph-store-conformance", description="Checks whether a store of LangGraph conforms.")
    parser.add_argument("factory", help="MODULE:FACTORY, which returns a new, empty store, or a context manager of one")
    parser.add_argument("--face", choices=FACES, help="check only the methods that block, or only those that await")
    parser.add_argument("--only", nargs="+", default=[], metavar="CHECK", help="only these checks")
    parser.add_argument("--operations", type=int, default=OPERATIONS, help=f"of the generated sequence ({OPERATIONS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the generated sequence ({SEED})")
    given = parser.parse_args()
    module, _, name = given.factory.partition(":")
    if not name:
        parser.error("the factory is MODULE:FACTORY, such as langgraph.store.memory:InMemoryStore")
    sys.path.insert(0, os.getcwd())
    factory = getattr(importlib.import_module(module), name)
    faces = (given.face,) if given.face else FACES
    results = run(factory, faces=faces, only=given.only, operations=given.operations, seed=given.seed)
    sys.exit(0 if printed(results) else 1)


if __name__ == "__main__":
    main()
