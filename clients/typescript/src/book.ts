/** The face of the client: a book that agents hold in common, its cases, and the sessions of an agent. */

import { type EventRequest, followEvents } from "./events.js";
import { type LocalOptions, chooseServer } from "./server.js";
import { type CallerHeaders, type RetryPolicy, Transport, headerValue } from "./transport.js";
import type { CallOptions, OtherFields, Schemas, Verb, VerbAnswer, VerbFields } from "./verbs.js";

/** Who calls. What is not given comes from the environment (`COMMONBOOK_AGENT_ID` …). */
export interface CallerOptions {
  /** The agent: `rook`, or its child `rook/tester`. Without a name a caller has no private memories. */
  agent?: string;
  /** The user that the agent works for. */
  user?: string;
  /** The workspace; that of the project around this folder, at a URL the server's own. */
  workspace?: string;
  /** The session that the calls belong to. */
  session?: string;
}

/** Where the memories are, and who calls. */
export interface CommonbookOptions extends CallerOptions, LocalOptions {
  /** The URL of a server, instead of the one on this machine; `COMMONBOOK_URL`. */
  url?: string;
  /** The token for the server, `cbk_…`; `COMMONBOOK_TOKEN`. */
  token?: string;
  /** How failed calls are tried again. */
  retry?: Partial<RetryPolicy>;
}

/** The fields of a memory that an author can choose, but for its text. */
export type SaveFields = Omit<Schemas["SaveMemory"], "text"> & { idempotency_key?: string };
/** The fields of an entry of a case, and of its appending, but for its summary. */
export type EntryFields =
  Omit<Schemas["NewEntry"], "summary"> & Omit<Schemas["AppendEntries"], "entries"> & { idempotency_key?: string };

type CallArguments<V extends Verb> = Record<never, never> extends VerbFields<V>
  ? [fields?: VerbFields<V>, options?: CallOptions]
  : [fields: VerbFields<V>, options?: CallOptions];

/**
 * A memory that agents hold in common. It finds the server of this machine, or starts one that ends with this process, unless
 * it has a URL. Fields and answers have the names of the API (`memory_type`); docs/api.md says what they mean.
 */
export class Commonbook {
  protected readonly transport: Transport;
  protected readonly caller: CallerOptions;

  /** The book that these options choose; the server is found with the first call. */
  constructor(options?: CommonbookOptions);
  /** The same server for another caller. */
  constructor(transport: Transport, caller: CallerOptions);
  constructor(first: CommonbookOptions | Transport = {}, caller?: CallerOptions) {
    if (first instanceof Transport) {
      this.transport = first;
      this.caller = caller ?? {};
      return;
    }
    this.transport = new Transport(chooseServer(first), first.retry);
    const { agent, user, workspace, session } = first;
    this.caller = {
      agent: agent ?? process.env.COMMONBOOK_AGENT_ID,
      user: user ?? process.env.COMMONBOOK_USER_ID,
      workspace: workspace ?? process.env.COMMONBOOK_WORKSPACE,
      session: session ?? process.env.COMMONBOOK_SESSION,
    };
  }

  /** The agent that calls. */
  get agent(): string | undefined {
    return this.caller.agent;
  }

  /** The user that the agent works for. */
  get user(): string | undefined {
    return this.caller.user;
  }

  /** A book whose server has answered. Fails with `Unavailable` if none does. */
  static async connect(options: CommonbookOptions = {}): Promise<Commonbook> {
    const book = new Commonbook(options);
    await book.health();
    return book;
  }

  /** The same memory for another agent, user, workspace or session; a session stays only if it is named. */
  acting(caller: CallerOptions): Commonbook {
    return new Commonbook(this.transport, { ...this.caller, session: undefined, ...caller });
  }

  /**
   * Calls any verb of the API by its name: `await book.call("list_agents")`. The methods below are shorter ways to the verbs
   * that agents use most.
   */
  async call<V extends Verb>(verb: V, ...[fields, options]: CallArguments<V>): Promise<VerbAnswer<V>> {
    return await this.send(verb, fields ?? {}, options) as VerbAnswer<V>;
  }

  /** The state of the server, and its version. */
  async health(options?: CallOptions): Promise<Schemas["Health"]> {
    return await this.send("health", {}, options) as Schemas["Health"];
  }

  /** Saves a memory under the caller's name. The same text again answers `repeated`. */
  async save(text: string, fields: SaveFields = {}, options?: CallOptions): Promise<Schemas["SaveResult"]> {
    return await this.send("save_memory", { ...fields, text }, options) as Schemas["SaveResult"];
  }

  /** Saves up to 100 memories, all or none. */
  async saveAll(memories: Schemas["SaveMemory"][], options?: CallOptions): Promise<Schemas["SaveResultPage"]> {
    return await this.send("save_memory", memories, options) as Schemas["SaveResultPage"];
  }

  /** Finds memories that answer a question, the best first. */
  async search(
    query: string, fields: OtherFields<"search_memory", "query"> = {}, options?: CallOptions,
  ): Promise<Schemas["SearchResponse"]> {
    return await this.send("search_memory", { ...fields, query }, options) as Schemas["SearchResponse"];
  }

  /** Reads a memory by its id or handle, and with `ids` others beside it. Fails with `NotFound` for one out of sight. */
  async get(
    id: string, fields: OtherFields<"get_memory", "id"> = {}, options?: CallOptions,
  ): Promise<Schemas["OpenedMemories"]> {
    return await this.send("get_memory", { ...fields, id }, options) as Schemas["OpenedMemories"];
  }

  /** Lists memories, the newest first; `next` of the answer is the `cursor` of the next page. */
  async list(fields: VerbFields<"list_memories"> = {}, options?: CallOptions): Promise<Schemas["MemoryPage"]> {
    return await this.send("list_memories", fields, options) as Schemas["MemoryPage"];
  }

  /** Every memory that `list` has with these fields, on all pages: `for await (const memory of book.listAll())`. */
  async *listAll(
    fields: OtherFields<"list_memories", "cursor"> = {}, options?: CallOptions,
  ): AsyncGenerator<Schemas["Memory"], void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.list({ limit: 100, ...fields, cursor }, options);
      yield* page.items;
      cursor = page.next ?? undefined;
    } while (cursor);
  }

  /** Changes the fields that are given, of a memory of the caller. */
  async update(
    id: string, changes: OtherFields<"update_memory", "id">, options?: CallOptions,
  ): Promise<VerbAnswer<"update_memory">> {
    return await this.send("update_memory", { ...changes, id }, options) as VerbAnswer<"update_memory">;
  }

  /**
   * Deletes a memory of the caller; `restore` brings it back for 30 days. A path that ends in `/` deletes the documents below
   * it, at most 200 in a call: `more` says whether others are left.
   */
  async delete(
    id: string, fields: OtherFields<"delete_memory", "id"> = {}, options?: CallOptions,
  ): Promise<VerbAnswer<"delete_memory">> {
    return await this.send("delete_memory", { ...fields, id }, options) as VerbAnswer<"delete_memory">;
  }

  /** Restores a deleted memory, or with `revision` an earlier text. */
  async restore(
    id: string, fields: OtherFields<"restore_memory", "id"> = {}, options?: CallOptions,
  ): Promise<VerbAnswer<"restore_memory">> {
    return await this.send("restore_memory", { ...fields, id }, options) as VerbAnswer<"restore_memory">;
  }

  /** The revisions of a memory, oldest first. */
  async history(id: string, options?: CallOptions): Promise<Schemas["RevisionHistory"]> {
    return await this.send("memory_history", { id }, options) as Schemas["RevisionHistory"];
  }

  /** What an agent should know before a task, as `text` for a model, within a budget of tokens. */
  async context(
    task: string, fields: OtherFields<"get_context", "task"> = {}, options?: CallOptions,
  ): Promise<Schemas["AgentContext"]> {
    return await this.send("get_context", { ...fields, task }, options) as Schemas["AgentContext"];
  }

  /** What is new to the session: at its beginning without a prompt, then with each prompt. Nothing comes twice. */
  async brief(
    prompt?: string, fields: OtherFields<"get_briefing", "prompt"> = {}, options?: CallOptions,
  ): Promise<Schemas["Briefing"]> {
    return await this.send("get_briefing", { ...fields, prompt }, options) as Schemas["Briefing"];
  }

  /** Saves the learnings (`Remember: …`) of an agent's last message. */
  async learn(
    message: string, fields: OtherFields<"learn", "message"> = {}, options?: CallOptions,
  ): Promise<Schemas["LearnResult"]> {
    return await this.send("learn", { ...fields, message }, options) as Schemas["LearnResult"];
  }

  /** What other agents changed since the caller's mark. */
  async changes(
    fields: VerbFields<"changes_since"> = {}, options?: CallOptions,
  ): Promise<Schemas["ChangesResponse"]> {
    return await this.send("changes_since", fields, options) as Schemas["ChangesResponse"];
  }

  /** Marks how far the caller has read a case or the journal; the end by default. */
  async markRead(
    position?: number, fields: OtherFields<"mark_read", "position"> = {}, options?: CallOptions,
  ): Promise<Schemas["ReadMark"]> {
    return await this.send("mark_read", { ...fields, position }, options) as Schemas["ReadMark"];
  }

  /** The case with this key. With a title its first entry opens it, else `openCase` does. */
  case(key: string, title?: string): Case {
    return new Case(this, key, title);
  }

  /** Opens or finds a case, by its key, its title or both. */
  async openCase(fields: VerbFields<"open_case">, options?: CallOptions): Promise<Schemas["OpenCaseResult"]> {
    return await this.send("open_case", fields, options) as Schemas["OpenCaseResult"];
  }

  /** Lists cases. */
  async cases(fields: VerbFields<"list_cases"> = {}, options?: CallOptions): Promise<Schemas["CasePage"]> {
    return await this.send("list_cases", fields, options) as Schemas["CasePage"];
  }

  /**
   * Starts a session; what the answer saves belongs to it. `clientSession` is your own id, by which a later process finds the
   * session again.
   */
  async session(
    clientSession?: string, fields: OtherFields<"start_session", "client_session"> = {}, options?: CallOptions,
  ): Promise<Session> {
    const request = { ...fields, client_session: clientSession };
    const started = await this.send("start_session", request, options) as Schemas["StartSessionResult"];
    return new Session(this.transport, this.caller, started.session);
  }

  /** Lists sessions, the newest first. */
  async sessions(fields: VerbFields<"list_sessions"> = {}, options?: CallOptions): Promise<Schemas["SessionPage"]> {
    return await this.send("list_sessions", fields, options) as Schemas["SessionPage"];
  }

  /** Reads a session with its newest memories. */
  async getSession(session: string, options?: CallOptions): Promise<Schemas["SessionDetails"]> {
    return await this.send("get_session", { session }, options) as Schemas["SessionDetails"];
  }

  /** Goes on with an earlier session, as `text` for a model. `session` of the answer is the one for further work. */
  async resume(
    session: string, fields: OtherFields<"resume_session", "session"> = {}, options?: CallOptions,
  ): Promise<Schemas["ResumeSessionResult"]> {
    return await this.send("resume_session", { ...fields, session }, options) as Schemas["ResumeSessionResult"];
  }

  /** Creates a checkpoint of the session. */
  async checkpoint(
    fields: VerbFields<"create_checkpoint"> = {}, options?: CallOptions,
  ): Promise<VerbAnswer<"create_checkpoint">> {
    return await this.send("create_checkpoint", fields, options) as VerbAnswer<"create_checkpoint">;
  }

  /** The checkpoints of a session, by default of the one that is open; the newest first. */
  async checkpoints(
    fields: VerbFields<"list_checkpoints"> = {}, options?: CallOptions,
  ): Promise<Schemas["CheckpointPage"]> {
    return await this.send("list_checkpoints", fields, options) as Schemas["CheckpointPage"];
  }

  /** Saves a summary into the session's case, else as a memory; marks the case as read, and creates a checkpoint. */
  async checkpointAndSummarise(
    summary: string, fields: OtherFields<"checkpoint_and_summarise", "summary"> = {}, options?: CallOptions,
  ): Promise<Schemas["SummariseResult"]> {
    return await this.send("checkpoint_and_summarise", { ...fields, summary }, options) as Schemas["SummariseResult"];
  }

  /** Hands work to another agent, or to the first of a role, with the memories that belong to it. */
  async handoff(
    to: string, task: string, fields: OtherFields<"create_handoff", "to" | "task"> = {}, options?: CallOptions,
  ): Promise<Schemas["CreateHandoffResult"]> {
    return await this.send("create_handoff", { ...fields, to, task }, options) as Schemas["CreateHandoffResult"];
  }

  /** Lists the handoffs that wait for the caller, or with `side: "sent"` the caller's own. */
  async handoffs(fields: VerbFields<"list_handoffs"> = {}, options?: CallOptions): Promise<Schemas["HandoffPage"]> {
    return await this.send("list_handoffs", fields, options) as Schemas["HandoffPage"];
  }

  /** Reads a handoff with its receipt. */
  async getHandoff(handoff: string, options?: CallOptions): Promise<VerbAnswer<"get_handoff">> {
    return await this.send("get_handoff", { handoff }, options) as VerbAnswer<"get_handoff">;
  }

  /** Accepts a handoff; `text` of the answer is for the model that does the work. */
  async acceptHandoff(handoff: string, options?: CallOptions): Promise<Schemas["AcceptHandoffResult"]> {
    return await this.send("accept_handoff", { handoff }, options) as Schemas["AcceptHandoffResult"];
  }

  /** Completes an accepted handoff with its result. */
  async completeHandoff(
    handoff: string, result: string, fields: OtherFields<"complete_handoff", "handoff" | "result"> = {},
    options?: CallOptions,
  ): Promise<VerbAnswer<"complete_handoff">> {
    return await this.send("complete_handoff", { ...fields, handoff, result }, options) as VerbAnswer<"complete_handoff">;
  }

  /** Rejects a handoff to the caller. */
  async rejectHandoff(handoff: string, reason: string, options?: CallOptions): Promise<VerbAnswer<"reject_handoff">> {
    return await this.send("reject_handoff", { handoff, reason }, options) as VerbAnswer<"reject_handoff">;
  }

  /** Withdraws a handoff of the caller. */
  async withdrawHandoff(
    handoff: string, reason: string, options?: CallOptions,
  ): Promise<VerbAnswer<"withdraw_handoff">> {
    return await this.send("withdraw_handoff", { handoff, reason }, options) as VerbAnswer<"withdraw_handoff">;
  }

  /** The agents of the workspace, by name. */
  async agents(options?: CallOptions): Promise<Schemas["AgentList"]> {
    return await this.send("list_agents", {}, options) as Schemas["AgentList"];
  }

  /** Figures of the workspace. */
  async stats(options?: CallOptions): Promise<Schemas["WorkspaceStats"]> {
    return await this.send("get_memory_stats", {}, options) as Schemas["WorkspaceStats"];
  }

  /** The address of the server. */
  async url(): Promise<string> {
    return (await this.transport.finder.find()).url;
  }

  /**
   * The events of the journal as they happen: `for await (const event of book.events({ events: ["memory.saved"] }))`. It begins
   * after the sequence `after`, else when the loop asks for its first event, and goes on after a lost connection and a restart
   * of the server without a gap or a repetition. Leaving the loop, or the signal, ends it. Fails with what the server refuses,
   * and with `Unavailable` if no server answers within `patienceMs`.
   */
  async *events(request: EventRequest = {}): AsyncGenerator<Schemas["Event"], void, undefined> {
    const { signal } = request;
    if (signal?.aborted) return;
    const headers = await this.headers();
    // A stream that breaks before its first event must still know where it began.
    const after = request.after ?? (await this.stats({ signal })).events;
    const { transport } = this;
    yield* followEvents({
      open: (path, own, ended) => transport.openStream(path, { ...headers, ...own }, ended),
      delayAfter: (attempt, error) => transport.delayAfter(attempt, error),
    }, request, after);
  }

  /** Ends the server if this book has started it. */
  async close(): Promise<void> {
    await this.transport.finder.close();
  }

  /** Closes the book at the end of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async send(verb: Verb, fields: object, options?: CallOptions): Promise<unknown> {
    return await this.transport.call(verb, fields, await this.headers(), options);
  }

  private async headers(): Promise<CallerHeaders> {
    const { agent, user, session, workspace } = this.caller;
    const { finder } = this.transport;
    // Before the server: where Commonbook is off, none is started.
    const place = workspace ?? await finder.workspace();
    const { agent: known } = await finder.find();
    const named = {
      "x-commonbook-agent": agent ?? known,
      "x-commonbook-user": user,
      "x-commonbook-session": session,
      "x-commonbook-workspace": place,
    };
    const given = Object.entries(named).filter((pair): pair is [string, string] => Boolean(pair[1]));
    return Object.fromEntries(given.map(([name, value]) => [name, headerValue(name, value)]));
  }
}

/** The log of one matter that several agents work on. */
export class Case {
  constructor(private readonly book: Commonbook, readonly key: string, private readonly title?: string) {}

  /** Appends an entry. With `expected_version`, an answer with `moved` says that others have appended meanwhile. */
  async append(summary: string, fields: EntryFields = {}): Promise<Schemas["AppendResult"]> {
    const { title, expected_version, based_on, require_current, idempotency_key, ...entry } = fields;
    const common = { title, expected_version, based_on, require_current, idempotency_key };
    return await this.appendAll([{ ...entry, summary }], common);
  }

  /** Appends several entries, all or none. */
  async appendAll(
    entries: Schemas["NewEntry"][], fields: OtherFields<"append_entries", "key" | "entries"> = {},
  ): Promise<Schemas["AppendResult"]> {
    const title = fields.title ?? this.title;
    return await this.book.call("append_entries", { ...fields, title, entries, key: this.key });
  }

  /** Reads the entries after a position or after the caller's mark, oldest first. */
  async read(fields: OtherFields<"read_case", "key"> = {}): Promise<Schemas["CaseEntries"]> {
    return await this.book.call("read_case", { ...fields, key: this.key });
  }

  /** Marks the case as read up to a position, its end by default. */
  async markRead(position?: number): Promise<Schemas["ReadMark"]> {
    return await this.book.markRead(position, { case: this.key });
  }

  /** The newest summaries, as `text` for a model. */
  async context(fields: OtherFields<"get_case_context", "key"> = {}): Promise<Schemas["CaseContext"]> {
    return await this.book.call("get_case_context", { ...fields, key: this.key });
  }

  /** The case without its entries. */
  async get(): Promise<VerbAnswer<"get_case">> {
    return await this.book.call("get_case", { key: this.key });
  }

  /** Changes title, labels or lead. */
  async update(changes: OtherFields<"update_case", "key">): Promise<VerbAnswer<"update_case">> {
    return await this.book.call("update_case", { ...changes, key: this.key });
  }

  /** Closes the case: it stays readable and takes no entries. */
  async close(): Promise<VerbAnswer<"close_case">> {
    return await this.book.call("close_case", { key: this.key });
  }

  /** Archives the case. */
  async archive(): Promise<VerbAnswer<"archive_case">> {
    return await this.book.call("archive_case", { key: this.key });
  }

  /** Opens a closed or archived case again. */
  async reopen(): Promise<VerbAnswer<"reopen_case">> {
    return await this.book.call("reopen_case", { key: this.key });
  }
}

/** A book within one session: what it saves belongs to the session. */
export class Session extends Commonbook {
  constructor(transport: Transport, caller: CallerOptions, readonly started: Schemas["Session"]) {
    super(transport, { ...caller, session: started.id });
  }

  /** The id of the session. */
  get id(): string {
    return this.started.id;
  }

  /** Keeps the session active, or pauses it. */
  async touch(fields: OtherFields<"touch_session", "session"> = {}): Promise<VerbAnswer<"touch_session">> {
    return await this.call("touch_session", { ...fields, session: this.id });
  }

  /** Ends the session, with a summary of what was done. */
  async end(summary?: string, fields: OtherFields<"end_session", "session" | "summary"> = {}): Promise<VerbAnswer<"end_session">> {
    return await this.call("end_session", { ...fields, session: this.id, summary });
  }
}
