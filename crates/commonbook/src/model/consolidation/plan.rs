//! The plan of a consolidation: which memories merge, which are archived, in which order.
//!
//! Memories merge that have the same text, and those of which an agent said that they say the same.
//! The planner reads each memory once and remembers little of it. Memories that share a key of what
//! they say form a block; only within a block two memories are compared, each with a bounded number
//! of others. So the work grows with the memories, not with their pairs.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashMap;

use super::duplicate::{are_duplicates, may_merge, may_stand_for_both};
use super::{ConsolidationAction, ConsolidationItem};
use crate::base::hash;
use crate::base::id::{EntityId, MemoryId, SessionId};
use crate::model::access::StoredMemory;
use crate::model::agent::Agent;
use crate::model::contradiction::{MemoryStatements, RepeatedPair, pair_texts};
use crate::model::memory::{Importance, Memory, Sharing};

/// Memories of a block with which another one is compared: the last different ones.
const COMPARED_MAX: usize = 16;

/// Memories that one memory takes in at most, in one run: they change in one transaction.
const MERGED_INTO_MAX: usize = 50;

/// Days after which a memory that reached no reader is archived.
const UNREAD_DAYS: i64 = 90;

/// Types that stay however old they are.
const LASTING_TYPES: [&str; 4] = ["decision", "profile", "task_context", "handoff"];

/// A memory at the revision that the plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedMemory {
    /// The memory.
    pub id: MemoryId,
    /// Its revision.
    pub revision: u64,
}

/// An entity at the version that the plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedEntity {
    /// The entity.
    pub id: EntityId,
    /// Its version; 0 while memories only mention it.
    pub version: u64,
}

/// A memory that another one supersedes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedMerge {
    /// The memory.
    pub memory: PlannedMemory,
    /// Why it merges.
    pub cause: MergeCause,
}

/// Why two memories merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeCause {
    /// They have the same text.
    SameText,
    /// This agent said that they say the same.
    Said(Agent),
}

impl MergeCause {
    fn reason(&self) -> String {
        match self {
            Self::SameText => "both have the same text".to_owned(),
            Self::Said(agent) => format!("{agent} said that both say the same"),
        }
    }
}

/// A step of a plan: what changes in one transaction or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanStep {
    /// Memories with the same text, or said to say the same, become one.
    Merge {
        /// The memory that stays.
        kept: PlannedMemory,
        /// Those that it supersedes.
        merged: Vec<PlannedMerge>,
    },
    /// A memory is archived.
    Archive {
        /// The memory.
        memory: PlannedMemory,
        /// The reason.
        cause: ArchiveCause,
    },
    /// An entity is merged into another one whose name means the same.
    Join {
        /// The entity that leads to the other from now on.
        source: PlannedEntity,
        /// The entity that stays.
        target: PlannedEntity,
        /// The names of both, in this order.
        names: [String; 2],
    },
    /// A session gets a summary of its own sentences.
    Summarise {
        /// The session.
        session: SessionId,
        /// The summary.
        summary: String,
    },
}

/// Why a memory is archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveCause {
    /// Another one superseded it.
    Superseded,
    /// The time in which it holds is over.
    Expired,
    /// It never reached a reader.
    Unread,
}

impl ArchiveCause {
    /// Why this memory is archived now, if it is. No entry of a case, no document, nor what is quarantined
    /// or archived.
    #[must_use]
    pub fn of(memory: &Memory, now: Timestamp) -> Option<Self> {
        if memory.case.is_some()
            || memory.is_document()
            || memory.is_quarantined()
            || memory.deleted_at.is_some()
            || memory.archived_at.is_some()
        {
            return None;
        }
        if memory.superseded_by.is_some() {
            return Some(Self::Superseded);
        }
        if memory.valid_until.is_some_and(|end| end <= now) {
            return Some(Self::Expired);
        }
        let days = SignedDuration::from_hours(24 * UNREAD_DAYS);
        let is_old = now.duration_since(memory.revised_at) >= days;
        let is_unread = memory.usage.is_none_or(|usage| usage.access_count == 0);
        let may_fade = memory.importance <= Importance::Normal
            && !LASTING_TYPES.contains(&memory.memory_type.as_str());
        (is_old && is_unread && may_fade).then_some(Self::Unread)
    }

    /// The action that it leads to.
    #[must_use]
    pub const fn action(self) -> ConsolidationAction {
        match self {
            Self::Superseded | Self::Expired => ConsolidationAction::Archive,
            Self::Unread => ConsolidationAction::Prune,
        }
    }

    const fn reason(self) -> &'static str {
        match self {
            Self::Superseded => "another memory superseded it",
            Self::Expired => "the time in which it holds is over",
            Self::Unread => "it reached no reader in 90 days",
        }
    }
}

impl PlanStep {
    /// The number of memories that it changes.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Merge { merged, .. } => merged.len() + 1,
            Self::Archive { .. } | Self::Join { .. } | Self::Summarise { .. } => 1,
        }
    }

    /// Its changes, one by one.
    #[must_use]
    pub fn items(&self) -> Vec<ConsolidationItem> {
        let item = |action, memory, into, reason: String| ConsolidationItem {
            action,
            memory: Some(memory),
            into,
            session: None,
            reason,
        };
        match self {
            Self::Merge { kept, merged } => {
                let count = merged.len();
                let reason = match count {
                    1 => "it also stands for 1 other".to_owned(),
                    _ => format!("it also stands for {count} others"),
                };
                let keep = item(ConsolidationAction::Keep, kept.id, None, reason);
                let gone = merged.iter().map(|gone| {
                    item(
                        ConsolidationAction::Merge,
                        gone.memory.id,
                        Some(kept.id),
                        gone.cause.reason(),
                    )
                });
                std::iter::once(keep).chain(gone).collect()
            }
            Self::Archive { memory, cause } => {
                vec![item(cause.action(), memory.id, None, cause.reason().to_owned())]
            }
            Self::Join { names: [source, target], .. } => vec![ConsolidationItem {
                action: ConsolidationAction::Join,
                memory: None,
                into: None,
                session: None,
                reason: format!("entity {source} is merged into {target}"),
            }],
            Self::Summarise { session, .. } => vec![ConsolidationItem {
                action: ConsolidationAction::Summarise,
                memory: None,
                into: None,
                session: Some(*session),
                reason: "it ended without a summary".to_owned(),
            }],
        }
    }

    /// The line by which a digest covers it.
    fn line(&self) -> String {
        let of = |memory: &PlannedMemory| format!("{}@{}", memory.id, memory.revision);
        match self {
            Self::Merge { kept, merged } => {
                let merged: Vec<String> = merged.iter().map(|gone| of(&gone.memory)).collect();
                format!("merge {} < {}\n", of(kept), merged.join(" "))
            }
            Self::Archive { memory, cause } => format!("archive {} {cause:?}\n", of(memory)),
            Self::Join { source, target, .. } => {
                let of = |entity: &PlannedEntity| format!("{}@{}", entity.id, entity.version);
                format!("join {} < {}\n", of(target), of(source))
            }
            Self::Summarise { session, summary } => format!("summarise {session} {summary}\n"),
        }
    }
}

/// What a consolidation changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsolidationPlan {
    /// The steps, in the order in which they run.
    pub steps: Vec<PlanStep>,
}

impl ConsolidationPlan {
    /// The digest: equal plans have equal ones.
    #[must_use]
    pub fn digest(&self) -> String {
        let lines: String = self.steps.iter().map(PlanStep::line).collect();
        hash::sha256(&lines)[..16].to_owned()
    }

    /// The steps in groups of at most this many memories, unless a single step has more.
    #[must_use]
    pub fn batches(&self, memories_max: usize) -> Vec<&[PlanStep]> {
        let (mut batches, mut first, mut size) = (Vec::new(), 0, 0);
        for (index, step) in self.steps.iter().enumerate() {
            if size > 0 && size + step.size() > memories_max {
                batches.push(&self.steps[first..index]);
                (first, size) = (index, 0);
            }
            size += step.size();
        }
        if first < self.steps.len() {
            batches.push(&self.steps[first..]);
        }
        batches
    }
}

/// What the planner remembers of a memory.
#[derive(Debug)]
struct Candidate {
    planned: PlannedMemory,
    /// The better of two duplicates stays: the more read one, then the more important, then the one
    /// with a summary, then the older.
    rank: (u64, Importance, bool, Reverse<(Timestamp, MemoryId)>),
    /// What it is merged into, and why.
    leader: Option<(u32, MergeCause)>,
    followers: Vec<u32>,
    unread: bool,
}

/// Plans a consolidation from memories that are read once, in any batches.
#[derive(Debug)]
pub struct ConsolidationPlanner {
    now: Timestamp,
    across_owners: bool,
    steps: Vec<PlanStep>,
    candidates: Vec<Candidate>,
    numbers: FxHashMap<MemoryId, u32>,
    blocks: FxHashMap<i64, Vec<u32>>,
    /// The pairs that were said to say the same, by their ids.
    repeated: FxHashMap<[MemoryId; 2], RepeatedPair>,
}

impl ConsolidationPlanner {
    /// A planner at this time; of the memories of one agent, unless it plans across owners.
    #[must_use]
    pub fn new(now: Timestamp, across_owners: bool) -> Self {
        Self {
            now,
            across_owners,
            steps: Vec::new(),
            candidates: Vec::new(),
            numbers: FxHashMap::default(),
            blocks: FxHashMap::default(),
            repeated: FxHashMap::default(),
        }
    }

    /// Reads a memory, with its usage.
    pub fn add(&mut self, memory: &Memory) {
        let cause = ArchiveCause::of(memory, self.now);
        let planned = PlannedMemory { id: memory.id, revision: memory.revision };
        let is_candidate = may_merge(memory);
        if let Some(cause) = cause.filter(|cause| !is_candidate || *cause != ArchiveCause::Unread) {
            self.steps.push(PlanStep::Archive { memory: planned, cause });
            return;
        }
        if !is_candidate {
            return;
        }
        let number = u32::try_from(self.candidates.len()).unwrap_or(u32::MAX);
        let is_common = self.across_owners && memory.sharing == Sharing::Shared;
        let owner = if is_common { "" } else { memory.owner.as_str() };
        let user = memory.user_id.as_deref().unwrap_or_default();
        for key in MemoryStatements::of(memory).keys() {
            let scope =
                format!("{owner}\n{user}\n{}\n{}\n{key}", memory.sharing, memory.memory_type);
            self.blocks.entry(hash::short_hash(&scope)).or_default().push(number);
        }
        self.numbers.insert(memory.id, number);
        self.candidates.push(Candidate {
            planned,
            rank: (
                memory.usage.map_or(0, |usage| usage.access_count),
                memory.importance,
                memory.summary.is_some(),
                Reverse((memory.recorded_at, memory.id)),
            ),
            leader: None,
            followers: Vec::new(),
            unread: cause.is_some(),
        });
    }

    /// Reads the pairs that agents said to say the same, after the memories.
    pub fn add_repeated(&mut self, pairs: Vec<RepeatedPair>) {
        for pair in pairs {
            let [first, second] = pair.memories.map(|id| self.numbers.get(&id).copied());
            if let (Some(first), Some(second)) = (first, second) {
                let key = hash::short_hash(&format!("said\n{first}\n{second}"));
                self.blocks.entry(key).or_default().extend([first, second]);
                self.repeated.insert(pair.memories, pair);
            }
        }
    }

    /// Why one of the two stands for both, if it does.
    fn cause(&self, a: &Memory, b: &Memory) -> Option<MergeCause> {
        if are_duplicates(a, b) {
            return Some(MergeCause::SameText);
        }
        let said = self.repeated.get(&pair_texts(a, b).0)?;
        let holds = said.holds_for(a, b) && may_stand_for_both(a, b);
        holds.then(|| MergeCause::Said(said.said_by.clone()))
    }

    /// The memories that may say the same, block by block, the best of each block first. The caller
    /// reads each block again and calls [`Self::compare`] with it.
    pub fn take_blocks(&mut self) -> Vec<Vec<MemoryId>> {
        let blocks = std::mem::take(&mut self.blocks);
        let mut blocks: Vec<Vec<u32>> =
            blocks.into_values().filter(|block| block.len() > 1).collect();
        for block in &mut blocks {
            block.sort_by(|a, b| self.rank(*b).cmp(self.rank(*a)));
        }
        blocks.sort_unstable();
        blocks.dedup();
        let id = |number: u32| self.candidates[number as usize].planned.id;
        blocks.into_iter().map(|block| block.into_iter().map(id).collect()).collect()
    }

    fn rank(&self, number: u32) -> &(u64, Importance, bool, Reverse<(Timestamp, MemoryId)>) {
        &self.candidates[number as usize].rank
    }

    /// Compares the memories of a block, or of its next part; `different` holds those of it so far
    /// that differ, and is empty at its beginning.
    pub fn compare(&mut self, memories: Vec<StoredMemory>, different: &mut Vec<StoredMemory>) {
        for memory in memories {
            let Some(number) = self.numbers.get(&memory.id).copied() else { continue };
            if self.candidates[number as usize].leader.is_some() {
                continue;
            }
            let may_follow = self.candidates[number as usize].followers.is_empty();
            let leader = different.iter().filter(|_| may_follow).find_map(|other| {
                let leader = self.numbers.get(&other.id).copied()?;
                let candidate = &self.candidates[leader as usize];
                let has_room = candidate.leader.is_none()
                    && candidate.followers.len() < MERGED_INTO_MAX
                    && candidate.planned.revision == other.revision;
                let cause = has_room.then(|| self.cause(other, &memory)).flatten()?;
                Some((leader, cause))
            });
            match leader {
                Some((leader, cause)) => {
                    self.candidates[number as usize].leader = Some((leader, cause));
                    self.candidates[leader as usize].followers.push(number);
                }
                None => {
                    if different.len() >= COMPARED_MAX {
                        different.remove(0);
                    }
                    different.push(memory);
                }
            }
        }
    }

    /// Adds a step that concerns no memory.
    pub fn add_step(&mut self, step: PlanStep) {
        self.steps.push(step);
    }

    /// The plan: merges first, then what is archived, then the steps of their own.
    #[must_use]
    pub fn finish(self) -> ConsolidationPlan {
        let Self { steps: others, candidates, .. } = self;
        let mut steps = Vec::new();
        for candidate in &candidates {
            if !candidate.followers.is_empty() {
                let of = |number: &u32| {
                    let Candidate { planned, leader, .. } = &candidates[*number as usize];
                    let (_, cause) = leader.clone()?;
                    Some(PlannedMerge { memory: *planned, cause })
                };
                let merged = candidate.followers.iter().filter_map(of).collect();
                steps.push(PlanStep::Merge { kept: candidate.planned, merged });
            } else if candidate.leader.is_none() && candidate.unread {
                let (memory, cause) = (candidate.planned, ArchiveCause::Unread);
                steps.push(PlanStep::Archive { memory, cause });
            }
        }
        steps.extend(others);
        ConsolidationPlan { steps }
    }
}

/// Whether the steps of a plan are still due: each memory is as the plan read it.
#[must_use]
pub fn is_as_planned(memory: &Memory, planned: PlannedMemory) -> bool {
    memory.id == planned.id && memory.revision == planned.revision && memory.deleted_at.is_none()
}
