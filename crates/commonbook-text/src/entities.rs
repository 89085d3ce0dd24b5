//! Extraction: the entities that a memory speaks about, found by rules.
//!
//! A text is taken apart into prose, code, logs and stack traces. Addresses, paths, functions and
//! tickets are known by their shape wherever they stand; tools, organizations and notions by lists
//! that are kept with this; people, projects and decisions by the words around them, in prose alone.
//! Of a piece of code its paths and definitions are taken, of a stack trace the first calls.
//!
//! The confidence of an entity in a memory is [`CONFIDENCE_BASE`] times one factor for each of these:
//!
//! | what | factor |
//! |---|---|
//! | nothing else looks like this: an address, a path, a ticket, a name with a title | 1.3 |
//! | it stands on a list, in its own spelling | 1.2 |
//! | a word beside it says what it is | 1.1 |
//! | it stands on a list and is an ordinary word too, or in another spelling | 0.9 |
//! | it stands in the title or is a topic | 1.1 |
//! | each further time, up to three | 1.03 |
//! | it stands in a log or a stack trace alone | 0.8 |
//! | it has under 3 characters | 0.6 |
//! | it has over 50 characters and is no address, path or decision | 0.7 |
//!
//! and at most [`CONFIDENCE_MAX`]. What stays below [`CONFIDENCE_MIN`] is left out. The time is linear in the text.

mod layout;
pub mod likeness;
mod listed;
mod people;
mod shapes;
mod statements;
mod traces;
pub mod value;
pub mod vocabulary;
mod words;

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::string_enum;
use layout::TextBlockKind;
use people::KnownPeople;

string_enum! {
    /// What sort of thing an entity is. Two things of different types are never the same.
    EntityType {
        /// A human being.
        Person = "person",
        /// A company, an institution, a team with a name.
        Organization = "organization",
        /// Something that is worked on: a product, a repository.
        Project = "project",
        /// A program, language, library, format or service that is worked with.
        Tool = "tool",
        /// A file or folder, by its path.
        File = "file",
        /// A function or method, by its name in the code.
        Function = "function",
        /// An address on the web.
        Url = "url",
        /// A ticket, by its number.
        Issue = "issue",
        /// Something that was decided, in a few words.
        Decision = "decision",
        /// A notion that has a name.
        Concept = "concept",
    }
}

/// Characters of an entity's name at most; a longer one is none.
pub const NAME_CHARS_MAX: usize = 256;
/// Entities that one text gives at most.
pub const ENTITIES_MAX: usize = 100;
/// Places that are kept of an entity in one text at most.
pub const PLACES_MAX: usize = 8;

/// The confidence before any factor (seed 000's original).
pub const CONFIDENCE_BASE: f64 = 0.7;
/// The greatest confidence that a rule has.
pub const CONFIDENCE_MAX: f64 = 0.97;
/// The least confidence with which an entity is kept.
pub const CONFIDENCE_MIN: f64 = 0.4;

/// Mentions that are collected from one text before they are joined; the rest is not looked at.
const MENTIONS_MAX: usize = 4_000;
/// Lines of logs that are looked at: a log says the same thing again and again.
const LOG_LINES_MAX: usize = 200;

/// Speakers of one memory.
const SPEAKERS_MAX: usize = 16;

/// What entities are found in.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExtractionInput<'a> {
    /// The memory's title.
    pub title: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
    /// Its topics.
    pub topics: &'a [String],
    /// Who speaks in it, as its metadata say.
    pub speakers: &'a [String],
    /// Whether it is a decision, so that its title says what was decided.
    pub is_decision: bool,
}

/// Where in a memory an entity is mentioned.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPart {
    /// In the title.
    Title,
    /// In the text.
    Text,
    /// As a topic.
    Topic,
    /// As who speaks.
    Speaker,
}

/// A place in a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MentionSpan {
    /// The part of the memory.
    pub part: MemoryPart,
    /// The first byte, counted from the beginning of the part; of a topic or speaker 0.
    pub from: usize,
    /// The byte after the last.
    pub to: usize,
}

/// An entity that a memory mentions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractedEntity {
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name: the usual spelling of what is listed, else as it was first written here.
    pub value: String,
    /// Its name as it is compared.
    pub normalised: String,
    /// How certain it is, from 0 to 1.
    pub confidence: f64,
    /// How often it is mentioned.
    pub count: usize,
    /// Where, in order; at most [`PLACES_MAX`].
    pub places: Vec<MentionSpan>,
}

/// What shows that something is an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntityEvidence {
    /// Nothing else looks like this.
    Shape,
    /// A list has it.
    Listed,
    /// A word beside it says so.
    Cue,
    /// A list has it, and it may be an ordinary word.
    Guess,
}

impl EntityEvidence {
    const fn factor(self) -> f64 {
        match self {
            Self::Shape => 1.3,
            Self::Listed => 1.2,
            Self::Cue => 1.1,
            Self::Guess => 0.9,
        }
    }
}

/// One place where something is named.
#[derive(Debug, Clone)]
struct TextMention {
    kind: EntityType,
    range: Range<usize>,
    /// Its name, where it is not what stands there.
    value: Option<String>,
    proof: EntityEvidence,
}

impl TextMention {
    fn new(kind: EntityType, range: Range<usize>, proof: EntityEvidence) -> Self {
        Self { kind, range, value: None, proof }
    }

    fn with_value(
        kind: EntityType,
        range: Range<usize>,
        value: String,
        proof: EntityEvidence,
    ) -> Self {
        Self { kind, range, value: Some(value), proof }
    }
}

/// Who speaks in a memory, as its metadata say: `speaker`, or the list `speakers` or
/// `participants`. At most 16.
#[must_use]
pub fn speakers(metadata: &Map<String, Value>) -> Vec<String> {
    let named =
        ["speaker", "speakers", "participants"].into_iter().filter_map(|key| metadata.get(key));
    let texts = named.flat_map(|value| match value {
        Value::String(name) => vec![name.clone()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    });
    texts.take(SPEAKERS_MAX).collect()
}

/// The entities that a memory mentions, the most certain first: at most
/// [`ENTITIES_MAX`], each once.
#[must_use]
pub fn extract(source: &ExtractionInput<'_>) -> Vec<ExtractedEntity> {
    let mut gathered = EntityCollector::default();
    let mut known = KnownPeople::default();
    for speaker in source.speakers.iter().filter(|label| people::is_speaker(label)) {
        known.add(speaker);
        let mention = TextMention::with_value(
            EntityType::Person,
            0..0,
            speaker.clone(),
            EntityEvidence::Shape,
        );
        gathered.add(&mention, speaker, MemoryPart::Speaker, 1.1);
    }
    if let Some(title) = source.title {
        if source.is_decision {
            let whole =
                TextMention::new(EntityType::Decision, 0..title.len(), EntityEvidence::Listed);
            gathered.add(&whole, title, MemoryPart::Title, 1.1);
        }
        collect_part(title, MemoryPart::Title, 1.1, &mut known, &mut gathered);
    }
    collect_part(source.text, MemoryPart::Text, 1.0, &mut known, &mut gathered);
    for topic in source.topics {
        gathered.add(&topic_mention(topic), topic, MemoryPart::Topic, 1.1);
    }
    gathered.into_most_certain()
}

/// What a topic names as a whole: a listed thing, a file, a ticket; else a notion.
fn topic_mention(topic: &str) -> TextMention {
    if let Some((kind, name)) = listed::find_whole(topic) {
        return TextMention::with_value(
            kind,
            0..topic.len(),
            name.to_owned(),
            EntityEvidence::Listed,
        );
    }
    let mut shaped = Vec::new();
    shapes::find(topic, 0, TextBlockKind::Prose, &mut shaped);
    match shaped.into_iter().find(|it| it.range == (0..topic.len())) {
        Some(mention) => mention,
        None => TextMention::new(EntityType::Concept, 0..topic.len(), EntityEvidence::Cue),
    }
}

/// Finds what one part of a memory mentions.
fn collect_part(
    text: &str,
    part: MemoryPart,
    factor: f64,
    known: &mut KnownPeople,
    gathered: &mut EntityCollector,
) {
    let blocks = layout::blocks(text);
    let shaped = shape_mentions(text, &blocks);
    let technical = shaped.iter().flatten().any(|it| is_technical(it.kind))
        || blocks.iter().any(|block| block.ground != TextBlockKind::Prose)
        || text.contains('`')
        || listed::is_technical(text);
    let mut count = 0;
    for (block, mut mentions) in blocks.iter().zip(shaped) {
        if block.ground == TextBlockKind::Prose {
            let inside = &text[block.range.clone()];
            let mut named = prose_mentions(inside, block.range.start, technical, known);
            // What has a shape is no name of a list or of a person.
            named.retain(|it| it.kind == EntityType::Decision || !overlaps(&mentions, &it.range));
            mentions.append(&mut named);
        }
        let weight = match block.ground {
            TextBlockKind::Prose | TextBlockKind::Code => factor,
            TextBlockKind::Log | TextBlockKind::Trace => factor * 0.8,
        };
        for mention in &mentions {
            gathered.add(mention, &text[mention.range.clone()], part, weight);
        }
        count += mentions.len();
        if count > MENTIONS_MAX {
            break;
        }
    }
}

/// Whether a text that mentions such a thing by its shape is about software.
fn is_technical(kind: EntityType) -> bool {
    matches!(kind, EntityType::File | EntityType::Function | EntityType::Issue)
}

/// What each block mentions by its shape, in the order of the text.
fn shape_mentions(text: &str, blocks: &[layout::TextBlock]) -> Vec<Vec<TextMention>> {
    let (mut count, mut logged) = (0, 0);
    let of = |block: &layout::TextBlock| {
        let (inside, start) = (&text[block.range.clone()], block.range.start);
        let mut found = Vec::new();
        logged += usize::from(block.ground == TextBlockKind::Log);
        match block.ground {
            _ if count > MENTIONS_MAX => {}
            TextBlockKind::Log if logged > LOG_LINES_MAX => {}
            TextBlockKind::Trace => traces::find(inside, start, &mut found),
            ground => shapes::find(inside, start, ground, &mut found),
        }
        if block.ground == TextBlockKind::Code {
            traces::definitions(inside, start, &mut found);
        }
        count += found.len();
        found
    };
    blocks.iter().map(of).collect()
}

/// What a block of prose mentions by name or by what it says, without names inside longer names.
fn prose_mentions(
    block: &str,
    start: usize,
    technical: bool,
    known: &mut KnownPeople,
) -> Vec<TextMention> {
    let mut found = Vec::new();
    listed::find(block, start, technical, &mut found);
    people::find(block, start, known, &mut found);
    statements::find(block, start, &mut found);
    let mut seen = FxHashSet::default();
    found.retain(|it| seen.insert((it.kind, it.range.clone())));
    let mut names: Vec<Range<usize>> = found
        .iter()
        .filter(|it| !matches!(it.kind, EntityType::Decision | EntityType::Concept))
        .map(|it| it.range.clone())
        .collect();
    names.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut longest: Vec<Range<usize>> = Vec::new();
    for range in names {
        if longest.last().is_none_or(|last| range.end > last.end) {
            longest.push(range);
        }
    }
    found.retain(|it| {
        let place = longest.partition_point(|range| range.end < it.range.end);
        let around = longest.get(place).filter(|range| range.start <= it.range.start);
        matches!(it.kind, EntityType::Decision | EntityType::Concept)
            || around.is_none_or(|range| range.len() == it.range.len())
    });
    found
}

/// Whether a stretch shares bytes with one of these, which stand in order.
fn overlaps(shaped: &[TextMention], range: &Range<usize>) -> bool {
    let next = shaped.partition_point(|it| it.range.end <= range.start);
    shaped.get(next).is_some_and(|it| it.range.start < range.end)
}

/// What was found so far, each thing once.
#[derive(Default)]
struct EntityCollector {
    places: FxHashMap<(EntityType, String), usize>,
    found: Vec<ExtractedEntity>,
}

impl EntityCollector {
    fn add(&mut self, mention: &TextMention, written: &str, part: MemoryPart, weight: f64) {
        let value = mention.value.as_deref().unwrap_or(written).trim();
        let chars = value.chars().count();
        let normalised = value::normalise(mention.kind, value);
        if normalised.is_empty() || chars > NAME_CHARS_MAX {
            return;
        }
        let place = MentionSpan { part, from: mention.range.start, to: mention.range.end };
        let confidence =
            CONFIDENCE_BASE * mention.proof.factor() * weight * length_factor(mention.kind, chars);
        let key = (mention.kind, normalised.clone());
        if let Some(known) = self.places.get(&key).map(|at| &mut self.found[*at]) {
            known.count += 1;
            known.confidence = known.confidence.max(confidence);
            if known.places.len() < PLACES_MAX {
                known.places.push(place);
            }
            return;
        }
        self.places.insert(key, self.found.len());
        self.found.push(ExtractedEntity {
            entity_type: mention.kind,
            value: value.split_whitespace().collect::<Vec<_>>().join(" "),
            normalised,
            confidence,
            count: 1,
            places: vec![place],
        });
    }

    /// The most certain of them, in the order of their certainty and then of the text.
    fn into_most_certain(mut self) -> Vec<ExtractedEntity> {
        for found in &mut self.found {
            let repeated = found.count.saturating_sub(1).min(3);
            let grown = found.confidence * 1.03_f64.powi(i32::try_from(repeated).unwrap_or(0));
            found.confidence = (grown.min(CONFIDENCE_MAX) * 1_000.0).round() / 1_000.0;
        }
        self.found.retain(|found| found.confidence >= CONFIDENCE_MIN);
        self.found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        self.found.truncate(ENTITIES_MAX);
        self.found
    }
}

/// What the length of a name does to its confidence (seed 000's original).
fn length_factor(kind: EntityType, chars: usize) -> f64 {
    let long = !matches!(
        kind,
        EntityType::Url | EntityType::File | EntityType::Decision | EntityType::Function
    );
    match chars {
        0..=2 if kind != EntityType::Issue => 0.6,
        51.. if long => 0.7,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
