//! Digests that run by themselves: after the end of a session on a case, and after many memories.
//!
//! One follower counts what happened on each case. A case whose digest is due is leased: of several
//! processes one runs it, and if that one crashes, another does when the lease has expired.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use jiff::SignedDuration;

use crate::base::error::{ErrorKind, Result};
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::case::digest::DigestCase;
use crate::model::session::SessionFilter;
use crate::store::{CaseActivity, JournalLag, JournalScope};
use crate::verbs::{Commonbook, case};

/// Events that one step counts.
const ACTIVITY_EVENTS_MAX: u32 = 1_000;

/// How long a process may take for one digest: the time of the writer, and as much for the rest.
const DIGEST_LEASE: SignedDuration = SignedDuration::from_secs(2 * limits::DIGEST_SECONDS as i64);

/// Agents on a case from which on many memories make a digest due.
const AGENTS_MIN: usize = 2;

impl Commonbook {
    /// Runs the digest of each case where it is due: a session on the case has ended, or the agents
    /// on it, two or more, have saved many memories in their sessions. What happened is counted in the
    /// journals in this scope. After each digest `report` receives the number of digests so far, and may stop the work. Any process may run this at any
    /// time. Does nothing if the settings switch it off.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read or written.
    pub fn digest_active_cases(
        &self,
        scope: &JournalScope,
        mut report: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<()> {
        if !self.merge_bot.automatic {
            return Ok(());
        }
        self.count_case_activity(scope)?;
        let (now, every) = (self.clock.now(), self.merge_bot.every);
        let mut done = 0;
        for activity in self.store.read(|tx| tx.active_cases(every, now))? {
            let (leased, until) = (activity.clone(), now + DIGEST_LEASE);
            if !self.store.write(move |tx| tx.lease_case(&leased, now, until))? {
                continue;
            }
            self.digest_active_case(&activity)?;
            self.store.write(move |tx| tx.settle_case(&activity))?;
            done += 1;
            if report(done).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Runs the digest of one case, as Commonbook itself. A case that was closed meanwhile, or has
    /// moved, is left to the next time that something happens on it.
    fn digest_active_case(&self, activity: &CaseActivity) -> Result<()> {
        let name = AgentName { agent: Agent::system(), device: None };
        let caller = Caller::new(Some(name), activity.workspace.clone(), EntryPoint::Digest);
        if activity.ended == 0 && self.agents_on_case(&caller, activity)? < AGENTS_MIN {
            return Ok(());
        }
        let request = DigestCase {
            key: activity.case.clone(),
            dry_run: false,
            limit: None,
            idempotency_key: None,
        };
        match self.digest_case(&caller, &request) {
            Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {
                tracing::debug!(case = %activity.case, %error, "a digest was not appended");
                Ok(())
            }
            digested => digested.map(drop),
        }
    }

    /// The agents on a case: those that wrote entries, and those with a session on it.
    fn agents_on_case(&self, caller: &Caller, activity: &CaseActivity) -> Result<usize> {
        let sight = Sight::reading_at_home(caller)?;
        let of_case =
            SessionFilter { case: Some(activity.case.clone()), ..SessionFilter::default() };
        self.store.read(|tx| {
            let case = case::find_case(tx, caller, &activity.case)?;
            let entries = case::entries_of(tx, &sight, &case, 0, case.version)?;
            let sessions = tx.sessions(&sight, &of_case, None, limits::PAGE_MAX)?;
            let mut agents: BTreeSet<Agent> =
                entries.into_iter().map(|entry| entry.source.agent.clone()).collect();
            agents.extend(sessions.into_iter().map(|(_, session)| session.agent));
            agents.remove(&Agent::system());
            Ok(agents.len())
        })
    }

    /// Counts what the journals in this scope say of cases beyond what was counted. Each range is
    /// counted once.
    fn count_case_activity(&self, scope: &JournalScope) -> Result<()> {
        if scope.is_none() {
            return Ok(());
        }
        let behind = self.store.read(|tx| tx.case_activity_behind(scope))?;
        for JournalLag { workspace, position: mut place, .. } in behind {
            loop {
                let next = self
                    .store
                    .read(|tx| tx.next_case_activity(&workspace, place, ACTIVITY_EVENTS_MAX))?;
                let Some((last, found)) = next else { break };
                let journal = workspace.clone();
                place = self.store.write_derived(&workspace, move |tx| {
                    // Another process has counted the range meanwhile.
                    let counted = tx.case_activity_position(&journal)?;
                    if counted != place {
                        return Ok(counted);
                    }
                    for activity in &found {
                        tx.add_case_activity(activity)?;
                    }
                    tx.set_case_activity_position(&journal, last)?;
                    Ok(last)
                })?;
            }
        }
        Ok(())
    }
}
