//! What stands in an answer besides what was asked for: why not, and when to come again.

use std::time::Duration;

use serde_json::Value;
use ureq::http::HeaderMap;

use super::ApiKey;

/// Characters of an endpoint's reason that are passed on.
const REASON_CHARS_MAX: usize = 200;

/// How long the endpoint asks to wait, in whole seconds; a date is not understood.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("retry-after")?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// The endpoint's own reason with a colon before it, on one line, without the key and then
/// shortened; empty when it gave none.
pub(super) fn reason(body: &[u8], key: Option<&ApiKey>) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let places = ["/error/message", "/error", "/message", "/detail"];
    let Some(text) = places.iter().find_map(|place| value.pointer(place)?.as_str()) else {
        return String::new();
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = key.map_or_else(|| line.clone(), |key| key.hide_key(&line));
    format!(": {}", line.chars().take(REASON_CHARS_MAX).collect::<String>())
}
