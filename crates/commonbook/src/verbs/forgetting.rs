//! Forgetting: memories go with every copy in the home, and do not come back.

mod alike;
mod files;
mod remaining;
mod restored;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::Commonbook;
use super::memory::{MemoryChange, changeable_memory, remove_memory};
use crate::base::error::{Error, Result};
use crate::base::home_key::hex;
use crate::base::id::{CertificateId, MemoryId};
use crate::base::limits;
use crate::base::page::Page;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::event::EventKind;
use crate::model::forgetting::{
    AlikeMemory, AllowForgotten, BEYOND_REACH, ForgetCertificate, ForgetMemories, ForgetMemory,
    ForgetPlace, ForgetReach, ForgetResult, ForgetSelection, ForgottenPhrases, GetCertificate,
    ListCertificates, OUTSIDE_COPIES, Tombstone, entry_without_text, is_derived, is_empty_now,
    phrases_of_memories, quotes_in, redacted_memory,
};
use crate::model::memory::{ListOrder, Memory, Sharing};
use crate::model::search::MemoryFilter;
use crate::model::workspace::Workspace;
use crate::store::{QuotingRows, Tx};

/// Memories or events that are read at a time.
const PAGE_MEMORIES: u32 = 200;

/// How often a plan is made in a read. If a memory that is to go changes each time, the next plan is made
/// in the write, so that no author keeps a memory by changing it.
const PLANS_IN_READS: usize = 3;

/// A memory that is to go, with all its revisions, and whom its tombstones hold for.
#[derive(Clone)]
struct LeavingMemory {
    memory: StoredMemory,
    revisions: Vec<StoredMemory>,
    owner: Option<Agent>,
}

impl LeavingMemory {
    fn states(&self) -> impl Iterator<Item = &Memory> {
        self.revisions.iter().chain([&self.memory]).map(|memory| &**memory)
    }
}

/// What is to go, as a read has found it. Others write meanwhile.
#[derive(Clone)]
struct ForgetPlan {
    workspace: Workspace,
    /// The end of the journal of the workspace when it was made.
    position: u64,
    /// The owners of the memories that the selection names.
    owners: BTreeSet<Agent>,
    memories: Vec<LeavingMemory>,
    /// The memories that quote them, which stay without the quotes.
    quoting: Vec<StoredMemory>,
    /// The memories of others that quote them, and stay as they are.
    left: Vec<StoredMemory>,
    /// Whether other agents' memories lose their quotes too.
    also_quotes: bool,
    phrases: ForgottenPhrases,
    /// The other rows that quote them.
    rows: QuotingRows,
    /// Whose words go.
    reach: ForgetReach,
}

/// What stands outside the rows of the plan's workspace.
#[derive(Clone)]
struct ForgetSurroundings {
    /// The files of the home, which are cleaned.
    files: Vec<ForgetPlace>,
    /// The copies that stay.
    remaining: Vec<String>,
}

impl ForgetPlan {
    fn ids(&self) -> Vec<MemoryId> {
        self.memories.iter().map(|forgotten| forgotten.memory.id).collect()
    }

    /// The places of a certificate; `rows` are those that the store counts. None says what stood there.
    fn places(&self, rows: Vec<(&'static str, u64)>, files: Vec<ForgetPlace>) -> Vec<ForgetPlace> {
        let revisions = self.memories.iter().map(|forgotten| forgotten.revisions.len() as u64);
        let count = self.memories.len() as u64;
        let own = [
            ("memories", count),
            ("earlier revisions", revisions.sum()),
            ("quotes in other memories", self.quoting.len() as u64),
            ("search index: words, facts and vectors", count),
            ("mentions, claims, usage and topics in the journal", count),
        ];
        let rows = own.into_iter().chain(rows);
        let rows = rows.map(|(place, found)| ForgetPlace::of(place, found));
        rows.chain(files).collect()
    }

    /// The places of a preview, with the sentences that would go.
    fn previewed_places(&self, files: Vec<ForgetPlace>) -> Vec<ForgetPlace> {
        let mut sentences = self.rows.sentences();
        let says = |place: ForgetPlace| {
            let mut says = sentences.remove(place.place.as_str()).unwrap_or(place.says);
            says.sort_unstable();
            says.dedup();
            ForgetPlace { says, ..place }
        };
        self.places(self.rows.counts(), files).into_iter().map(says).collect()
    }
}

impl Commonbook {
    /// Removes memories with every copy in the home, and keeps them from coming back. Without
    /// `confirm` it changes nothing.
    ///
    /// # Errors
    /// `invalid` with the field; `not_found`; `forbidden` (`ownership_mismatch`) unless the caller is
    /// the owner, a person or has the scope admin; `too_large` for more than 10,000 memories.
    pub fn forget_memory(&self, caller: &Caller, request: &ForgetMemory) -> Result<ForgetResult> {
        self.policy.may_write(caller)?;
        let now = self.clock.now();
        let selection = request.read(caller, now)?;
        let also_quotes = request.also_quotes;
        if request.is_confirmed() {
            // What an earlier call could not clean, as its process was killed or the disk was full.
            self.finish_forgetting()?;
        }
        let id = CertificateId::new(&*self.ids, now);
        let mut plans = 0;
        loop {
            plans += 1;
            let plan =
                self.store.read(|tx| plan_forgetting(tx, caller, &selection, also_quotes))?;
            let plan = Arc::new(plan);
            let redacted = visible_ids(caller, &plan.quoting)?;
            let files = self.redact_files(&plan.phrases, &plan.reach, false)?;
            let around = match plan.memories.is_empty() {
                true => Vec::new(),
                false => self.remaining_copies(caller, &plan)?,
            };
            let mut remaining = around.clone();
            remaining.extend(left_quotes(caller, &plan.left)?);
            let alike = self.alike_memories(caller, &plan, now)?;
            if !request.is_confirmed() || plan.memories.is_empty() {
                let hint = (!plan.memories.is_empty()).then(|| {
                    "Nothing was changed. To do it, set `confirm`; nothing undoes it.".into()
                });
                return Ok(ForgetResult {
                    forgotten: false,
                    memories: plan.ids(),
                    cuts: visible_cuts(caller, &plan)?,
                    redacted,
                    places: plan.previewed_places(files),
                    remaining,
                    alike,
                    certificate: None,
                    hint,
                });
            }
            let around = ForgetSurroundings { files, remaining: around };
            let selection = selection.clone();
            let certificate = self.write_as(caller, now, move |tx, by| {
                let plan = match plan.as_of_now(&*tx, by)? {
                    Some(plan) => plan,
                    None if plans < PLANS_IN_READS => return Ok(None),
                    None => plan_forgetting(&*tx, by, &selection, also_quotes)?,
                };
                forget_planned(tx, by, &plan, around.clone(), id, now).map(Some)
            })?;
            if let Some(certificate) = certificate {
                return self.forgotten(certificate, remaining, alike);
            }
        }
    }

    /// The result of a forgetting, when the files of the home are clean and what was written meanwhile
    /// is too.
    fn forgotten(
        &self,
        certificate: ForgetCertificate,
        remaining: Vec<String>,
        alike: Vec<AlikeMemory>,
    ) -> Result<ForgetResult> {
        let id = certificate.id;
        self.finish_forgetting()?;
        let workspace = certificate.workspace.clone();
        let stored = self.store.read(|tx| tx.certificate(&workspace, id))?;
        let certificate = stored.unwrap_or(certificate);
        let hint = certificate
            .finished_at
            .is_none()
            .then(|| "A reader still holds the old files; the next sweep cleans them.".to_owned());
        Ok(ForgetResult {
            forgotten: true,
            memories: certificate.memories.clone(),
            redacted: certificate.redacted.clone(),
            cuts: BTreeMap::new(),
            places: certificate.places.clone(),
            remaining,
            alike,
            certificate: Some(certificate),
            hint,
        })
    }

    /// Removes several memories as [`Self::forget_memory`] does.
    ///
    /// # Errors
    /// As [`Self::forget_memory`].
    pub fn forget_memories(
        &self,
        caller: &Caller,
        request: &ForgetMemories,
    ) -> Result<ForgetResult> {
        self.forget_memory(caller, &request.clone().into())
    }

    /// The certificate of what was forgotten.
    ///
    /// # Errors
    /// `not_found` if the workspace has none with this id that the caller may read: who did it reads
    /// it, a person, and who has the scope admin.
    pub fn get_certificate(
        &self,
        caller: &Caller,
        request: &GetCertificate,
    ) -> Result<ForgetCertificate> {
        let _reads = Sight::reading(caller)?;
        let id = request.certificate;
        let found = self.store.read(|tx| tx.certificate(&caller.workspace, id))?;
        found.filter(|certificate| may_read(caller, certificate)).ok_or_else(|| no_certificate(id))
    }

    /// The certificates of this workspace that the caller may read, newest first.
    ///
    /// # Errors
    /// `invalid` for a limit out of range.
    pub fn list_certificates(
        &self,
        caller: &Caller,
        request: &ListCertificates,
    ) -> Result<Page<ForgetCertificate>> {
        let _reads = Sight::reading(caller)?;
        let limit = request.limit.unwrap_or(limits::PAGE_DEFAULT);
        crate::base::input::in_range("limit", u64::from(limit), 1..=u64::from(limits::PAGE_MAX))?;
        let all = self.store.read(|tx| tx.certificates(&caller.workspace, u32::MAX))?;
        let readable = all.into_iter().filter(|certificate| may_read(caller, certificate));
        Ok(Page { items: readable.take(limit as usize).collect(), next: None })
    }

    /// Allows texts again that were forgotten.
    ///
    /// # Errors
    /// `not_found` as [`Self::get_certificate`].
    pub fn allow_forgotten(
        &self,
        caller: &Caller,
        request: &AllowForgotten,
    ) -> Result<ForgetCertificate> {
        self.policy.may_write(caller)?;
        let (now, id) = (self.clock.now(), request.certificate);
        let _writes = Sight::writing(caller)?;
        self.write_as(caller, now, move |tx, by| {
            let found = tx.certificate(&by.workspace, id)?;
            let found = found.filter(|certificate| may_read(by, certificate));
            let mut certificate = found.ok_or_else(|| no_certificate(id))?;
            certificate.allowed_at.get_or_insert(now);
            tx.drop_tombstones(&by.workspace, id)?;
            tx.put_certificate(&certificate)?;
            Ok(certificate)
        })
    }

    /// Cleans the files that still hold what was forgotten, and notes it in the certificates. What a
    /// reader prevents is done by the next sweep.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or written.
    pub fn finish_forgetting(&self) -> Result<()> {
        let waiting = self.store.read(|tx| tx.unfinished_certificates())?;
        if waiting.is_empty() {
            return Ok(());
        }
        for certificate in &waiting {
            let (keys, tombstones) = self.store.read(|tx| {
                let id = Some(certificate.id);
                Ok((tx.phrase_keys()?, tx.tombstones(&certificate.workspace, id)?))
            })?;
            let phrases = tombstones.iter().map(|tombstone| tombstone.phrase);
            let phrases = ForgottenPhrases::new(keys, phrases);
            let reach = ForgetReach::of(certificate);
            self.redact_late_rows(certificate, &phrases, &reach)?;
            if let Err(error) = self.redact_files(&phrases, &reach, true) {
                tracing::warn!(%error, "files of the home still hold what was forgotten");
                return Ok(());
            }
        }
        let workspaces = waiting.iter().map(|certificate| certificate.workspace.clone());
        let workspaces: Vec<Workspace> = workspaces.collect();
        if !matches!(self.index.clean_files(self.store(), &workspaces), Ok(true)) {
            tracing::warn!("another process writes the search index, and cleans it");
            return Ok(());
        }
        if let Err(error) = self.store.scrub() {
            tracing::warn!(%error, "the store's log still holds what was forgotten");
            return Ok(());
        }
        let now = self.clock.now();
        self.store.write(move |tx| {
            for certificate in &waiting {
                let (workspace, id) = (&certificate.workspace, certificate.id);
                let Some(stored) = tx.certificate(workspace, id)? else { continue };
                tx.put_certificate(&ForgetCertificate { finished_at: Some(now), ..stored })?;
            }
            Ok(())
        })
    }

    /// Takes the phrases out of rows that were written while a plan was made, and counts them in the
    /// certificate.
    fn redact_late_rows(
        &self,
        certificate: &ForgetCertificate,
        phrases: &ForgottenPhrases,
        reach: &ForgetReach,
    ) -> Result<()> {
        let workspace = &certificate.workspace;
        let rows = self.store.read(|tx| tx.quoting_rows(workspace, phrases, reach))?;
        if rows.is_empty() {
            return Ok(());
        }
        let (workspace, id) = (workspace.clone(), certificate.id);
        let (phrases, reach) = (phrases.clone(), reach.clone());
        self.store.write(move |tx| {
            let counts = tx.redact_rows(&workspace, &rows, &phrases, &reach)?;
            let Some(mut certificate) = tx.certificate(&workspace, id)? else { return Ok(()) };
            for (name, late) in counts {
                let place = certificate.places.iter_mut().find(|place| place.place == name);
                place.into_iter().for_each(|place| place.found += late);
            }
            tx.put_certificate(&certificate)
        })
    }
}

impl ForgetPlan {
    /// The plan with what was written since it was made; `None` if a memory that is to go has changed, so
    /// that its words are others.
    fn as_of_now(&self, tx: &Tx<'_>, caller: &Caller) -> Result<Option<Self>> {
        let workspace = &self.workspace;
        let changed = memories_since(tx, workspace, self.position)?;
        let gone = self.ids();
        if gone.iter().any(|id| changed.contains(id)) {
            return Ok(None);
        }
        let known = self.quoting.iter().chain(&self.left).map(|memory| memory.id);
        let wanted: BTreeSet<MemoryId> = known.chain(changed.iter().copied()).collect();
        let wanted: Vec<MemoryId> = wanted.into_iter().collect();
        let quoting = tx.quoting_among(workspace, &wanted, &self.phrases)?;
        let mut plan = self.clone();
        plan.sort_quotes(caller, quoting)?;
        Ok(Some(plan))
    }

    /// Sorts the memories that quote: those that lose the quote, those of which nothing would be left, and
    /// those that stay as they are.
    fn sort_quotes(&mut self, caller: &Caller, quoting: Vec<StoredMemory>) -> Result<()> {
        let gone: BTreeSet<MemoryId> = self.ids().into_iter().collect();
        let is_own = |memory: &Memory| match memory.owner == Agent::system() {
            true => self.reach.includes_digest(memory),
            false => (self.owners.iter().chain([&caller.agent]))
                .any(|owner| memory.owner == *owner || memory.owner.is_child_of(owner)),
        };
        // What others wrote themselves is not an agent's to change, with or without the flag.
        let may_cut = |memory: &Memory| {
            let is_copy = || is_derived(memory) && self.reach.includes_digest(memory);
            let may_change = || is_copy() || access::may_forget(caller, memory).is_ok();
            is_own(memory) || (self.also_quotes && may_change())
        };
        let others = quoting.into_iter().filter(|memory| !gone.contains(&memory.id));
        let (quoting, left): (Vec<StoredMemory>, Vec<StoredMemory>) =
            others.partition(|memory| may_cut(memory));
        // Of a copy nothing would be left.
        let sight = Sight::writing(caller)?;
        let is_copy = |memory: &Memory| {
            memory.case.is_none()
                && sight.sees(memory)
                && redacted_memory(memory, &self.phrases).is_some_and(|rest| is_empty_now(&rest))
        };
        let (copies, quoting): (Vec<StoredMemory>, Vec<StoredMemory>) =
            quoting.into_iter().partition(|memory| is_copy(memory));
        self.memories.extend(copies.into_iter().map(|memory| {
            let owner = Some(memory.owner.clone());
            LeavingMemory { memory, revisions: Vec::new(), owner }
        }));
        (self.quoting, self.left) = (quoting, left);
        Ok(())
    }
}

/// The memories that an event after this position of a journal is about, in sight or not.
fn memories_since(tx: &Tx<'_>, workspace: &Workspace, position: u64) -> Result<BTreeSet<MemoryId>> {
    let (mut found, mut after) = (BTreeSet::new(), position);
    loop {
        let subjects = tx.memory_subjects(workspace, after, PAGE_MEMORIES)?;
        let Some((last, _)) = subjects.last() else { return Ok(found) };
        after = *last;
        found.extend(subjects.into_iter().map(|(_, id)| id));
    }
}

/// What this selection removes, if the caller may remove all of it.
fn plan_forgetting(
    tx: &Tx<'_>,
    caller: &Caller,
    selection: &ForgetSelection,
    also_quotes: bool,
) -> Result<ForgetPlan> {
    let found = match selection {
        ForgetSelection::Memory(id) => {
            vec![changeable_memory(tx, caller, &Sight::writing(caller)?, *id)?]
        }
        ForgetSelection::Owned { .. } => owned_memories(tx, caller, selection)?,
    };
    let workspace =
        found.first().map_or_else(|| caller.workspace.clone(), |first| first.workspace.clone());
    let is_person = access::is_person(caller);
    let mut memories = Vec::with_capacity(found.len());
    for memory in found {
        access::may_forget(caller, &memory)?;
        let there = Sight { workspaces: vec![workspace.clone()], ..Sight::of_owner(&memory) };
        let is_everybodys =
            is_person && memory.sharing == Sharing::Shared && !memory.is_quarantined();
        let owner = (!is_everybodys).then(|| memory.owner.clone());
        let revisions = tx.earlier_revisions(&there, memory.id)?;
        memories.push(LeavingMemory { memory, revisions, owner });
    }
    let key = first_key(tx)?;
    // An opaque document goes whole; nothing has read its text, or quotes it.
    let read = memories.iter().filter(|leaving| !leaving.memory.is_opaque());
    let phrases = phrases_of_memories(&key, read.flat_map(LeavingMemory::states));
    let quoting = match memories.is_empty() {
        true => Vec::new(),
        false => tx.quoting_memories(&workspace, &phrases)?,
    };
    let reach = match is_person {
        true => ForgetReach::Everybody,
        false => {
            let gone = memories.iter().map(|forgotten| forgotten.memory.id);
            ForgetReach::of_agent(&caller.agent, gone, quoting.iter().map(|memory| &**memory))
        }
    };
    let rows = match memories.is_empty() {
        true => QuotingRows::default(),
        false => tx.quoting_rows(&workspace, &phrases, &reach)?,
    };
    let mut plan = ForgetPlan {
        position: tx.journal_end(&workspace)?,
        owners: memories.iter().map(|forgotten| forgotten.memory.owner.clone()).collect(),
        workspace,
        memories,
        quoting: Vec::new(),
        left: Vec::new(),
        also_quotes,
        phrases,
        rows,
        reach,
    };
    plan.sort_quotes(caller, quoting)?;
    Ok(plan)
}

/// The memories in sight that a selection names.
fn owned_memories(
    tx: &Tx<'_>,
    caller: &Caller,
    selection: &ForgetSelection,
) -> Result<Vec<StoredMemory>> {
    let sight = Sight::writing_at_home(caller)?.with_opaque();
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let filter = MemoryFilter::default();
        let page = tx.memories(&sight, &filter, ListOrder::Oldest, from, PAGE_MEMORIES)?;
        let Some((last, _)) = page.last() else { return Ok(found) };
        from = Some(*last);
        found.extend(
            page.into_iter().map(|(_, memory)| memory).filter(|memory| selection.fits(memory)),
        );
        if found.len() > limits::FORGOTTEN_MEMORIES {
            let (count, most) = (found.len(), limits::FORGOTTEN_MEMORIES);
            return Err(Error::too_large("memories", count, most, "memories")
                .hint("Name a shorter time or a topic, and call again for the others."));
        }
    }
}

/// Removes what was planned, with its certificate.
fn forget_planned(
    tx: &mut Tx<'_>,
    caller: &Caller,
    plan: &ForgetPlan,
    around: ForgetSurroundings,
    id: CertificateId,
    now: Timestamp,
) -> Result<ForgetCertificate> {
    let ForgetPlan {
        workspace, memories, quoting, left, also_quotes, phrases, rows, reach, ..
    } = plan;
    for before in quoting {
        if let Some(after) = redacted_memory(before, phrases) {
            write_redacted(tx, caller, before, StoredMemory::of(after), now)?;
        }
        tx.redact_revisions(workspace, before.id, phrases)?;
    }
    // Before the memories go with rows of their own, so that the certificate counts those too.
    let rows = tx.redact_rows(workspace, rows, phrases, reach)?;
    for forgotten in memories {
        remove_forgotten(tx, caller, &forgotten.memory, now)?;
    }
    let key = first_key(&*tx)?;
    for forgotten in memories {
        for phrase in phrases_of_memories(&key, forgotten.states()).iter() {
            let (workspace, owner) = (workspace.clone(), forgotten.owner.clone());
            tx.put_tombstone(&Tombstone { workspace, phrase, certificate: id, owner })?;
        }
    }
    let mut not_erased = around.remaining;
    not_erased.extend(left_quotes(caller, left)?);
    not_erased.extend(OUTSIDE_COPIES.map(str::to_owned));
    not_erased.extend(beyond_reach(reach));
    let texts: Vec<&str> = memories.iter().map(|forgotten| &*forgotten.memory.text).collect();
    let certificate = ForgetCertificate {
        id,
        workspace: workspace.clone(),
        at: now,
        by: caller.agent.clone(),
        by_person: access::is_person(caller),
        memories: plan.ids(),
        redacted: visible_ids(caller, quoting)?,
        also_quotes: *also_quotes,
        places: plan.places(rows, around.files),
        keyed_digest: hex(&key.sign(&texts.join("\n"))),
        not_erased,
        finished_at: None,
        allowed_at: None,
    };
    tx.put_certificate(&certificate)?;
    Ok(certificate)
}

/// Writes a memory without the quotes. The names in it are found again by the follower.
fn write_redacted(
    tx: &mut Tx<'_>,
    caller: &Caller,
    before: &StoredMemory,
    after: StoredMemory,
    now: Timestamp,
) -> Result<()> {
    let (kind, fields) = (EventKind::MemoryUpdated, &["text"][..]);
    let after = MemoryChange { kind, fields, caller, now }.write_cut(tx, before, after)?;
    tx.put_mentions(&after, &after.author_mentions()).map(drop)
}

/// Removes a memory for good. Of an entry of a case the place stays, by which readers count.
fn remove_forgotten(
    tx: &mut Tx<'_>,
    caller: &Caller,
    memory: &Memory,
    now: Timestamp,
) -> Result<()> {
    if memory.case.is_none() {
        return remove_memory(tx, EventKind::MemoryForgotten, memory, caller, now);
    }
    let (kind, fields) = (EventKind::MemoryUpdated, &["text"][..]);
    let stub = StoredMemory::of(entry_without_text(memory));
    let stub = MemoryChange { kind, fields, caller, now }.write_cut(tx, memory, stub)?;
    tx.purge_derived(&stub)
}

fn first_key(tx: &Tx<'_>) -> Result<crate::model::forgetting::PhraseKey> {
    let keys = tx.phrase_keys()?;
    keys.into_iter().next().ok_or_else(|| {
        Error::new(
            crate::base::error::ErrorKind::Unavailable,
            "the store has no key for forgotten phrases",
        )
        .hint("Run `commonbook doctor`.")
    })
}

/// The ids of those memories that the caller sees.
fn visible_ids(caller: &Caller, memories: &[StoredMemory]) -> Result<Vec<MemoryId>> {
    let sight = Sight::writing(caller)?;
    let seen = memories.iter().filter(|memory| sight.sees(memory));
    Ok(seen.map(|memory| memory.id).collect())
}

/// What a certificate says of the memories of others that keep their quotes: those in sight alone, since
/// the number of all others would say what private memories hold.
fn left_quotes(caller: &Caller, memories: &[StoredMemory]) -> Result<Vec<String>> {
    let seen = visible_ids(caller, memories)?.into_iter();
    let named = seen.map(|id| {
        format!(
            "{id} of another agent quotes it: `also_quotes` cuts the quote if you may change it"
        )
    });
    Ok(named.collect())
}

/// What an agent's forgetting does not reach; the same words for everybody, whether somebody has said it or not.
fn beyond_reach(reach: &ForgetReach) -> Option<String> {
    (*reach != ForgetReach::Everybody).then(|| BEYOND_REACH.to_owned())
}

/// The sentences that the memories in sight would lose.
fn visible_cuts(caller: &Caller, plan: &ForgetPlan) -> Result<BTreeMap<MemoryId, Vec<String>>> {
    let sight = Sight::writing(caller)?;
    let seen = plan.quoting.iter().filter(|memory| sight.sees(memory));
    Ok(seen.map(|memory| (memory.id, quotes_in(memory, &plan.phrases))).collect())
}

/// Whether this caller may read a certificate: who did it, an agent above, and a person.
fn may_read(caller: &Caller, certificate: &ForgetCertificate) -> bool {
    let by = &certificate.by;
    *by == caller.agent || by.is_child_of(&caller.agent) || access::is_person(caller)
}

fn no_certificate(id: CertificateId) -> Error {
    Error::not_found(format!("no certificate {id} exists"))
        .hint("List them with `list_certificates`.")
}
