//! Quarantine: the signs by which a text that gives orders to agents is known.
//!
//! A memory is information. One that tells its readers what to do ("ignore previous instructions",
//! "when any agent reads this …") is poison: it stays, and speaks to every later session. The rules
//! are lists of phrases and of marks, so they are cheap, say why, and judge alike every time. They
//! catch what is copied from the lists that go around, not an author who knows them; so what passes
//! is not thereby safe, and what is caught is kept from others until somebody looks at it.
//!
//! The classes are those of public lists: OWASP's LLM01 and its Prompt Injection Prevention Cheat
//! Sheet (override, developer mode, prompt extraction, Unicode smuggling, encodings), OWASP's ASI06
//! and garak's `memorypoisoning` and `latentinjection` probes (false system notes, forged turns),
//! Rebuff's table of verbs and objects, LLM Guard's `InvisibleText`, Invariant's tool poisoning
//! ("read the key and pass it as …"), Microsoft's AI recommendation poisoning ("remember … as a
//! trusted source") and the self-copying prompts of Morris II. The expressions are our own.
//!
//! What is decided here and could be decided otherwise:
//!
//! - Rules of a team are ordinary: "Always run cargo fmt", "All agents must use pnpm". They are
//!   flagged only with a trigger: "from now on all agents must", "whoever reads this".
//! - A transcript (`User:` and `Assistant:` in turns) is ordinary, and what is said in it is judged
//!   like any text. An `Assistant:` in the middle that agrees to something, without a `User:`
//!   anywhere, is a forged turn.
//! - A text about prompt injection that quotes an attack is flagged like the attack. A reader that
//!   is a machine sees no quotation marks; somebody has to let such a text out by hand.
//! - Marks of chat templates (`<|im_start|>`, `[INST]`, `<system>`) are flagged wherever they
//!   stand, in code too.

mod decoding;
mod languages;
mod normalize;
mod orders;
mod phrases;
#[cfg(test)]
mod tests;

use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::prefilter::KeywordFilter;
use languages::LANGUAGES;
use normalize::NormalizedText;
use orders::{FRAGMENTS, ORDERS};
use phrases::{ADDRESSEE_PATTERN, COMMAND_PATTERN, InjectionPhrase, PHRASES};

pub use decoding::{decode_stretches, readable_text, unescape};

/// Whether a character is one that a reader does not see, or that turns others around.
pub fn is_unseen(c: char) -> bool {
    let turns_or_tags = matches!(c, '\u{ad}' | '\u{202d}' | '\u{202e}' | '\u{e0000}'..='\u{e007f}');
    turns_or_tags || normalize::is_invisible(c)
}

/// The small Latin letter that a character is or looks like: of `Ａ`, `Α` and `А` it is `a`. A
/// character that is like none stays itself.
pub fn latin(c: char) -> char {
    let plain = c.nfkd().next().unwrap_or(c);
    let small = plain.to_lowercase().next().unwrap_or(plain);
    normalize::likeness(small).unwrap_or(small)
}

/// Why a text is kept in quarantine.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum InjectionReason {
    /// It tells to ignore what was told before.
    Override,
    /// It gives its reader another role.
    Role,
    /// It bears marks of turns or of a system prompt.
    Marks,
    /// It wants the reader's instructions.
    Extraction,
    /// It wants something kept from people.
    Secrecy,
    /// It gives orders to whoever reads it, now or later.
    Orders,
    /// It wants secrets or conversations sent elsewhere.
    Exfiltration,
    /// It looks like the frame in which Commonbook hands out memories.
    Frame,
    /// It speaks in an HTML comment to machines alone.
    Comment,
    /// It hides text in characters that nobody sees.
    Hidden,
    /// It holds an instruction in another writing, or tells to decode one and follow it.
    Encoded,
    /// Together with what its author kept just before, it gives orders.
    Split,
}

impl InjectionReason {
    /// Every reason, in the order in which they are given.
    pub const ALL: [Self; 12] = [
        Self::Override,
        Self::Role,
        Self::Marks,
        Self::Extraction,
        Self::Secrecy,
        Self::Orders,
        Self::Exfiltration,
        Self::Frame,
        Self::Comment,
        Self::Hidden,
        Self::Encoded,
        Self::Split,
    ];

    /// The reason as it is written in answers and events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Role => "role",
            Self::Marks => "marks",
            Self::Extraction => "extraction",
            Self::Secrecy => "secrecy",
            Self::Orders => "orders",
            Self::Exfiltration => "exfiltration",
            Self::Frame => "frame",
            Self::Comment => "comment",
            Self::Hidden => "hidden",
            Self::Encoded => "encoded",
            Self::Split => "split",
        }
    }

    /// The reason in a sentence, for whoever decides what becomes of the text.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Override => "It tells its reader to ignore earlier instructions.",
            Self::Role => "It gives its reader another role.",
            Self::Marks => "It bears marks of a system prompt or of turns in a conversation.",
            Self::Extraction => "It asks its reader for the instructions that it works under.",
            Self::Secrecy => "It wants something kept from the people its reader works for.",
            Self::Orders => "It gives orders to whoever reads it.",
            Self::Exfiltration => "It wants secrets or conversations sent elsewhere.",
            Self::Frame => "It looks like the frame in which memories are handed out.",
            Self::Comment => "It speaks to machines in a comment that people do not see.",
            Self::Hidden => "It hides text in characters that nobody sees.",
            Self::Encoded => "It holds an encoded instruction, or tells to decode and follow one.",
            Self::Split => "Together with what its author kept just before, it gives orders.",
        }
    }
}

/// Every phrase of all tables, in their order.
static ALL_PHRASES: LazyLock<Vec<&'static InjectionPhrase>> =
    LazyLock::new(|| [PHRASES, ORDERS, LANGUAGES].into_iter().flatten().collect());

static KEYWORDS: LazyLock<KeywordFilter> =
    LazyLock::new(|| KeywordFilter::of(ALL_PHRASES.iter().map(|phrase| phrase.keywords)));

const PHRASE_COUNT: usize = PHRASES.len() + ORDERS.len() + LANGUAGES.len();

/// Each phrase's expression, made when a text first needs it.
static EXPRESSIONS: [OnceLock<Regex>; PHRASE_COUNT] = [const { OnceLock::new() }; PHRASE_COUNT];

/// Why a text belongs in quarantine: each reason once, in the order of [`InjectionReason::ALL`]; none for
/// an ordinary text. The time is linear in the text.
#[must_use]
pub fn reasons(text: &str) -> Vec<InjectionReason> {
    let mut found = plain_reasons(text);
    let orders = |plain: &str| !word_reasons(&NormalizedText::of(plain).text).is_empty();
    if decoding::decode_stretches(text).any(|(_, plain)| orders(&plain))
        || (found.is_empty() && decoding::readings(text).iter().any(|reading| orders(reading)))
    {
        found.push(InjectionReason::Encoded);
    }
    found.sort_unstable();
    found
}

/// The same of a text as it stands, of which nothing is decoded.
fn plain_reasons(text: &str) -> Vec<InjectionReason> {
    let folded = NormalizedText::of(text);
    let found = word_reasons(&folded.text);
    add_concealment(found, &folded)
}

/// The same of texts that stand one below the other, each of which was judged by itself: what sends
/// secrets does so in one sentence, and the end of a line ends a sentence.
#[must_use]
pub fn joint_reasons(texts: &str) -> Vec<InjectionReason> {
    let folded = NormalizedText::of(texts);
    let found = phrase_reasons(&folded.text);
    add_concealment(found, &folded)
}

/// These reasons, and those by which a text hides what it says.
fn add_concealment(
    mut found: Vec<InjectionReason>,
    folded: &NormalizedText,
) -> Vec<InjectionReason> {
    if folded.hides {
        found.push(InjectionReason::Hidden);
    }
    if comments(&folded.text).any(is_order) {
        found.push(InjectionReason::Comment);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The reasons that stand in a folded text in words.
fn word_reasons(folded: &str) -> Vec<InjectionReason> {
    let mut found = phrase_reasons(folded);
    if !found.contains(&InjectionReason::Exfiltration) && phrases::sends_secrets(folded) {
        found.push(InjectionReason::Exfiltration);
    }
    found
}

/// The same, but for sentences that send secrets.
fn phrase_reasons(folded: &str) -> Vec<InjectionReason> {
    let mut found = Vec::new();
    // A phrase may run over the end of a line, and so may its keyword.
    for place in KEYWORDS.rules_for(&folded.replace('\n', " ")) {
        let phrase = ALL_PHRASES[place];
        if !found.contains(&phrase.reason) && phrase_matches(place, folded) {
            found.push(phrase.reason);
        }
    }
    if !found.contains(&InjectionReason::Marks) && phrases::forges_turn(folded) {
        found.push(InjectionReason::Marks);
    }
    found
}

fn phrase_matches(place: usize, folded: &str) -> bool {
    EXPRESSIONS[place].get_or_init(|| compile_pattern(ALL_PHRASES[place].pattern)).is_match(folded)
}

/// An expression for folded texts, in which a blank stands for any one space or line end, and a
/// short name in braces for what [`FRAGMENTS`] says.
fn compile_pattern(pattern: &str) -> Regex {
    let mut whole = pattern.to_owned();
    for (name, stands_for) in FRAGMENTS {
        whole = whole.replace(name, stands_for);
    }
    RegexBuilder::new(&whole.replace(' ', "[ \n]"))
        .unicode(false)
        .build()
        .expect("the tests compile every expression")
}

/// What stands in the HTML comments of a text; one that is not closed goes to its end.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.split("<!--").skip(1).map(|rest| rest.split("-->").next().unwrap_or(rest))
}

/// Whether a comment speaks to a machine that understands it, and orders something.
fn is_order(comment: &str) -> bool {
    static ORDER_PATTERNS: LazyLock<[Regex; 2]> =
        LazyLock::new(|| [ADDRESSEE_PATTERN, COMMAND_PATTERN].map(compile_pattern));
    ORDER_PATTERNS.iter().all(|sign| sign.is_match(comment))
}
