//! The verbs: what agents can do. One verb is one transaction.

mod agent;
mod bulk;
mod bus;
mod case;
mod checkpoint;
mod collaboration;
mod complete;
mod consolidation;
mod context;
mod contradiction;
mod cursor;
mod difference;
mod digest;
mod entity;
mod event;
mod export;
mod figures;
mod follow;
mod forgetting;
mod graph;
mod handoff;
mod import;
mod knowledge;
mod language;
mod learn;
mod list;
mod loss;
mod memory;
pub mod names;
mod near;
mod ops;
mod outdated;
mod recall;
mod receipt;
mod retraction;
mod review;
mod search;
mod session;
mod standing;
mod stats;
mod token;
mod undo;
mod usage;
mod webhook;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::base::clock::{Clock, SystemClock};
use crate::base::error::Result;
use crate::base::home_key::HomeKey;
use crate::base::id::{IdSource, RandomIds};
use crate::index::Index;
use crate::model::access::AccessPolicy;
use crate::model::caller::connection::ConnectionSessions;
use crate::model::case::digest::MergeBotSettings;
use crate::model::case::digest::writing::DigestWriterHandle;
use crate::model::checkpoint::CheckpointSettings;
use crate::model::collaboration::CollaborationSettings;
use crate::model::consolidation::ConsolidationSettings;
use crate::model::contradiction::judging::ContradictionJudgeHandle;
use crate::model::entity::EntityRules;
use crate::model::webhook::delivery::{RetrySchedule, WebhookSenderHandle};
use crate::prompt::context::ContextPreferences;
use crate::prompt::context::tell::TemplateSet;
use crate::store::{NotifyingStore, Store};

pub use bus::{BusFollower, EventBus};
pub use complete::CompletionList;
pub use consolidation::{ConsolidationObserver, ConsolidationProgress};
pub use context::{person_rules, person_rules_elsewhere, project_context};
pub use figures::EventCount;
pub use follow::agenda::FollowerAgenda;
use follow::agenda::FollowerNews;
use follow::mention::MentionPositions;
pub use follow::mention::MentionProgress;
pub use follow::sweep::SweepResult;
pub use follow::webhook::DeliveryStep;
use ops::node::NodeIdentity;
use ops::presence::PresenceLog;
pub use ops::working_session::was_begun_meanwhile;
use ops::write_once::WriteStep;
pub use ops::write_once::fit_key;
use ops::write_steps::WRITE_STEPS;
use search::slots::SearchSlots;
use standing::StandingFileCache;
pub use standing::project_notices;
use usage::UsageLog;

/// A store, with the clock and the ids that its verbs use. Cheap to clone; clones share the store.
#[derive(Clone)]
pub struct Commonbook {
    store: Arc<dyn Store>,
    index: Arc<Index>,
    searches: Arc<SearchSlots>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    policy: AccessPolicy,
    write_steps: &'static [WriteStep],
    collaboration: CollaborationSettings,
    checkpoints: CheckpointSettings,
    entity_rules: Arc<EntityRules>,
    contacts: Arc<PresenceLog>,
    /// The sessions that calls which stand alone begin.
    beginning: ConnectionSessions,
    usage: Arc<UsageLog>,
    bus: Arc<EventBus>,
    passed: Arc<MentionPositions>,
    news: Arc<FollowerNews>,
    preferences: Arc<ContextPreferences>,
    templates: Arc<TemplateSet>,
    files: Arc<StandingFileCache>,
    /// This process, if it is one of several nodes on the store.
    node: Option<Arc<NodeIdentity>>,
    /// The key that fences are derived with, once it was needed.
    fence_key: Arc<OnceLock<HomeKey>>,
    writer: Option<DigestWriterHandle>,
    merge_bot: MergeBotSettings,
    judge: Option<ContradictionJudgeHandle>,
    consolidation: ConsolidationSettings,
    consolidation_observer: Option<ConsolidationObserver>,
    webhooks: Option<WebhookSenderHandle>,
    webhook_retries: RetrySchedule,
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
            write_steps: WRITE_STEPS,
            collaboration: CollaborationSettings::default(),
            checkpoints: CheckpointSettings::default(),
            entity_rules: Arc::default(),
            contacts: Arc::default(),
            beginning: ConnectionSessions::default(),
            usage: Arc::default(),
            bus: Arc::default(),
            passed: Arc::default(),
            news: Arc::default(),
            preferences: Arc::default(),
            templates: Arc::default(),
            files: Arc::default(),
            node: None,
            fence_key: Arc::default(),
            writer: None,
            merge_bot: MergeBotSettings::default(),
            judge: None,
            consolidation: ConsolidationSettings::default(),
            consolidation_observer: None,
            webhooks: None,
            webhook_retries: RetrySchedule::default(),
        }
    }

    /// The same Commonbook, searching in this index.
    #[must_use]
    pub fn with_index(self, index: Arc<Index>) -> Self {
        Self { index, ..self }
    }

    /// The same Commonbook, under this policy.
    #[must_use]
    pub fn with_policy(self, policy: AccessPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The same Commonbook, under its own policy and this one.
    #[must_use]
    pub fn with_stricter_policy(self, policy: AccessPolicy) -> Self {
        Self { policy: self.policy.stricter(policy), ..self }
    }

    /// The same Commonbook, with these settings for handoffs.
    #[must_use]
    pub fn with_collaboration(self, collaboration: CollaborationSettings) -> Self {
        Self { collaboration, ..self }
    }

    /// The same Commonbook, with these settings for checkpoints.
    #[must_use]
    pub fn with_checkpoints(self, checkpoints: CheckpointSettings) -> Self {
        Self { checkpoints, ..self }
    }

    /// The same Commonbook, with these settings for digests that run by themselves.
    #[must_use]
    pub fn with_merge_bot(self, merge_bot: MergeBotSettings) -> Self {
        Self { merge_bot, ..self }
    }

    /// The same Commonbook, with these preferences for contexts.
    ///
    /// # Errors
    /// `invalid` with the field for a preference that is out of range.
    pub fn with_preferences(self, preferences: ContextPreferences) -> Result<Self> {
        let templates = Arc::new(preferences.check()?);
        Ok(Self { preferences: Arc::new(preferences), templates, ..self })
    }

    /// The same Commonbook, reading the standing memory files of this home folder and of the
    /// projects that its callers work in, and deriving fences with the key of this home.
    #[must_use]
    pub fn with_home(self, home: PathBuf) -> Self {
        let files = Arc::new(StandingFileCache::of(home));
        Self { files, fence_key: Arc::default(), ..self }
    }

    /// The same Commonbook as a node: one of several on one store, each with a home of its own. The
    /// standing memory files of their homes follow each other (those of projects belong to the
    /// project), their homes have one key, and one node at a time delivers to a webhook.
    ///
    /// # Errors
    /// `unavailable` if the machine has no random bits, the store cannot be read, or the key of the
    /// home cannot be written.
    pub fn as_node(self) -> Result<Self> {
        self.share_home_key()?;
        Ok(Self { node: Some(Arc::new(NodeIdentity::new()?)), ..self })
    }

    /// The preferences for contexts.
    #[must_use]
    pub fn preferences(&self) -> &ContextPreferences {
        &self.preferences
    }

    /// The same Commonbook, calling `notify` after each write is on disk and before the write is
    /// answered. `notify` must not block.
    #[must_use]
    pub fn on_write(self, notify: impl Fn() + Send + Sync + 'static) -> Self {
        let news = Arc::clone(&self.news);
        let notify = Box::new(move |grown| {
            news.note_written(grown);
            notify();
        });
        Self { store: NotifyingStore::of(self.store, notify), ..self }
    }

    /// The bus: the figures of the event streams that this process serves.
    #[must_use]
    pub fn bus(&self) -> &Arc<EventBus> {
        &self.bus
    }

    /// The search index.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The store that holds the data.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }
}
