//! Secrets: removes keys, tokens and passwords from a text before it is stored.
//!
//! The forms of tokens are facts in a table, `secrets/tokens.tsv`: provider, prefix, letters, length.
//! What has no prefix is found by an expression. The approach follows gitleaks (v8.x, MIT), rewritten
//! for prose: the keywords that a text must contain before a rule is tried, and the entropy below
//! which a value is a sample. Gitleaks warns a person; this module changes a text, so
//! some choices differ:
//!
//! - A provider's token is recognised by its form in any context, even the sample key of AWS that
//!   gitleaks ignores: its shape does not distinguish it from a key.
//! - A value with only a name as evidence (`token: …`, `password=…`) is removed unless it can be
//!   code or a placeholder: `<password>`, `${PASSWORD}`, `***` and `changeme` stay, because they
//!   reveal nothing, and a memory about the default password `changeme` is useful. A word without a
//!   digit or sign after `password:` stays too, because "password: required" is a sentence; in
//!   quotes or after a bare `=` it is removed.
//! - Digests, commit ids and UUIDs are removed only if a name says that they are a credential.
//!
//! A private key in armour is removed as a whole, up to the end of the text if its end is missing.
//! Redaction is idempotent. The time is linear in the text, for all rules.

mod named;
mod rules;
mod split;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex, RegexBuilder};

use crate::prefilter::KeywordFilter;
use rules::{RULES, SecretCheck};

pub use named::redact_value;

/// A text after redaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText<'a> {
    /// The text with `[redacted:rule]` in place of each secret; borrowed if it had no secret.
    pub text: Cow<'a, str>,
    /// The findings, one for each rule, in the order of their first secrets. They never contain a
    /// secret.
    pub found: Vec<SecretFinding>,
}

/// The count of secrets that a rule found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretFinding {
    /// The name of the rule, as in the redacted text.
    pub rule: &'static str,
    /// The count of its secrets; overlapping secrets count as one.
    pub count: usize,
}

/// The range of a secret in a text, and the rule that found it.
struct SecretSpan {
    from: usize,
    to: usize,
    rule: usize,
}

/// The beginning of the text in place of a secret.
const REDACTION_PREFIX: &str = "[redacted:";

static KEYWORDS: LazyLock<KeywordFilter> =
    LazyLock::new(|| KeywordFilter::of(RULES.iter().map(|rule| &rule.keywords)));

/// The expression of each rule, compiled on first use: most processes need few.
static EXPRESSIONS: LazyLock<Vec<OnceLock<Regex>>> =
    LazyLock::new(|| RULES.iter().map(|_| OnceLock::new()).collect());

/// Replaces each secret of a text by `[redacted:rule]`.
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

/// Returns the secrets of a text in order, those in parts or encoded included.
fn secrets(text: &str) -> Vec<SecretSpan> {
    let mut found = plain_secrets(text);
    let before = found.len();
    found.extend(split::secrets_across_joints(text));
    found.extend(split::secrets_in_parts(text));
    found.extend(split::encoded_secrets(text));
    if found.len() > before { merge_overlaps(found) } else { found }
}

/// Returns the secrets that a text contains whole and unencoded, in order. Overlapping secrets are
/// one, with the first rule of the table among theirs: the most specific.
fn plain_secrets(text: &str) -> Vec<SecretSpan> {
    let mut found = Vec::new();
    for rule in KEYWORDS.rules_for(text) {
        for hit in rule_expression(rule).captures_iter(text) {
            let Some(secret) = captured_range(&hit) else { continue };
            // The full stop belongs to the sentence.
            let value = text[secret.clone()].trim_end_matches('.');
            if !value.contains(REDACTION_PREFIX) && is_real_secret(RULES[rule].check, value) {
                let to = secret.start + value.len();
                found.push(SecretSpan { from: secret.start, to, rule });
            }
        }
    }
    merge_overlaps(found)
}

/// Sorts secrets and joins those that overlap.
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

/// Returns the range of the secret in a hit: the first group, or the whole hit if the rule has no
/// group.
fn captured_range(hit: &Captures<'_>) -> Option<std::ops::Range<usize>> {
    let mut groups = hit.iter();
    let whole = groups.next().flatten();
    groups.flatten().next().or(whole).map(|found| found.range())
}

fn rule_expression(rule: usize) -> &'static Regex {
    EXPRESSIONS[rule].get_or_init(|| {
        // Without Unicode classes the automaton is small, and fast on every text.
        RegexBuilder::new(&RULES[rule].pattern)
            .unicode(false)
            .build()
            .expect("the tests compile every rule")
    })
}

/// Whether a value that matches a rule's expression is a secret, and not a sample, code or prose.
fn is_real_secret(check: SecretCheck, value: &str) -> bool {
    match check {
        SecretCheck::Body { prefix, mixed } => is_random_body(&value[prefix..], mixed),
        SecretCheck::Shape => true,
        SecretCheck::Entropy(least) => entropy(value) >= least,
        SecretCheck::Value(least) => {
            let mixed = value.bytes().any(|b| b.is_ascii_digit())
                && value.bytes().any(|b| b.is_ascii_alphabetic());
            mixed && entropy(value) >= least && !is_placeholder(value) && !is_name(value)
        }
        SecretCheck::Quoted => !is_placeholder(value),
        SecretCheck::Password => !is_placeholder(value) && !is_code(value),
        SecretCheck::Uncommon => is_uncommon(value),
        SecretCheck::Strong => {
            let has = |kind: fn(&u8) -> bool| value.as_bytes().iter().any(kind);
            has(u8::is_ascii_digit) && has(|sign| SIGNS.contains(sign)) && is_uncommon(value)
        }
        SecretCheck::Basic => {
            let plain = decoded_value(value).unwrap_or_default();
            plain.split_once(':').is_some_and(|(user, password)| {
                !user.is_empty() && !user.contains(' ') && !is_placeholder(password)
            })
        }
    }
}

/// The signs that words do not have.
const SIGNS: &[u8] = b"!@#$%^&*+=?~";

/// Whether a value has letters, of any script, and digits or signs, and is neither a placeholder, code nor the
/// beginning of a sentence.
fn is_uncommon(value: &str) -> bool {
    // An exclamation ends a sentence.
    let word = if value.is_ascii() { value } else { value.trim_end_matches(['!', '?']) };
    let has_digit = value.bytes().any(|b| b.is_ascii_digit());
    let has_other = has_digit || word.bytes().any(|b| SIGNS.contains(&b));
    value.chars().any(char::is_alphabetic)
        && has_other
        && !is_clause(value)
        && !is_placeholder(value)
        && !is_code(value)
        && !is_plain_slug(value)
}

/// Whether a value in a script without blanks between words can be a clause: it begins with a number, or ends
/// with a word.
fn is_clause(value: &str) -> bool {
    let is_unspaced = |sign: char| matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    value.chars().any(is_unspaced)
        && (value.starts_with(|first: char| first.is_ascii_digit()) || value.ends_with(is_unspaced))
}

/// The least entropy of a token's body, in bits per byte.
const BODY_ENTROPY_MIN: f64 = 2.6;

/// Whether what follows a token's prefix is random, and neither a placeholder nor words.
fn is_random_body(body: &str, mixed: bool) -> bool {
    let has = |kind: fn(&u8) -> bool| body.as_bytes().iter().any(kind);
    let (small, capital) = (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    let words = (small && !has(u8::is_ascii_digit) && !is_of_mixed_case(body)) || is_slug(body);
    entropy(body) >= BODY_ENTROPY_MIN
        && !words
        && !is_stock(&body.to_ascii_lowercase())
        && (!mixed || (small && capital))
}

/// Single small letters and rows of capitals within words, from which on a text is random and no words.
const ODD_RUNS_MIN: usize = 3;

/// Whether letters change their case as no words do: within each, words have capitals alone and small letters
/// in rows, as `AutoModelForSequenceClassification` has.
fn is_of_mixed_case(body: &str) -> bool {
    let pieces = body.split(|c: char| !c.is_ascii_alphabetic());
    let odd_runs = |piece: &str| {
        let letters = piece.as_bytes();
        let runs: Vec<&[u8]> =
            letters.chunk_by(|a, b| a.is_ascii_uppercase() == b.is_ascii_uppercase()).collect();
        let inner = runs.get(1..runs.len().saturating_sub(1)).unwrap_or_default();
        inner.iter().filter(|run| run[0].is_ascii_uppercase() == (run.len() > 1)).count()
    };
    pieces.map(odd_runs).sum::<usize>() >= ODD_RUNS_MIN
}

/// Decodes a value in base64 or hex.
fn decoded_value(value: &str) -> Option<String> {
    crate::injection::readable_text(value.trim_end_matches('=').as_bytes())
}

/// Returns Shannon's entropy of a value, in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    let share = |count: &u32| f64::from(*count) / length;
    counts.iter().filter(|count| **count > 0).map(share).map(|p| -p * p.log2()).sum()
}

/// Whether a value is a placeholder for a secret: a variable, a blank to fill in, a stock word.
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

/// Whether a word is a stock word of documents in place of a secret.
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

/// Whether a value is a name and not random: a path of identifiers, or words with a few digits, like
/// `config.auth.token_v2`, `projects/api/secrets/3` or `user-session-42`.
fn is_name(value: &str) -> bool {
    let short = |part: &str| is_identifier(part) && part.len() <= 24;
    let parts = value.matches('.').count() + 1;
    (parts > 1 && value.split('.').all(|part| short(part) && entropy(part) < 3.5)) || is_slug(value)
}

/// Whether a value is words and numbers that name a server or a path in a vault, and not a password
/// made of words: small letters, and at most a short number at the end.
fn is_plain_slug(value: &str) -> bool {
    let words = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = value.len() - words.len();
    let path = value.contains(['/', '.', ':']);
    let small = number <= 2 && !words.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    is_slug(value) && (path || small)
}

/// Whether a value consists of words and short numbers with signs between them.
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
