//! Running a write: in one transaction, and once per idempotency key.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::id::IdSource;
use crate::base::{input, limits};
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::checkpoint::CheckpointSettings;
use crate::store::{IdempotencyRecord, Tx};
use crate::verbs::Commonbook;
use crate::verbs::ops::forgotten::refuse_forgotten;
use crate::verbs::ops::heirs::{ReaderAnswer, for_reader};
use crate::verbs::ops::write_request::WriteRequest;

/// The caller of a write, what it may change, the time of the write, the source of new ids, and when
/// a write makes a checkpoint.
#[derive(Clone, Copy)]
pub(in crate::verbs) struct WriteScope<'w> {
    pub(in crate::verbs) caller: &'w Caller,
    pub(in crate::verbs) sight: &'w Sight,
    pub(in crate::verbs) now: Timestamp,
    pub(in crate::verbs) ids: &'w dyn IdSource,
    pub(in crate::verbs) checkpoints: CheckpointSettings,
}

/// A step of every write, in the transaction of the write. An error refuses the write.
pub(in crate::verbs) type WriteStep = fn(&mut Tx<'_>, WriteScope<'_>) -> Result<()>;

/// The answer of a write, and whether it comes from an earlier write with the same idempotency key.
pub(in crate::verbs) struct WriteAnswer<A> {
    pub(in crate::verbs) answer: A,
    pub(in crate::verbs) repeated: bool,
}

impl Commonbook {
    /// Runs a write in one transaction, once per idempotency key: a key that was used before returns
    /// the answer of that write, if the request is the same. `now` is the time that the verb took at
    /// its door: the rows and the events of a write carry the same. The steps that are registered
    /// for every write run before `act`. The answer names no successor that the caller cannot see.
    ///
    /// # Errors
    /// `conflict` if the key was used for another request; `forbidden` if the caller may not write;
    /// else the error of a step or of `act`.
    pub(in crate::verbs) fn write_once<R, A>(
        &self,
        caller: &Caller,
        now: Timestamp,
        request: &R,
        mut act: impl FnMut(&mut Tx<'_>, WriteScope<'_>) -> Result<A> + Send + 'static,
    ) -> Result<WriteAnswer<A>>
    where
        R: WriteRequest,
        A: ReaderAnswer + Serialize + DeserializeOwned + Send + 'static,
    {
        self.policy.may_write(caller)?;
        let sight = Sight::writing(caller)?;
        let key = fit_key(request.idempotency_key().map(String::as_str))?;
        // A caller that works for another user makes another request: the answer may be about that user.
        let request_sha256 = sha256(&encode_answer(&(R::VERB, &caller.user, request))?);
        let texts = serde_json::to_value(request).map_err(cannot_encode)?;
        let (caller, ids, steps) = (caller.clone(), Arc::clone(&self.ids), self.write_steps);
        let checkpoints = self.checkpoints;
        let by = caller.clone();
        let readings = self.take_readings(&by);
        self.store.write_as(&by, move |tx| {
            readings.iter().try_for_each(|reading| tx.note_told(reading))?;
            if let Some(key) = &key
                && let Some(earlier) = tx.kept_answer(&caller.workspace, &caller.agent, key)?
                && now.duration_since(earlier.at)
                    < SignedDuration::from_hours(limits::IDEMPOTENCY_HOURS)
            {
                let answer = repeated_answer(&earlier, &request_sha256)?;
                let answer = for_reader(tx, &sight, answer)?;
                return Ok(WriteAnswer { answer, repeated: true });
            }
            let scope = WriteScope { caller: &caller, sight: &sight, now, ids: &*ids, checkpoints };
            refuse_forgotten(tx, &caller, R::VERB, &texts)?;
            steps.iter().try_for_each(|step| step(tx, scope))?;
            let answer = act(tx, scope)?;
            let answer = for_reader(tx, &sight, answer)?;
            if let Some(key) = &key {
                let record = IdempotencyRecord {
                    request_sha256: request_sha256.clone(),
                    answer: encode_answer(&answer)?,
                    at: now,
                };
                tx.keep_answer(&caller.workspace, &caller.agent, key, &record)?;
            }
            Ok(WriteAnswer { answer, repeated: false })
        })
    }
}

/// Checks an idempotency key against its limits, and trims it.
///
/// # Errors
/// `invalid` for an empty key or one with control characters, `too_large` for a longer one.
pub fn fit_key(key: Option<&str>) -> Result<Option<String>> {
    key.map(|key| input::line("idempotency_key", key, limits::IDEMPOTENCY_KEY_CHARS)).transpose()
}

fn repeated_answer<A: DeserializeOwned>(
    earlier: &IdempotencyRecord,
    request_sha256: &str,
) -> Result<A> {
    if earlier.request_sha256 != request_sha256 {
        return Err(Error::conflict("idempotency_key: this key was used for another request")
            .with_field("idempotency_key")
            .hint("Use a new key for a new request."));
    }
    serde_json::from_str(&earlier.answer).map_err(|error| {
        Error::new(ErrorKind::Internal, "the stored answer of an idempotency key cannot be read")
            .with_cause(error)
    })
}

fn encode_answer(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(cannot_encode)
}

fn cannot_encode(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "a request could not be encoded").with_cause(error)
}
