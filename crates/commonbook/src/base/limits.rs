//! Every limit, in one table: checked in the model, documented in `docs/api.md`.

/// Length of a memory's text, in bytes.
pub const TEXT_BYTES: usize = 64 * 1024;
/// Length of the text of a memory with a path, in bytes.
pub const DOCUMENT_BYTES: usize = 102_400;
/// Documents below a folder that one call deletes or moves.
pub const FOLDER_DOCUMENTS: usize = 200;
/// Bytes of the text of an opaque document, in UTF-8.
pub const OPAQUE_BYTES: usize = 4 * 1024 * 1024;
/// Length of the path of a memory, in bytes.
pub const PATH_BYTES: usize = 1_024;
/// Segments of the path of a memory.
pub const PATH_SEGMENTS: usize = 20;
/// Length of a title, in characters.
pub const TITLE_CHARS: usize = 200;
/// Length of a summary, in characters.
pub const SUMMARY_CHARS: usize = 512;
/// Length of the reason of an appeal, in characters.
pub const APPEAL_CHARS: usize = 500;
/// Earlier memories of the same author, and of agents above and below it, that are judged together with
/// a new one.
pub const SPLIT_MEMORIES: u32 = 6;
/// Newest memories of all agents among which those of agents above and below the author are found.
pub const SPLIT_NEIGHBOURS: u32 = 12;
/// Characters read from the end of each of them, and from the beginning of the new one.
pub const SPLIT_CHARS: usize = 400;
/// Topics of a memory.
pub const TOPICS: usize = 32;
/// Length of a topic, in characters.
pub const TOPIC_CHARS: usize = 64;
/// Size of a memory's metadata, in bytes of JSON.
pub const METADATA_BYTES: usize = 16 * 1024;
/// Length of a case's key, in characters.
pub const CASE_KEY_CHARS: usize = 64;
/// Labels of a case.
pub const CASE_LABELS: usize = 16;
/// Characters of a label.
pub const LABEL_CHARS: usize = 64;
/// Memories of agents on a case after which its digest runs by itself, at most (`digest.every`).
pub const DIGEST_EVERY_MAX: u32 = 1_000;
/// Entries appended in one call, and entries that one entry supersedes.
pub const ENTRIES: usize = 20;
/// The greatest position in a case at which an import files an entry.
pub const CASE_POSITION: u64 = 100_000;
/// Tokens of a case's text when the request names no budget.
pub const CASE_TOKENS: u32 = 1_000;
/// Tokens of a case's text, at least.
pub const CASE_TOKENS_MIN: u32 = 200;
/// Tokens of a case's text, at most.
pub const CASE_TOKENS_MAX: u32 = 16_000;
/// Journal positions within which remaining changes are counted.
pub const CHANGES_COUNTED: u64 = 100_000;
/// Length of the beginning of a memory in a contradiction, a retraction and what is like a forgotten one, in
/// characters.
pub const PREVIEW_CHARS_MAX: usize = 240;
/// Hours without a write after which a session ends.
pub const SESSION_IDLE_HOURS: i64 = 24;
/// Hours after its last write in which a call that names no session joins one.
pub const SESSION_JOIN_HOURS: i64 = 4;
/// Length of a handoff's task, in characters.
pub const HANDOFF_TASK_CHARS: usize = 2_000;
/// Length of a handoff's context, in characters.
pub const HANDOFF_CONTEXT_CHARS: usize = 16_000;
/// Maximum number of files, of decisions and of next steps of a handoff.
pub const HANDOFF_LINES: usize = 50;
/// Length of each of these lines, in characters.
pub const HANDOFF_LINE_CHARS: usize = 500;
/// Size of everything that a handoff's author writes into it, in bytes.
pub const HANDOFF_BYTES: usize = 32 * 1024;
/// Length of a handoff's result, or of the reason to reject or withdraw it, in characters.
pub const HANDOFF_NOTE_CHARS: usize = 2_000;
/// Default length of a handoff's text, in tokens.
pub const HANDOFF_TOKENS: u32 = 5_000;
/// Minimum length of a handoff's text, in tokens.
pub const HANDOFF_TOKENS_MIN: u32 = 500;
/// Maximum length of a handoff's text, in tokens.
pub const HANDOFF_TOKENS_MAX: u32 = 40_000;
/// Default number of memories in full in a handoff.
pub const HANDOFF_MEMORIES: u32 = 20;
/// Maximum number of memories in full in a handoff.
pub const HANDOFF_MEMORIES_MAX: u32 = 100;
/// Default number of entities in a handoff.
pub const HANDOFF_ENTITIES: u32 = 20;
/// Maximum number of entities in a handoff.
pub const HANDOFF_ENTITIES_MAX: u32 = 100;
/// Earlier handoffs that one handoff can continue.
pub const HANDOFF_FOLLOWS: usize = 20;
/// Hours without a sign of its target after which an accepted handoff can be withdrawn, and expires at its time.
pub const HANDOFF_SILENT_HOURS: i64 = 4;
/// Default number of hours until a handoff expires.
pub const HANDOFF_HOURS: u32 = 24;
/// Maximum number of hours until a handoff expires.
pub const HANDOFF_HOURS_MAX: u32 = 30 * 24;
/// Entries that one digest proposes: as many as one append accepts.
pub const DIGEST_ENTRIES: usize = 20;
/// Seconds that the digest writer may take for one entry.
pub const DIGEST_ENTRY_SECONDS: u64 = 20;
/// Seconds that the digest writer may take for all entries of a digest.
pub const DIGEST_SECONDS: u64 = 60;
/// Hours in which the source's newest memories count as its present work in a handoff.
pub const HANDOFF_RECENT_HOURS: i64 = 8;
/// Hours in which a completed handoff is continued by default.
pub const CHAIN_HOURS: i64 = 12;
/// Earlier handoffs of a chain that a handoff tells of.
pub const HANDOFF_EARLIER: usize = 20;
/// Hours in which contexts tell the source of a handoff that it ended.
pub const HANDOFF_RESULT_HOURS: i64 = 72;
/// Ended handoffs that one context tells their source of, the latest.
pub const HANDOFF_RESULTS: u32 = 3;
/// The latest accepted handoffs that an agent can continue.
pub const HANDOFFS_RECEIVED: u32 = 200;
/// The latest handoffs that the collaboration graph shows.
pub const COLLABORATIONS: u32 = 10_000;
/// Default maximum number of handoffs in a chain.
pub const CHAIN_DEPTH: u32 = 10;
/// Default number of checkpoints of one session.
pub const CHECKPOINTS: u32 = 10;
/// Maximum number of checkpoints of one session, without archived ones.
pub const CHECKPOINTS_MAX: u32 = 100;
/// Archived checkpoints of one session.
pub const CHECKPOINTS_ARCHIVED: usize = 100;
/// Default number of days until a checkpoint expires.
pub const CHECKPOINT_DAYS: u32 = 30;
/// Maximum number of days until a checkpoint expires.
pub const CHECKPOINT_DAYS_MAX: u32 = 3_650;
/// Default number of minutes of activity after which an automatic checkpoint is made.
pub const CHECKPOINT_MINUTES: u32 = 60;
/// Maximum number of these minutes.
pub const CHECKPOINT_MINUTES_MAX: u32 = 1_440;
/// Minutes of a pause that count as activity.
pub const IDLE_MINUTES: i64 = 15;
/// Agents that a checkpoint names.
pub const CHECKPOINT_AGENTS: usize = 50;
/// Default length of a resumed session's text, in tokens.
pub const RESUME_TOKENS: u32 = 5_000;
/// Minimum length of a resumed session's text, in tokens.
pub const RESUME_TOKENS_MIN: u32 = 500;
/// Maximum length of a resumed session's text, in tokens.
pub const RESUME_TOKENS_MAX: u32 = 40_000;
/// The newest memories that a full resume includes.
pub const RESUME_MEMORIES: usize = 500;
/// The newest memories that a partial resume includes by default.
pub const RESUME_PARTIAL_MEMORIES: u32 = 50;
/// Entries of its case from which a resumed session's text is made, the newest.
pub const RESUME_ENTRIES: u64 = 200;
/// The entities mentioned last that a full resume includes.
pub const RESUME_ENTITIES: usize = 200;
/// Open handoffs in a resumed session, of its agent and of the caller each; the newest of each
/// counterpart in turn.
pub const RESUME_HANDOFFS: u32 = 20;
/// The entities mentioned last that a partial resume includes by default.
pub const RESUME_PARTIAL_ENTITIES: u32 = 20;
/// Tokens of one memory or entry in a context; `get_memory` returns it whole.
pub const CONTEXT_ITEM_TOKENS: usize = 500;
/// Minimum relevance of a memory in a handoff, a digest or a recall, and of a headline at a prompt; chosen
/// on the fitting tasks of `commonbook-bench context`.
pub const RELEVANCE_MIN: f64 = 0.15;
/// Minimum relevance of a memory that a context tells in full: at it 93 of 100 tasks without a fitting memory
/// get none, in collections of 40 to 2,000.
pub const RELEVANCE_FULL: f64 = 0.5;
/// Headlines for a task.
pub const TASK_HEADLINES: usize = 10;
/// Tokens of the headlines for a task.
pub const TASK_HEADLINE_TOKENS: usize = 224;
/// Headlines for one prompt of a conversation.
pub const PROMPT_HEADLINES: usize = 5;
/// Tokens of the headlines for one prompt.
pub const PROMPT_HEADLINE_TOKENS: usize = 110;
/// Further memories that one call opens, at most.
pub const OPENED_MEMORIES: usize = 20;
/// Tokens of the texts that one call opens; the first memory comes whole.
pub const OPENED_TOKENS: usize = 4_000;
/// Memories in full for a reader that can open nothing.
pub const UNOPENED_MEMORIES: usize = 5;
/// Notes that the answer of a save names: those nearest to what was saved.
pub const NEAR_NOTES: usize = 3;
/// Words of the part of each of them.
pub const NEAR_WORDS: usize = 30;
/// Tokens of all of them with their handles and owners.
pub const NEAR_TOKENS: usize = 120;
/// Minimum relevance of the nearest one; without one, none is named. Lower than [`RELEVANCE_MIN`]: a long
/// note shares few of the words of another that contradicts it.
pub const NEAR_RELEVANCE_MIN: f64 = 0.12;
/// Minimum relevance of the others.
pub const NEAR_NEXT_RELEVANCE_MIN: f64 = 0.08;
/// Notes that one call says to contradict, and to repeat, what it saves.
pub const STATEMENTS: usize = 10;
/// Contradictions that one agent states in a workspace within a day while nobody has resolved them.
pub const STATEMENTS_A_DAY: u32 = 30;
/// Pairs of near memories on one page, and answers in one call.
pub const NEAR_PAIRS: u32 = 20;
/// Memories whose nearest ones are searched for one page of pairs.
pub const NEAR_PAIRS_MEMORIES: u32 = 12;
/// Memories and entries in one context.
pub const CONTEXT_MAXIMUM: usize = 8;
/// Case entries among them.
pub const CONTEXT_UNREAD: usize = 3;
/// Length of a context with its fence, in tokens.
pub const CONTEXT_TOKENS: usize = 1_500;
/// Minimum length of a context, in tokens.
pub const CONTEXT_TOKENS_MIN: u32 = 200;
/// Maximum length of a context, in tokens.
pub const CONTEXT_TOKENS_MAX: u32 = 40_000;
/// Maximum number of memories and entries in one context.
pub const CONTEXT_MAXIMUM_MAX: u32 = 50;
/// Length of a context's task, in characters; a longer one is cut.
pub const CONTEXT_TASK_CHARS: usize = 8_000;
/// Latest tasks of a workspace with which a new one is compared.
pub const CONTEXT_TASKS_COMPARED: u32 = 12;
/// Search hits that are candidates for a context.
pub const CONTEXT_CANDIDATES: usize = 40;
/// Days until the receipt of a context expires.
pub const CONTEXT_DAYS: i64 = 30;
/// The newest context receipts stored for one agent.
pub const CONTEXTS: u32 = 1_000;
/// The newest memories about the same subject that one memory is compared with.
pub const CONTRADICTION_CANDIDATES: u32 = 50;
/// The most certain contradictions recorded for one memory: a memory with more is more likely about
/// another subject.
pub const CONTRADICTIONS_AT_ONCE: usize = 10;
/// Characters of the digest of a consolidation's plan.
pub const PLAN_CHARS: usize = 64;
/// Changes that the response to a consolidation shows.
pub const CONSOLIDATION_ITEMS: u32 = 100_000;
/// Hours from one scheduled consolidation to the next: a year.
pub const CONSOLIDATION_HOURS: u32 = 8_760;
/// Seconds for which a consolidation holds its workspace without a sign of life.
pub const CONSOLIDATION_LEASE_SECONDS: u64 = 60;
/// Pairs that one call asks the endpoint in the settings about.
pub const JUDGED_PAIRS: u32 = 50;
/// Those that it asks about by default.
pub const JUDGED_PAIRS_DEFAULT: u32 = 20;
/// Seconds that the endpoint may take for one pair.
pub const JUDGED_PAIR_SECONDS: u64 = 20;
/// Seconds that the endpoint may take for all pairs of a call.
pub const JUDGED_SECONDS: u64 = 60;
/// Tokens of the two memories of a pair in the question to the endpoint.
pub const JUDGED_TOKENS: usize = 1_200;
/// Length of the context in which each of two contradicting memories holds, in characters.
pub const CONTRADICTION_CONTEXT_CHARS: usize = 1_000;
/// Tokens of the standing memory in a context whose budget nobody set, beside [`CONTEXT_TOKENS`].
pub const STANDING_TOKENS: usize = 2_500;
/// Size of a standing memory file, in bytes.
pub const STANDING_BYTES: usize = 80 * 1024;
/// Items of a standing memory file.
pub const STANDING_ITEMS: usize = 100;
/// Length of a line that Commonbook writes into a standing memory file, in characters.
pub const STANDING_LINE_CHARS: usize = 120;
/// Log lines that wait for standard error.
pub const LOG_LINES: usize = 8_192;
/// Backups of a standing memory file made before `MEMORIES` replaced its items.
pub const STANDING_BACKUPS: usize = 5;
/// Length of an item of a standing memory file, in characters.
pub const STANDING_ITEM_CHARS: usize = 1_000;
/// Versions stored of a standing memory file.
pub const STANDING_VERSIONS: u32 = 100;
/// Size of all stored versions of a standing memory file, in bytes.
pub const STANDING_VERSIONS_BYTES: u64 = 5 * 1024 * 1024;
/// Learnings extracted from one message.
pub const LEARNINGS: usize = 20;
/// Length of a learning, in characters.
pub const LEARNING_CHARS: usize = 2_000;
/// Memories saved in one call.
pub const BATCH: usize = 100;
/// Length of an agent's name with path and device, in characters.
pub const AGENT_CHARS: usize = 128;
/// Length of a workspace's name, in characters.
pub const WORKSPACE_CHARS: usize = 128;
/// Workspaces that a project used before and that a search of it reads.
pub const EARLIER_WORKSPACES: usize = 8;
/// Length of a memory type, in characters.
pub const MEMORY_TYPE_CHARS: usize = 64;
/// Length of a user's id, in characters.
pub const USER_CHARS: usize = 128;
/// Length of a session's id, in characters.
pub const SESSION_CHARS: usize = 128;

/// Quarantined memories that one response reports to their author, and child agents whose memories
/// it reports.
pub const QUARANTINE_NOTICES_MAX: u32 = 20;

/// Length of the hash at the end of a session id made from an invalid name, in characters.
pub const SESSION_MARK_CHARS: usize = 16;
/// Length of an idempotency key, in characters.
pub const IDEMPOTENCY_KEY_CHARS: usize = 255;
/// Hours for which an idempotency key is stored.
pub const IDEMPOTENCY_HOURS: i64 = 24;
/// Default number of items per page.
pub const PAGE_DEFAULT: u32 = 20;
/// Maximum number of items per page.
pub const PAGE_MAX: u32 = 100;
/// Tokens of an answer over MCP.
pub const ANSWER_TOKENS: usize = 10_000;
/// Characters of the subject that events are filtered by.
pub const SUBJECT_CHARS: usize = 256;
/// Journal positions that one page of events reads, even if few match.
pub const EVENTS_LOOKED_AT: u64 = 10_000;
/// Newest events of a workspace that one call for rates counts.
pub const EVENTS_RATED: u64 = 100_000;
/// Default maximum number of event streams that a server keeps open.
pub const STREAMS: usize = 2_000;
/// Events that are buffered for one stream while its reader is slow.
pub const STREAM_BUFFER: usize = 64;
/// The newest events of a workspace that are cached for its streams; a reader that falls further
/// behind reads the journal.
pub const STREAM_RECENT: usize = 1_024;
/// Seconds of silence after which a stream sends a keep-alive.
pub const KEEP_ALIVE_SECONDS: u64 = 15;
/// Length of an entity's name, in characters.
pub const ENTITY_VALUE_CHARS: usize = commonbook_text::entities::NAME_CHARS_MAX;
/// Length of an entity's description, in characters; further sentences are dropped.
pub const ENTITY_CONTEXT_CHARS: usize = 1_000;
/// Aliases of an entity.
pub const ENTITY_ALIASES: usize = 32;
/// Attributes of an entity.
pub const ENTITY_ATTRIBUTES: usize = 32;
/// Size of an attribute's value, in bytes of JSON.
pub const ENTITY_ATTRIBUTE_BYTES: usize = 1_024;
/// The newest open contradictions whose entities a list of entities counts.
pub const ENTITY_CONTRADICTIONS: u32 = 500;
/// The most certain claims stored about one attribute.
pub const ENTITY_CLAIMS: usize = 8;
/// The most certain entities extracted from one memory.
pub const EXTRACTED_ENTITIES: usize = commonbook_text::entities::ENTITIES_MAX;
/// Positions stored of one entity in one memory; all are counted.
pub const EXTRACTED_PLACES: usize = commonbook_text::entities::PLACES_MAX;
/// Entities that the author of a memory may name.
pub const NAMED_ENTITIES: usize = 32;
/// Length of the excerpt around a mention, in characters.
pub const EXCERPT_CHARS: usize = 160;
/// The newest statements and the strongest relations on an entity's page.
pub const PAGE_STATEMENTS: usize = 20;
/// Length of a relation type, in characters.
pub const RELATION_CHARS: usize = 64;
/// Steps of a neighbourhood.
pub const GRAPH_DEPTH: u32 = 3;
/// Steps of a path.
pub const GRAPH_PATH_STEPS: u32 = 12;
/// Nodes in one response.
pub const GRAPH_NODES: usize = 500;
/// Links in one response.
pub const GRAPH_LINKS: usize = 2_000;
/// Links that one graph query reads; beyond that, the response says that it is cut.
pub const GRAPH_LOOKED_AT: usize = 100_000;
/// Default number of search hits.
pub const SEARCH_DEFAULT: u32 = 10;
/// Maximum number of search hits on one page.
pub const SEARCH_MAX: u32 = 100;
/// Tokens of ten hits of a search as text.
pub const SEARCH_TOKENS: usize = 250;
/// Tokens of each further hit.
pub const SEARCH_HIT_TOKENS: usize = 20;
/// Characters of the reason of a retraction.
pub const RETRACTION_CHARS: usize = 500;
/// Nodes of the tree of what a memory reached.
pub const RADIUS_NODES: usize = 1_000;
/// Memories made of a retracted memory that are retracted or named with it.
pub const RADIUS_MEMORIES: u32 = 200;
/// Things beside memories that the answer of a purge names.
pub const PURGE_TRACES: usize = 1_000;
/// Retractions that one context or briefing tells; the next text tells further ones.
pub const RETRACTION_NOTICES: u32 = 5;
/// Agents that a question of who knows what lists of one memory, besides those that received it.
pub const KNOWLEDGE_AGENTS: usize = 100;
/// Memories that one question of who knows what looks at.
pub const KNOWLEDGE_LOOKED_AT: usize = 2_000;
/// Tokens of a recall's text.
pub const RECALL_TOKENS: usize = 4_000;
/// Tokens of a briefing with a prompt, besides the beginning of a session.
pub const BRIEFING_TOKENS: usize = 400;
/// The most important memories at the beginning of a session.
pub const BRIEFING_MEMORIES: u32 = 5;
/// Memories that the beginning of a session counts.
pub const BRIEFING_COUNTED: u64 = 10_000;
/// Search hits on all pages together.
pub const SEARCH_DEPTH: usize = 1_000;
/// Postings that one search reads, including its term and position lookups.
pub const SEARCH_POSTINGS: u64 = 20_000_000;
/// Milliseconds that one search takes after the index has caught up with the journals.
pub const SEARCH_MILLIS: i64 = 5_000;
/// Size of a search query, in bytes.
pub const QUERY_BYTES: usize = 16 * 1024;
/// Words of the phrases and exclusions of a query; of its other different words, the rarest that are
/// looked up.
pub const QUERY_WORDS: usize = 64;
/// Concurrent searches per core; one caller has at most half of them.
pub const SEARCHES_PER_CORE: usize = 2;
/// Searches that wait for a slot; at most a quarter by one caller.
pub const SEARCHES_WAITING_MAX: usize = 128;
/// Milliseconds that a search waits for a slot.
pub const SEARCH_WAIT_MILLISECONDS: u64 = 1_000;
/// The newest memories among MCP's listed resources; others are read by their id.
pub const LISTED_MEMORIES: u64 = 500;
/// Names returned for the completion of a prefix.
pub const COMPLETIONS: usize = 100;
/// Resource subscriptions of one MCP connection or stream of changes.
pub const SUBSCRIPTIONS: usize = 100;
/// Open MCP sessions over HTTP: each takes some 100 KiB of memory.
pub const MCP_SESSIONS: usize = 1_024;
/// Open MCP sessions over HTTP of one token.
pub const MCP_TOKEN_SESSIONS: usize = 128;
/// Hours of silence after which an MCP session ends.
pub const SESSION_HOURS: u64 = 24;
/// Days for which a deleted memory can be restored.
pub const DELETED_DAYS: i64 = 30;
/// Size of a request's body over HTTP, or of a line over stdio, in bytes.
pub const BODY_BYTES: usize = 16 * 1024 * 1024;
/// JSON values in one request.
pub const JSON_VALUES: usize = 100_000;
/// Size of all HTTP bodies in progress, beyond the first bytes of each.
pub const BODIES_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a body that do not count towards that total.
pub const BODY_FREE_BYTES: usize = 64 * 1024;
/// Seconds that a large body waits for others to finish.
pub const BODY_WAIT_SECONDS: u64 = 5;
/// Concurrent requests over stdio; at this number no further line is read.
pub const STDIO_REQUESTS: usize = 32;
/// Size of all requests over stdio in progress, beyond one, in bytes.
pub const STDIO_BYTES: usize = 32 * 1024 * 1024;
/// Size from which HTTP responses are compressed, in bytes.
pub const COMPRESSED_BYTES: u16 = 1024;
/// Concurrent HTTP connections, without event streams.
pub const CONNECTIONS: usize = 1024;
/// Reads per agent and minute over HTTP, if other machines can call.
pub const READS_A_MINUTE: u32 = 12_000;
/// Writes per agent and minute over HTTP, if other machines can call.
pub const WRITES_A_MINUTE: u32 = 6_000;
/// Agents whose calls are counted at a time.
pub const RATE_NAMES: usize = 10_000;
/// Invalid tokens per peer and minute over HTTP before the peer is rate-limited.
pub const WRONG_TOKENS_A_MINUTE: u32 = 10;
/// Seconds in which the head of an HTTP request must arrive.
pub const HEAD_SECONDS: u64 = 5;
/// Seconds in which the body of an HTTP request must arrive, and for which a connection may be
/// idle.
pub const REQUEST_SECONDS: u64 = 60;
/// Seconds that open requests get when the server stops.
pub const SHUTDOWN_SECONDS: u64 = 10;
/// What a write can name as its basis.
pub const BASED_ON: usize = 32;
/// Length of what names one basis of a write, in characters.
pub const BASIS_CHARS: usize = 64;
/// Changed memories in one answer of a write.
pub const STALE_MEMORIES: usize = 20;
/// Notices in one text of what has changed since a session received it, or under what it derived.
pub const REVIEW_NOTICES: usize = 5;
/// Things derived from one memory that a change of it marks.
pub const OUTDATED_MARKS: usize = 200;
/// Seconds that a write waits while other processes write.
pub const WRITE_WAIT_SECONDS: u64 = 60;
/// Memories that one call forgets.
pub const FORGOTTEN_MEMORIES: usize = 10_000;
/// Webhooks of a home.
pub const WEBHOOKS: usize = 64;
/// Length of the URL of a webhook, in characters.
pub const WEBHOOK_URL_CHARS: usize = 2_000;
/// Attempts to deliver an event to a webhook before it is given up.
pub const WEBHOOK_ATTEMPTS: u32 = 8;
/// Seconds in which the receiver of a webhook must answer.
pub const WEBHOOK_SECONDS: u64 = 15;
