//! Revisions over HTTP: the headers `ETag`, `If-None-Match` and `If-Match`.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use commonbook::base::error::{Error, Result};

/// The field of a request that `If-Match` stands for.
pub(super) const EXPECTED_REVISION_FIELD: &str = "expected_revision";

/// The headers that a response depends on besides its URL.
pub(super) const VARY_HEADERS: &str =
    "authorization, x-commonbook-agent, x-commonbook-workspace, x-commonbook-user";

/// The entity tag of a revision. It is a strong tag: a memory never changes within a revision.
pub(super) fn revision_etag(revision: u64) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("\"{revision}\"")).ok()
}

/// Whether `If-None-Match` names this revision: the client already has it.
pub(super) fn matches_if_none_match(headers: &HeaderMap, revision: u64) -> bool {
    let ours = format!("\"{revision}\"");
    let named = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
    // Weak comparison (RFC 9110, 13.1.2): a proxy may have marked the tag as weak.
    named
        .flat_map(|tags| tags.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == ours)
}

/// The revision that `If-Match` names, as text; `None` if it accepts any revision.
///
/// # Errors
/// `invalid` unless the header has exactly one strong tag of a revision.
pub(super) fn if_match_revision(headers: &HeaderMap) -> Result<Option<String>> {
    let mut named = headers.get_all(header::IF_MATCH).iter();
    let Some(tag) = named.next() else { return Ok(None) };
    let text = tag.to_str().map(str::trim).unwrap_or_default();
    if text == "*" && named.next().is_none() {
        return Ok(None);
    }
    let revision = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match (revision.filter(number), named.next()) {
        (Some(revision), None) => Ok(Some(revision.to_owned())),
        _ => Err(unreadable_header(&header::IF_MATCH)),
    }
}

fn unreadable_header(name: &HeaderName) -> Error {
    Error::invalid(name.as_str(), "this is not the ETag of a revision; expected a value like \"3\"")
        .hint(
            "Send the ETag of the response that you read the memory from, or leave the header out.",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn if_match_names_one_revision_or_any() {
        let table: [(&[&'static str], Option<Option<&str>>); 12] = [
            (&[], Some(None)),
            (&["*"], Some(None)),
            (&["\"3\""], Some(Some("3"))),
            (&[" \"3\" "], Some(Some("3"))),
            (&["3"], None),
            (&["\"\""], None),
            (&["\""], None),
            (&["W/\"3\""], None),
            (&["\"3\", \"4\""], None),
            (&["\"3\"", "\"4\""], None),
            (&["\"-3\""], None),
            (&["*", "\"3\""], None),
        ];
        for (given, wanted) in table {
            let found = if_match_revision(&with(&header::IF_MATCH, given)).ok();
            assert_eq!(found.as_ref().map(Option::as_deref), wanted, "{given:?}");
        }
    }

    #[test]
    fn if_none_match_knows_a_revision_by_any_of_its_tags() {
        let table: [(&[&'static str], bool); 8] = [
            (&[], false),
            (&["*"], true),
            (&["\"3\""], true),
            (&["W/\"3\""], true),
            (&["\"2\", \"3\""], true),
            (&["\"2\"", "\"3\""], true),
            (&["\"33\""], false),
            (&["3"], false),
        ];
        for (given, known) in table {
            assert_eq!(
                matches_if_none_match(&with(&header::IF_NONE_MATCH, given), 3),
                known,
                "{given:?}"
            );
        }
    }
}
