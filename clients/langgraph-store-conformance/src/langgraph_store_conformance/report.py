"""Runs the checks, and prints what they found as a table."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .checks import CHECKS
from .faces import Factory, check_face
from .sequence import OPERATIONS, SEED, sequence

FACES = ("sync", "async")
SEQUENCE = "sequence"


class Result(NamedTuple):
    """What a check found out about one face; `failure` is None if nothing is wrong."""

    check: str
    face: str
    failure: str | None


def run(
    factory: Factory,
    *,
    faces: Sequence[str] = FACES,
    only: Sequence[str] = (),
    operations: int = OPERATIONS,
    seed: int = SEED,
    report: Callable[[Result], object] = lambda result: None,
) -> list[Result]:
    """Does every check with a new store each, by each of the `faces`, and then a `sequence` of generated `operations`.

    `only` names checks. `report` is called with each result as it comes."""
    results = []
    checks = {name: check.run for name, check in CHECKS.items()}
    checks[SEQUENCE] = sequence(operations, seed)
    for unknown in sorted({*only} - {*checks}):
        raise ValueError(f"no check has the name {unknown}: the names are {', '.join(checks)}")
    for name, check in checks.items():
        for face in faces if not only or name in only else ():
            failure = None
            try:
                check_face(check, factory, face)
            except Exception as error:
                failure = reason_of(error)
            results.append(Result(name, face, failure))
            report(results[-1])
    return results


def reason_of(error: Exception) -> str:
    """What went wrong, and in which line of a check."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(("checks.py", "sequence.py"))]
    line = f"; {frames[-1].line}" if frames and not isinstance(error, AssertionError) else ""
    return f"{type(error).__name__}: {error}{line}"


def conforms(factory: Factory, *, faces: Sequence[str] = FACES, operations: int = OPERATIONS, seed: int = SEED) -> bool:
    """Runs all checks, prints the table, and returns whether none failed."""
    return printed(run(factory, faces=faces, operations=operations, seed=seed))


def printed(results: list[Result]) -> bool:
    """Prints results as a table, and returns whether none failed."""
    faces = [face for face in FACES if any(result.face == face for result in results)]
    found = {(result.check, result.face): result for result in results}
    names = list(dict.fromkeys(result.check for result in results))
    width = max(map(len, names), default=0)
    print("  ".join(["check".ljust(width), *(face.ljust(6) for face in faces)]).rstrip())
    for name in names:
        words = ["FAILED" if found[name, face].failure else "ok" for face in faces]
        print("  ".join([name.ljust(width), *(word.ljust(6) for word in words)]).rstrip())
    failed = [result for result in results if result.failure]
    for result in failed:
        print(f"\n{result.check}, {result.face}: {result.failure}")
    print(f"\n{len(results) - len(failed)} of {len(results)} passed")
    return not failed
