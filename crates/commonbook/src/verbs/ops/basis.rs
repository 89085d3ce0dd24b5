//! The basis of a write: what its author received or names, and what of that has changed since.

use jiff::Timestamp;

use crate::base::error::{Error, Result};
use crate::base::id::{ContextId, MemoryId, SessionId};
use crate::base::limits;
use crate::model::access::{ItemKind, Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::contradiction::ContradictionStatus;
use crate::model::lineage::{
    Basis, BasisClaim, BasisRef, DerivedId, ReadSetKey, StaleMemory, TextTerms, ToldMemory,
    day_session, excerpt, stale_error,
};
use crate::model::memory::{Memory, MemoryChangeKind, says_same};
use crate::model::search::MemoryRef;
use crate::model::workspace::Workspace;
use crate::store::{ContradictionFilter, Tx};
use crate::verbs::ops::handles::SAME_ENDING_MAX;
use crate::verbs::ops::heirs::{last_heir, show};
use crate::verbs::ops::write_once::WriteScope;

/// What a write rests on. Who wants to know what of it has changed has to record it, or to say that nothing
/// was written.
#[must_use]
pub(in crate::verbs) struct FoundBasis {
    memories: Vec<BasisMemory>,
    /// What of that, and of all that the session received, has changed.
    stale: Vec<StaleMemory>,
}

/// One memory that a write rests on.
struct BasisMemory {
    origin: Workspace,
    id: MemoryId,
    /// The revision that the author knows.
    revision: u64,
    current: u64,
    context: Option<ContextId>,
    named: NamedAs,
    is_contradicted: bool,
}

/// How the author named a memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedAs {
    /// Not at all: it received.
    Told,
    /// By its id, or by the receipt that told it.
    Named,
    /// At its present revision: the author knows what it is now.
    Current,
}

impl BasisMemory {
    fn told(told: &ToldMemory) -> Self {
        Self {
            origin: told.origin.clone(),
            id: told.memory,
            revision: told.revision,
            current: told.current,
            context: told.context,
            named: NamedAs::Told,
            is_contradicted: told.is_contradicted,
        }
    }
}

impl FoundBasis {
    /// Finds what a write with this text rests on. What the session hears of here it knows from then on.
    ///
    /// # Errors
    /// `not_found` and `invalid` with the field if the claim names nothing in sight; `conflict` if the
    /// claim requires that nothing has changed, and something has.
    pub(in crate::verbs) fn find(
        tx: &mut Tx<'_>,
        scope: WriteScope<'_>,
        claim: &BasisClaim,
        text: &str,
    ) -> Result<Self> {
        let WriteScope { caller, now, .. } = scope;
        let sight = Sight::reading(caller).or_else(|_| Sight::consulting(caller))?;
        let key = read_set_key(tx, caller, &sight, now)?;
        let told = key.as_ref().map(|key| tx.told_memories(key)).transpose()?.unwrap_or_default();
        let mut memories = Vec::new();
        for (place, named) in claim.named.iter().enumerate() {
            let found = find_named(tx, &sight, &told, named)
                .map_err(|error| error.with_field(&format!("based_on[{place}]")))?;
            memories.extend(found);
        }
        let is_named = |told: &&ToldMemory| !memories.iter().any(|named| named.id == told.memory);
        let unnamed: Vec<&ToldMemory> = told.iter().filter(is_named).collect();
        let rests = rests_on(tx, &sight, &unnamed, text)?;
        let mut others = Vec::new();
        for (told, rests) in unnamed.into_iter().zip(rests) {
            let place = if rests { &mut memories } else { &mut others };
            place.push(BasisMemory::told(told));
        }
        // What the text rests on comes first. The rest of what the session received counts too: a
        // paraphrase shares no word with its source.
        let received: Vec<&BasisMemory> = memories.iter().chain(&others).collect();
        let knows = |id: MemoryId| {
            told.iter().any(|told| told.memory == id)
                || memories.iter().any(|named| named.id == id && named.named != NamedAs::Told)
        };
        let mut stale = Vec::new();
        for memory in &received {
            let Some(change) = find_change(tx, &sight, memory)? else { continue };
            if !change.successor.is_some_and(knows) {
                stale.push(change);
            }
        }
        // The session hears of what is left with its next write.
        stale.truncate(limits::STALE_MEMORIES);
        if claim.require_current && !stale.is_empty() {
            return Err(stale_error(&stale));
        }
        if let Some(key) = key.filter(|_| !stale.is_empty()) {
            note_heard(tx, &key, &received, &stale, scope)?;
        }
        Ok(Self { memories, stale })
    }

    /// Records what was derived from this basis; returns what of it has changed.
    pub(in crate::verbs) fn record(
        self,
        tx: &mut Tx<'_>,
        workspace: &Workspace,
        derived: impl IntoIterator<Item = DerivedId>,
        now: Timestamp,
    ) -> Result<Vec<StaleMemory>> {
        for derived in derived {
            let of = |memory: &BasisMemory| Basis {
                workspace: workspace.clone(),
                derived,
                origin: memory.origin.clone(),
                memory: memory.id,
                revision: memory.revision,
                context: memory.context,
                recorded_at: now,
            };
            let sources = self.memories.iter();
            let sources = sources.filter(|memory| DerivedId::Memory(memory.id) != derived);
            tx.add_basis(&sources.map(of).collect::<Vec<_>>())?;
        }
        Ok(self.stale)
    }

    /// What of it has changed, where nothing was written.
    pub(in crate::verbs) fn into_stale(self) -> Vec<StaleMemory> {
        self.stale
    }
}

/// The sessions by which the read set of a caller is found; `None` for an anonymous one, who shares its
/// name with others. Receipts name a session of ours or the client's own id of it, and without a session
/// the day.
pub(in crate::verbs) fn read_set_key(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    now: Timestamp,
) -> Result<Option<ReadSetKey>> {
    if caller.agent.is_anonymous() {
        return Ok(None);
    }
    let sessions = match &caller.session {
        None => vec![day_session(now)],
        Some(own) => {
            let id = SessionId::parse(own);
            let found = id.map(|id| tx.session(sight, id)).transpose()?.flatten();
            let client = found.and_then(|found| found.client_session);
            [Some(own.clone()), client].into_iter().flatten().collect()
        }
    };
    let (workspace, agent) = (caller.workspace.clone(), caller.agent.clone());
    Ok(Some(ReadSetKey { workspace, agent, sessions }))
}

/// Records that the session of a caller knows a memory as it has just left it.
pub(in crate::verbs) fn note_own_change(
    tx: &mut Tx<'_>,
    caller: &Caller,
    changed: &Memory,
    now: Timestamp,
) -> Result<()> {
    let sight = Sight::writing(caller)?;
    let Some(key) = read_set_key(tx, caller, &sight, now)? else { return Ok(()) };
    let end = tx.journal_end(&caller.workspace)?;
    tx.note_known(&key, &[(changed.workspace.clone(), changed.id)], end)
}

/// What has changed of what a session received, and it does not know yet. Retractions have notices of
/// their own.
pub(in crate::verbs) fn changes_since_told(
    tx: &Tx<'_>,
    sight: &Sight,
    key: &ReadSetKey,
) -> Result<Vec<StaleMemory>> {
    let told = tx.told_memories(key)?;
    let mut changes = Vec::new();
    for memory in &told {
        let Some(change) = find_change(tx, sight, &BasisMemory::told(memory))? else { continue };
        let is_known = |id: MemoryId| told.iter().any(|told| told.memory == id);
        let has_notice = change.change == MemoryChangeKind::Retracted;
        if !has_notice && !change.successor.is_some_and(is_known) {
            changes.push(change);
        }
    }
    Ok(changes)
}

/// What the session has heard of these changes, and what holds instead, it knows now. What is gone for it
/// is no longer among what it received, so that it hears of no later change.
fn note_heard(
    tx: &mut Tx<'_>,
    key: &ReadSetKey,
    received: &[&BasisMemory],
    stale: &[StaleMemory],
    WriteScope { caller, now, .. }: WriteScope<'_>,
) -> Result<()> {
    let (mut heard, mut gone): (Vec<MemoryRef>, Vec<MemoryRef>) = (Vec::new(), Vec::new());
    for change in stale {
        let origins = received.iter().filter(|memory| memory.id == change.memory);
        for origin in origins.map(|memory| &memory.origin) {
            let place = if change.is_gone() { &mut gone } else { &mut heard };
            place.push((origin.clone(), change.memory));
            heard.extend(change.successor.map(|successor| (origin.clone(), successor)));
        }
    }
    tx.drop_told_of(key, &gone)?;
    let end = tx.journal_end(&caller.workspace)?;
    // The row of each id of the session counts.
    tx.note_known(key, &heard, end)?;
    tx.note_heard(key, &heard, end, now)
}

/// The memories that one part of a claim names.
fn find_named(
    tx: &Tx<'_>,
    sight: &Sight,
    told: &[ToldMemory],
    named: &BasisRef,
) -> Result<Vec<BasisMemory>> {
    match named {
        BasisRef::Memory { id, revision } => {
            named_memory(tx, sight, told, *id, *revision).map(|found| vec![found])
        }
        BasisRef::Context(id) => named_context(tx, sight, told, *id),
        BasisRef::Handle { ending, revision } => {
            let memories = tx.memory_ids_ending(sight, ending, SAME_ENDING_MAX)?;
            let contexts = match revision {
                None => tx.context_ids_ending(sight, ending, SAME_ENDING_MAX)?,
                Some(_) => Vec::new(),
            };
            match (memories.as_slice(), contexts.as_slice()) {
                ([id], []) => {
                    named_memory(tx, sight, told, *id, *revision).map(|found| vec![found])
                }
                ([], [id]) => named_context(tx, sight, told, *id),
                ([], []) => Err(Error::not_found(format!("nothing that you see ends in {ending}"))
                    .hint("Use the whole id from search or list.")),
                _ => Err(Error::conflict(format!("several ids end in {ending}"))
                    .hint("Use the whole id.")),
            }
        }
    }
}

fn named_memory(
    tx: &Tx<'_>,
    sight: &Sight,
    told: &[ToldMemory],
    id: MemoryId,
    revision: Option<u64>,
) -> Result<BasisMemory> {
    let memory = tx.memory(sight, id)?.ok_or_else(|| {
        Error::not_found(format!("no memory {id} exists")).hint("Use an id from search or list.")
    })?;
    if revision.is_some_and(|revision| revision > memory.revision) {
        let message = format!("memory {id} has no such revision; it is at {}", memory.revision);
        return Err(Error::new(crate::base::error::ErrorKind::Invalid, message)
            .hint("Give the revision that you have read, or leave it out."));
    }
    let known = told.iter().find(|told| told.memory == id);
    let named = match revision == Some(memory.revision) {
        true => NamedAs::Current,
        false => NamedAs::Named,
    };
    Ok(BasisMemory {
        origin: memory.workspace.clone(),
        id,
        revision: revision.or(known.map(|told| told.revision)).unwrap_or(memory.revision),
        current: memory.revision,
        context: known.and_then(|told| told.context),
        named,
        is_contradicted: known.is_some_and(|told| told.is_contradicted),
    })
}

fn named_context(
    tx: &Tx<'_>,
    sight: &Sight,
    told: &[ToldMemory],
    id: ContextId,
) -> Result<Vec<BasisMemory>> {
    let context = tx.context(sight, id)?.ok_or_else(|| {
        Error::not_found(format!("no context {id} exists that you may read"))
            .hint("Use the id of a context that you were given within 30 days.")
    })?;
    let mut found = Vec::new();
    for candidate in context.receipt.included() {
        let ItemKind::Memory(memory) = ItemKind::of(&candidate.id) else { continue };
        // One that is gone for this reader by now is left out.
        if tx.memory(sight, memory)?.is_none() {
            continue;
        }
        let named = named_memory(tx, sight, told, memory, None)?;
        let revision = candidate.revision.map_or(named.revision, |then| then.max(named.revision));
        found.push(BasisMemory { revision, context: Some(id), ..named });
    }
    Ok(found)
}

/// Which of the told memories a text rests on, by its words.
fn rests_on(tx: &Tx<'_>, sight: &Sight, told: &[&ToldMemory], text: &str) -> Result<Vec<bool>> {
    let mut sources = Vec::with_capacity(told.len());
    for told in told {
        sources.push(TextTerms::of(&known_text(tx, sight, told)?));
    }
    Ok(TextTerms::of(text).rests_on(&sources))
}

/// The text of a memory as the session knows it.
fn known_text(tx: &Tx<'_>, sight: &Sight, told: &ToldMemory) -> Result<String> {
    if told.current == told.revision {
        return Ok(told.text.clone());
    }
    let then = earlier_revision(tx, sight, &told.origin, told.memory, told.revision)?;
    Ok(then.map_or_else(|| told.text.clone(), |then| then.full_text()))
}

fn earlier_revision(
    tx: &Tx<'_>,
    sight: &Sight,
    origin: &Workspace,
    id: MemoryId,
    revision: u64,
) -> Result<Option<StoredMemory>> {
    let there = Sight { workspaces: vec![origin.clone()], ..sight.clone() };
    let earlier = tx.earlier_revisions(&there, id)?;
    Ok(earlier.into_iter().find(|then| then.revision == revision))
}

/// How a memory has changed since the author knew it; `None` if it says what it said.
fn find_change(tx: &Tx<'_>, sight: &Sight, basis: &BasisMemory) -> Result<Option<StaleMemory>> {
    let is_told_again = basis.named == NamedAs::Current;
    let has_changed = basis.current > basis.revision || basis.is_contradicted;
    if is_told_again || !(has_changed || basis.named == NamedAs::Named) {
        return Ok(None);
    }
    let stale = |change, by, successor, text: Option<&str>| {
        Some(StaleMemory {
            memory: basis.id,
            known_revision: basis.revision,
            current_revision: basis.current,
            change,
            by,
            successor,
            text: text.map(excerpt),
        })
    };
    let there = Sight { workspaces: vec![basis.origin.clone()], ..sight.clone() };
    // What the author may not read any more is gone for it, and its revisions do not exist.
    let Some(memory) = tx.memory(&there, basis.id)? else {
        return Ok(Some(StaleMemory::gone(basis.id, basis.revision)));
    };
    let memory = show(tx, sight, memory)?;
    if memory.deleted_at.is_some() {
        let by = Some(memory.revised_by);
        return Ok(stale(MemoryChangeKind::Deleted, by, None, None));
    }
    if memory.retraction.is_some() {
        let by = Some(memory.revised_by);
        return Ok(stale(MemoryChangeKind::Retracted, by, None, None));
    }
    if memory.superseded_by.is_some() {
        // What holds now may be the successor of a successor.
        let heir = last_heir(tx, &there, &memory)?;
        let by = heir.as_ref().map_or(memory.revised_by, |heir| heir.owner.clone());
        let (id, text) = (heir.as_ref().map(|heir| heir.id), heir.as_ref().map(|heir| &*heir.text));
        return Ok(stale(MemoryChangeKind::Superseded, Some(by), id, text));
    }
    if basis.current > basis.revision {
        let then = earlier_revision(tx, sight, &basis.origin, basis.id, basis.revision)?;
        if then.is_none_or(|then| !says_same(&then, &memory)) {
            let (by, text) = (Some(memory.revised_by), memory.text);
            return Ok(stale(MemoryChangeKind::Corrected, by, None, Some(&text)));
        }
    }
    if !basis.is_contradicted {
        return Ok(None);
    }
    let filter = ContradictionFilter {
        status: Some(ContradictionStatus::Open),
        memory: Some(basis.id),
        ..ContradictionFilter::default()
    };
    let found = tx.contradictions(&there, &filter, 1)?.into_iter().next();
    let other =
        found.and_then(|(_, found)| found.memories.into_iter().find(|side| side.id != basis.id));
    let change = MemoryChangeKind::Contradicted;
    Ok(other.and_then(|side| stale(change, Some(side.owner), Some(side.id), Some(&side.text))))
}
