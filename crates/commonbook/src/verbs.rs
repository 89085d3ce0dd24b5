//! The verbs: what agents can do. One verb is one transaction.

mod agent;
mod bulk;
mod case;
mod checkpoint;
mod collaboration;
mod complete;
mod context;
mod contradiction;
mod cursor;
mod digest;
mod entity;
mod event;
mod find_visible;
mod graph;
mod handoff;
mod import;
mod learn;
mod list;
mod loss;
mod memory;
mod mention;
mod place;
mod presence;
mod recall;
mod review;
mod search;
mod session;
mod slots;
mod standing;
mod stats;
mod sweep;
mod token;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::clock::{Clock, SystemClock};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::id::{CheckpointId, IdSource, RandomIds};
use crate::base::{input, limits};
use crate::index::Index;
use crate::model::access::AccessPolicy;
use crate::model::caller::Caller;
use crate::model::case::digest::writing::DigestWriterHandle;
use crate::model::collaboration::CollaborationSettings;
use crate::prompt::context::ContextPreferences;
use crate::prompt::context::tell::TemplateSet;
use crate::store::{IdempotencyRecord, NotifyingStore, Store, Transaction};

pub use complete::CompletionList;
use mention::MentionPositions;
pub use mention::MentionProgress;
use presence::PresenceLog;
use slots::SearchSlots;
use standing::StandingFileCache;
pub use standing::{StandingFile, change_standing, make_standing_folder};
pub use sweep::SweepResult;

/// A store, with the clock and the ids that its verbs use. Cheap to clone; clones share the store.
#[derive(Clone)]
pub struct Commonbook {
    store: Arc<dyn Store>,
    index: Arc<Index>,
    searches: Arc<SearchSlots>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    policy: AccessPolicy,
    collaboration: CollaborationSettings,
    contacts: Arc<PresenceLog>,
    passed: Arc<MentionPositions>,
    preferences: Arc<ContextPreferences>,
    templates: Arc<TemplateSet>,
    files: Arc<StandingFileCache>,
    writer: Option<DigestWriterHandle>,
}

/// What a write answers, and whether it answered so before under the same idempotency key.
struct WriteAnswer<A> {
    answer: A,
    repeated: bool,
}

impl Commonbook {
    /// A Commonbook on this store, with the machine's clock and random ids.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::with_clock_and_ids(store, Arc::new(SystemClock), Arc::new(RandomIds::default()))
    }

    /// A Commonbook on this store, with this clock and these ids.
    #[must_use]
    pub fn with_clock_and_ids(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        let (index, policy) = (Arc::new(Index::in_memory()), AccessPolicy::default());
        Self {
            store,
            index,
            searches: Arc::default(),
            clock,
            ids,
            policy,
            collaboration: CollaborationSettings::default(),
            contacts: Arc::default(),
            passed: Arc::default(),
            preferences: Arc::default(),
            templates: Arc::default(),
            files: Arc::default(),
            writer: None,
        }
    }

    /// The same, searching in this index.
    #[must_use]
    pub fn with_index(self, index: Arc<Index>) -> Self {
        Self { index, ..self }
    }

    /// The same, under this policy.
    #[must_use]
    pub fn with_policy(self, policy: AccessPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The same, handing work over by these settings.
    #[must_use]
    pub fn with_collaboration(self, collaboration: CollaborationSettings) -> Self {
        Self { collaboration, ..self }
    }

    /// The same, giving contexts by these preferences.
    ///
    /// # Errors
    /// `invalid` with the field for what cannot be configured so.
    pub fn with_preferences(self, preferences: ContextPreferences) -> Result<Self> {
        let templates = Arc::new(preferences.check()?);
        Ok(Self { preferences: Arc::new(preferences), templates, ..self })
    }

    /// The same, reading the standing memory files of this home folder, and of the projects that
    /// its callers work in.
    #[must_use]
    pub fn with_home(self, home: PathBuf) -> Self {
        Self { files: Arc::new(StandingFileCache::of(home)), ..self }
    }

    /// What is configured of contexts.
    #[must_use]
    pub fn preferences(&self) -> &ContextPreferences {
        &self.preferences
    }

    /// The same, calling this after each write that is on disk: at once, and before its answer. It
    /// must not wait.
    #[must_use]
    pub fn on_write(self, tell: impl Fn() + Send + Sync + 'static) -> Self {
        Self { store: NotifyingStore::of(self.store, Box::new(tell)), ..self }
    }

    /// The search index.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The store beneath.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Carries a write out, once for each idempotency key: a key that was used before answers as
    /// it did then, when the request is the same. `now` is the time that the verb took at its door:
    /// the rows and the events of a write carry the same.
    ///
    /// # Errors
    /// `conflict` for a key that was used for another request; else what `act` answers.
    fn write_once<R, A>(
        &self,
        caller: &Caller,
        now: Timestamp,
        verb: &str,
        request: &R,
        key: Option<&String>,
        mut act: impl FnMut(&mut dyn Transaction, &Caller, Timestamp) -> Result<A> + Send + 'static,
    ) -> Result<WriteAnswer<A>>
    where
        R: Serialize,
        A: Serialize + DeserializeOwned + Send + 'static,
    {
        self.policy.may_write(caller)?;
        let key = fit_key(key)?;
        // Who works for another user asks for something else: the answer may be about that user.
        let request_sha256 = sha256(&encode_answer(&(verb, &caller.user, request))?);
        let caller = caller.clone();
        // In a session, what is written may be followed by a checkpoint.
        let automatic = caller.session.as_ref().map(|_| CheckpointId::new(&*self.ids, now));
        self.store.write(move |tx| {
            if let Some(key) = &key
                && let Some(kept) = tx.kept_answer(&caller.workspace, &caller.agent, key)?
                && now.duration_since(kept.at)
                    < SignedDuration::from_hours(limits::IDEMPOTENCY_HOURS)
            {
                return repeated_answer(&kept, &request_sha256);
            }
            presence::refuse_lookalike(tx, &caller)?;
            tx.note_agent_seen(&caller, now)?;
            checkpoint::note_activity(tx, &caller, automatic, now)?;
            let answer = act(tx, &caller, now)?;
            if let Some(key) = &key {
                let kept = IdempotencyRecord {
                    request_sha256: request_sha256.clone(),
                    answer: encode_answer(&answer)?,
                    at: now,
                };
                tx.keep_answer(&caller.workspace, &caller.agent, key, &kept)?;
            }
            Ok(WriteAnswer { answer, repeated: false })
        })
    }
}

/// An idempotency key within its limits.
fn fit_key(key: Option<&String>) -> Result<Option<String>> {
    key.map(|key| input::line("idempotency_key", key, limits::IDEMPOTENCY_KEY_CHARS)).transpose()
}

fn repeated_answer<A: DeserializeOwned>(
    kept: &IdempotencyRecord,
    request_sha256: &str,
) -> Result<WriteAnswer<A>> {
    if kept.request_sha256 != request_sha256 {
        return Err(Error::conflict("idempotency_key: this key was used for another request")
            .with_field("idempotency_key")
            .hint("Use a new key for a new request."));
    }
    let answer = serde_json::from_str(&kept.answer).map_err(|error| {
        Error::new(ErrorKind::Internal, "a kept answer cannot be read").with_cause(error)
    })?;
    Ok(WriteAnswer { answer, repeated: true })
}

fn encode_answer(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::Internal, "a request could not be encoded").with_cause(error)
    })
}
