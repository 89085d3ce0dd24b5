//! Laws of redaction that no row can show; the cases are in `tests/tables/secrets.md`.

use super::*;

/// A sample without its `·`, which breaks up each token so that scanners of repositories do not take
/// this file for a leak.
fn whole(sample: &str) -> String {
    sample.replace('·', "")
}

/// Fifty letters and digits without meaning.
const NOISE: &str = "q7Rk2ZpV9xT4mWc8Lh3NbY6sJd1FgQ5uEw0aXvKtHiCoPzMrB2";

fn noise(length: usize) -> String {
    NOISE.chars().cycle().take(length).collect()
}

#[test]
fn every_rule_compiles_and_is_found_by_its_keywords() {
    for (index, rule) in RULES.iter().enumerate() {
        let expression = rule_expression(index);
        assert!(expression.captures_len() >= 1, "{}", rule.name);
        assert!(!rule.keywords.is_empty(), "{}", rule.name);
        let slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(rule.name.chars().all(slug), "{}", rule.name);
    }
}

#[test]
fn findings_are_counted_and_overlaps_are_one() {
    let key = whole("AK·IAIOSFODNN7EXAMPLE");
    let token = whole(&format!("gh·p_{}", noise(36)));
    let text = format!("token={token} and {key}, {key}; password={token}");
    let redacted = redact(&text);
    assert_eq!(
        redacted.text,
        "token=[redacted:github-token] and [redacted:aws-access-key], [redacted:aws-access-key]; \
         password=[redacted:github-token]"
    );
    let expected = [
        SecretFinding { rule: "github-token", count: 2 },
        SecretFinding { rule: "aws-access-key", count: 2 },
    ];
    assert_eq!(redacted.found, expected);
}

#[test]
fn a_long_text_of_beginnings_takes_no_longer_than_another() {
    for part in ["password: ", "token=", "-----BEGIN PRIVATE KEY-----\n", "eyJ", "a://b:", "curl "]
    {
        let text = part.repeat(64 * 1024 / part.len());
        assert!(redact(&text).found.len() <= 1, "{part}");
    }
}

#[test]
fn entropy_is_in_bits_per_byte() {
    for (value, bits) in [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0)] {
        assert!((entropy(value) - bits).abs() < 1e-9, "{value}");
    }
}
