//! The reason and the retry time in an error response.

use std::time::Duration;

use serde_json::Value;
use ureq::http::HeaderMap;

use super::ApiKey;

/// Maximum characters of an endpoint's reason in our error.
const REASON_CHARS_MAX: usize = 200;

/// Parses the `Retry-After` header, if it is a count of seconds; `None` for a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("retry-after")?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// Returns the endpoint's reason with a colon before it: on one line, without the key, shortened.
/// Empty if the response has no reason.
pub(super) fn reason(body: &[u8], key: Option<&ApiKey>) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let pointers = ["/error/message", "/error", "/message", "/detail"];
    let Some(text) = pointers.iter().find_map(|pointer| value.pointer(pointer)?.as_str()) else {
        return String::new();
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = key.map_or_else(|| line.clone(), |key| key.hide_key(&line));
    format!(": {}", line.chars().take(REASON_CHARS_MAX).collect::<String>())
}
