//! Forgetting: removing memories with every copy that the home holds, and keeping them from coming back.

mod phrases;
mod reach;
mod requests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::{CertificateId, MemoryId};
use crate::model::agent::Agent;
use crate::model::memory::{Memory, MemoryPath, Retraction};
use crate::model::workspace::Workspace;

pub use phrases::{FORGOTTEN_MARK, ForgottenPhrases, Phrase, PhraseKey, phrases_of_memories};
pub use reach::{ForgetReach, redacted_standing, without_empty_items};
pub use requests::{
    AllowForgotten, ForgetMemories, ForgetMemory, ForgetSelection, GetCertificate, ListCertificates,
};

/// The copies that no call can reach.
pub const OUTSIDE_COPIES: [&str; 4] = [
    "backups and exports that were made before: replace them by new ones",
    "the history of git repositories, vaults until their next `commonbook vault sync`, and standing memory files in project folders",
    "what models, agents and their clients have read, with the transcripts of clients",
    "file system snapshots, and blocks that the disk has not overwritten yet",
];

/// The copies that only a person's forgetting reaches.
pub const BEYOND_REACH: &str = "the same words where others said them: in entities, relations, cases, handoffs, \
     checkpoints and standing memory; a person forgets them with `commonbook forget`";

/// A place that was searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgetPlace {
    /// The place.
    pub place: String,
    /// Number of things there that held it.
    pub found: u64,
    /// The sentences that would go there; none once it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub says: Vec<String>,
}

impl ForgetPlace {
    /// A place without what stands there.
    #[must_use]
    pub fn of(place: &str, found: u64) -> Self {
        Self { place: place.to_owned(), found, says: Vec::new() }
    }
}

/// Proof of what was removed, where, when and by whom. Holds no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgetCertificate {
    /// Its id.
    pub id: CertificateId,
    /// The workspace of the memories.
    pub workspace: Workspace,
    /// When they were forgotten.
    pub at: Timestamp,
    /// Who did it.
    pub by: Agent,
    /// Whether that was a person.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_person: bool,
    /// The memories that were removed.
    pub memories: Vec<MemoryId>,
    /// Memories whose quotes of them were cut out.
    pub redacted: Vec<MemoryId>,
    /// Whether the memories of other agents lost their quotes too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub also_quotes: bool,
    /// Every place that was searched.
    pub places: Vec<ForgetPlace>,
    /// Keyed digest of the texts.
    pub keyed_digest: String,
    /// Copies that were not erased.
    pub not_erased: Vec<String>,
    /// When the home's files were clean; `null` if they are not yet.
    pub finished_at: Option<Timestamp>,
    /// When the texts were allowed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_at: Option<Timestamp>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A memory that is near to one that is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlikeMemory {
    /// Its id.
    pub memory: MemoryId,
    /// Its owner.
    pub owner: Agent,
    /// Its beginning.
    pub says: String,
}

/// What was forgotten, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgetResult {
    /// Whether it was done.
    pub forgotten: bool,
    /// The memories.
    pub memories: Vec<MemoryId>,
    /// Memories that lose their quotes of them.
    pub redacted: Vec<MemoryId>,
    /// The sentences that would go, by memory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    pub cuts: BTreeMap<MemoryId, Vec<String>>,
    /// Every place that was searched.
    pub places: Vec<ForgetPlace>,
    /// Copies that stay, and how to remove them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<String>,
    /// Memories that may say it in other words: read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<AlikeMemory>,
    /// The certificate; `null` if nothing was done.
    pub certificate: Option<ForgetCertificate>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A phrase that was forgotten, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The workspace.
    pub workspace: Workspace,
    /// The phrase.
    pub phrase: Phrase,
    /// The certificate.
    pub certificate: CertificateId,
    /// Whose memories it holds for; `None` for everybody's.
    pub owner: Option<Agent>,
}

impl Tombstone {
    /// Whether it holds for memories of this owner.
    #[must_use]
    pub fn holds_for(&self, owner: &Agent) -> bool {
        self.owner.as_ref().is_none_or(|own| own == owner || owner.is_child_of(own))
    }
}

/// The texts of a memory that its readers see as such.
#[must_use]
pub fn texts_of(memory: &Memory) -> [Option<&str>; 3] {
    [Some(&*memory.text), memory.title.as_deref(), memory.summary.as_deref()]
}

/// Whether a machine made this memory out of others, so that it has no word of its own.
#[must_use]
pub fn is_derived(memory: &Memory) -> bool {
    use crate::model::caller::EntryPoint;
    matches!(memory.source.how, EntryPoint::Digest | EntryPoint::Handoff)
}

/// The memory without these phrases; `None` if it holds none of them.
#[must_use]
pub fn redacted_memory(memory: &Memory, phrases: &ForgottenPhrases) -> Option<Memory> {
    let mut after = memory.clone();
    if phrases.is_one_word(&memory.text) {
        return Some(Memory { text: FORGOTTEN_MARK.to_owned(), ..after });
    }
    let mut changed = false;
    let mut cut = |text: &mut String| {
        if let Some(redacted) = phrases.redact(text) {
            *text = redacted;
            changed = true;
        }
    };
    cut(&mut after.text);
    after.title.iter_mut().for_each(&mut cut);
    after.summary.iter_mut().for_each(&mut cut);
    let says = |path: &MemoryPath| phrases.are_said_in(path.as_str());
    let cut_path = after.path.take_if(|path| says(path)).is_some();
    after.topics.iter_mut().for_each(&mut cut);
    after.entities.iter_mut().for_each(|entity| cut(&mut entity.value));
    after.retraction.iter_mut().for_each(|retraction| cut(&mut retraction.reason));
    let appeal = after.review.as_mut().and_then(|review| review.appeal.as_mut());
    appeal.into_iter().for_each(|appeal| cut(&mut appeal.reason));
    let mut metadata = serde_json::Value::Object(std::mem::take(&mut after.metadata));
    changed |= phrases.redact_value(&mut metadata) | cut_path;
    if let serde_json::Value::Object(metadata) = metadata {
        after.metadata = metadata;
    }
    changed.then_some(after)
}

/// The sentences of a memory that repeat a forgotten one, as far as its readers see them.
#[must_use]
pub fn quotes_in(memory: &Memory, phrases: &ForgottenPhrases) -> Vec<String> {
    let texts = texts_of(memory).into_iter().flatten();
    texts.flat_map(|text| phrases.repetitions(text)).map(str::to_owned).collect()
}

/// What is left of an entry of a case: its place, without a word.
#[must_use]
pub fn entry_without_text(entry: &Memory) -> Memory {
    Memory {
        text: FORGOTTEN_MARK.to_owned(),
        title: None,
        summary: None,
        topics: Vec::new(),
        entities: Vec::new(),
        metadata: serde_json::Map::new(),
        redacted: Vec::new(),
        suspicions: Vec::new(),
        review: None,
        retraction: entry
            .retraction
            .clone()
            .map(|retraction| Retraction { reason: FORGOTTEN_MARK.to_owned(), ..retraction }),
        ..entry.clone()
    }
}

/// Whether nothing of a redacted memory is left.
#[must_use]
pub fn is_empty_now(memory: &Memory) -> bool {
    memory.text == FORGOTTEN_MARK
}
