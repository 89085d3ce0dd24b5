//! Requests under way: how many a client may have, and which of its lines begin and end them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use commonbook::base::limits;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The request that lasts for as long as its client listens; it keeps nobody waiting.
const LISTEN_METHOD: &str = "subscriptions/listen";

/// What a client says when it no longer wants an answer.
const CANCELLED_METHOD: &str = "notifications/cancelled";

/// The requests of one client that have no answer yet, by their ids.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    requests: Mutex<HashMap<String, OpenRequest>>,
    /// Told whenever one ends.
    ended: Notify,
}

/// A request without an answer.
#[derive(Debug, Clone, Copy)]
struct OpenRequest {
    bytes: usize,
    number: u64,
}

/// What a line says of requests.
#[derive(Deserialize)]
struct MessageEnvelope {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
}

/// The part of a cancellation that names a request.
#[derive(Deserialize)]
struct CancelledEnvelope {
    params: CancelledParams,
}

/// Its parameters.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams {
    request_id: Value,
}

impl PendingRequests {
    /// Notes a line of the client. A request waits here while there are too many: its client is then
    /// not read from.
    pub(super) async fn begin(&self, line: &[u8]) {
        let Ok(MessageEnvelope { id, method: Some(method) }) = serde_json::from_slice(line) else {
            return;
        };
        match (id, method.as_str()) {
            (None | Some(Value::Null), CANCELLED_METHOD) => {
                if let Ok(line) = serde_json::from_slice::<CancelledEnvelope>(line) {
                    self.end(&line.params.request_id);
                }
            }
            (None, _) | (_, LISTEN_METHOD) => {}
            (Some(id), _) => {
                self.wait_for_room(line.len()).await;
                let mut requests = self.requests();
                let number = requests.values().map(|open| open.number + 1).max().unwrap_or(0);
                requests.insert(id.to_string(), OpenRequest { bytes: line.len(), number });
            }
        }
    }

    /// Notes an answer.
    pub(super) fn note_answer_line(&self, line: &[u8]) {
        if let Ok(MessageEnvelope { id: Some(id), method: None }) = serde_json::from_slice(line) {
            self.end(&id);
        }
    }

    fn end(&self, id: &Value) {
        if self.requests().remove(&id.to_string()).is_some() {
            self.ended.notify_one();
        }
    }

    /// Waits until a request of so many bytes has room. One that is never answered, as what is no request
    /// of the protocol, is forgotten after a time.
    async fn wait_for_room(&self, bytes: usize) {
        while !self.has_room(bytes) {
            let patience = Duration::from_secs(limits::REQUEST_SECONDS);
            if timeout(patience, self.ended.notified()).await.is_err() {
                let mut requests = self.requests();
                let oldest = requests.iter().min_by_key(|(_, open)| open.number);
                let oldest = oldest.map(|(id, _)| id.clone());
                oldest.and_then(|id| requests.remove(&id));
            }
        }
    }

    fn has_room(&self, bytes: usize) -> bool {
        let requests = self.requests();
        let open: usize = requests.values().map(|open| open.bytes).sum();
        requests.is_empty()
            || requests.len() < limits::STDIO_REQUESTS && open + bytes <= limits::STDIO_BYTES
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<String, OpenRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(id: usize) -> Vec<u8> {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {}}).to_string().into()
    }

    /// Whether a line is taken at once.
    async fn is_taken(underway: &PendingRequests, line: &[u8]) -> bool {
        timeout(Duration::from_millis(1), underway.begin(line)).await.is_ok()
    }

    async fn full() -> PendingRequests {
        let underway = PendingRequests::default();
        for id in 0..limits::STDIO_REQUESTS {
            assert!(is_taken(&underway, &request(id)).await, "{id}");
        }
        underway
    }

    #[tokio::test(start_paused = true)]
    async fn no_request_is_taken_while_too_many_are_under_way() {
        let underway = full().await;
        assert!(!is_taken(&underway, &request(1_000)).await);
        // What is no answer ends nothing, an answer does, and so does a cancellation.
        underway.note_answer_line(
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
        );
        assert!(!is_taken(&underway, &request(1_000)).await);
        underway.note_answer_line(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
        assert!(is_taken(&underway, &request(1_000)).await);
        assert!(!is_taken(&underway, &request(1_001)).await);
        let cancelled =
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#;
        assert!(is_taken(&underway, cancelled).await);
        assert!(is_taken(&underway, &request(1_001)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_listens_or_says_something_is_taken_all_the_same() {
        let underway = full().await;
        for line in [
            &br#"{"jsonrpc":"2.0","id":"ears","method":"subscriptions/listen","params":{}}"#[..],
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            br#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            b"[]",
        ] {
            assert!(is_taken(&underway, line).await, "{}", String::from_utf8_lossy(line));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn long_requests_wait_for_each_other_but_one_is_always_taken() {
        let long = |id: usize| {
            let text = "x".repeat(limits::STDIO_BYTES / 2 + 1);
            json!({"jsonrpc": "2.0", "id": id, "method": "m", "params": {"text": text}}).to_string()
        };
        let underway = PendingRequests::default();
        assert!(is_taken(&underway, long(1).as_bytes()).await);
        assert!(!is_taken(&underway, long(2).as_bytes()).await);
        underway.note_answer_line(br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#);
        assert!(is_taken(&underway, long(2).as_bytes()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_never_answered_does_not_stop_a_client_for_ever() {
        let underway = full().await;
        underway.begin(&request(1_000)).await;
        assert!(!underway.requests().contains_key("0"), "the oldest is forgotten");
    }
}
