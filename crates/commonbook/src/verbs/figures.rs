//! The figures of a home for its operator, read without a scan of memories or events.

use std::collections::BTreeMap;

use super::Commonbook;
use crate::base::error::Result;
use crate::model::access;
use crate::model::caller::Caller;
use crate::model::figures::{FollowerLag, HomeFigures};
use crate::model::workspace::Workspace;
use crate::store::{EventFigures, JournalLag, JournalScope, StoreServer};

/// Events of one journal that one call counts at most: the next call goes on.
const COUNTED_EVENTS_MAX: u32 = 50_000;

/// Counts the events of all journals from where they ended when the count began.
#[derive(Debug, Default)]
pub struct EventCount {
    /// The counted events of each journal; a journal that begins later is counted from its start.
    positions: BTreeMap<Workspace, u64>,
}

impl Commonbook {
    /// The figures of the home and of this process.
    ///
    /// # Errors
    /// `forbidden` for a token without the scope `admin`, and for one of a single workspace;
    /// `unavailable` if the store cannot be read.
    pub fn get_home_figures(&self, caller: &Caller) -> Result<HomeFigures> {
        access::may_see_figures(caller)?;
        let rules = self.mention_rules();
        let (journals, mentions, contradictions, digests) = self.store.read(|tx| {
            let journals: BTreeMap<Workspace, u64> = tx.journals()?.into_iter().collect();
            let all = JournalScope::All;
            let behind = |lags: Vec<JournalLag>| lags.iter().map(JournalLag::events).sum::<u64>();
            let mentions = behind(tx.mentions_behind(&all, rules)?);
            let contradictions = behind(self.contradictions_behind(tx, &all)?);
            Ok((journals, mentions, contradictions, behind(tx.case_activity_behind(&all)?)))
        })?;
        let events = journals.values().sum();
        let index = self.index.figures();
        let mut followers = vec![
            FollowerLag { follower: "index", events: self.index.events_behind(&journals) },
            FollowerLag { follower: "mentions", events: mentions },
            FollowerLag { follower: "contradictions", events: contradictions },
        ];
        // A follower that is switched off falls behind for ever.
        if self.merge_bot.automatic {
            followers.push(FollowerLag { follower: "digests", events: digests });
        }
        let (running, waiting) = self.searches.counts();
        let server = self.store.server()?;
        Ok(HomeFigures {
            store_bytes: self.store.disk_bytes()?,
            waits_for_disk: server.as_ref().is_none_or(StoreServer::waits_for_disk),
            waits_for_standby: server.as_ref().is_some_and(StoreServer::waits_for_standby),
            workspaces: journals.len() as u64,
            events,
            queued_writes: self.store.queued_writes() as u64,
            waiting_searches: waiting as u64,
            running_searches: running as u64,
            index,
            followers,
            streams: self.bus.figures(&journals),
        })
    }

    /// Begins to count events at the ends of the journals.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn begin_event_count(&self) -> Result<EventCount> {
        let journals = self.store.read(|tx| tx.journals())?;
        Ok(EventCount { positions: journals.into_iter().collect() })
    }

    /// The figures of the events since the last call, of every process and in every journal. Of a
    /// journal with very many new events it returns a part; the next call goes on from there.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read; the next call returns these events then.
    pub fn count_new_events(&self, count: &mut EventCount) -> Result<Vec<EventFigures>> {
        let found = self.store.read(|tx| {
            let mut found = Vec::new();
            for (workspace, end) in tx.journals()? {
                let after = count.positions.get(&workspace).copied().unwrap_or(0);
                if end > after {
                    let figures = tx.event_figures(&workspace, after, COUNTED_EVENTS_MAX)?;
                    found.push((workspace, figures));
                }
            }
            Ok(found)
        })?;
        let counted = found.into_iter().map(|(workspace, figures)| {
            count.positions.insert(workspace, figures.through);
            figures
        });
        Ok(counted.collect())
    }
}
