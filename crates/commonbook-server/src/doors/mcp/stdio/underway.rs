//! Running requests: how many a client may have, and which lines start and end them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use commonbook::base::limits;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::calls::rpc::LISTEN_METHOD;

/// The notification of a client that cancels a request.
const CANCELLED_METHOD: &str = "notifications/cancelled";

/// The requests of one client without a response, by their ids.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    requests: Mutex<HashMap<String, OpenRequest>>,
    /// Notified when a request ends.
    ended: Notify,
}

/// A request without a response.
#[derive(Debug, Clone, Copy)]
struct OpenRequest {
    bytes: usize,
    number: u64,
}

/// The fields of an answer that concern requests.
#[derive(Deserialize)]
struct MessageEnvelope {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
}

impl PendingRequests {
    /// Records a message of the client, from a line of this length. While too many requests run, this
    /// waits, and no further line is read from the client. Returns the id of a request that it cancels.
    pub(super) async fn begin(&self, message: &Value, bytes: usize) -> Option<Value> {
        let method = message["method"].as_str()?;
        match (message.get("id"), method) {
            (None, CANCELLED_METHOD) => {
                let id = message.pointer("/params/requestId")?;
                self.end(id);
                return Some(id.clone());
            }
            (None, _) | (_, LISTEN_METHOD) => {}
            (Some(id), _) => {
                self.wait_for_room(bytes).await;
                let mut requests = self.requests();
                let number = requests.values().map(|open| open.number + 1).max().unwrap_or(0);
                requests.insert(id.to_string(), OpenRequest { bytes, number });
            }
        }
        None
    }

    /// Records a response.
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

    /// Waits until a request of this size fits. Drops the oldest request after a timeout: an invalid
    /// request gets no response.
    async fn wait_for_room(&self, bytes: usize) {
        while !self.has_room(bytes) {
            let limit = Duration::from_secs(limits::REQUEST_SECONDS);
            if timeout(limit, self.ended.notified()).await.is_err() {
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

    /// Whether a line passes at once.
    async fn passes(underway: &PendingRequests, line: &[u8]) -> bool {
        let message = serde_json::from_slice(line).unwrap_or_default();
        timeout(Duration::from_millis(1), underway.begin(&message, line.len())).await.is_ok()
    }

    async fn full() -> PendingRequests {
        let underway = PendingRequests::default();
        for id in 0..limits::STDIO_REQUESTS {
            assert!(passes(&underway, &request(id)).await, "{id}");
        }
        underway
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_while_too_many_run() {
        let underway = full().await;
        assert!(!passes(&underway, &request(1_000)).await);
        // A notification ends no request; a response and a cancellation do.
        underway.note_answer_line(
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
        );
        assert!(!passes(&underway, &request(1_000)).await);
        underway.note_answer_line(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
        assert!(passes(&underway, &request(1_000)).await);
        assert!(!passes(&underway, &request(1_001)).await);
        let cancelled =
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#;
        assert!(passes(&underway, cancelled).await);
        assert!(passes(&underway, &request(1_001)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn listening_and_notifications_never_wait() {
        let underway = full().await;
        for line in [
            &br#"{"jsonrpc":"2.0","id":"ears","method":"subscriptions/listen","params":{}}"#[..],
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            br#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            b"[]",
        ] {
            assert!(passes(&underway, line).await, "{}", String::from_utf8_lossy(line));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn long_requests_wait_for_each_other_but_one_always_passes() {
        let long = |id: usize| {
            let text = "x".repeat(limits::STDIO_BYTES / 2 + 1);
            json!({"jsonrpc": "2.0", "id": id, "method": "m", "params": {"text": text}}).to_string()
        };
        let underway = PendingRequests::default();
        assert!(passes(&underway, long(1).as_bytes()).await);
        assert!(!passes(&underway, long(2).as_bytes()).await);
        underway.note_answer_line(br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#);
        assert!(passes(&underway, long(2).as_bytes()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_a_response_does_not_block_a_client_for_ever() {
        let underway = full().await;
        let request: Value = serde_json::from_slice(&request(1_000)).unwrap_or_default();
        underway.begin(&request, 1).await;
        assert!(!underway.requests().contains_key("0"), "the oldest one is dropped");
    }
}
