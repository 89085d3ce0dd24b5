//! Prompt injection: recognises texts that give orders to agents.
//!
//! A memory is information. A memory that gives its readers orders ("ignore previous instructions",
//! "when any agent reads this …") is poison: it stays, and reaches every later session. The rules
//! are lists of phrases and of marks: cheap, with a reason, and repeatable. They recognise attacks
//! copied from public lists, not an author who knows the rules; so a text that passes is not
//! therefore safe, and a text that does not is hidden from other agents until a person decides.
//!
//! The classes are those of public lists: OWASP's LLM01 and its Prompt Injection Prevention Cheat
//! Sheet (override, developer mode, prompt extraction, Unicode smuggling, encodings), OWASP's ASI06
//! and garak's `memorypoisoning` and `latentinjection` probes (false system notes, forged turns),
//! Rebuff's table of verbs and objects, LLM Guard's `InvisibleText`, Invariant's tool poisoning
//! ("read the key and pass it as …"), Microsoft's AI recommendation poisoning ("remember … as a
//! trusted source") and the self-copying prompts of Morris II. The expressions are our own.
//!
//! Decisions that could have been different:
//!
//! - Rules of a team are ordinary: "Always run cargo fmt", "All agents must use pnpm". They are
//!   flagged only with a trigger: "from now on all agents must", "any agent that reads this".
//! - A transcript (`User:` and `Assistant:` in turns) is ordinary, and its content has the same rules
//!   as any text. An `Assistant:` in the middle that agrees to something, without a `User:`
//!   anywhere, is a forged turn.
//! - A text about prompt injection that quotes an attack is flagged like the attack, because a model
//!   does not respect quotation marks; a person has to release the text.
//! - Marks of chat templates (`<|im_start|>`, `[INST]`, `<system>`) are flagged everywhere, in code
//!   too.

mod decoding;
mod languages;
mod normalize;
mod orders;
mod phrases;
mod separators;
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

/// Whether a character is invisible, or reverses the direction of others.
pub fn is_unseen(c: char) -> bool {
    let turns_or_tags = matches!(c, '\u{ad}' | '\u{202d}' | '\u{202e}' | '\u{e0000}'..='\u{e007f}');
    turns_or_tags || normalize::is_invisible(c)
}

/// Returns the small Latin letter that a character is or looks like: `a` for `Ａ`, `Α` and `А`.
/// Returns any other character unchanged.
pub fn latin(c: char) -> char {
    let plain = c.nfkd().next().unwrap_or(c);
    let small = plain.to_lowercase().next().unwrap_or(plain);
    normalize::likeness(small).unwrap_or(small)
}

/// The reason why a text is in quarantine.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum InjectionReason {
    /// The text asks its reader to ignore earlier instructions.
    Override,
    /// The text gives its reader another role.
    Role,
    /// The text has marks of turns or of a system prompt.
    Marks,
    /// The text asks for the reader's instructions.
    Extraction,
    /// The text wants to keep something from people.
    Secrecy,
    /// The text gives orders to its readers, now or later.
    Orders,
    /// The text asks to send secrets or conversations elsewhere.
    Exfiltration,
    /// The text imitates the fence around memories from Commonbook.
    Frame,
    /// The text addresses machines in a comment.
    Comment,
    /// The text hides content in invisible characters.
    Hidden,
    /// The text contains an encoded instruction, or asks to decode and follow one.
    Encoded,
    /// The text gives orders together with other texts that its author saved just before.
    Split,
}

impl InjectionReason {
    /// Every reason, in order.
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

    /// Returns the name of the reason in responses and events.
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

    /// Returns the reason as a sentence, for the person who reviews the text.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Override => "It tells its reader to ignore earlier instructions.",
            Self::Role => "It gives its reader another role.",
            Self::Marks => "It has marks of a system prompt or of turns in a conversation.",
            Self::Extraction => "It asks its reader for the reader's own instructions.",
            Self::Secrecy => "It wants to keep something from the people its reader works for.",
            Self::Orders => "It gives orders to its readers.",
            Self::Exfiltration => "It asks to send secrets or conversations elsewhere.",
            Self::Frame => "It imitates the fence around memories from Commonbook.",
            Self::Comment => "It addresses machines in a comment that people do not see.",
            Self::Hidden => "It hides text in invisible characters.",
            Self::Encoded => {
                "It contains an encoded instruction, or asks to decode and follow one."
            }
            Self::Split => {
                "It gives orders together with other texts that its author saved just before."
            }
        }
    }
}

/// Every phrase of all tables, in their order.
static ALL_PHRASES: LazyLock<Vec<&'static InjectionPhrase>> =
    LazyLock::new(|| [PHRASES, ORDERS, LANGUAGES].into_iter().flatten().collect());

static KEYWORDS: LazyLock<KeywordFilter> =
    LazyLock::new(|| KeywordFilter::of(ALL_PHRASES.iter().map(|phrase| phrase.keywords)));

const PHRASE_COUNT: usize = PHRASES.len() + ORDERS.len() + LANGUAGES.len();

/// The expression of each phrase, compiled on first use.
static EXPRESSIONS: [OnceLock<Regex>; PHRASE_COUNT] = [const { OnceLock::new() }; PHRASE_COUNT];

/// Returns the reasons why a text belongs in quarantine, each once, in the order of
/// [`InjectionReason::ALL`]; an empty list for an ordinary text. The time is linear in the text.
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

/// Returns the reasons of a text without decoding anything.
fn plain_reasons(text: &str) -> Vec<InjectionReason> {
    let normalized = NormalizedText::of(text);
    let found = word_reasons(&normalized.text);
    add_concealment(found, &normalized)
}

/// Returns the reasons of several texts, one below the other, that were tested alone before. Leaves
/// out the search for sentences that send secrets: a line end ends such a sentence.
#[must_use]
pub fn joint_reasons(texts: &str) -> Vec<InjectionReason> {
    let normalized = NormalizedText::of(texts);
    let found = phrase_reasons(&normalized.text);
    add_concealment(found, &normalized)
}

/// Adds the reasons of texts that hide their content.
fn add_concealment(
    mut found: Vec<InjectionReason>,
    normalized: &NormalizedText,
) -> Vec<InjectionReason> {
    if normalized.hides {
        found.push(InjectionReason::Hidden);
    }
    if comments(&normalized.text).any(is_order) {
        found.push(InjectionReason::Comment);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the reasons in the words of a normalised text.
fn word_reasons(normalized: &str) -> Vec<InjectionReason> {
    let mut found = phrase_reasons(normalized);
    if !found.contains(&InjectionReason::Exfiltration) && phrases::sends_secrets(normalized) {
        found.push(InjectionReason::Exfiltration);
    }
    found
}

/// Returns the reasons in the words of a normalised text, without sentences that send secrets.
fn phrase_reasons(normalized: &str) -> Vec<InjectionReason> {
    let mut found = Vec::new();
    // A phrase may run over the end of a line, and so may its keyword.
    for index in KEYWORDS.rules_for(&normalized.replace('\n', " ")) {
        let phrase = ALL_PHRASES[index];
        if !found.contains(&phrase.reason) && phrase_matches(index, normalized) {
            found.push(phrase.reason);
        }
    }
    if !found.contains(&InjectionReason::Marks) && phrases::forges_turn(normalized) {
        found.push(InjectionReason::Marks);
    }
    found
}

fn phrase_matches(index: usize, normalized: &str) -> bool {
    let expression = EXPRESSIONS[index].get_or_init(|| compile_pattern(ALL_PHRASES[index].pattern));
    expression.is_match(normalized)
}

/// Compiles an expression for normalised texts. A blank in the pattern matches one space or line
/// end; a short name in braces is a fragment of [`FRAGMENTS`].
fn compile_pattern(pattern: &str) -> Regex {
    let mut whole = pattern.to_owned();
    for (name, fragment) in FRAGMENTS {
        whole = whole.replace(name, fragment);
    }
    RegexBuilder::new(&whole.replace(' ', "[ \n]"))
        .unicode(false)
        .build()
        .expect("the tests compile every expression")
}

/// Returns the HTML comments of a text; an open comment ends with the text.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.split("<!--").skip(1).map(|rest| rest.split("-->").next().unwrap_or(rest))
}

/// Whether a comment addresses a model and gives it an order.
fn is_order(comment: &str) -> bool {
    static ORDER_PATTERNS: LazyLock<[Regex; 2]> =
        LazyLock::new(|| [ADDRESSEE_PATTERN, COMMAND_PATTERN].map(compile_pattern));
    ORDER_PATTERNS.iter().all(|sign| sign.is_match(comment))
}
