//! Items: recorded text on its way to an agent, each with its author, its day and a handle.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::base::id::{EntityId, Id, IdKind, MemoryId, handle};
use crate::model::agent::Agent;
use crate::model::case::digest::DigestOrigin;
use crate::model::contradiction::{ContradictionMark, ContradictionStatus, FindingSource};
pub use crate::model::delivery::PromptItem;
use crate::model::entity::{AttributeClaim, Entity, EntityAttribute};
use crate::model::memory::{ChangedBasis, Importance, Memory, Sharing};
use commonbook_text::day::{day, day_or_time};
use commonbook_text::fence::{CONTRADICTION_NOTE, HEADING_MARK, ITEM_MARK};
use commonbook_text::sanitize::{shown_label, shown_name};
use commonbook_text::{sanitize, tokens};

/// One memory's text has at most this fraction of a budget.
const MEMORY_SHARE_DIVISOR: usize = 5;

/// One memory's text may have this many tokens in any budget.
const MEMORY_TOKENS_MIN: usize = 100;

/// Bytes of a token at most, except in unusual texts; most tokens have four.
const TOKEN_BYTES_MAX: usize = 16;

/// Characters of a note that the head of an item shows.
const HEAD_CHARS_MAX: usize = 128;

/// Characters of a line in our own words.
const HEADING_CHARS_MAX: usize = 400;

/// Contradictions that one item shows; `detect_contradictions` lists all.
const CONTRADICTIONS_MAX: usize = 2;

/// Characters of a context in which two memories hold that an item shows.
const CONTEXT_CHARS_MAX: usize = 240;

/// The memory type that needs no word: most memories have it.
const PLAIN_KIND: &str = "semantic";

impl PromptItem {
    /// An item with this id, without notes.
    #[must_use]
    pub fn new<K: IdKind>(
        id: Id<K>,
        kind: &str,
        author: &(impl ToString + ?Sized),
        at: Timestamp,
        text: String,
    ) -> Self {
        Self { text, ..Self::named(&id.to_string(), kind, author, at) }
    }

    /// An item with this name for an id, without text; a note says if only a file names its author.
    #[must_use]
    pub fn named(id: &str, kind: &str, author: &(impl ToString + ?Sized), at: Timestamp) -> Self {
        Self {
            handle: handle(id).to_owned(),
            id: id.to_owned(),
            kind: kind.to_owned(),
            notes: file_note(&author.to_string()).into_iter().collect(),
            author: author.to_string(),
            at,
            text: String::new(),
            is_headline: false,
            against: None,
            contradictions: Vec::new(),
        }
    }

    /// A memory, with its title above its text.
    #[must_use]
    pub fn of_memory(memory: &Memory, text: String) -> Self {
        let text = match memory.title.as_deref() {
            Some(title) if !text.starts_with(title) => format!("{title}\n{text}"),
            _ => text,
        };
        let at = memory.valid_from.unwrap_or(memory.recorded_at);
        let mut item = Self::new(memory.id, memory.memory_type.as_str(), &memory.owner, at, text);
        // What a memory says of its origin stands below.
        item.notes.clear();
        if let Some(origin) = DigestOrigin::of(memory) {
            item = item.said_by(&origin);
        }
        if memory.importance > Importance::Normal {
            item.notes.push(memory.importance.to_string());
        }
        item.notes.extend(memory.origin_note().map(str::to_owned));
        item.notes.extend(basis_note(memory));
        item
    }

    /// The item of an entry that a digest made: with the agents that say it. What Commonbook itself
    /// appended has them as its author.
    #[must_use]
    pub fn said_by(self, origin: &DigestOrigin) -> Self {
        match (origin.said_by(), self.author == Agent::system().as_str()) {
            (authors, _) if authors.is_empty() => self,
            (author, true) => Self { author, ..self }.with_note("digest"),
            (authors, false) => self.with_note(format!("said by {authors}")),
        }
    }

    /// The item with another note in its head.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The item as one of a file: its head says so, and nothing else that the file says of it.
    #[must_use]
    pub fn as_of_file(self) -> Self {
        let against = self.against.map(|other| Box::new(other.as_of_file()));
        let notes = vec!["from a file".to_owned()];
        Self { notes, against, contradictions: Vec::new(), ..self }
    }

    /// The item with those of these marks that are its own.
    #[must_use]
    pub fn with_contradictions(mut self, marks: &[ContradictionMark]) -> Self {
        let own = marks.iter().filter(|mark| mark.memory.to_string() == self.id);
        self.contradictions = own.take(CONTRADICTIONS_MAX).cloned().collect();
        self
    }

    /// The item with a text of at most `max_tokens`. A longer text keeps its beginning, and gives
    /// half of the room to its summary.
    #[must_use]
    pub fn shortened(mut self, max_tokens: usize, summary: Option<&str>) -> Self {
        // Only the beginning of a long text is counted.
        let end = self.text.floor_char_boundary(max_tokens.saturating_mul(TOKEN_BYTES_MAX));
        if end == self.text.len() && tokens::fits(&self.text, max_tokens) {
            return self;
        }
        let summary = summary.map(|summary| format!("In short: {summary}"));
        let summary = summary.map(|text| tokens::cut(&text, max_tokens / 2).into_owned());
        let summary = summary.filter(|summary| !summary.is_empty());
        let room =
            max_tokens.saturating_sub(summary.as_deref().map_or(0, |text| tokens::count(text) + 2));
        let mut text = tokens::cut(&self.text[..end], room).into_owned();
        if !text.ends_with(tokens::CUT_MARK) {
            text += tokens::CUT_MARK;
        }
        if let Some(summary) = summary {
            text += &format!("\n{summary}");
        }
        self.text = text;
        self
    }

    /// The item as a headline of these words: its handle, author, day and notes stand before them.
    #[must_use]
    pub fn as_headline(&self, words: &str) -> Self {
        Self {
            kind: PLAIN_KIND.to_owned(),
            text: words.to_owned(),
            is_headline: true,
            against: None,
            contradictions: Vec::new(),
            ..self.clone()
        }
    }

    /// The item with its day alone: its time is the beginning of that day in UTC.
    #[must_use]
    pub fn without_time(self) -> Self {
        let day = self.at.to_zoned(TimeZone::UTC).start_of_day();
        Self { at: day.map_or(self.at, |day| day.timestamp()), ..self }
    }

    /// The item as text in a block: its head, then its text with `>` before every line; a headline on one
    /// line. The head omits the author if the item above has the same.
    #[must_use]
    pub fn render(&self, above: Option<&Self>, now: Timestamp) -> String {
        if self.is_headline {
            return self.render_headline(above, now);
        }
        let heading = if self.against.is_some() { CONTRADICTION_NOTE } else { "" };
        let line_end = if heading.is_empty() { "" } else { "\n" };
        let contexts = self.contradictions.iter().filter_map(|mark| {
            let context = mark.context.as_deref()?;
            let end = context.char_indices().nth(CONTEXT_CHARS_MAX).map(|(end, _)| end);
            let cut =
                end.map_or_else(|| context.to_owned(), |end| format!("{} …", &context[..end]));
            Some(format!("\nBoth hold, this and {}: {cut}", other_side(mark)))
        });
        let text = format!("{}{}", self.text, contexts.collect::<String>());
        let text = sanitize::quote_lines(&text, usize::MAX);
        let mut rendered = format!("{heading}{line_end}{}\n{text}\n", self.head(above, now));
        if let Some(other) = &self.against {
            rendered += &other.render(Some(self), now);
        }
        rendered
    }

    /// `#9dqa7xw2 codex, 18 Nov > The depot shuts at six`, or with the time of the last day in UTC
    /// (`codex, 14:05`); without an author, a day or a time that the line above has.
    fn render_headline(&self, above: Option<&Self>, now: Timestamp) -> String {
        let author = Some(shown_name(&self.author))
            .filter(|_| above.is_none_or(|item| item.author != self.author));
        let time = day_or_time(self.at, now);
        let has_time = above.is_some_and(|item| day_or_time(item.at, now) == time);
        let time = (!has_time).then_some(time);
        let handle = sanitize::head_word(&self.handle, HEAD_CHARS_MAX).replace(' ', "-");
        let notes = self.notes.iter().map(|note| sanitize::head_word(note, HEAD_CHARS_MAX));
        let parts: Vec<String> = author.into_iter().chain(time).chain(notes).collect();
        let head = if parts.is_empty() { String::new() } else { format!("{} ", parts.join(", ")) };
        let text = sanitize::quote_lines(&self.text, usize::MAX).replace("\n> ", " ");
        format!("{ITEM_MARK}{handle} {head}{text}\n")
    }

    /// Tokens of the item with its author.
    #[must_use]
    pub fn tokens(&self, now: Timestamp) -> usize {
        tokens::count(&self.render(None, now))
    }

    /// Sets longer handles, by id.
    pub(super) fn set_handles(&mut self, handles: &HashMap<String, String>) {
        if let Some(handle) = handles.get(&self.id) {
            self.handle.clone_from(handle);
        }
        if let Some(other) = &mut self.against {
            other.set_handles(handles);
        }
    }

    /// The id of the item, and of the item that contradicts it.
    pub(super) fn ids(&self) -> Vec<String> {
        let mut ids = self.against.as_deref().map(Self::ids).unwrap_or_default();
        ids.push(self.id.clone());
        ids
    }

    /// The item whose author the item below may leave out.
    #[must_use]
    pub fn last(&self) -> &Self {
        self.against.as_deref().map_or(self, Self::last)
    }

    /// `#9dqa7xw2 claude-code/engineer, 18 Nov, decision, high`
    fn head(&self, above: Option<&Self>, now: Timestamp) -> String {
        let word = |text: &str| sanitize::head_word(text, HEAD_CHARS_MAX);
        let same_author = above.is_some_and(|item| item.author == self.author);
        let author = (!same_author).then(|| shown_name(&self.author));
        let kind = (self.kind != PLAIN_KIND).then(|| shown_label(&self.kind));
        let notes = self.notes.iter().map(|note| word(note));
        let shown_with = self.against.as_deref().or(above).map(|item| item.id.as_str());
        let open = self.contradictions.iter().filter(|mark| {
            mark.status == ContradictionStatus::Open
                && shown_with != Some(mark.other.to_string().as_str())
        });
        let open = open.map(|mark| match mark.found_by {
            FindingSource::Rules => format!("contradicts {}: open", other_side(mark)),
            FindingSource::Endpoint => {
                format!("contradicts {} by an endpoint's judgement: open", other_side(mark))
            }
            FindingSource::Person => {
                format!("contradicts {} by a person's edit: open", other_side(mark))
            }
            FindingSource::Agent => {
                let who = mark.stated_by.as_ref().map_or("an agent", Agent::as_str);
                format!("contradicts {}, says {}: open", other_side(mark), shown_name(who))
            }
        });
        let notes = notes.chain(open);
        let parts: Vec<String> =
            author.into_iter().chain([day(self.at, now)]).chain(kind).chain(notes).collect();
        let handle = word(&self.handle).replace(' ', "-");
        format!("{ITEM_MARK}{handle} {}", parts.join(", "))
    }
}

/// What a reader must know of a text whose author only a file names.
pub(super) fn file_note(author: &str) -> Option<String> {
    let agent = Agent::try_from(author.to_owned()).ok();
    agent.filter(Agent::is_of_file).map(|_| "from a file".to_owned())
}

/// What a memory rests on that has changed since.
pub(super) fn basis_note(memory: &Memory) -> Option<String> {
    memory.rests_on.first().map(ChangedBasis::sentence)
}

/// That only its owner and the person see a memory.
pub(super) fn private_note(memory: &Memory) -> Option<String> {
    (memory.sharing == Sharing::Private).then(|| memory.sharing.to_string())
}

/// The other side of a contradiction: `#abcd1234 (gemini-cli)`.
fn other_side(mark: &ContradictionMark) -> String {
    let id = mark.other.to_string();
    let owner = shown_name(mark.owner.as_str());
    format!("#{} ({owner})", handle(&id))
}

/// One entry of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptEntry {
    /// Recorded text with its author, its day and a handle.
    Item(Box<PromptItem>),
    /// Recorded text under a line in our own words, which may be empty. Its author is named in the
    /// block's first line.
    Quote {
        /// The line above.
        heading: String,
        /// The text.
        text: String,
    },
    /// A line in our own words: names of agents and numbers, no recorded text.
    Line(String),
}

impl From<PromptItem> for PromptEntry {
    fn from(item: PromptItem) -> Self {
        Self::Item(Box::new(item))
    }
}

impl PromptEntry {
    /// The entry as text in a block, below the item `above`.
    #[must_use]
    pub fn render(&self, above: Option<&PromptItem>, now: Timestamp) -> String {
        match self {
            Self::Item(item) => item.render(above, now),
            Self::Quote { heading, text } => {
                format!("{}{}\n", heading_line(heading), sanitize::quote_lines(text, usize::MAX))
            }
            Self::Line(text) => heading_line(text),
        }
    }
}

/// A line in our own words, with its mark; empty for an empty text. A name in it cannot end the line.
pub(super) fn heading_line(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let line = sanitize::quote_lines(text, HEADING_CHARS_MAX).replace("\n> ", " ");
    format!("{HEADING_MARK}{}\n", line.trim_start_matches("> "))
}

/// An entity as agents read it.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySummary {
    /// The entity.
    pub id: EntityId,
    /// Its type.
    pub kind: String,
    /// Its name.
    pub value: String,
    /// What was stated about it.
    pub context: Option<String>,
    /// Its attributes with their authors and conflicting claims, a line each.
    pub attributes: Vec<String>,
    /// The agent that mentioned it last.
    pub agent: crate::model::agent::Agent,
    /// When it was last mentioned.
    pub at: Timestamp,
}

impl From<Entity> for EntitySummary {
    fn from(entity: Entity) -> Self {
        let attributes = entity.attributes.iter();
        Self {
            attributes: attributes.map(|(name, held)| attribute_line(name, held)).collect(),
            id: entity.id,
            kind: entity.entity_type.to_string(),
            value: entity.value,
            context: entity.context,
            agent: entity.last_agent,
            at: entity.last_seen,
        }
    }
}

/// `port: 5432 (analyst); 5433 says developer`
fn attribute_line(name: &str, attribute: &EntityAttribute) -> String {
    let value = |claim: &AttributeClaim| match &claim.value {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let agreed = attribute.agreed.iter().map(|agent| format!(", {agent}"));
    let held = &attribute.held;
    let mut line =
        format!("{name}: {} ({}{})", value(held), held.agent, agreed.collect::<String>());
    for claim in &attribute.conflicts {
        line += &format!("; {} says {}", claim.agent, value(claim));
    }
    line
}

impl EntitySummary {
    /// Whether more is known about it than its name.
    #[must_use]
    pub fn has_facts(&self) -> bool {
        self.context.is_some() || !self.attributes.is_empty()
    }

    /// The entity as an item of at most `max_tokens`.
    #[must_use]
    pub fn to_item(&self, max_tokens: usize) -> PromptItem {
        let context = self.context.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        let attributes = self.attributes.iter().map(|line| format!("\n{line}"));
        let text = format!("{}{context}{}", self.value, attributes.collect::<String>());
        PromptItem::new(self.id, &self.kind, &self.agent, self.at, text).shortened(max_tokens, None)
    }
}

/// A memory as agents read it: its item, and its summary for shortening.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySummary {
    /// The memory.
    pub id: MemoryId,
    /// The memory as an item, with its whole text.
    pub item: PromptItem,
    /// Its summary.
    pub summary: Option<String>,
    /// Its headline.
    pub headline: String,
}

impl MemorySummary {
    /// What an offer shows of a memory.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let item = PromptItem::of_memory(memory, memory.told_text().to_owned());
        let summary = memory.summary.clone().filter(|_| memory.position.is_none());
        Self { id: memory.id, item, summary, headline: memory.headline() }
    }

    /// The memory with those of these marks that are its own.
    #[must_use]
    pub fn with_contradictions(self, marks: &[ContradictionMark]) -> Self {
        Self { item: self.item.with_contradictions(marks), ..self }
    }

    /// The memory as an item of at most `max_tokens`.
    #[must_use]
    pub fn to_item(&self, max_tokens: usize) -> PromptItem {
        self.item.clone().shortened(max_tokens, self.summary.as_deref())
    }
}

/// The tokens that one memory's text may have at most within a budget.
#[must_use]
pub fn memory_tokens_max(budget: usize) -> usize {
    (budget / MEMORY_SHARE_DIVISOR).max(MEMORY_TOKENS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{CountingIds, DELETION_HANDLE_CHARS_MIN};

    fn item(text: &str) -> PromptItem {
        let at = "2026-11-18T09:00:00Z".parse().expect("a time");
        let id = MemoryId::new(&CountingIds::default(), at);
        PromptItem::new(id, "decision", "analyst", at, text.to_owned())
    }

    fn now() -> Timestamp {
        "2026-11-21T10:00:00Z".parse().expect("a time")
    }

    #[test]
    fn an_item_has_a_handle_an_author_and_a_day() {
        let item = item("Use an index.\nOn name.").with_note("named by qa");
        let handle = &item.handle;
        assert!(item.id.ends_with(handle.as_str()) && handle.len() == DELETION_HANDLE_CHARS_MIN);
        let expected = format!(
            "#{handle} analyst, 18 Nov, decision, named by qa\n> Use an index.\n> On name.\n"
        );
        assert_eq!(item.render(None, now()), expected);
        let same = item.render(Some(&item), now());
        assert_eq!(same, expected.replace("analyst, ", ""));
        let plain = PromptItem { kind: "semantic".into(), notes: Vec::new(), ..item };
        assert!(
            plain.render(None, now()).starts_with(&format!("#{} analyst, 18 Nov\n", plain.handle))
        );
    }

    #[test]
    fn a_headline_is_one_line_without_what_the_line_above_says() {
        let item = item("A long text.").as_headline("The depot\nshuts");
        let handle = &item.handle;
        assert_eq!(
            item.render(None, now()),
            format!("#{handle} analyst, 18 Nov > The depot shuts\n")
        );
        assert_eq!(item.render(Some(&item), now()), format!("#{handle} > The depot shuts\n"));
        let noted = item.clone().with_note("private").render(Some(&item), now());
        assert_eq!(noted, format!("#{handle} private > The depot shuts\n"));
        let at = now() - jiff::SignedDuration::from_hours(2);
        let new = PromptItem { at, ..item.clone() };
        assert_eq!(
            new.render(None, now()),
            format!("#{handle} analyst, 08:00 > The depot shuts\n")
        );
        assert_eq!(new.render(Some(&new), now()), format!("#{handle} > The depot shuts\n"));
        assert_eq!(
            new.without_time().render(None, now()),
            format!("#{handle} analyst, 21 Nov > The depot shuts\n")
        );
        let other = PromptItem { author: "qa".into(), ..item.clone() };
        assert_eq!(other.render(Some(&item), now()), format!("#{handle} qa > The depot shuts\n"));
    }

    #[test]
    fn items_that_contradict_each_other_stand_together() {
        let mut first = item("The port is 80.");
        let other = PromptItem { author: "research".into(), ..item("The port is 81.") };
        first.against = Some(Box::new(other));
        let rendered = first.render(None, now());
        assert!(rendered.starts_with("-- These two contradict"), "{rendered}");
        assert!(rendered.contains(" analyst, 18 Nov") && rendered.contains(" research, 18 Nov"));
        assert_eq!(first.last().author, "research");
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_summary() {
        let long = item(&"The tea is in the kitchen. ".repeat(500));
        let text = long.clone().shortened(100, Some("Tea: kitchen.")).text;
        assert!(tokens::count(&text) <= 100, "{text}");
        assert!(
            text.starts_with("The tea") && text.ends_with("…\nIn short: Tea: kitchen."),
            "{text}"
        );
        assert!(long.shortened(100, None).text.ends_with("the kitchen. …"));
        let odd = item(&"-".repeat(60_000)).shortened(100, None).text;
        assert!(odd.ends_with(tokens::CUT_MARK) && tokens::count(&odd) <= 101);
    }
}
