//! Extraction: the entities that a memory mentions, found by rules.
//!
//! The parser splits a text into prose, code, logs and stack traces. It recognises URLs, paths,
//! functions and tickets by their shape; tools, organizations and concepts by the lists in
//! `vocabulary`; people, projects and decisions by the words around them, in prose alone. From code
//! it takes paths and definitions, from a stack trace the first calls. A configuration may name own
//! types, whose names take precedence over those of the lists.
//!
//! The confidence of an entity in a memory is [`CONFIDENCE_BASE`] times one factor for each of these:
//!
//! | evidence | factor |
//! |---|---|
//! | an unmistakable shape: a URL, a path, a ticket, a name with a title | 1.3 |
//! | a listed name in its own spelling, a name of an own type | 1.2 |
//! | a word beside the name that shows its type, the prefix or suffix of an own type | 1.1 |
//! | a listed name that is an ordinary word too, or in another spelling | 0.9 |
//! | in the title, or a topic | 1.1 |
//! | each further mention, up to three | 1.03 |
//! | only in a log or a stack trace | 0.8 |
//! | under 3 characters | 0.6 |
//! | over 50 characters, and no URL, path or decision | 0.7 |
//!
//! and at most [`CONFIDENCE_MAX`]. Entities below [`CONFIDENCE_MIN`] are left out. The time is linear
//! in the text.

mod entity_type;
mod layout;
pub mod likeness;
mod listed;
mod own_types;
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

pub use entity_type::{EntityType, OWN_TYPE_LETTERS_MAX, OwnTypeName};
use layout::TextBlockKind;
pub use own_types::{InvalidOwnType, OwnTypeRules, OwnTypes};
use people::KnownPeople;

/// Maximum characters of an entity's name; a longer text is no name.
pub const NAME_CHARS_MAX: usize = 256;
/// Maximum entities of one text.
pub const ENTITIES_MAX: usize = 100;
/// Maximum places of an entity in one text.
pub const PLACES_MAX: usize = 8;

/// The confidence before any factor.
pub const CONFIDENCE_BASE: f64 = 0.7;
/// The greatest confidence of an entity.
pub const CONFIDENCE_MAX: f64 = 0.97;
/// The least confidence of an entity that is stored.
pub const CONFIDENCE_MIN: f64 = 0.4;

/// Mentions after which the parser stops reading a text.
const MENTIONS_MAX: usize = 4_000;
/// Maximum lines of logs that are parsed: a log repeats itself.
const LOG_LINES_MAX: usize = 200;

/// Maximum speakers of one memory.
const SPEAKERS_MAX: usize = 16;

/// The parts of a memory in which entities are found.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExtractionInput<'a> {
    /// The title.
    pub title: Option<&'a str>,
    /// The text.
    pub text: &'a str,
    /// The topics.
    pub topics: &'a [String],
    /// The speakers in its metadata.
    pub speakers: &'a [String],
    /// Whether the memory is a decision, so that its title is the decision.
    pub is_decision: bool,
    /// The own types of the configuration.
    pub own: Option<&'a OwnTypes>,
}

/// The part of a memory with a mention.
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
    /// As a speaker.
    Speaker,
}

/// A place in a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MentionSpan {
    /// The part of the memory.
    pub part: MemoryPart,
    /// The first byte, from the beginning of the part; 0 for a topic or speaker.
    pub from: usize,
    /// The byte after the last.
    pub to: usize,
}

/// An entity that a memory mentions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractedEntity {
    /// The type of the entity.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// The name: the usual spelling of a listed entity, else the spelling of the first mention.
    pub value: String,
    /// The normal form of the name, for comparisons.
    pub normalised: String,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The count of mentions.
    pub count: usize,
    /// The places of the mentions, in order; at most [`PLACES_MAX`].
    pub places: Vec<MentionSpan>,
}

/// The evidence for an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntityEvidence {
    /// An unmistakable shape.
    Shape,
    /// A list contains the name.
    Listed,
    /// A word beside the name shows the type.
    Cue,
    /// A list contains the name, which may be an ordinary word.
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

/// One mention of an entity.
#[derive(Debug, Clone)]
struct TextMention {
    kind: EntityType,
    range: Range<usize>,
    /// The name, if it differs from the text of the range.
    value: Option<String>,
    evidence: EntityEvidence,
}

impl TextMention {
    fn new(kind: EntityType, range: Range<usize>, evidence: EntityEvidence) -> Self {
        Self { kind, range, value: None, evidence }
    }

    fn with_value(
        kind: EntityType,
        range: Range<usize>,
        value: String,
        evidence: EntityEvidence,
    ) -> Self {
        Self { kind, range, value: Some(value), evidence }
    }
}

/// Returns the speakers in a memory's metadata: `speaker`, or the list `speakers` or `participants`.
/// At most 16.
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

/// Returns the entities that a memory mentions, each once, the most certain first: at most
/// [`ENTITIES_MAX`].
#[must_use]
pub fn extract(source: &ExtractionInput<'_>) -> Vec<ExtractedEntity> {
    let mut gathered = EntityCollector::default();
    let mut known_people = KnownPeople::default();
    for speaker in source.speakers.iter().filter(|label| people::is_speaker(label)) {
        known_people.add(speaker);
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
        collect_part(source, MemoryPart::Title, &mut known_people, &mut gathered);
    }
    collect_part(source, MemoryPart::Text, &mut known_people, &mut gathered);
    for topic in source.topics {
        gathered.add(&topic_mention(topic, source.own), topic, MemoryPart::Topic, 1.1);
    }
    gathered.into_most_certain()
}

/// The mention of a topic as a whole: an entity of an own type, a listed one, a file, a ticket; else a
/// concept.
fn topic_mention(topic: &str, own: Option<&OwnTypes>) -> TextMention {
    let known = own.and_then(|own| own.find_whole(topic));
    if let Some((kind, name)) = known.or_else(|| listed::find_whole(topic)) {
        return TextMention::with_value(
            kind,
            0..topic.len(),
            name.to_owned(),
            EntityEvidence::Listed,
        );
    }
    let mut shaped = Vec::new();
    shapes::find(topic, 0, TextBlockKind::Prose, &mut shaped);
    match shaped.into_iter().find(|mention| mention.range == (0..topic.len())) {
        Some(mention) => mention,
        None => TextMention::new(EntityType::Concept, 0..topic.len(), EntityEvidence::Cue),
    }
}

/// Collects the mentions of the title or the text of a memory.
fn collect_part(
    source: &ExtractionInput<'_>,
    part: MemoryPart,
    known_people: &mut KnownPeople,
    gathered: &mut EntityCollector,
) {
    let (text, factor) = match part {
        MemoryPart::Title => (source.title.unwrap_or_default(), 1.1),
        _ => (source.text, 1.0),
    };
    let blocks = layout::blocks(text);
    let shaped = shape_mentions(text, &blocks);
    let technical = shaped.iter().flatten().any(|mention| is_technical(mention.kind))
        || blocks.iter().any(|block| block.kind != TextBlockKind::Prose)
        || text.contains('`')
        || listed::is_technical(text);
    let mut count = 0;
    for (block, mut mentions) in blocks.iter().zip(shaped) {
        let inside = &text[block.range.clone()];
        let own = source.own.filter(|_| block.kind != TextBlockKind::Trace);
        let own = own.map(|own| own.find(inside, block.range.start)).unwrap_or_default();
        let own = own_mentions(own, &mut mentions);
        if block.kind == TextBlockKind::Prose {
            let mut named = prose_mentions(inside, block.range.start, technical, known_people);
            // A shape takes precedence over names of lists and of people, and an own name over all.
            named.retain(|mention| {
                mention.kind == EntityType::Decision
                    || !overlaps(&mentions, &mention.range) && !contains(&own, &mention.range)
            });
            mentions.append(&mut named);
        }
        mentions.extend(own);
        let weight = match block.kind {
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

/// The mentions of own types that are no part of a longer shape, such as a path. Removes the shapes
/// that they contain.
fn own_mentions(own: Vec<TextMention>, shaped: &mut Vec<TextMention>) -> Vec<TextMention> {
    if own.is_empty() {
        return own;
    }
    let mut longer: Vec<Range<usize>> =
        shaped.iter().map(|mention| mention.range.clone()).collect();
    longer.sort_unstable_by_key(|range| range.start);
    let mut own = own;
    own.retain(|mention| {
        let next = longer.partition_point(|range| range.end < mention.range.end);
        let around = longer.get(next).filter(|range| range.start <= mention.range.start);
        around.is_none_or(|range| range.len() == mention.range.len())
    });
    shaped.retain(|mention| !contains(&own, &mention.range));
    own
}

/// Whether one of these mentions, which stand in order without overlaps, contains a stretch.
fn contains(own: &[TextMention], range: &Range<usize>) -> bool {
    let next = own.partition_point(|mention| mention.range.end < range.end);
    own.get(next).is_some_and(|mention| mention.range.start <= range.start)
}

/// Whether a mention of this type by its shape shows that a text is about software.
fn is_technical(kind: EntityType) -> bool {
    matches!(kind, EntityType::File | EntityType::Function | EntityType::Issue)
}

/// Returns the mentions by shape in each block, in the order of the text.
fn shape_mentions(text: &str, blocks: &[layout::TextBlock]) -> Vec<Vec<TextMention>> {
    let (mut count, mut logged) = (0, 0);
    let of = |block: &layout::TextBlock| {
        let (inside, start) = (&text[block.range.clone()], block.range.start);
        let mut found = Vec::new();
        logged += usize::from(block.kind == TextBlockKind::Log);
        match block.kind {
            _ if count > MENTIONS_MAX => {}
            TextBlockKind::Log if logged > LOG_LINES_MAX => {}
            TextBlockKind::Trace => traces::find(inside, start, &mut found),
            block_kind => shapes::find(inside, start, block_kind, &mut found),
        }
        if block.kind == TextBlockKind::Code {
            traces::definitions(inside, start, &mut found);
        }
        count += found.len();
        found
    };
    blocks.iter().map(of).collect()
}

/// Returns the mentions by name and by statement in a block of prose, without names inside longer
/// names.
fn prose_mentions(
    block: &str,
    start: usize,
    technical: bool,
    known_people: &mut KnownPeople,
) -> Vec<TextMention> {
    let mut found = Vec::new();
    listed::find(block, start, technical, &mut found);
    people::find(block, start, known_people, &mut found);
    statements::find(block, start, &mut found);
    let mut seen = FxHashSet::default();
    found.retain(|mention| seen.insert((mention.kind, mention.range.clone())));
    let mut names: Vec<Range<usize>> = found
        .iter()
        .filter(|mention| !matches!(mention.kind, EntityType::Decision | EntityType::Concept))
        .map(|mention| mention.range.clone())
        .collect();
    names.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut longest: Vec<Range<usize>> = Vec::new();
    for range in names {
        if longest.last().is_none_or(|last| range.end > last.end) {
            longest.push(range);
        }
    }
    found.retain(|mention| {
        let index = longest.partition_point(|range| range.end < mention.range.end);
        let around = longest.get(index).filter(|range| range.start <= mention.range.start);
        matches!(mention.kind, EntityType::Decision | EntityType::Concept)
            || around.is_none_or(|range| range.len() == mention.range.len())
    });
    found
}

/// Whether a stretch shares bytes with one of these, which stand in order.
fn overlaps(shaped: &[TextMention], range: &Range<usize>) -> bool {
    let next = shaped.partition_point(|mention| mention.range.end <= range.start);
    shaped.get(next).is_some_and(|mention| mention.range.start < range.end)
}

/// The entities found so far, each once.
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
        let confidence = CONFIDENCE_BASE
            * mention.evidence.factor()
            * weight
            * length_factor(mention.kind, chars);
        let key = (mention.kind, normalised.clone());
        if let Some(entity) = self.places.get(&key).map(|at| &mut self.found[*at]) {
            entity.count += 1;
            entity.confidence = entity.confidence.max(confidence);
            if entity.places.len() < PLACES_MAX {
                entity.places.push(place);
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

    /// Returns the most certain entities, by confidence and then in the order of the text.
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

/// The factor of a name's length in its confidence.
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
