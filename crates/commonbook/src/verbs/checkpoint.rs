//! Checkpoints of sessions, and resuming a session from one.

mod material;

use jiff::Timestamp;

use super::ops::handles::longer_handles;
use super::ops::heirs::for_reader;
use super::ops::write_once::WriteScope;
use super::receipt::{TextDelivery, record_delivery};
use super::session::{record_session, resolve_session_name, session_event, sum_up};
use super::{Commonbook, case};
use crate::base::error::{Error, Result, unless_unwritable};
use crate::base::id::{CheckpointId, MemoryId, SessionId};
use crate::base::limits;
use crate::base::page::Page;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::checkpoint::{
    ArchiveCheckpoint, Checkpoint, CheckpointAndSummarise, CheckpointKind, CreateCheckpoint,
    DeleteCheckpoint, GetCheckpoint, ListCheckpoints, ResumeOptions, ResumeSession,
    ResumeSessionResult, SessionActivity, SummariseResult, checkpoints_to_sweep,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::fit_line;
use crate::model::session::{Session, SessionFilter, SessionName, SessionStatus};
use crate::prompt::context::{ContextFilter, ContextOrigin};
use crate::prompt::resume::{ResumePackage, ResumeText, build_resume};
use crate::store::Tx;
use commonbook_text::fence::Fence;
use material::resume_material;

/// Checkpoints that one transaction of a sweep removes at most.
const CHECKPOINT_SWEEP_MAX: u32 = 100;

/// The newest contexts of an agent among which the texts of its resumed sessions are.
const RECENT_RESUMES_MAX: u32 = 64;

impl Commonbook {
    /// Creates a checkpoint of a session of the caller.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `not_found`; `forbidden` (`ownership_mismatch`) for
    /// another agent's session.
    pub fn create_checkpoint(
        &self,
        caller: &Caller,
        request: &CreateCheckpoint,
    ) -> Result<Checkpoint> {
        let name = self.session_name(caller, request.session.as_deref())?;
        let now = self.clock.now();
        let id = CheckpointId::new(&*self.ids, now);
        let wanted = fit_request(request)?;
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let session = resolve_session_name(tx, scope.sight, scope.caller, &name)?;
            session.may_change(scope.caller)?;
            insert_checkpoint(tx, scope, &session, id, &wanted)
        })?;
        Ok(once.answer)
    }

    /// Summarises a session, marks its case as read and creates a checkpoint, in one transaction.
    ///
    /// # Errors
    /// As [`Self::create_checkpoint`].
    pub fn checkpoint_and_summarise(
        &self,
        caller: &Caller,
        request: &CheckpointAndSummarise,
    ) -> Result<SummariseResult> {
        let name = self.session_name(caller, request.session.as_deref())?;
        let now = self.clock.now();
        let (id, entry) = (CheckpointId::new(&*self.ids, now), MemoryId::new(&*self.ids, now));
        let (kind, title) = (request.kind, request.title.clone());
        let wanted = fit_request(&CreateCheckpoint { kind, title, ..CreateCheckpoint::default() })?;
        let summary = request.summary.clone();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let session = resolve_session_name(tx, sight, caller, &name)?;
            session.may_change(caller)?;
            let kept = sum_up(tx, caller, &session, entry, &summary, now)?;
            let (summary, hint) = (kept.entry_id, kept.hint);
            let session = Session { summary: Some(summary), ..session };
            tx.replace_session(&session)?;
            let mut context_version = None;
            if let Some(key) = &session.case {
                let version = case::find_case(tx, caller, key)?.version;
                tx.put_cursor(&caller.workspace, &caller.agent, Some(key), version, now)?;
                context_version = Some(version);
            }
            let checkpoint = insert_checkpoint(tx, scope, &session, id, &wanted)?;
            Ok(SummariseResult { summary, context_version, checkpoint, hint })
        })?;
        Ok(once.answer)
    }

    /// Deletes a checkpoint of a session of the caller.
    ///
    /// # Errors
    /// `not_found` if no such checkpoint is in sight; `forbidden` (`ownership_mismatch`) for another
    /// agent's session.
    pub fn delete_checkpoint(
        &self,
        caller: &Caller,
        request: &DeleteCheckpoint,
    ) -> Result<Checkpoint> {
        let (id, now) = (request.checkpoint, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let (checkpoint, session) = changeable_checkpoint(tx, scope, id)?;
            tx.drop_checkpoint(&checkpoint)?;
            let kind = EventKind::CheckpointDeleted;
            append_checkpoint_event(tx, scope, kind, &session, id)?;
            Ok(checkpoint)
        })?;
        Ok(once.answer)
    }

    /// Archives a checkpoint of a session of the caller: no sweep removes it. To archive it again
    /// changes nothing.
    ///
    /// # Errors
    /// As [`Self::delete_checkpoint`]; `conflict` if the session has too many archived checkpoints.
    pub fn archive_checkpoint(
        &self,
        caller: &Caller,
        request: &ArchiveCheckpoint,
    ) -> Result<Checkpoint> {
        let (id, now) = (request.checkpoint, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let (before, session) = changeable_checkpoint(tx, scope, id)?;
            if before.archived_at.is_some() {
                return Ok(before);
            }
            let all = tx.checkpoints(&session)?;
            let archived = all.iter().filter(|checkpoint| checkpoint.archived_at.is_some());
            if archived.count() >= limits::CHECKPOINTS_ARCHIVED {
                let most = limits::CHECKPOINTS_ARCHIVED;
                let message = format!("the session has {most} archived checkpoints, the maximum");
                return Err(
                    Error::conflict(message).hint("Delete one that is not needed any more.")
                );
            }
            let checkpoint = Checkpoint { archived_at: Some(scope.now), ..before };
            tx.put_checkpoint(&checkpoint)?;
            let kind = EventKind::CheckpointArchived;
            append_checkpoint_event(tx, scope, kind, &session, id)?;
            Ok(checkpoint)
        })?;
        Ok(once.answer)
    }

    /// The checkpoints of a session, newest first; the archived ones if these are wanted.
    ///
    /// # Errors
    /// `not_found` if no such session is in sight.
    pub fn list_checkpoints(
        &self,
        caller: &Caller,
        request: &ListCheckpoints,
    ) -> Result<Page<Checkpoint>> {
        let sight = Sight::reading_at_home(caller)?;
        let name = self.session_name(caller, request.session.as_deref())?;
        self.store.read(|tx| {
            let session = resolve_session_name(tx, &sight, caller, &name)?;
            let wanted =
                |checkpoint: &Checkpoint| checkpoint.archived_at.is_some() == request.archived;
            let items = tx.checkpoints(&session)?.into_iter().rev().filter(wanted);
            Ok(Page { items: items.collect(), next: None })
        })
    }

    /// One checkpoint.
    ///
    /// # Errors
    /// `not_found` if no such checkpoint exists, or if its session is not in sight.
    pub fn get_checkpoint(&self, caller: &Caller, request: &GetCheckpoint) -> Result<Checkpoint> {
        let sight = Sight::reading_at_home(caller)?;
        self.store.read(|tx| {
            find_checkpoint(tx, caller, &sight, request.checkpoint)
                .map(|(checkpoint, _)| checkpoint)
        })
    }

    /// Resumes a session: the caller's own, or a new session of the caller where another agent's
    /// ended.
    ///
    /// # Errors
    /// `invalid` with the field; `not_found` if the session or the checkpoint is not in sight.
    pub fn resume_session(
        &self,
        caller: &Caller,
        request: &ResumeSession,
    ) -> Result<ResumeSessionResult> {
        let wanted = request.check(&caller.agent, self.checkpoints)?;
        self.follow_mentions(caller)?;
        let name = request.session.as_deref().map(SessionName::read).transpose()?;
        let (named_checkpoint, now) = (request.checkpoint, self.clock.now());
        let new = SessionId::new(&*self.ids, now);
        let fence = self.fence(caller)?;
        let reading = ResumeReading { name, checkpoint: named_checkpoint, wanted, fence };
        let unwritten = reading.clone();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let ResumedSession { before, from, resumed } =
                reading.read(&*tx, caller, &sight, now)?;
            if let Some(from) = &from {
                let again =
                    Checkpoint { resumed: from.resumed + 1, resumed_at: Some(now), ..from.clone() };
                tx.put_checkpoint(&again)?;
            }
            let session =
                continue_session(tx, caller, &sight, &before, NewSession { id: new, now })?;
            tx.append_event(&session_event(
                EventKind::SessionResumed,
                &before,
                &caller.agent,
                now,
            ))?;
            let ResumeText { package, told: items } = resumed;
            let (origin, budget) = (ContextOrigin::Resume, reading.wanted.budget);
            let (id, continued) = (before.id.to_string(), Some(session.id.to_string()));
            let text = &package.text;
            let told = TextDelivery { origin, task: &id, text, session: continued, budget, items };
            record_delivery(tx, scope, told)?;
            Ok(resume_result(session, package))
        });
        match unless_unwritable(once)? {
            Some(once) => Ok(once.answer),
            // Where the store can only be read, no session goes on: the text is that of the one that ended.
            None => self.store.read(|tx| {
                let sight = Sight::reading_at_home(caller)?;
                let ResumedSession { before, resumed, .. } =
                    unwritten.read(tx, caller, &sight, now)?;
                for_reader(tx, &sight, resume_result(before, resumed.package))
            }),
        }
    }

    /// Removes the checkpoints that have expired.
    pub(super) fn drop_old_checkpoints(&self, sure: Timestamp) -> Result<()> {
        let before = self.checkpoints.expiry_before(sure);
        loop {
            let dropped = self.store.write(move |tx| {
                let old = tx.old_checkpoints(before, CHECKPOINT_SWEEP_MAX)?;
                for checkpoint in &old {
                    tx.drop_checkpoint(checkpoint)?;
                }
                Ok(old.len())
            })?;
            if dropped < CHECKPOINT_SWEEP_MAX as usize {
                return Ok(());
            }
        }
    }
}

/// What the text of a resumed session is made with.
#[derive(Clone)]
struct ResumeReading {
    name: Option<SessionName>,
    checkpoint: Option<CheckpointId>,
    wanted: ResumeOptions,
    fence: Fence,
}

/// A session that is resumed, with its text.
struct ResumedSession {
    before: Session,
    from: Option<Checkpoint>,
    resumed: ResumeText,
}

impl ResumeReading {
    /// The session that the caller resumes, and what the text says of it.
    fn read(
        &self,
        tx: &Tx<'_>,
        caller: &Caller,
        sight: &Sight,
        now: Timestamp,
    ) -> Result<ResumedSession> {
        let (before, from) =
            resolve_session(tx, caller, sight, self.name.as_ref(), self.checkpoint)?;
        let until = self.checkpoint.and(from.as_ref());
        let material = resume_material(tx, caller, sight, &before, until, &self.wanted)?;
        let handles = longer_handles(tx, sight, &material.ids())?;
        let (id, from_ref) = (before.id.to_string(), from.as_ref());
        let resumed =
            build_resume(&id, from_ref, &self.wanted, material, &handles, &self.fence, now);
        Ok(ResumedSession { before, from, resumed })
    }
}

/// The answer of a session that is resumed as this one.
fn resume_result(session: Session, package: ResumePackage) -> ResumeSessionResult {
    let ResumePackage { text, memories, changes, entities, handoffs, history, cases, metadata } =
        package;
    ResumeSessionResult {
        session,
        text,
        memories,
        changes,
        entities,
        handoffs,
        history,
        cases,
        metadata,
    }
}

/// Notes that the caller writes in its session. After the minutes of activity in the settings a
/// checkpoint is created.
pub(super) fn note_activity(tx: &mut Tx<'_>, scope: WriteScope<'_>) -> Result<()> {
    let WriteScope { caller, now, ids, checkpoints, .. } = scope;
    let session = caller.session.as_deref().and_then(|session| session.parse().ok());
    let Some(session) = session else { return Ok(()) };
    let found = tx.activity(&caller.workspace, &caller.agent, session)?;
    let Some((session, activity)) = found else { return Ok(()) };
    let activity = activity.extend_to(now);
    tx.put_activity(&session, activity)?;
    if activity.is_due(checkpoints.minutes) {
        let (id, kind) = (CheckpointId::new(ids, now), CheckpointKind::Automatic);
        let wanted = CreateCheckpoint { kind, ..CreateCheckpoint::default() };
        insert_checkpoint(tx, scope, &session, id, &wanted)?;
    }
    Ok(())
}

/// The request, with a title that others may read.
fn fit_request(request: &CreateCheckpoint) -> Result<CreateCheckpoint> {
    let title = request.title.as_deref();
    let title = title.map(|title| fit_line("title", title, limits::TITLE_CHARS)).transpose()?;
    Ok(CreateCheckpoint { title, session: None, ..request.clone() })
}

/// Creates a checkpoint of a session, with its event, and removes the session's checkpoints over
/// the limit.
fn insert_checkpoint(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    session: &Session,
    id: CheckpointId,
    request: &CreateCheckpoint,
) -> Result<Checkpoint> {
    let WriteScope { caller, now, checkpoints, .. } = scope;
    let sight = Sight::writing_at_home(caller)?;
    let wrote = tx.session_agents(&sight, session)?;
    let marked = request.check(&caller.agent, Some(&session.id.to_string()), &wrote)?;
    let made = Checkpoint {
        id,
        workspace: session.workspace.clone(),
        session: marked.session,
        sequence: tx.next_checkpoint(session)?,
        kind: marked.kind,
        title: marked.title,
        agent: caller.agent.clone(),
        agents_involved: marked.agents_involved,
        case: session.case.as_ref().map(ToString::to_string),
        position: tx.journal_end(&session.workspace)?,
        created_at: now,
        resumed: 0,
        resumed_at: None,
        archived_at: None,
    };
    tx.put_checkpoint(&made)?;
    tx.put_activity(session, SessionActivity::start_at(now))?;
    append_checkpoint_event(tx, scope, EventKind::CheckpointCreated, session, id)?;
    let all = tx.checkpoints(session)?;
    let sure = tx.settled_clock()?.map_or(Timestamp::UNIX_EPOCH, |clock| clock.confirmed);
    let gone = checkpoints_to_sweep(&all, checkpoints, sure);
    for checkpoint in all.iter().filter(|checkpoint| gone.contains(&checkpoint.id)) {
        tx.drop_checkpoint(checkpoint)?;
    }
    Ok(made)
}

/// Appends the event of a checkpoint; who sees the session sees it.
fn append_checkpoint_event(
    tx: &mut Tx<'_>,
    WriteScope { caller, now, .. }: WriteScope<'_>,
    kind: EventKind,
    session: &Session,
    id: CheckpointId,
) -> Result<()> {
    let event = session_event(kind, session, &caller.agent, now);
    tx.append_event(&NewEvent { subject: id.to_string(), ..event }).map(drop)
}

/// A checkpoint that the caller may change, with its session.
fn changeable_checkpoint(
    tx: &Tx<'_>,
    WriteScope { caller, sight, .. }: WriteScope<'_>,
    id: CheckpointId,
) -> Result<(Checkpoint, Session)> {
    let (checkpoint, session) = find_checkpoint(tx, caller, sight, id)?;
    session.may_change(caller)?;
    Ok((checkpoint, session))
}

/// A checkpoint whose session is in sight, with that session.
pub(in crate::verbs) fn find_checkpoint(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    id: CheckpointId,
) -> Result<(Checkpoint, Session)> {
    let unknown = || {
        Error::not_found(format!("no checkpoint {id} exists"))
            .hint("See the list of the session's checkpoints.")
    };
    let found = tx.checkpoint(&caller.workspace, id)?.ok_or_else(unknown)?;
    let name = SessionName::read(&found.session)?;
    let session = resolve_session_name(tx, sight, caller, &name).map_err(|_| unknown())?;
    Ok((found, session))
}

/// The session to resume, and the checkpoint to resume it from.
fn resolve_session(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    name: Option<&SessionName>,
    checkpoint: Option<CheckpointId>,
) -> Result<(Session, Option<Checkpoint>)> {
    let of_name = name.map(|name| resolve_session_name(tx, sight, caller, name)).transpose()?;
    if let Some(id) = checkpoint {
        let (checkpoint, session) = find_checkpoint(tx, caller, sight, id)?;
        if of_name.is_some_and(|named| named.id != session.id) {
            return Err(Error::invalid("checkpoint", "this checkpoint belongs to another session")
                .hint("Name the session or the checkpoint, not both."));
        }
        return Ok((session, Some(checkpoint)));
    }
    let session = match of_name {
        Some(session) => session,
        None => {
            let own =
                SessionFilter { owner: Some(caller.agent.to_string()), ..SessionFilter::default() };
            let of_any = SessionFilter { written: true, ..SessionFilter::default() };
            // An empty session is resumed only where no other one is.
            let order = [SessionFilter { written: true, ..own.clone() }, of_any, own];
            let mut last = None;
            for filter in order {
                last = last.or(tx.sessions(sight, &filter, None, 1)?.pop());
            }
            last.map(|(_, session)| session).ok_or_else(|| {
                Error::not_found("there is no session to resume")
                    .hint("Work in one first: what you save is saved in your session.")
            })?
        }
    };
    let newest = tx.checkpoints(&session)?.pop();
    Ok((session, newest))
}

/// The id and the time of a session that begins.
#[derive(Clone, Copy)]
struct NewSession {
    id: SessionId,
    now: Timestamp,
}

/// The session that the caller works in from now on: this one if it is the caller's own, else one
/// of its own on the same case, which the same call once more continues.
fn continue_session(
    tx: &mut Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    before: &Session,
    start: NewSession,
) -> Result<Session> {
    let NewSession { id, now } = start;
    let is_own =
        |session: &Session| session.agent == caller.agent && session.user_id == caller.user;
    let own = match is_own(before) {
        true => Some(before.clone()),
        false => continued_session(tx, caller, sight, before)?.filter(is_own),
    };
    if let Some(own) = own {
        let (session, _) = own.with_touch(now);
        let client = caller.client.clone().or(session.client);
        let session = Session { client, ..session };
        tx.replace_session(&session)?;
        return Ok(session);
    }
    let session = Session { case: before.case.clone(), ..Session::of(caller, id, now) };
    record_session(tx, &session, caller, now)?;
    Ok(session)
}

/// The session in which the caller goes on with this one of another agent, if it has resumed it before and
/// that session is still active: the text that it received then names both.
fn continued_session(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    before: &Session,
) -> Result<Option<Session>> {
    let own = ContextFilter { agent: Some(caller.agent.clone()), ..ContextFilter::default() };
    let task = before.id.to_string();
    let contexts = tx.contexts(sight, &own, None, RECENT_RESUMES_MAX)?;
    let resumed = contexts
        .iter()
        .map(|context| &context.receipt)
        .find(|receipt| receipt.origin == ContextOrigin::Resume && receipt.query == task);
    let id = resumed.and_then(|receipt| SessionId::parse(receipt.session.as_deref()?));
    let Some(id) = id else { return Ok(None) };
    let session = tx.session(sight, id)?;
    Ok(session.filter(|session| session.status == SessionStatus::Active))
}
