//! Batches of a client: several messages in one line, whose answers come in one line too.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::calls::rpc;

/// The batches of one client without an answer.
#[derive(Debug, Default)]
pub(super) struct PendingBatches(Mutex<Vec<OpenBatch>>);

/// A batch some of whose requests have no answer.
#[derive(Debug)]
struct OpenBatch {
    waiting: HashSet<String>,
    answers: Vec<Value>,
}

impl PendingBatches {
    /// Records a batch. Returns its messages, and the answer of a batch that has no request.
    pub(super) fn begin(&self, batch: Vec<Result<Value, Value>>) -> (Vec<Value>, Vec<Value>) {
        let (mut messages, mut answers) = (Vec::new(), Vec::new());
        for message in batch {
            match message {
                Ok(message) => messages.push(message),
                Err(refusal) => answers.push(refusal),
            }
        }
        let requests = messages.iter().filter_map(rpc::request_id);
        let waiting: HashSet<String> = requests.map(ToString::to_string).collect();
        match (waiting.is_empty(), answers.is_empty()) {
            (true, true) => (messages, Vec::new()),
            (true, false) => (messages, vec![Value::Array(answers)]),
            (false, _) => {
                self.open().push(OpenBatch { waiting, answers });
                (messages, Vec::new())
            }
        }
    }

    /// The line to write for a line of the MCP library: none for an answer whose batch waits for others.
    pub(super) fn pass(&self, line: Vec<u8>) -> Option<Vec<u8>> {
        if self.open().is_empty() {
            return Some(line);
        }
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { return Some(line) };
        let Some(id) = message.get("id").filter(|_| message.get("method").is_none()).cloned()
        else {
            return Some(line);
        };
        match self.close(&id, Some(message)) {
            BatchState::Foreign => Some(line),
            BatchState::Open => None,
            BatchState::Closed(answers) => Some(super::line_of(&answers)),
        }
    }

    /// Records that a request is cancelled and gets no answer. Returns the answers of its batch if it was
    /// the last one.
    pub(super) fn cancel(&self, id: &Value) -> Option<Value> {
        match self.close(id, None) {
            BatchState::Closed(answers) => {
                Some(answers).filter(|answers| *answers != Value::Array(Vec::new()))
            }
            _ => None,
        }
    }

    fn close(&self, id: &Value, answer: Option<Value>) -> BatchState {
        let (id, mut open) = (id.to_string(), self.open());
        let Some(place) = open.iter().position(|batch| batch.waiting.contains(&id)) else {
            return BatchState::Foreign;
        };
        let batch = &mut open[place];
        batch.waiting.remove(&id);
        batch.answers.extend(answer);
        match batch.waiting.is_empty() {
            true => BatchState::Closed(Value::Array(open.remove(place).answers)),
            false => BatchState::Open,
        }
    }

    fn open(&self) -> MutexGuard<'_, Vec<OpenBatch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a batch is after the end of a request.
enum BatchState {
    /// The request is in none.
    Foreign,
    /// Others of its requests have no answer.
    Open,
    /// All answers, as one message.
    Closed(Value),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_answers_of_a_batch_come_in_one_line() {
        let request = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let answer = |id: u32| json!({"jsonrpc": "2.0", "id": id, "result": {}});
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let refusal = json!({"jsonrpc": "2.0", "id": null, "error": {}});
        let passed = |batches: &PendingBatches, message: &Value| {
            let line = batches.pass(super::super::line_of(message))?;
            serde_json::from_slice::<Value>(&line).ok()
        };
        let batches = PendingBatches::default();
        let parts = vec![Ok(request(1)), Err(refusal.clone()), Ok(begun.clone()), Ok(request(2))];
        assert_eq!(batches.begin(parts).0, [request(1), begun.clone(), request(2)]);
        assert_eq!(passed(&batches, &answer(3)), Some(answer(3)));
        assert_eq!(passed(&batches, &begun), Some(begun.clone()));
        assert_eq!(passed(&batches, &answer(2)), None);
        let whole = json!([refusal, answer(2), answer(1)]);
        assert_eq!(passed(&batches, &answer(1)), Some(whole));
        assert_eq!(passed(&batches, &answer(1)), Some(answer(1)), "it has ended");
        // A batch of notifications has no answer, one of nonsense has one at once.
        assert_eq!(batches.begin(vec![Ok(begun.clone())]), (vec![begun], Vec::new()));
        assert_eq!(batches.begin(vec![Err(refusal.clone())]), (Vec::new(), vec![json!([refusal])]));
        // A cancelled request gets no answer.
        batches.begin(vec![Ok(request(4)), Ok(request(5))]);
        assert_eq!(passed(&batches, &answer(4)), None);
        assert_eq!(batches.cancel(&json!(5)), Some(json!([answer(4)])));
        batches.begin(vec![Ok(request(6))]);
        assert_eq!(batches.cancel(&json!(6)), None);
    }
}
