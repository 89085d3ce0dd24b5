//! The agenda of the followers: which journals they look at, and how often.
//!
//! A process follows what it has written at once. What other processes wrote it leaves to them, and
//! takes up what they left: a journal where a follower has not moved between two looks at all
//! journals. Those looks read a row for each workspace, so that they become rarer the longer they take.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::base::error::Result;
use crate::model::workspace::Workspace;
use crate::store::{JournalLag, JournalScope};
use crate::verbs::Commonbook;

/// The shortest time between two looks at all journals.
const LOOK_INTERVAL_MIN: Duration = Duration::from_millis(250);

/// The time between two looks as a multiple of what one takes: a process keeps a hundredth of a core
/// busy with them, here or in the server.
const LOOK_INTERVAL_FACTOR: u32 = 100;

/// What the followers of this process know from one agenda to the next.
#[derive(Debug, Default)]
pub(in crate::verbs) struct FollowerNews(Mutex<NewsState>);

#[derive(Debug, Default)]
struct NewsState {
    /// Journals that this process has written, or taken up, and not followed to their end.
    own: BTreeSet<Workspace>,
    /// The positions of the followers that were behind at the last look at all journals.
    behind: BTreeMap<(FollowerKind, Workspace), u64>,
    /// When the process looks at all journals again; at once if `None`.
    next_look: Option<Instant>,
}

/// A follower that works through all journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FollowerKind {
    Mentions,
    Contradictions,
    CaseActivity,
}

/// The journals that the followers look at now. Unless it is completed, the next agenda has them too.
#[derive(Debug)]
pub struct FollowerAgenda {
    news: Arc<FollowerNews>,
    scope: JournalScope,
}

impl FollowerAgenda {
    /// The journals to follow.
    #[must_use]
    pub fn scope(&self) -> &JournalScope {
        &self.scope
    }

    /// Completes the agenda: every follower has reached the ends of these journals.
    pub fn complete(mut self) {
        self.scope = JournalScope::none();
    }
}

impl Drop for FollowerAgenda {
    fn drop(&mut self) {
        if let JournalScope::Of(workspaces) = &mut self.scope {
            self.news.note_written(std::mem::take(workspaces));
        }
    }
}

impl FollowerNews {
    fn state(&self) -> MutexGuard<'_, NewsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes journals that this process has written.
    pub(in crate::verbs) fn note_written(&self, journals: BTreeSet<Workspace>) {
        self.state().own.extend(journals);
    }
}

impl NewsState {
    /// Takes the result of a look at all journals: what has not moved since the last look is taken up.
    fn take_up(&mut self, lags: Vec<(FollowerKind, JournalLag)>) {
        let before = std::mem::take(&mut self.behind);
        for (kind, JournalLag { workspace, position, .. }) in lags {
            let key = (kind, workspace);
            if before.get(&key) == Some(&position) {
                self.own.insert(key.1.clone());
            }
            self.behind.insert(key, position);
        }
    }
}

impl Commonbook {
    /// The journals that the followers of this process look at now. The time decides whether it looks at
    /// all journals first.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn next_agenda(&self, now: Instant) -> Result<FollowerAgenda> {
        let is_due = self.news.state().next_look.is_none_or(|next| next <= now);
        let lags = if is_due { Some(self.look_at_all_journals()?) } else { None };
        let mut state = self.news.state();
        if let Some((lags, took)) = lags {
            state.next_look = Some(now + LOOK_INTERVAL_MIN.max(took * LOOK_INTERVAL_FACTOR));
            state.take_up(lags);
        }
        let scope = JournalScope::Of(std::mem::take(&mut state.own));
        Ok(FollowerAgenda { news: Arc::clone(&self.news), scope })
    }

    /// The followers that are behind, and how long it took to find them.
    fn look_at_all_journals(&self) -> Result<(Vec<(FollowerKind, JournalLag)>, Duration)> {
        let (begun, all) = (Instant::now(), JournalScope::All);
        let lags = self.store.read(|tx| {
            let of = |kind| move |lag| (kind, lag);
            let mut lags: Vec<_> = tx
                .mentions_behind(&all, self.mention_rules())?
                .into_iter()
                .map(of(FollowerKind::Mentions))
                .collect();
            let contradictions = self.contradictions_behind(tx, &all)?;
            lags.extend(contradictions.into_iter().map(of(FollowerKind::Contradictions)));
            // A follower that is switched off falls behind for ever.
            if self.merge_bot.automatic {
                let activity = tx.case_activity_behind(&all)?;
                lags.extend(activity.into_iter().map(of(FollowerKind::CaseActivity)));
            }
            Ok(lags)
        })?;
        Ok((lags, begun.elapsed()))
    }
}
