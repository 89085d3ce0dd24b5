//! Secrets: keys, tokens and passwords are taken out of a text before anything keeps it.
//!
//! What is looked for follows the rules of gitleaks (v8.x, MIT), written anew for prose: the kinds
//! of credentials, their prefixes and lengths, the keywords that must stand in a text before a rule
//! is tried, and the entropy below which a value is a sample. Where gitleaks warns a person, this
//! changes a text, so some choices differ:
//!
//! - A provider's token is known by its shape wherever it stands, even the sample key of AWS that
//!   gitleaks lets pass: nobody can tell a sample from a key by looking.
//! - A value that only its name gives away (`token: …`, `password=…`) is taken when it cannot be
//!   code or a placeholder: `<password>`, `${PASSWORD}`, `***`, `changeme` and their like stay,
//!   for they tell nobody anything, and a memory that a default password is `changeme` is worth
//!   having whole. A word without digit or sign after `password:` stays too, since "password:
//!   required" is a sentence; in quotes or after a bare `=` it is taken.
//! - Digests, commit ids and UUIDs are taken only when a name says that they are a credential.
//!
//! A private key in armour goes as a whole, and to the end of the text when its end is missing.
//! Redacting what was redacted changes nothing. The time is linear in the text, for all rules.

mod named;
mod rules;
mod split;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex, RegexBuilder};

use crate::prefilter::KeywordFilter;
use rules::{RULES, SecretCheck, SecretRule};

pub use named::redact_value;

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText<'a> {
    /// The text, where `[redacted:rule]` stands for each secret; borrowed when there was none.
    pub text: Cow<'a, str>,
    /// What was found, each rule once, in the order in which they first occur. Never the secret.
    pub found: Vec<SecretFinding>,
}

/// How often a rule found a secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretFinding {
    /// The name of the rule, as it stands in the text.
    pub rule: &'static str,
    /// How many secrets it found; what overlaps counts as one.
    pub count: usize,
}

/// A stretch of a text that is a secret, and the rule that says so.
struct SecretSpan {
    from: usize,
    to: usize,
    rule: usize,
}

/// What stands for a secret begins with this.
const REDACTION_PREFIX: &str = "[redacted:";

static KEYWORDS: LazyLock<KeywordFilter> =
    LazyLock::new(|| KeywordFilter::of(RULES.iter().map(|rule| rule.keywords)));

/// Each rule's expression, made when a text first needs it: few processes ever need many.
static EXPRESSIONS: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

/// The text with `[redacted:rule]` in the place of each secret, and what was found.
#[must_use]
pub fn redact(text: &str) -> RedactedText<'_> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return RedactedText { text: Cow::Borrowed(text), found: Vec::new() };
    }
    let mut clean = String::with_capacity(text.len());
    let mut found: Vec<SecretFinding> = Vec::new();
    let mut kept = 0;
    for secret in secrets {
        let rule = RULES[secret.rule].name;
        clean.push_str(&text[kept..secret.from]);
        clean.push_str(REDACTION_PREFIX);
        clean.push_str(rule);
        clean.push(']');
        kept = secret.to;
        match found.iter_mut().find(|finding| finding.rule == rule) {
            Some(finding) => finding.count += 1,
            None => found.push(SecretFinding { rule, count: 1 }),
        }
    }
    clean.push_str(&text[kept..]);
    RedactedText { text: Cow::Owned(clean), found }
}

/// The secrets of a text in their order: those that stand there, in parts or in another writing too.
fn secrets(text: &str) -> Vec<SecretSpan> {
    let mut found = plain_secrets(text);
    let before = found.len();
    found.extend(split::secrets_across_joints(text));
    found.extend(split::secrets_in_parts(text));
    found.extend(split::encoded_secrets(text));
    if found.len() > before { merge_overlaps(found) } else { found }
}

/// The secrets that stand in a text as they are, in their order. Those that overlap are one, which bears the name of the
/// rule that stands first in the table: the one that knows the most about it.
fn plain_secrets(text: &str) -> Vec<SecretSpan> {
    let mut found = Vec::new();
    for rule in KEYWORDS.rules_for(text) {
        for hit in rule_expression(rule).captures_iter(text) {
            let Some(secret) = captured_range(&hit) else { continue };
            // The full stop is the sentence's.
            let value = text[secret.clone()].trim_end_matches('.');
            if !value.contains(REDACTION_PREFIX) && is_real_secret(&RULES[rule], value) {
                let to = secret.start + value.len();
                found.push(SecretSpan { from: secret.start, to, rule });
            }
        }
    }
    merge_overlaps(found)
}

/// The secrets in their order, those that overlap as one.
fn merge_overlaps(mut found: Vec<SecretSpan>) -> Vec<SecretSpan> {
    found.sort_unstable_by_key(|secret| (secret.from, secret.rule));
    let mut merged: Vec<SecretSpan> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut().filter(|last| next.from < last.to) {
            Some(last) => {
                last.to = last.to.max(next.to);
                last.rule = last.rule.min(next.rule);
            }
            None => merged.push(next),
        }
    }
    merged
}

/// Where the secret stands in a hit: its first group, or all of it when the rule has none.
fn captured_range(hit: &Captures<'_>) -> Option<std::ops::Range<usize>> {
    let mut groups = hit.iter();
    let whole = groups.next().flatten();
    groups.flatten().next().or(whole).map(|found| found.range())
}

fn rule_expression(rule: usize) -> &'static Regex {
    EXPRESSIONS[rule].get_or_init(|| {
        // Without Unicode classes the automaton stays small, and fast on every text.
        RegexBuilder::new(RULES[rule].pattern)
            .unicode(false)
            .build()
            .expect("the tests compile every rule")
    })
}

/// Whether a value that fits a rule's pattern is a secret and no sample, code or prose.
fn is_real_secret(rule: &SecretRule, value: &str) -> bool {
    match rule.proof {
        SecretCheck::Shape => true,
        SecretCheck::Entropy(least) => entropy(value) >= least,
        SecretCheck::Value(least) => {
            let mixed = value.bytes().any(|b| b.is_ascii_digit())
                && value.bytes().any(|b| b.is_ascii_alphabetic());
            mixed && entropy(value) >= least && !is_placeholder(value) && !is_name(value)
        }
        SecretCheck::Quoted => !is_placeholder(value),
        SecretCheck::Password => !is_placeholder(value) && !is_code(value),
        SecretCheck::Uncommon => {
            let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
            let other = value.bytes().any(|b| b.is_ascii_digit() || b"!@#$%^&*+=?~".contains(&b));
            letter && other && !is_placeholder(value) && !is_code(value) && !is_plain_slug(value)
        }
        SecretCheck::Basic => {
            let plain = decoded_value(value).unwrap_or_default();
            plain.split_once(':').is_some_and(|(user, password)| {
                !user.is_empty() && !user.contains(' ') && !is_placeholder(password)
            })
        }
    }
}

/// What a value says that stands in base64 or hex.
fn decoded_value(value: &str) -> Option<String> {
    crate::injection::readable_text(value.trim_end_matches('=').as_bytes())
}

/// Shannon's entropy of a value, in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    let share = |count: &u32| f64::from(*count) / length;
    counts.iter().filter(|count| **count > 0).map(share).map(|p| -p * p.log2()).sum()
}

/// What stands for a secret without being one: a variable, a blank to fill in, a word that says so.
fn is_placeholder(value: &str) -> bool {
    let bare =
        value.trim_matches(|c: char| "<>{}[]()$%@\"'`.,;:!".contains(c)).to_ascii_lowercase();
    let marked = value.starts_with(['<', '{', '[', '(', '@'])
        || value.starts_with("${")
        || value.starts_with("$(")
        || value.starts_with("%(")
        || (value.starts_with('%') && value.ends_with('%'))
        || (value.starts_with('$') && is_identifier(&value[1..]));
    let mut letters = bare.chars();
    let first = letters.next();
    let one_letter = letters.all(|c| Some(c) == first);
    marked || one_letter || value.contains("...") || value.contains('…') || is_stock(&bare)
}

/// Whether a word is one that documents put where a secret goes, or that says what goes there.
fn is_stock(word: &str) -> bool {
    let plain: String = word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
    plain.is_empty()
        || rules::STOCK_WORDS.contains(&plain)
        || [
            "your",
            "my-",
            "my_",
            "insert",
            "replace",
            "example",
            "placeholder",
            "redacted",
            "dummy",
        ]
        .iter()
        .any(|start| word.starts_with(start) && word.contains(['-', '_', ' ']))
        || ["xxxx", "****", "0000000000", "1234567890abcdef", "example_"]
            .iter()
            .any(|part| word.contains(part))
}

/// Whether a value is an expression of a programming language, as after `password = `.
fn is_code(value: &str) -> bool {
    value.contains(['(', '[', '{'])
        || value.contains("::")
        || value.contains("->")
        || value.starts_with(['&', '*', '/', '|', '=', '>'])
        || (value.contains('.') && value.split('.').all(is_identifier))
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a value is a name rather than a random text: a path of identifiers, or words with a few
/// digits, like `config.auth.token_v2`, `projects/api/secrets/3` or `user-session-42`.
fn is_name(value: &str) -> bool {
    let short = |part: &str| is_identifier(part) && part.len() <= 24;
    let parts = value.matches('.').count() + 1;
    (parts > 1 && value.split('.').all(|part| short(part) && entropy(part) < 3.5)) || is_slug(value)
}

/// Whether a value is words and numbers that name something, a server or a path in a vault, and no
/// password made of words: small letters, and a short number at the end at most.
fn is_plain_slug(value: &str) -> bool {
    let words = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = value.len() - words.len();
    let path = value.contains(['/', '.', ':']);
    let small = number <= 2 && !words.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    is_slug(value) && (path || small)
}

/// Whether a value is made of several words and short numbers, or of one word and a short number.
fn is_slug(value: &str) -> bool {
    let word = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        let even = letters.bytes().all(|b| b.is_ascii_lowercase())
            || letters.bytes().all(|b| b.is_ascii_uppercase())
            || (letters.bytes().all(|b| b.is_ascii_alphabetic())
                && letters.bytes().skip(1).all(|b| b.is_ascii_lowercase()));
        digits <= 4 && even && letters.len() <= 16
    };
    value.contains(['-', '_', '/', '.', ':', '+', '='])
        && value.split(['-', '_', '/', '.', ':', '+', '=']).all(word)
}
