//! Secrets in parts or encoded, which a reader can put together.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::rules::{RULES, SecretCheck};
use super::{REDACTION_PREFIX, SecretSpan, is_real_secret, plain_secrets};
use crate::injection;

/// Maximum parts of a secret that are checked in one text.
const PARTS_MAX: usize = 16;

/// The end of one literal and the beginning of the next, or the continuation of a line.
static JOINT: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"["'`]\s{0,3}(?:\+|\.\.?|&|\|\|)\s{0,3}["'`]|["'`]\s{0,2}\\?\r?\n\s{0,16}["'`]|\\\r?\n\s{0,16}|[\w!#$%] \+ \b"#,
    )
});

/// A numbered part of a secret.
static NUMBERED_PART: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)\b(?:(?:first|second|third|last|1st|2nd|3rd|other) (?:part|half|piece|chunk)|(?:part|half|piece|chunk) (?:one|two|three|four|[1-4a-d]))\b[\w ]{0,24}?(?:\s{0,2}[:=]\s{0,2}| is |\s)["'`]?([\w+/=-]{8,200})"#,
    )
});

fn compile_pattern(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the tests compile it")
}

/// Returns the secrets that span concatenated literals, as in `"abc" + "def"`.
pub(super) fn secrets_across_joints(text: &str) -> Vec<SecretSpan> {
    let joints: Vec<(usize, usize)> = JOINT
        .find_iter(text)
        .map(|joint| {
            // Without quotes, the letter before the joint belongs to the secret.
            let bare =
                joint.as_str().contains(" + ") && !joint.as_str().starts_with(['"', '\'', '`']);
            (joint.start() + usize::from(bare), joint.end())
        })
        .collect();
    if joints.is_empty() {
        return Vec::new();
    }
    let (mut whole, mut seams, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
    for (start, end) in joints {
        whole.push_str(&text[from..start]);
        seams.push((whole.len(), end - start));
        from = end;
    }
    whole.push_str(&text[from..]);
    let spans = |secret: &SecretSpan| {
        let first = seams.partition_point(|(at, _)| *at <= secret.from);
        seams.get(first).is_some_and(|(at, _)| *at < secret.to)
    };
    // Behind a seam, the text has an offset of the seam's length.
    let position = |at: usize| {
        at + seams.iter().take_while(|(seam, _)| *seam <= at).map(|(_, gap)| gap).sum::<usize>()
    };
    let found = plain_secrets(&whole).into_iter().filter(spans);
    found
        .map(|secret| SecretSpan {
            from: position(secret.from),
            to: position(secret.to - 1) + 1,
            rule: secret.rule,
        })
        .collect()
}

/// Returns the numbered parts of a secret.
pub(super) fn secrets_in_parts(text: &str) -> Vec<SecretSpan> {
    let parts = NUMBERED_PART.captures_iter(text).take(PARTS_MAX).filter_map(|hit| hit.get(1));
    let parts: Vec<_> =
        parts.filter(|part| is_real_secret(SecretCheck::Value(3.0), part.as_str())).collect();
    let Some(rule) = RULES.iter().position(|rule| rule.name == "credential") else {
        return Vec::new();
    };
    if parts.len() < 2 {
        return Vec::new();
    }
    parts.iter().map(|part| SecretSpan { from: part.start(), to: part.end(), rule }).collect()
}

/// Returns the secrets in base64, in hex and in percent encoding.
pub(super) fn encoded_secrets(text: &str) -> Vec<SecretSpan> {
    let mut found = Vec::new();
    for (range, plain) in injection::decode_stretches(text) {
        let inside = plain_secrets(&plain);
        if let Some(secret) = inside.first().filter(|_| !plain.contains(REDACTION_PREFIX)) {
            found.push(SecretSpan { from: range.start, to: range.end, rule: secret.rule });
        }
    }
    let mut from = 0;
    for word in text.split([' ', '\n', '\t', '"', '\'', '&', '?', '=', '<', '>']) {
        let (start, end) = (from, from + word.len());
        from = end + 1;
        if word.matches('%').count() >= 3 {
            let plain = injection::unescape(word);
            if let Some(secret) = plain_secrets(&plain).first() {
                found.push(SecretSpan { from: start, to: end, rule: secret.rule });
            }
        }
    }
    found
}
