//! Following the journals with mentions: finding the entities that memories mention.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::base::error::{Result, unless_unavailable};
use crate::base::id::EntityId;
use crate::base::{hash, thread};
use crate::model::access::{self, Audience, StoredMemory, Visibility};
use crate::model::caller::Caller;
use crate::model::entity::{EntityName, EntityRules, NameMention, OwnTypes};
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;
use crate::store::{JournalLag, JournalScope, SubjectChange, Tx};
use crate::verbs::Commonbook;
use crate::verbs::entity::name_keys;
use commonbook_text::entities::likeness::{self, ComparableName};

/// The revision of the rules that find mentions. A new revision reads all memories again.
const MENTION_RULES_REVISION: u32 = 3;

/// Marks a revision of the rules with own types, whose other bits are a hash of both.
const OWN_TYPES_FLAG: u32 = 1 << 31;

/// Events whose memories are read in one step.
const MENTION_EVENTS_MAX: u32 = 500;

/// Memories from which on several threads look for mentions.
const SHARED_MEMORIES_MIN: usize = 16;

/// A stretch of a journal that says nothing about memories.
#[derive(Debug, Clone, Copy)]
struct QuietStretch {
    after: u64,
    end: u64,
}

/// The stretch of each journal that says nothing about memories beyond where mentions follow it: a
/// verb about entities need not write if only entities changed.
#[derive(Debug, Default)]
pub(in crate::verbs) struct MentionPositions(Mutex<FxHashMap<Workspace, QuietStretch>>);

impl MentionPositions {
    /// The position from which a journal says something about memories after `place`. Mentions that
    /// follow it from an earlier position again have all to read.
    fn of(&self, workspace: &Workspace, place: u64) -> u64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let quiet = all.get(workspace).filter(|quiet| quiet.after <= place);
        quiet.map_or(place, |quiet| quiet.end.max(place))
    }

    fn set(&self, workspace: &Workspace, quiet: QuietStretch) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(workspace.clone(), quiet);
    }
}

/// The progress of mentions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MentionProgress {
    /// Events of the journals that are still to be read.
    pub left: u64,
    /// Events read so far.
    pub read: u64,
}

impl Commonbook {
    /// The same Commonbook, with these rules of entities. Other types than before let all memories be read
    /// again; another threshold equates the names that come after it.
    #[must_use]
    pub fn with_entity_rules(self, rules: EntityRules) -> Self {
        Self { entity_rules: Arc::new(rules), ..self }
    }

    /// The revision of the rules that find mentions, own types among them.
    pub(in crate::verbs) fn mention_rules(&self) -> u32 {
        let own = &self.entity_rules.own_types;
        if own.is_empty() {
            return MENTION_RULES_REVISION;
        }
        let rules = format!("{MENTION_RULES_REVISION}\n{}", own.fingerprint_text());
        // The lower half is as good a hash as the whole.
        let hash = hash::short_hash(&rules) & i64::from(u32::MAX);
        u32::try_from(hash).unwrap_or_default() | OWN_TYPES_FLAG
    }

    /// Finds the mentions in the memories that the journals in this scope hold beyond what was read.
    /// After each step `report` receives the progress, and may stop the work. Any process may run this at any
    /// time: each range of a journal is processed once.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read or written.
    pub fn find_mentions(
        &self,
        scope: &JournalScope,
        mut report: impl FnMut(MentionProgress) -> ControlFlow<()>,
    ) -> Result<MentionProgress> {
        let mut come = MentionProgress::default();
        if scope.is_none() {
            return Ok(come);
        }
        let rules = self.mention_rules();
        let behind = self.store.read(|tx| tx.mentions_behind(scope, rules))?;
        come.left = behind.iter().map(JournalLag::events).sum();
        for JournalLag { workspace, position: mut place, end } in behind {
            while place < end {
                let next = self.mentions_after(&workspace, place)?;
                let read = next.saturating_sub(place);
                (come.read, come.left) = (come.read + read, come.left.saturating_sub(read));
                place = next;
                if report(come).is_break() {
                    return Ok(come);
                }
            }
        }
        Ok(come)
    }

    /// Resets the position of mentions, so that all memories are read again.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be written.
    pub fn forget_mentions(&self) -> Result<()> {
        let rules = self.mention_rules();
        self.store.write(move |tx| {
            for workspace in tx.workspaces()? {
                tx.set_mentions_position(&workspace, rules, 0)?;
            }
            Ok(())
        })
    }

    /// Brings the mentions of the caller's workspace up to the end that its journal has now. What
    /// others write meanwhile is left to the next call. Where nothing can be written, they stay as they are.
    pub(in crate::verbs) fn follow_mentions(&self, caller: &Caller) -> Result<()> {
        let (workspace, rules) = (&caller.workspace, self.mention_rules());
        let end = self.store.read(|tx| tx.journal_end(workspace))?;
        loop {
            let (place, (memories, others, last)) = self.store.read(|tx| {
                let place = tx.mentions_position(workspace, rules)?;
                let from = self.passed.of(workspace, place);
                Ok((place, tx.next_events(workspace, from, MENTION_EVENTS_MAX)?))
            })?;
            if place >= end {
                return Ok(());
            }
            if !memories && others < MENTION_EVENTS_MAX {
                self.passed.set(workspace, QuietStretch { after: place, end: last });
                return Ok(());
            }
            if unless_unavailable(self.mentions_after(workspace, place))?.is_none() {
                return Ok(());
            }
        }
    }

    /// Processes the next range of a journal after this position; returns its end.
    fn mentions_after(&self, workspace: &Workspace, place: u64) -> Result<u64> {
        let changes = self.store.read(|tx| tx.changes(workspace, place, MENTION_EVENTS_MAX))?;
        let Some(next) = changes.last().map(|change| change.sequence) else { return Ok(place) };
        let found = Arc::new(all_mentioned(changes, &self.entity_rules.own_types));
        let (journal, rules) = (workspace.clone(), self.mention_rules());
        let threshold = self.entity_rules.threshold;
        self.store.write_derived(workspace, move |tx| {
            // Another process has processed the range meanwhile.
            let now = tx.mentions_position(&journal, rules)?;
            if now != place {
                return Ok(now);
            }
            for (memory, mentioned) in &*found {
                keep_mentions(tx, memory, mentioned, threshold)?;
            }
            tx.set_mentions_position(&journal, rules, next)?;
            Ok(next)
        })
    }
}

/// The mentions of these memories, each memory once, at its present revision.
fn all_mentioned(
    changes: Vec<SubjectChange>,
    own: &OwnTypes,
) -> Vec<(StoredMemory, Vec<NameMention>)> {
    let mut memories: Vec<StoredMemory> =
        changes.into_iter().filter_map(|change| change.memory).map(|memory| *memory).collect();
    memories.sort_by_key(|memory| memory.id);
    memories.dedup_by_key(|memory| memory.id);
    // A few are read before a thread has started; and to count the processors takes a dozen calls of the kernel.
    let threads = match memories.len() < SHARED_MEMORIES_MIN {
        true => 1,
        false => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let share = memories.len().div_ceil(threads).max(1);
    let each = |share: &[StoredMemory]| -> Vec<Vec<NameMention>> {
        share.iter().map(|memory| memory.all_mentions(own)).collect()
    };
    let found = thread::for_each_part(memories.chunks(share).collect(), each).concat();
    memories.into_iter().zip(found).collect()
}

/// Stores the mentions of a memory. Names that everybody can read are filed and redirect to similar
/// names; names that only some can read neither redirect nor attract redirects.
fn keep_mentions(
    tx: &mut Tx<'_>,
    memory: &Memory,
    mentioned: &[NameMention],
    threshold: f64,
) -> Result<()> {
    let audience = Audience::of(&Visibility::of(memory));
    let names: Vec<EntityId> = mentioned.iter().map(|mention| mention.name.id).collect();
    let deleted = deleted_among(tx, memory, &names, &audience)?;
    let mentioned: Vec<NameMention> =
        mentioned.iter().filter(|mention| !deleted.contains(&mention.name.id)).cloned().collect();
    if !tx.put_mentions(memory, &mentioned)? || !access::is_common(memory) {
        return Ok(());
    }
    for NameMention { name, .. } in &mentioned {
        if tx.is_filed(&name.workspace, name.id)? {
            continue;
        }
        let leads = tx.root(&name.workspace, name.id)? != name.id;
        let same = if leads { None } else { find_same_name(tx, name, threshold)? };
        if let Some(root) = same {
            for led in tx.names_leading_to(&name.workspace, name.id)?.into_iter().chain([name.id]) {
                tx.redirect_name(&name.workspace, led, root)?;
            }
        }
        tx.file_name(name, &name_keys(name))?;
        // A new spelling of a deleted entity does not bring it back.
        if same.is_some() && !deleted_among(tx, memory, &[name.id], &audience)?.is_empty() {
            tx.drop_mentions(&name.workspace, name.id, &[])?;
        }
    }
    Ok(())
}

/// Those of these names that the memories of this audience do not mention any more, since their
/// entities were deleted.
fn deleted_among(
    tx: &Tx<'_>,
    memory: &Memory,
    names: &[EntityId],
    audience: &Audience,
) -> Result<Vec<EntityId>> {
    let deleted = tx.deleted_names(&memory.workspace, names)?.into_iter();
    let covered = deleted.filter(|(_, deletion)| deletion.covers(audience));
    Ok(covered.map(|(name, _)| name).collect())
}

/// The entity whose filed name has the same meaning.
fn find_same_name(tx: &Tx<'_>, name: &EntityName, threshold: f64) -> Result<Option<EntityId>> {
    for id in name.ids().into_iter().skip(1) {
        if tx.is_filed(&name.workspace, id)? {
            return tx.root(&name.workspace, id).map(Some);
        }
    }
    let written = ComparableName::of(name.entity_type, &name.value);
    let probes = likeness::probes(&written);
    if probes.is_empty() {
        return Ok(None);
    }
    let filed = tx.filed_names(name, &probes)?;
    let names: Vec<ComparableName> =
        filed.iter().map(|name| ComparableName::of(name.entity_type, &name.value)).collect();
    match likeness::nearest(&written, names.iter(), threshold) {
        Some((place, _)) => tx.root(&name.workspace, filed[place].id).map(Some),
        None => Ok(None),
    }
}
