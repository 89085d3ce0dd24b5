"""The verbs of Commonbook, the client that has them, and its sessions and cases."""

from __future__ import annotations

import os
from collections.abc import Iterator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, cast

from .. import models
from .._request import Call, Caller, given, reading, segment, stepping, writing
from .._server import LocalServer, RemoteServer
from .connection import Connection, stream_query

# What a caller may leave out of an update.
Metadata = Mapping[str, Any]


class Verbs:
    """What an agent can do. Every method fails with a `CommonbookError`.

    Each write has an idempotency key, so that a repetition after a cut connection changes nothing twice; give your own
    `idempotency_key` to repeat a write of another process."""

    _connection: Connection
    _caller: Caller

    def send(self, call: Call) -> Any:
        """Sends a call as this caller. Use `request` for routes that have no method here."""
        return self._connection.send(self._named(), call)

    def request(
        self, method: str, path: str, body: Any = None, *, query: Mapping[str, Any] | None = None, repeatable: bool = False,
    ) -> Any:
        """Calls any route of `/openapi.json`, and returns its JSON.

        `repeatable` allows a second attempt after the connection broke within a write; a `GET` has it always."""
        return self.send(Call(method.upper(), path, dict(query or {}), body, None, repeatable or method.upper() == "GET"))

    def _named(self) -> Caller:
        if self._caller.workspace is None:
            self._caller = self._caller.with_given(workspace=self._connection.workspace())
        return self._caller

    # Memories

    def save(
        self,
        text: str,
        *,
        memory_type: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        topics: Sequence[str] | None = None,
        entities: Sequence[str | models.EntityLabel] | None = None,
        importance: models.Importance | None = None,
        sharing: models.Sharing | None = None,
        about: models.MemorySubject | None = None,
        user_id: str | None = None,
        metadata: Metadata | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        case: str | None = None,
        path: str | None = None,
        expected_revision: int | None = None,
        supersedes: str | None = None,
        contradicts: Sequence[str] | None = None,
        repeats: Sequence[str] | None = None,
        based_on: Sequence[str] | None = None,
        require_current: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.SaveResult:
        """Saves one memory under the caller's name. `outcome` is `repeated` if its author saved it before."""
        body = given(
            text=text, memory_type=memory_type, title=title, summary=summary, topics=topics, entities=entities,
            importance=importance, sharing=sharing, about=about, user_id=user_id, metadata=metadata, valid_from=valid_from,
            valid_until=valid_until, case=case, path=path, expected_revision=expected_revision, supersedes=supersedes,
            contradicts=contradicts, repeats=repeats, based_on=based_on, require_current=require_current,
        )
        return cast(models.SaveResult, self.send(writing("POST", "/v1/memories", body, key=idempotency_key)))

    def save_all(
        self, memories: Sequence[models.SaveMemory], *, idempotency_key: str | None = None,
    ) -> models.SaveResultPage:
        """Saves up to 100 memories, all or none."""
        call = writing("POST", "/v1/memories", list_of(memories), key=idempotency_key)
        return cast(models.SaveResultPage, self.send(call))

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        owner: str | None = None,
        memory_type: str | None = None,
        topic: str | None = None,
        importance: models.Importance | None = None,
        session: str | None = None,
        case: str | None = None,
        entity: str | None = None,
        trust: models.Trust | None = None,
        user_id: str | None = None,
        since: str | None = None,
        until: str | None = None,
        at: str | None = None,
        include: Sequence[models.SearchInclusion] | None = None,
        scope: models.SearchScope | None = None,
        cursor: str | None = None,
    ) -> models.SearchResponse:
        """The memories that answer a question, best first; `relevance` of a hit is between 0 and 1."""
        call = reading(
            "/v1/memories/search", query=query, k=k, owner=owner, memory_type=memory_type, topic=topic, importance=importance,
            session=session, case=case, entity=entity, trust=trust, user_id=user_id, since=since, until=until, at=at,
            include=include, scope=scope, cursor=cursor,
        )
        return cast(models.SearchResponse, self.send(call))

    def get(self, id: str, *, ids: Sequence[str] | None = None, at: str | None = None) -> models.OpenedMemories:
        """Reads a memory, and `further` ones that `ids` names; with `at` as they were at that time."""
        return cast(models.OpenedMemories, self.send(reading(f"/v1/memories/{segment(id)}", ids=ids, at=at)))

    def list(
        self,
        *,
        owner: str | None = None,
        memory_type: str | None = None,
        topic: str | None = None,
        importance: models.Importance | None = None,
        session: str | None = None,
        case: str | None = None,
        path: str | None = None,
        trust: models.Trust | None = None,
        user_id: str | None = None,
        deleted: bool | None = None,
        since: str | None = None,
        at: str | None = None,
        order: models.ListOrder | None = None,
        sort: models.UsageKind | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.MemoryPage:
        """A page of the memories that the caller may see, newest first; its `next` is the `cursor` of the next page."""
        call = reading(
            "/v1/memories", owner=owner, memory_type=memory_type, topic=topic, importance=importance, session=session, case=case,
            path=path, trust=trust, user_id=user_id, deleted=deleted, since=since, at=at, order=order, sort=sort, limit=limit,
            cursor=cursor,
        )
        return cast(models.MemoryPage, self.send(call))

    def list_all(self, **filters: Any) -> Iterator[models.Memory]:
        """Every memory that `list` with these filters has, on all pages."""
        filters.setdefault("limit", 100)
        while True:
            page = self.list(**filters)
            for memory in page["items"]:
                yield memory
            if page["next"] is None:
                return
            filters["cursor"] = page["next"]

    def update(
        self,
        id: str,
        *,
        expected_revision: int | None = None,
        text: str | None = None,
        new_path: str | None = None,
        memory_type: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        topics: Sequence[str] | None = None,
        entities: Sequence[str | models.EntityLabel] | None = None,
        importance: models.Importance | None = None,
        sharing: models.Sharing | None = None,
        about: models.MemorySubject | None = None,
        metadata: Metadata | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        supersedes: str | None = None,
        contradicts: Sequence[str] | None = None,
        repeats: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> models.UpdateResult:
        """Changes a memory of the caller's own; what is None stays, an empty title, summary or time removes it.

        Fails with `Conflict` if it no longer has `expected_revision`."""
        body = given(
            expected_revision=expected_revision, text=text, new_path=new_path, memory_type=memory_type, title=title,
            summary=summary, topics=topics, entities=entities, importance=importance, sharing=sharing, about=about,
            metadata=metadata, valid_from=valid_from, valid_until=valid_until, supersedes=supersedes,
            contradicts=contradicts, repeats=repeats,
        )
        call = writing("PATCH", f"/v1/memories/{segment(id)}", body, key=idempotency_key)
        return cast(models.UpdateResult, self.send(call))

    def delete(
        self, id: str, *, expected_revision: int | None = None, idempotency_key: str | None = None,
    ) -> models.DeleteResult:
        """Deletes a memory of the caller's own; `restore` brings it back. A path that ends in `/` deletes the documents below
        it, at most 200 in a call: `more` says whether others are left."""
        path = f"/v1/memories/{segment(id)}"
        call = writing("DELETE", path, key=idempotency_key, expected_revision=expected_revision)
        return cast(models.DeleteResult, self.send(call))

    def restore(
        self, id: str, *, revision: int | None = None, expected_revision: int | None = None, idempotency_key: str | None = None,
    ) -> models.Memory:
        """Restores a deleted memory, or an earlier revision of one."""
        body = given(revision=revision, expected_revision=expected_revision)
        call = writing("POST", f"/v1/memories/{segment(id)}/restore", body, key=idempotency_key)
        return cast(models.Memory, self.send(call))

    def history(self, id: str) -> models.RevisionHistory:
        """Every revision of a memory, oldest first."""
        return cast(models.RevisionHistory, self.send(reading(f"/v1/memories/{segment(id)}/history")))

    # What an agent needs to know

    def context(
        self,
        task: str,
        *,
        case: str | None = None,
        budget: int | None = None,
        max_memories: int | None = None,
        threshold: float | None = None,
        user_id: str | None = None,
        open: bool | None = None,
        at: str | None = None,
    ) -> models.AgentContext:
        """What the agent needs to know before it works on a task: `text` belongs before the task in the prompt."""
        body = given(
            task=task, case=case, budget=budget, max_memories=max_memories, threshold=threshold, user_id=user_id, open=open, at=at,
        )
        return cast(models.AgentContext, self.send(stepping("/v1/context", body, repeatable=True)))

    def brief(
        self,
        prompt: str | None = None,
        *,
        client_session: str | None = None,
        restart: bool | None = None,
        user_id: str | None = None,
    ) -> models.Briefing:
        """What is new to the agent now, and nothing twice in a session: before each prompt of a conversation."""
        body = given(prompt=prompt, client_session=client_session, restart=restart, user_id=user_id)
        # A second attempt would leave out what the lost answer had.
        return cast(models.Briefing, self.send(stepping("/v1/briefing", body, repeatable=False)))

    def learn(
        self,
        message: str,
        *,
        report: bool | None = None,
        prompt: str | None = None,
        user_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.LearnResult:
        """Saves what the final message of an agent marks as worth remembering: `Remember: …`, `Lesson: …`."""
        body = given(message=message, report=report, prompt=prompt, user_id=user_id)
        return cast(models.LearnResult, self.send(writing("POST", "/v1/learnings", body, key=idempotency_key)))

    def changes(
        self, *, case: str | None = None, after: int | None = None, limit: int | None = None, own: bool | None = None,
    ) -> models.ChangesResponse:
        """What has changed since the caller's mark, oldest first."""
        return cast(models.ChangesResponse, self.send(reading("/v1/changes", case=case, after=after, limit=limit, own=own)))

    def mark_read(
        self, position: int | None = None, *, case: str | None = None, idempotency_key: str | None = None,
    ) -> models.ReadMark:
        """Marks how far the caller has read a case or the journal; by default to the end."""
        body = given(case=case, position=position)
        return cast(models.ReadMark, self.send(writing("POST", "/v1/changes/mark", body, key=idempotency_key)))

    # Handoffs

    def handoff(
        self,
        to: str,
        task: str | None = None,
        *,
        context: str | None = None,
        active_files: Sequence[str] | None = None,
        decisions_made: Sequence[str] | None = None,
        next_steps: Sequence[str] | None = None,
        kind: models.HandoffKind | None = None,
        memories: Sequence[str] | None = None,
        follows: Sequence[str] | None = None,
        case: str | None = None,
        budget: int | None = None,
        max_memories: int | None = None,
        max_entities: int | None = None,
        include_entities: bool | None = None,
        threshold: float | None = None,
        expires_hours: int | None = None,
        based_on: Sequence[str] | None = None,
        require_current: bool | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.CreateHandoffResult:
        """Hands work over to an agent or a role, with the memories that belong to it."""
        body = given(
            to=to, task=task, context=context, active_files=active_files, decisions_made=decisions_made, next_steps=next_steps,
            kind=kind, memories=memories, follows=follows, case=case, budget=budget, max_memories=max_memories,
            max_entities=max_entities, include_entities=include_entities, threshold=threshold, expires_hours=expires_hours,
            based_on=based_on, require_current=require_current, dry_run=dry_run,
        )
        return cast(models.CreateHandoffResult, self.send(writing("POST", "/v1/handoffs", body, key=idempotency_key)))

    def handoffs(
        self,
        *,
        side: models.HandoffSide | None = None,
        status: Sequence[models.HandoffStatus] | None = None,
        with_: str | None = None,
        chain: str | None = None,
        case: str | None = None,
        memory: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.HandoffPage:
        """The handoffs that wait for the caller, oldest first; `side` chooses others."""
        call = reading(
            "/v1/handoffs", side=side, status=status, with_=with_, chain=chain, case=case, memory=memory, limit=limit, cursor=cursor,
        )
        return cast(models.HandoffPage, self.send(call))

    def get_handoff(self, handoff: str) -> models.HandoffReceipt:
        """A handoff with what went along, and why."""
        return cast(models.HandoffReceipt, self.send(reading(f"/v1/handoffs/{segment(handoff)}")))

    def accept_handoff(self, handoff: str) -> models.AcceptHandoffResult:
        """Accepts a handoff; `text` is what the agent needs for it."""
        call = stepping(f"/v1/handoffs/{segment(handoff)}/accept", repeatable=True)
        return cast(models.AcceptHandoffResult, self.send(call))

    def complete_handoff(
        self,
        handoff: str,
        result: str | None = None,
        *,
        still_open: Sequence[str] | None = None,
        based_on: Sequence[str] | None = None,
        require_current: bool | None = None,
    ) -> models.HandoffStepResult:
        """Completes an accepted handoff; the result reaches its source."""
        body = given(result=result, still_open=still_open, based_on=based_on, require_current=require_current)
        call = stepping(f"/v1/handoffs/{segment(handoff)}/complete", body, repeatable=True)
        return cast(models.HandoffStepResult, self.send(call))

    def reject_handoff(self, handoff: str, reason: str) -> models.HandoffStepResult:
        """Rejects a handoff; the reason reaches its source."""
        call = stepping(f"/v1/handoffs/{segment(handoff)}/reject", {"reason": reason}, repeatable=True)
        return cast(models.HandoffStepResult, self.send(call))

    def withdraw_handoff(self, handoff: str, reason: str | None = None) -> models.HandoffStepResult:
        """Withdraws a handoff of the caller's own."""
        call = stepping(f"/v1/handoffs/{segment(handoff)}/withdraw", given(reason=reason), repeatable=True)
        return cast(models.HandoffStepResult, self.send(call))

    # Cases

    def case(self, key: str, title: str | None = None) -> Case:
        """The case with this key. With a title its first entry opens it, else `open_case` does."""
        return Case(self, key, title)

    def open_case(
        self, key: str | None = None, title: str | None = None, *, idempotency_key: str | None = None,
    ) -> models.OpenCaseResult:
        """Opens or finds a case, by its key, its title or both."""
        call = writing("POST", "/v1/cases", given(key=key, title=title), key=idempotency_key)
        return cast(models.OpenCaseResult, self.send(call))

    def cases(
        self,
        *,
        status: models.CaseStatus | None = None,
        label: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.CasePage:
        """A page of cases."""
        return cast(models.CasePage, self.send(reading("/v1/cases", status=status, label=label, limit=limit, cursor=cursor)))

    # Sessions

    def session(self, client_session: str | None = None, *, case: str | None = None) -> Session:
        """A session, as a context manager: begun at its start, ended at its end; what it saves belongs to it.

        `client_session` is your own id, by which a later process finds the session again."""
        return Session(self, client_session, case)

    def sessions(
        self,
        *,
        owner: str | None = None,
        status: models.SessionStatus | None = None,
        case: str | None = None,
        unsummarised: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.SessionPage:
        """A page of sessions, newest first."""
        call = reading(
            "/v1/sessions", owner=owner, status=status, case=case, unsummarised=unsummarised, limit=limit, cursor=cursor,
        )
        return cast(models.SessionPage, self.send(call))

    def get_session(self, session: str) -> models.SessionDetails:
        """One session."""
        return cast(models.SessionDetails, self.send(reading(f"/v1/sessions/{segment(session)}")))

    def resume(
        self,
        session: str,
        *,
        checkpoint: str | None = None,
        mode: models.ResumeMode | None = None,
        owner: str | None = None,
        budget: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.ResumeSessionResult:
        """Resumes a session, also another agent's: `text` says what the agent needs to go on."""
        body = given(checkpoint=checkpoint, mode=mode, owner=owner, budget=budget)
        call = writing("POST", f"/v1/sessions/{segment(session)}/resume", body, key=idempotency_key)
        return cast(models.ResumeSessionResult, self.send(call))

    def checkpoint(
        self,
        *,
        session: str | None = None,
        kind: models.CheckpointKind | None = None,
        title: str | None = None,
        agents_involved: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> models.Checkpoint:
        """Creates a checkpoint of a session, by default of the one that is open."""
        body = given(session=session, kind=kind, title=title, agents_involved=agents_involved)
        return cast(models.Checkpoint, self.send(writing("POST", "/v1/checkpoints", body, key=idempotency_key)))

    def checkpoint_and_summarise(
        self,
        summary: str,
        *,
        session: str | None = None,
        kind: models.CheckpointKind | None = None,
        title: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.SummariseResult:
        """Saves a summary of the work so far, in the session's case if it has one, marks the case as read, and creates a checkpoint.

        The summary has at most 512 characters."""
        body = given(summary=summary, session=session, kind=kind, title=title)
        call = writing("POST", "/v1/checkpoints/summarise", body, key=idempotency_key)
        return cast(models.SummariseResult, self.send(call))

    def checkpoints(self, *, session: str | None = None, archived: bool | None = None) -> models.CheckpointPage:
        """The checkpoints of a session, newest first; by default of the one that is open."""
        return cast(models.CheckpointPage, self.send(reading("/v1/checkpoints", session=session, archived=archived)))

    # Everybody's work

    def events(
        self,
        *,
        after: int | str | None = None,
        topics: Sequence[str] | None = None,
        importance: Sequence[models.Importance] | None = None,
        events: Sequence[str] | None = None,
        exclude_self: bool | None = None,
        patience: float = 60.0,
        on_gap: Callable[[int], None] | None = None,
    ) -> Iterator[models.Event]:
        """Events as they happen, from now on or after a sequence, for as long as you read.

        Resumes where it was if the connection breaks or the server starts again, and fails with `Unavailable` if none answers
        for `patience` seconds. `on_gap` hears of a journal that has lost events, as after a failover of a database, with the
        position after which the stream goes on."""
        query = stream_query(topics, importance, events, exclude_self)
        position = None if after is None else str(after)
        for event in self._connection.events(self._named(), query, position, patience, on_gap):
            yield event

    def agents(self) -> models.AgentList:
        """The agents of the workspace."""
        return cast(models.AgentList, self.send(reading("/v1/agents")))

    def stats(self) -> models.WorkspaceStats:
        """Figures of the workspace."""
        return cast(models.WorkspaceStats, self.send(reading("/v1/stats")))


class Commonbook(Verbs):
    """A memory that many agents hold in common.

    Without `url` (or `COMMONBOOK_URL`) it is the one of this machine, in `home` (or `COMMONBOOK_HOME`, else `~/.commonbook`):
    the server that runs there, else one that is started, and that ends with this process. `program` names the executable,
    by default the one that is installed. Then the workspace is that of the project around this folder, as for the commands.

    `agent`, `user`, `workspace` and `token` say who calls; the environment has `COMMONBOOK_AGENT_ID`, `COMMONBOOK_USER_ID`,
    `COMMONBOOK_WORKSPACE` and `COMMONBOOK_TOKEN` for what is not given. `timeout` is in seconds, for each attempt; a call has up
    to `retries` further ones."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        agent: str | None = None,
        workspace: str | None = None,
        user: str | None = None,
        home: str | os.PathLike[str] | None = None,
        program: str | os.PathLike[str] | None = None,
        timeout: float = 30.0,
        retries: int = 3,
    ) -> None:
        environment = os.environ.get
        address = url or (environment("COMMONBOOK_URL") if home is None else None)
        server: LocalServer | RemoteServer
        if address:
            server = RemoteServer(address)
        else:
            server = LocalServer(os.fspath(home) if home is not None else None, os.fspath(program) if program is not None else None)
        self._connection = Connection(server, timeout=timeout, retries=retries)
        self._caller = Caller(
            agent=agent or environment("COMMONBOOK_AGENT_ID") or None,
            user=user or environment("COMMONBOOK_USER_ID") or None,
            workspace=workspace or environment("COMMONBOOK_WORKSPACE") or None,
            token=token or environment("COMMONBOOK_TOKEN") or None,
        )

    def __enter__(self) -> Commonbook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. A server that this process started goes on until the process ends."""
        self._connection.close()

    @property
    def agent(self) -> str | None:
        """The name under which it writes; None for the server's own choice."""
        return self._caller.agent

    def url(self) -> str:
        """The address of the server."""
        return self._connection.base()

    def acting(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        workspace: str | None = None,
        session: str | None = None,
    ) -> Verbs:
        """The same memory for another caller, over the same connections: an agent, a user, a workspace, a session."""
        return Acting(self._connection, self._caller.with_given(agent=agent, user=user, workspace=workspace, session=session))


class Acting(Verbs):
    """The verbs for another caller."""

    def __init__(self, connection: Connection, caller: Caller) -> None:
        self._connection = connection
        self._caller = caller


class Session(Verbs):
    """One stretch of an agent's work: the verbs, whose writes belong to it."""

    def __init__(self, book: Verbs, client_session: str | None, case: str | None) -> None:
        self._connection = book._connection
        self._caller = book._caller
        self._wanted = given(client_session=client_session, case=case)
        self._state: models.Session | None = None

    @property
    def id(self) -> str:
        """The id of the session, which another process may resume. Fails before the session has begun."""
        if self._state is None:
            raise RuntimeError("the session has not begun: use `with`, or call `start`")
        return self._state["id"]

    def start(self) -> models.StartSessionResult:
        """Begins the session, or finds the one that `client_session` names."""
        started = cast(models.StartSessionResult, self.send(writing("POST", "/v1/sessions", self._wanted, key=None)))
        self._state = started["session"]
        self._caller = self._caller.with_given(session=self._state["id"])
        return started

    def touch(self, *, pause: bool | None = None) -> models.Session:
        """Keeps the session active, or pauses it."""
        call = writing("POST", f"/v1/sessions/{segment(self.id)}/touch", given(pause=pause), key=None)
        return cast(models.Session, self.send(call))

    def end(self, summary: str | None = None) -> models.EndSessionResult:
        """Ends the session, with a summary of what was done."""
        call = writing("POST", f"/v1/sessions/{segment(self.id)}/end", given(summary=summary), key=None)
        ended = cast(models.EndSessionResult, self.send(call))
        self._state = None
        return ended

    def __enter__(self) -> Session:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        if self._state is not None:
            self.end()


class Case:
    """A log of one matter, to which many agents append."""

    def __init__(self, book: Verbs, key: str, title: str | None) -> None:
        self._book = book
        self._title = title
        self.key = key

    @property
    def _path(self) -> str:
        return f"/v1/cases/{segment(self.key)}"

    def append(
        self,
        summary: str,
        *,
        text: str | None = None,
        kind: models.EntryKind | None = None,
        topics: Sequence[str] | None = None,
        importance: models.Importance | None = None,
        about: models.MemorySubject | None = None,
        supersedes: str | None = None,
        title: str | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.AppendResult:
        """Appends one entry: a `summary` of at most 512 characters, and its `text`.

        If others have appended since `expected_version`, nothing is written and `moved` says what came."""
        entry = given(
            summary=summary, text=text, kind=kind, topics=topics, importance=importance, about=about, supersedes=supersedes,
        )
        entries = [cast(models.NewEntry, entry)]
        return self.append_all(entries, title=title, expected_version=expected_version, idempotency_key=idempotency_key)

    def append_all(
        self,
        entries: Sequence[models.NewEntry],
        *,
        title: str | None = None,
        expected_version: int | None = None,
        based_on: Sequence[str] | None = None,
        require_current: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.AppendResult:
        """Appends up to 20 entries, all or none."""
        body = given(
            entries=list_of(entries), title=title or self._title, expected_version=expected_version, based_on=based_on,
            require_current=require_current,
        )
        call = writing("POST", f"{self._path}/entries", body, key=idempotency_key)
        return cast(models.AppendResult, self._book.send(call))

    def read(
        self,
        *,
        after: int | str | None = None,
        last: int | None = None,
        kind: models.EntryKind | None = None,
        author: str | None = None,
        limit: int | None = None,
    ) -> models.CaseEntries:
        """Its entries, oldest first: after a position, by default after the caller's mark."""
        call = reading(f"{self._path}/entries", after=after, last=last, kind=kind, author=author, limit=limit)
        return cast(models.CaseEntries, self._book.send(call))

    def context(self, *, budget: int | None = None) -> models.CaseContext:
        """Its newest summaries as one text for a prompt."""
        return cast(models.CaseContext, self._book.send(reading(f"{self._path}/context", budget=budget)))

    def get(self) -> models.Case:
        """The case itself."""
        return cast(models.Case, self._book.send(reading(self._path)))

    def update(
        self,
        *,
        title: str | None = None,
        labels: Sequence[str] | None = None,
        lead: str | None = None,
        expected_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.Case:
        """Changes title, labels or lead; an empty lead removes it."""
        body = given(title=title, labels=labels, lead=lead, expected_revision=expected_revision)
        return cast(models.Case, self._book.send(writing("PATCH", self._path, body, key=idempotency_key)))

    def mark_read(self, position: int | None = None) -> models.ReadMark:
        """Marks how far the caller has read it; by default to the end."""
        return self._book.mark_read(position, case=self.key)

    def close(self) -> models.Case:
        """Closes the case."""
        return cast(models.Case, self._book.send(writing("POST", f"{self._path}/close", key=None)))

    def archive(self) -> models.Case:
        """Archives the case."""
        return cast(models.Case, self._book.send(writing("POST", f"{self._path}/archive", key=None)))

    def reopen(self) -> models.Case:
        """Opens the case again."""
        return cast(models.Case, self._book.send(writing("POST", f"{self._path}/reopen", key=None)))


def list_of(items: Sequence[Any]) -> Any:
    """The items of any sequence, as JSON has them."""
    return [*items]
