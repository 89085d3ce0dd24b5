//! Every limit, in one table: checked in the nouns, told in `docs/api.md`.

/// Bytes of a memory's text.
pub const TEXT_BYTES: usize = 64 * 1024;
/// Characters of a title.
pub const TITLE_CHARS: usize = 200;
/// Characters of a summary (seed 004).
pub const SUMMARY_CHARS: usize = 512;
/// Characters of the reason for which an author appeals against a quarantine.
pub const APPEAL_CHARS: usize = 500;
/// Memories of the same author and session that a new one is judged together with.
pub const SPLIT_MEMORIES: u32 = 3;
/// Characters of each of them, from its end, and of the new one from its beginning.
pub const SPLIT_CHARS: usize = 400;
/// Topics of one memory.
pub const TOPICS: usize = 32;
/// Characters of one topic.
pub const TOPIC_CHARS: usize = 64;
/// Bytes of a memory's metadata, as JSON.
pub const METADATA_BYTES: usize = 16 * 1024;
/// Characters of a case's key.
pub const CASE_KEY_CHARS: usize = 64;
/// Entries appended to a case in one call, and entries that one of them supersedes.
pub const ENTRIES: usize = 20;
/// Tokens of a case's text when the request names no budget.
pub const CASE_TOKENS: u32 = 1_000;
/// Tokens of a case's text, at least.
pub const CASE_TOKENS_MIN: u32 = 200;
/// Tokens of a case's text, at most.
pub const CASE_TOKENS_MAX: u32 = 16_000;
/// Places of a journal over which is counted how many changes are left.
pub const CHANGES_COUNTED: u64 = 100_000;
/// Characters of a memory that a change tells.
pub const GLANCE_CHARS: usize = 240;
/// Hours after which a session ends in which nothing was written.
pub const SESSION_IDLE_HOURS: i64 = 24;
/// Characters of a handoff's task.
pub const HANDOFF_TASK_CHARS: usize = 2_000;
/// Characters of a handoff's context.
pub const HANDOFF_CONTEXT_CHARS: usize = 16_000;
/// Files, decisions and next steps of a handoff, each.
pub const HANDOFF_LINES: usize = 50;
/// Characters of each of them.
pub const HANDOFF_LINE_CHARS: usize = 500;
/// Bytes of all that a handoff's author writes into it.
pub const HANDOFF_BYTES: usize = 32 * 1024;
/// Characters of the reason for rejecting or withdrawing a handoff, and of its result.
pub const HANDOFF_NOTE_CHARS: usize = 2_000;
/// Tokens of a handoff's text when nobody says (seed 000).
pub const HANDOFF_TOKENS: u32 = 5_000;
/// Tokens of a handoff's text at the least.
pub const HANDOFF_TOKENS_MIN: u32 = 500;
/// Tokens of a handoff's text at the most.
pub const HANDOFF_TOKENS_MAX: u32 = 40_000;
/// Memories chosen for a handoff when nobody says (seed 000).
pub const HANDOFF_MEMORIES: u32 = 10;
/// Memories chosen for a handoff at the most.
pub const HANDOFF_MEMORIES_MAX: u32 = 100;
/// Entities that go along with a handoff when nobody says (seed 000).
pub const HANDOFF_ENTITIES: u32 = 20;
/// Entities that go along with a handoff at the most.
pub const HANDOFF_ENTITIES_MAX: u32 = 100;
/// Earlier handoffs that one handoff can follow.
pub const HANDOFF_FOLLOWS: usize = 20;
/// Hours after which a handoff that nobody accepted expires, when nobody says (seed 001).
pub const HANDOFF_HOURS: u32 = 24;
/// Hours after which a handoff that nobody accepted expires, at the most.
pub const HANDOFF_HOURS_MAX: u32 = 30 * 24;
/// Entries that a digest proposes at once: as many as one append takes.
pub const DIGEST_ENTRIES: usize = 20;
/// Seconds that the writer of digests may take for one entry.
pub const DIGEST_ENTRY_SECONDS: u64 = 20;
/// Seconds that it may take for all entries of a digest.
pub const DIGEST_SECONDS: u64 = 60;
/// Accepted handoffs that an agent can go on from, the latest.
pub const HANDOFFS_RECEIVED: u32 = 200;
/// Handoffs that the collaboration graph is made of, the latest.
pub const COLLABORATIONS: u32 = 10_000;
/// Handoffs one after the other in a chain, where the policy does not say otherwise (seed 000).
pub const CHAIN_DEPTH: u32 = 10;
/// Checkpoints of one session (seed 000).
pub const CHECKPOINTS: usize = 10;
/// Days for which a checkpoint is kept (seed 000).
pub const CHECKPOINT_DAYS: i64 = 30;
/// Minutes of activity after which a checkpoint is made by itself (seed 000).
pub const CHECKPOINT_MINUTES: u32 = 60;
/// Minutes of silence that count as activity at the most.
pub const IDLE_MINUTES: i64 = 15;
/// Agents that a checkpoint names.
pub const CHECKPOINT_AGENTS: usize = 50;
/// Tokens of a resumed session's text when nobody says.
pub const RESUME_TOKENS: u32 = 5_000;
/// Tokens of a resumed session's text at the least.
pub const RESUME_TOKENS_MIN: u32 = 500;
/// Tokens of a resumed session's text at the most.
pub const RESUME_TOKENS_MAX: u32 = 40_000;
/// Memories that are resumed in full at the most, the newest.
pub const RESUME_MEMORIES: usize = 500;
/// Memories that are resumed in part, the newest (seed 000).
pub const RESUME_PARTIAL_MEMORIES: usize = 50;
/// Entities that are resumed in full at the most, those spoken of last.
pub const RESUME_ENTITIES: usize = 200;
/// Open handoffs that a resumed session tells, of its agent and of the caller each, the newest of each
/// counterpart in turn.
pub const RESUME_HANDOFFS: u32 = 20;
/// Entities that are resumed in part, those spoken of last.
pub const RESUME_PARTIAL_ENTITIES: usize = 20;
/// Tokens of one memory or entry in a context; `get_memory` returns it whole.
pub const CONTEXT_ITEM_TOKENS: usize = 500;
/// Tokens of the standing memory in a context.
pub const CONTEXT_STANDING_TOKENS: usize = 2_000;
/// The least score of a memory that a context takes because it is relevant (seed 002).
pub const CONTEXT_THRESHOLD: f64 = 0.5;
/// Memories and entries of one context.
pub const CONTEXT_MAXIMUM: usize = 8;
/// Entries of cases among them.
pub const CONTEXT_UNREAD: usize = 3;
/// Tokens of one context, its fence included.
pub const CONTEXT_TOKENS: usize = 1_500;
/// Tokens of one context at the least.
pub const CONTEXT_TOKENS_MIN: u32 = 200;
/// Tokens of one context at the most.
pub const CONTEXT_TOKENS_MAX: u32 = 40_000;
/// Memories and entries of one context at the most, whoever asks.
pub const CONTEXT_MAXIMUM_MAX: u32 = 50;
/// Characters of a task that a context is made for; of a longer one the beginning counts.
pub const CONTEXT_TASK_CHARS: usize = 8_000;
/// Hits of the search that are considered for one context.
pub const CONTEXT_CANDIDATES: usize = 40;
/// Days for which the receipt of a context is kept.
pub const CONTEXT_DAYS: i64 = 30;
/// Receipts of contexts that are kept for one agent, the newest.
pub const CONTEXTS: u32 = 1_000;
/// Memories that one memory is compared with, to find what contradicts it; the newest.
pub const CONTRADICTION_CANDIDATES: u32 = 50;
/// Contradictions of one memory that are found at once, the most certain: what contradicts more is
/// rather about something else.
pub const CONTRADICTIONS_AT_ONCE: usize = 10;
/// Characters of the context in which each of two memories holds that contradict each other.
pub const CONTRADICTION_CONTEXT_CHARS: usize = 1_000;
/// Bytes of a standing memory file (seed 003).
pub const STANDING_BYTES: usize = 80 * 1024;
/// Items of a standing memory file (seed 003).
pub const STANDING_ITEMS: usize = 100;
/// Characters of one line that Commonbook writes into a standing memory file (seed 003).
pub const STANDING_LINE_CHARS: usize = 120;
/// Lines of the log that wait for standard error to take them.
pub const LOG_LINES: usize = 8_192;
/// Copies of a standing memory file that are kept when `MEMORIES` replaces its items.
pub const STANDING_BACKUPS: usize = 5;
/// Characters of one item of a standing memory file.
pub const STANDING_ITEM_CHARS: usize = 1_000;
/// Learnings that are taken out of one message.
pub const LEARNINGS: usize = 20;
/// Characters of one learning.
pub const LEARNING_CHARS: usize = 2_000;
/// Memories saved in one call.
pub const BATCH: usize = 100;
/// Characters of an agent's name with its path and device.
pub const AGENT_CHARS: usize = 128;
/// Characters of a workspace's name.
pub const WORKSPACE_CHARS: usize = 128;
/// Characters of a memory type.
pub const MEMORY_TYPE_CHARS: usize = 64;
/// Characters of a user's id.
pub const USER_CHARS: usize = 128;
/// Characters of a session's id.
pub const SESSION_CHARS: usize = 128;

/// Memories that were set apart and that one answer tells their author of, and agents below it whose
/// memories it tells of.
pub const SET_APART: u32 = 20;

/// Characters of a fingerprint that end a session's id where a client's own name for it can be none.
pub const SESSION_MARK_CHARS: usize = 16;
/// Characters of an idempotency key.
pub const IDEMPOTENCY_KEY_CHARS: usize = 255;
/// Hours for which an idempotency key is remembered.
pub const IDEMPOTENCY_HOURS: i64 = 24;
/// Things on one page when none is asked for.
pub const PAGE_DEFAULT: u32 = 20;
/// Things on one page at the most.
pub const PAGE_MAX: u32 = 100;
/// Places of a journal that one stretch of it looks at, however little matches.
pub const EVENTS_LOOKED_AT: u64 = 10_000;
/// Streams of events that a server keeps open at the most, unless it was told another number.
pub const STREAMS: usize = 2_000;
/// Events that are taken for one stream at once, and wait until its reader can take them.
pub const STREAM_BUFFER: usize = 64;
/// The newest events of a workspace that are kept in memory while somebody follows them; who falls
/// further behind catches up from the journal.
pub const STREAM_RECENT: usize = 1_024;
/// Seconds after which a silent stream says that it is still there.
pub const KEEP_ALIVE_SECONDS: u64 = 15;
/// Characters of an entity's value.
pub const ENTITY_VALUE_CHARS: usize = commonbook_text::entities::NAME_CHARS_MAX;
/// Characters of an entity's context; what was said beyond it is left out, from a sentence on.
pub const ENTITY_CONTEXT_CHARS: usize = 1_000;
/// Other spellings that an entity is known by.
pub const ENTITY_ALIASES: usize = 32;
/// Attributes of one entity.
pub const ENTITY_ATTRIBUTES: usize = 32;
/// Bytes of an attribute's value, as JSON.
pub const ENTITY_ATTRIBUTE_BYTES: usize = 1_024;
/// Claims about one attribute that are kept; of more, the most trusted.
pub const ENTITY_CLAIMS: usize = 8;
/// Different entities that are taken from one memory; of more, the most certain.
pub const EXTRACTED_ENTITIES: usize = commonbook_text::entities::ENTITIES_MAX;
/// Places of one entity in one memory that are kept; all are counted.
pub const EXTRACTED_PLACES: usize = commonbook_text::entities::PLACES_MAX;
/// Entities that one memory may name itself.
pub const NAMED_ENTITIES: usize = 32;
/// Characters around a mention that an entity's page tells.
pub const EXCERPT_CHARS: usize = 160;
/// Statements and relations that an entity's page tells, the newest and the strongest.
pub const PAGE_STATEMENTS: usize = 20;
/// Characters of a relation's kind.
pub const RELATION_CHARS: usize = 64;
/// Steps that a subgraph or a neighbourhood reaches from where it begins.
pub const GRAPH_DEPTH: u32 = 3;
/// Steps of the longest path that is looked for.
pub const GRAPH_PATH_STEPS: u32 = 12;
/// Nodes of one answer.
pub const GRAPH_NODES: usize = 500;
/// Links of one answer.
pub const GRAPH_LINKS: usize = 2_000;
/// Links that one question looks at; what lies beyond is left out, and the answer says so.
pub const GRAPH_LOOKED_AT: usize = 100_000;
/// Hits of a search when none is asked for.
pub const SEARCH_DEFAULT: u32 = 10;
/// Hits of a search at the most.
pub const SEARCH_MAX: u32 = 100;
/// Tokens of a recall's text.
pub const RECALL_TOKENS: usize = 4_000;
/// Tokens of the news that a hook shows.
pub const NEWS_TOKENS: usize = 2_000;
/// Hits of one search on all its pages together.
pub const SEARCH_DEPTH: usize = 1_000;
/// Postings that one search reads at the most, with the terms and positions that it looks up.
pub const SEARCH_POSTINGS: u64 = 20_000_000;
/// Milliseconds that one search takes at the most, once the index is at the end of the journals.
pub const SEARCH_MILLIS: i64 = 5_000;
/// Bytes of a search query.
pub const QUERY_BYTES: usize = 16 * 1024;
/// Different words of a query, those of its phrases and exclusions among them; of a task that is
/// searched for, the words that are looked up.
pub const QUERY_WORDS: usize = commonbook_text::terms::QUERY_WORDS_MAX;
/// Searches that run at once for each core of the machine; one caller has at most half of all.
pub const SEARCHES_PER_CORE: usize = 2;
/// Searches that wait for a place among those; of one caller, at most a quarter.
pub const SEARCHES_WAITING_MAX: usize = 128;
/// Milliseconds that a search waits for its place at the most.
pub const SEARCH_WAIT_MILLISECONDS: u64 = 1_000;
/// Memories among the resources that MCP lists, the newest; the others are read by their id.
pub const LISTED_MEMORIES: u64 = 500;
/// Names that may be meant by a beginning, given at once.
pub const COMPLETIONS: usize = 100;
/// Resources that one MCP connection, or one stream of changes, may subscribe to.
pub const SUBSCRIPTIONS: usize = 100;
/// Hours for which an MCP session is kept while nothing is said in it.
pub const SESSION_HOURS: u64 = 24;
/// Days for which a deleted memory can be restored.
pub const DELETED_DAYS: i64 = 30;
/// Bytes of one request's body, over HTTP and as one line over stdio.
pub const BODY_BYTES: usize = 16 * 1024 * 1024;
/// Values of one request's JSON, numbers and texts and lists and objects.
pub const JSON_VALUES: usize = 100_000;
/// Bytes of all bodies over HTTP that are under way, beyond the first bytes of each.
pub const BODIES_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a body that do not count towards those of all.
pub const BODY_FREE_BYTES: usize = 64 * 1024;
/// Seconds that a large body waits for others to be done.
pub const BODY_WAIT_SECONDS: u64 = 5;
/// Requests over stdio that are under way at once; while there are as many, no further line is read.
pub const STDIO_REQUESTS: usize = 32;
/// Bytes of all requests over stdio that are under way, beyond one.
pub const STDIO_BYTES: usize = 32 * 1024 * 1024;
/// Bytes from which on an answer over HTTP is compressed.
pub const COMPRESSED_BYTES: u16 = 1024;
/// Connections over HTTP at once, beside the streams of events.
pub const CONNECTIONS: usize = 1024;
/// Reads of one agent a minute, over HTTP, where others than this machine can call.
pub const READS_A_MINUTE: u32 = 12_000;
/// Writes of one agent a minute, over HTTP, where others than this machine can call.
pub const WRITES_A_MINUTE: u32 = 6_000;
/// Agents whose calls are counted at once.
pub const RATE_NAMES: usize = 10_000;
/// Wrong tokens of one peer a minute that are answered as such, over HTTP.
pub const WRONG_TOKENS_A_MINUTE: u32 = 10;
/// Seconds that the head of an HTTP request may take to come.
pub const HEAD_SECONDS: u64 = 5;
/// Seconds that the body of an HTTP request may take to come, and that a connection may be idle.
pub const REQUEST_SECONDS: u64 = 60;
/// Seconds that open requests are given when the server stops.
pub const SHUTDOWN_SECONDS: u64 = 10;
/// Seconds that a write waits for its turn while other processes write.
pub const WRITE_WAIT_SECONDS: u64 = 60;
