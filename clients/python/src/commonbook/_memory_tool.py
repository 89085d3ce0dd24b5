"""What both classes of the memory tool share: names, folders and answers, as Anthropic's own tool for local files has them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, unquote

from anthropic.lib.tools import ToolError

from . import models
from ._text import is_blank

ROOT = "/memories"
# The names of a file or folder below the root; those of the root are none.
Place = tuple[str, ...]
LEVELS = 2
LINE_NUMBER_WIDTH = 6
# What a file system for Linux says of a folder that has few files.
FOLDER_SIZE = "4K"
# A document of this name keeps its folder while nothing else is in it. No path of a command leads to it.
KEEPER = "."
KEEPER_SEGMENT = "%2E"
KEEPER_TEXT = "This document keeps a folder of the memory tool, which has no files."
# A document is never blank: this is the text of a blank file, whose own text is in the field of the metadata.
BLANK_TEXT = "This file of the memory tool is empty."
BLANK_FIELD = "memory_tool_blank"
SAFE = "!\"#$&'()*+,:;<=>?@[\\]^`{|}"
# Letters that are printable, and that nobody sees.
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def place_of(path: str) -> Place:
    """The names that a path of a command means. Fails with `ToolError` if it leaves the root."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    # Above the root is a folder that has it, and whose name no path knows.
    root: list[str | None] = [None, "memories"]
    names = list(root)
    for name in path[len(ROOT):].split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    if names[:2] != root:
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return tuple(name for name in names[2:] if name is not None)


def segment_of(name: str) -> str:
    """A name as a segment of a document's path: in percent codes if a document cannot have it as it is."""
    if name == KEEPER:
        return KEEPER_SEGMENT
    kept = name == name.strip() and name.isprintable() and unicodedata.is_normalized("NFC", name)
    if kept and not UNSEEN.search(name) and not re.search("%[0-9A-F]{2}", name):
        return name
    return quote(name, safe=SAFE)


def name_of(segment: str) -> str:
    """The name that a segment stands for."""
    name = unquote(segment)
    return name if segment_of(name) == segment else segment


def path_of(place: Place) -> str:
    """The path of the document at a place."""
    return "/".join([ROOT, *map(segment_of, place)])


def around(place: Place) -> str:
    """The filter of a list that has everything of the first folder of a place."""
    return f"{path_of(place[:1])}*" if place else f"{ROOT}/"


def document_of(text: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """The text and metadata of the document that has a file's text."""
    # What is no text fails here, as locally, and before anything is sent.
    text.encode()
    others = {name: value for name, value in (metadata or {}).items() if name != BLANK_FIELD}
    if is_blank(text):
        return {"text": BLANK_TEXT, "metadata": {**others, BLANK_FIELD: text}}
    return {"text": text, "metadata": others}


def text_of(memory: models.Memory) -> str:
    """The text of a file."""
    blank = memory["metadata"].get(BLANK_FIELD)
    return blank if memory["text"] == BLANK_TEXT and isinstance(blank, str) else memory["text"]


class Tree:
    """The files and folders of one moment, for the user of the caller, or for none."""

    def __init__(self, user: str | None) -> None:
        self._user = user
        self.documents: dict[Place, models.Memory] = {}
        self._names: dict[Place, set[str]] = {(): set()}

    def add(self, memory: models.Memory) -> None:
        """Takes a document in; one about another user is left out."""
        if memory.get("user_id") != self._user or not memory["path"].startswith(f"{ROOT}/"):
            return
        place = tuple(name_of(segment) for segment in memory["path"].split("/")[2:])
        self.documents[place] = memory
        for length, name in enumerate(place):
            self._names.setdefault(place[:length], set()).add(name)

    def is_file(self, place: Place) -> bool:
        """Whether a file is there."""
        return place in self.documents

    def is_folder(self, place: Place) -> bool:
        """Whether a folder is there."""
        return place in self._names

    def below(self, place: Place) -> list[Place]:
        """The places of a file, or of everything in a folder."""
        if place in self.documents:
            return [place]
        return sorted(other for other in self.documents if other[:len(place)] == place)

    def has(self, place: Place) -> bool:
        """Whether a file or folder is there."""
        return self.is_file(place) or self.is_folder(place)

    def has_only(self, folder: Place, name: str) -> bool:
        """Whether a folder has nothing besides."""
        return self._names.get(folder) == {name}

    def check_parents(self, place: Place) -> None:
        """Fails with `NotADirectoryError` if a place is below a file."""
        if any(place[:length] in self.documents for length in range(1, len(place))):
            # Anthropic's tool raises what the file system of Linux does, and a model reads its `repr`.
            raise NotADirectoryError(20, "Not a directory")

    def listing(self, place: Place, path: str) -> str:
        """The answer to the view of a folder."""
        header = f"Here're the files and directories up to {LEVELS} levels deep in {path}, excluding hidden items:"
        lines = [f"{size}\t{path}/{name}" for size, name in self._entries(place, LEVELS)]
        return "\n".join([header, f"{FOLDER_SIZE}\t{path}", *lines])

    def _entries(self, place: Place, levels: int) -> Iterator[tuple[str, str]]:
        for name in sorted(self._names.get(place, ())):
            inner = (*place, name)
            if name.startswith("."):
                continue
            if inner in self.documents:
                yield size_of(text_of(self.documents[inner])), name
            if inner in self._names:
                yield FOLDER_SIZE, f"{name}/"
                if levels > 1:
                    yield from ((size, f"{name}/{further}") for size, further in self._entries(inner, levels - 1))


def size_of(text: str) -> str:
    """The size of a file, as a folder shows it."""
    count = len(text.encode())
    power = min(max(count.bit_length() - 1, 0) // 10, 3)
    size = count / 1024**power
    return f"{int(size) if size == int(size) else f'{size:.1f}'}{'BKMG'[power]}"


def numbered(lines: Iterable[str], first: int) -> str:
    """Lines with their numbers."""
    return "\n".join(f"{str(number).rjust(LINE_NUMBER_WIDTH)}\t{line}" for number, line in enumerate(lines, first))


def content_of(text: str, path: str, view_range: list[int] | None) -> str:
    """The answer to the view of a file."""
    lines, first = text.split("\n"), 1
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0])
        lines = lines[first - 1:len(lines) if view_range[1] == -1 else view_range[1]]
    return f"Here's the content of {path} with line numbers:\n{numbered(lines, first)}"


def replaced(text: str, old: str, new: str, path: str) -> str:
    """The text after a replacement. Fails with `ToolError` unless the old part occurs once."""
    count = text.count(old)
    if count == 0:
        raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        starts = [found.start() for found in re.finditer(f"(?={re.escape(old)})", text)]
        lines = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts)
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
        )
    return text.replace(old, new)


def snippet_of(text: str, changed: int) -> str:
    """The answer to a replacement in a line, counted from 0."""
    first = max(0, changed - 2)
    shown = numbered(text.split("\n")[first:changed + 3], first + 1)
    return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"


def inserted(text: str, line: int, new: str) -> str:
    """The text with a further line. Fails with `ToolError` if it has no line of that number."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if line < 0 or line > len(lines):
        raise ToolError(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    lines.insert(line, new.rstrip("\n"))
    joined = "\n".join(lines)
    return joined if joined.endswith("\n") else f"{joined}\n"


def note_of(text: str, memory: models.Memory) -> str:
    """What an answer says besides if the server has kept a text otherwise than it was sent."""
    if text_of(memory) == text:
        return ""
    return "\nSecrets and control characters of the text were not kept: view the file before you edit it."


def changed_error(path: str) -> ToolError:
    """What a command is answered that would overwrite what it does not know."""
    return ToolError(f"{path} has changed meanwhile, and is left as it is. View it again, then repeat the command if it still fits.")
