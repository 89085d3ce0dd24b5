"""Anthropic's memory tool over Commonbook."""

from __future__ import annotations

import contextlib
import uuid
from typing import Any

from anthropic.lib.tools import BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam, BetaMemoryTool20250818Command, BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand, BetaMemoryTool20250818InsertCommand, BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand, BetaMemoryTool20250818ViewCommand,
)

from .. import _memory_tool, models
from .._memory_tool import KEEPER, KEEPER_TEXT, Place, Tree, changed_error, path_of, place_of, text_of
from .._names import child_of
from ..errors import Conflict, Forbidden, Invalid, NotFound, TooLarge
from .book import AsyncCommonbook

NAME = "anthropic"


class AsyncCommonbookMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool whose files are documents of Commonbook: the file `/memories/plan.md` is the document of that path.

    Its answers are those of Anthropic's own tool for local files, byte for byte. The files belong to the agent that wrote them,
    and those of a caller with a user to that user: other agents find what is shared with a search, and read it with
    `owner`. Every process of an agent has the same files. A file that another process changed after this tool showed it is
    not edited: the model is asked to view it again. A deleted file is kept as any deleted memory, and each edit is a revision.

    Where files and documents differ, the tool makes up for it:
    - A document is never blank: a blank file has its text in the metadata.
    - Documents have no folders: a hidden document keeps one that has become empty.
    - A name that a document cannot have (blanks at its ends, letters that nobody sees, not in NFC) is in percent codes there.

    What stays different, and why:
    - The server keeps no secret and no control character of a text; the answer to the edit says so.
    - A file has at most 102,400 bytes, a path 20 names and 1,024 bytes, none of which may look like a secret: these are the
      limits of documents. There is no limit of 255 bytes for a name, which is one of file systems.
    - A folder always has the size `4K`: that of a small one on ext4, for it has none of its own.
    - A folder is renamed or deleted file by file, so that a failure in the middle leaves the rest where it was.
    - A command without a field that it needs leaves nothing behind, where a local `create` leaves an empty file."""

    def __init__(
        self,
        book: AsyncCommonbook | None = None,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user: str | None = None,
        sharing: models.Sharing | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """`book` is by default the memory of this machine under the name `anthropic`. The tool writes as `agent`, a child of
        that name (`anthropic/weather`), for `user`, by default that of `book`; new files have the `sharing`, by default
        `shared`. With `owner`, the full name of another agent, it shows what that agent shares, and changes nothing."""
        super().__init__(cache_control=cache_control)
        self._owned = book is None
        self.book = book if book is not None else AsyncCommonbook(agent=NAME)
        self._agent = child_of(self.book.agent or NAME, agent)
        self._owner = owner or self._agent
        self._acting = self.book.acting(agent=self._agent, user=user)
        self._user = self._acting._caller.user
        self._kept: dict[str, Any] = {"about": "user" if self._user else "project", "sharing": sharing}
        # The id and the revision of each file as the model knows it.
        self._seen: dict[Place, tuple[str, int]] = {}

    async def execute(self, command: BetaMemoryTool20250818Command) -> Any:
        """Executes a command; what the model can mend is a `ToolError`."""
        if self._owner != self._agent and command.command != "view":
            raise ToolError(f"The files belong to {self._owner}: you can view them, and not change them.")
        try:
            return await super().execute(command)
        except (Conflict, NotFound) as error:
            raise changed_error(command.old_path if command.command == "rename" else command.path) from error
        except (Invalid, Forbidden, TooLarge) as error:
            raise ToolError(error.message) from error

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a file with the numbers of its lines, or what is in a folder."""
        place = place_of(command.path)
        tree = await self._tree(place)
        if tree.is_file(place):
            memory = tree.documents[place]
            self._see(place, memory)
            return _memory_tool.content_of(text_of(memory), command.path, command.view_range)
        if tree.is_folder(place):
            return tree.listing(place, command.path)
        raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Creates a file where none is."""
        place = place_of(command.path)
        tree = await self._tree(place)
        tree.check_parents(place)
        exists = ToolError(f"File {command.path} already exists")
        if tree.has(place):
            raise exists
        document = _memory_tool.document_of(command.file_text)
        try:
            memory = await self._save(place, document)
        except Conflict as error:
            raise exists from error
        self._see(place, memory)
        return f"File created successfully at: {command.path}{_memory_tool.note_of(command.file_text, memory)}"

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a part of a file that occurs once in it."""
        place, memory = await self._file(command.path)
        text = text_of(memory)
        changed = _memory_tool.replaced(text, command.old_str, command.new_str, command.path)
        kept = await self._edit(place, memory, changed)
        line = text.count("\n", 0, text.find(command.old_str))
        return _memory_tool.snippet_of(text_of(kept), line) + _memory_tool.note_of(changed, kept)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts a text behind a line of a file."""
        place, memory = await self._file(command.path)
        changed = _memory_tool.inserted(text_of(memory), command.insert_line, command.insert_text)
        kept = await self._edit(place, memory, changed)
        return f"The file {command.path} has been edited.{_memory_tool.note_of(changed, kept)}"

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Deletes a file, or a folder with all that is in it."""
        place = place_of(command.path)
        if not place:
            raise ToolError("Cannot delete the /memories directory itself")
        tree = await self._tree(place)
        if not tree.has(place):
            raise ToolError(f"The path {command.path} does not exist")
        await self._keep_parent(tree, place)
        await self._delete(tree, place)
        return f"Successfully deleted {command.path}"

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Gives a file or a folder another path, at which nothing is."""
        old, new = place_of(command.old_path), place_of(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        tree = await self._tree(old, new)
        if tree.has(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        tree.check_parents(new)
        try:
            tree.check_parents(old)
            if len(new) > len(old) and new[:len(old)] == old:
                raise OSError(22, "Invalid argument")
            if not tree.has(old):
                raise ToolError(f"The path {command.old_path} does not exist")
        except (OSError, ToolError):
            # As locally, the folder of the destination is made before.
            if not tree.is_folder(new[:-1]):
                await self._keep(new[:-1])
            raise
        if new[:len(old) - 1] != old[:-1]:
            await self._keep_parent(tree, old)
        for place in tree.below(old):
            memory, target = tree.documents[place], (*new, *place[len(old):])
            await self._acting.update(memory["id"], new_path=path_of(target), expected_revision=memory["revision"])
            self._seen.pop(place, None)
            self._seen.pop(target, None)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    async def clear_all_memory(self) -> str:
        """Deletes every file and folder."""
        await self._delete(await self._tree(()), ())
        return "All memory cleared"

    async def close(self) -> None:
        """Closes the connections, unless `book` was given."""
        if self._owned:
            await self.book.close()

    async def _tree(self, *places: Place) -> Tree:
        tree = Tree(self._user)
        for path in {_memory_tool.around(place) for place in places}:
            async for memory in self._acting.list_all(path=path, owner=self._owner):
                tree.add(memory)
        return tree

    async def _file(self, path: str) -> tuple[Place, models.Memory]:
        """The document of a file that the model knows as it is now."""
        place = place_of(path)
        tree = await self._tree(place)
        if not tree.is_file(place):
            if tree.is_folder(place):
                raise ToolError(f"The path {path} is not a file.")
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        memory = tree.documents[place]
        known = (memory["id"], memory["revision"])
        if self._seen.get(place, known) != known:
            raise changed_error(path)
        return place, memory

    async def _save(self, place: Place, document: dict[str, Any]) -> models.Memory:
        """Makes a document. Fails with `Conflict` if the user has one at the place."""
        try:
            return (await self._acting.save(path=path_of(place), **document, **self._kept))["memory"]
        except Conflict:
            # A save also meets a document about nobody, or about others where the caller has no user. A move does not.
            saved = await self._acting.save(path=f"{_memory_tool.ROOT}.new/{uuid.uuid4()}", **document, **self._kept)
            try:
                return await self._acting.update(saved["memory"]["id"], new_path=path_of(place))
            except Conflict:
                await self._acting.delete(saved["memory"]["id"])
                raise

    async def _edit(self, place: Place, memory: models.Memory, text: str) -> models.Memory:
        document = _memory_tool.document_of(text, memory["metadata"])
        updated = await self._acting.update(memory["id"], expected_revision=memory["revision"], **document)
        self._see(place, updated)
        return updated

    async def _delete(self, tree: Tree, place: Place) -> None:
        for inner in tree.below(place):
            memory = tree.documents[inner]
            await self._acting.delete(memory["id"], expected_revision=memory["revision"])
            self._seen.pop(inner, None)

    async def _keep_parent(self, tree: Tree, place: Place) -> None:
        """Keeps the folder around a place that is about to be left, if it has nothing besides."""
        if tree.has_only(place[:-1], place[-1]):
            await self._keep(place[:-1])

    async def _keep(self, folder: Place) -> None:
        """Keeps a folder that has no files; the root needs nothing."""
        if folder:
            # With a conflict another process keeps it.
            with contextlib.suppress(Conflict):
                await self._save((*folder, KEEPER), {"text": KEEPER_TEXT})

    def _see(self, place: Place, memory: models.Memory) -> None:
        self._seen[place] = (memory["id"], memory["revision"])
