//! Figures of a home for its operator: numbers alone, of all workspaces together.

/// The figures of a home, and of the process that answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HomeFigures {
    /// Disk space of the store, in bytes.
    pub store_bytes: u64,
    /// Whether a write is answered after it is on the disk.
    pub waits_for_disk: bool,
    /// Whether a write is answered after it is on a standby of the database server.
    pub waits_for_standby: bool,
    /// Number of workspaces.
    pub workspaces: u64,
    /// Number of events in all journals.
    pub events: u64,
    /// Writes of this process that wait for their turn or run.
    pub queued_writes: u64,
    /// Searches of this process that wait for a slot.
    pub waiting_searches: u64,
    /// Searches of this process that run.
    pub running_searches: u64,
    /// The search index.
    pub index: IndexFigures,
    /// How far each follower of the journals is behind their ends.
    pub followers: Vec<FollowerLag>,
    /// The event streams of this process.
    pub streams: StreamFigures,
}

/// The figures of the search index, as this process has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexFigures {
    /// Number of workspaces that it has: of a node, those that it holds at present.
    pub workspaces: u64,
    /// Number of memories.
    pub memories: u64,
    /// Number of memories without a vector.
    pub unembedded: u64,
    /// Number of events that it has read, of all journals.
    pub read: u64,
    /// Number of those events that its files hold.
    pub written: u64,
}

/// How far a follower is behind the ends of the journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowerLag {
    /// Its name.
    pub follower: &'static str,
    /// Number of events that it has not read yet, of all journals.
    pub events: u64,
}

/// The figures of all event streams and subscriptions that a process serves, since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamFigures {
    /// Open streams and subscriptions.
    pub open: u64,
    /// Events sent, for each stream.
    pub delivered: u64,
    /// Events that the filters of streams left out.
    pub filtered: u64,
    /// Streams that broke or fell behind.
    pub failed: u64,
    /// The most events that an open stream is behind the end of its journal.
    pub lag_max: u64,
}
