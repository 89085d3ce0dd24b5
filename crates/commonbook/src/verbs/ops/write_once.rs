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
use crate::model::lineage::MemoryReading;
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
        let encoded = encode(request)?;
        let request_sha256 = key.as_ref().map(|_| request_digest::<R>(caller, &encoded));
        let request_sha256 = request_sha256.transpose()?.unwrap_or_default();
        let (caller, ids, steps) = (caller.clone(), Arc::clone(&self.ids), self.write_steps);
        let checkpoints = self.checkpoints;
        let by = caller.clone();
        let readings: Arc<[MemoryReading]> = self.take_readings(&by).into();
        let noted = Arc::clone(&readings);
        let once = self.store.write_as(&by, move |tx| {
            noted.iter().try_for_each(|reading| tx.note_told(reading))?;
            if let Some(key) = &key
                && let Some(earlier) = earlier_answer(tx, &caller, key, now)?
            {
                let answer = repeated_answer(&earlier, &request_sha256)?;
                let answer = for_reader(tx, &sight, answer)?;
                return Ok(WriteAnswer { answer, repeated: true });
            }
            let scope = WriteScope { caller: &caller, sight: &sight, now, ids: &*ids, checkpoints };
            refuse_forgotten(tx, &caller, R::VERB, || decode(&encoded))?;
            steps.iter().try_for_each(|step| step(tx, scope))?;
            let answer = act(tx, scope)?;
            let answer = for_reader(tx, &sight, answer)?;
            if let Some(key) = &key {
                let record = IdempotencyRecord {
                    request_sha256: request_sha256.clone(),
                    answer: encode(&answer)?,
                    at: now,
                };
                tx.keep_answer(&caller.workspace, &caller.agent, key, &record)?;
            }
            Ok(WriteAnswer { answer, repeated: false })
        });
        // A refused write notes nothing.
        if once.is_err() {
            self.return_readings(&readings);
        }
        once
    }
}

impl Commonbook {
    /// The answer of an earlier write with the key of this request, before the work that precedes the write.
    /// `None` if there is none; the write looks again.
    ///
    /// # Errors
    /// As [`Self::write_once`], for a key.
    pub(in crate::verbs) fn answered_before<R, A>(
        &self,
        caller: &Caller,
        now: Timestamp,
        request: &R,
    ) -> Result<Option<A>>
    where
        R: WriteRequest,
        A: ReaderAnswer + DeserializeOwned,
    {
        let Some(key) = fit_key(request.idempotency_key().map(String::as_str))? else {
            return Ok(None);
        };
        let sight = Sight::writing(caller)?;
        self.store.read(|tx| {
            let Some(earlier) = earlier_answer(tx, caller, &key, now)? else { return Ok(None) };
            let digest = request_digest::<R>(caller, &encode(request)?)?;
            for_reader(tx, &sight, repeated_answer(&earlier, &digest)?).map(Some)
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

/// The answer that is kept under a key of this caller, unless that was too long ago.
fn earlier_answer(
    tx: &Tx<'_>,
    caller: &Caller,
    key: &str,
    now: Timestamp,
) -> Result<Option<IdempotencyRecord>> {
    let kept = tx.kept_answer(&caller.workspace, &caller.agent, key)?;
    let longest = SignedDuration::from_hours(limits::IDEMPOTENCY_HOURS);
    Ok(kept.filter(|earlier| now.duration_since(earlier.at) < longest))
}

/// The digest of an encoded request, as it is kept under its key: that of `[verb,user,request]`. A caller that
/// works for another user makes another request: the answer may be about that user.
fn request_digest<R: WriteRequest>(caller: &Caller, encoded: &str) -> Result<String> {
    let (verb, user) = (encode(&R::VERB)?, encode(&caller.user)?);
    Ok(sha256(&format!("[{verb},{user},{encoded}]")))
}

fn encode(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(cannot_encode)
}

fn decode<T: DeserializeOwned>(encoded: &str) -> Result<T> {
    serde_json::from_str(encoded).map_err(cannot_encode)
}

fn cannot_encode(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "a request could not be encoded").with_cause(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::caller::EntryPoint;
    use crate::model::memory::SaveMemory;

    #[test]
    fn the_digest_of_a_request_is_that_of_earlier_releases() {
        let mut caller = Caller::new(None, "w".parse().unwrap(), EntryPoint::Cli);
        let request = SaveMemory { text: "\"The heron\"".to_owned(), ..SaveMemory::default() };
        for user in [None, Some("ann".to_owned())] {
            caller.user = user;
            let whole = encode(&(SaveMemory::VERB, &caller.user, &request)).unwrap();
            let digest = request_digest::<SaveMemory>(&caller, &encode(&request).unwrap());
            assert_eq!(digest.unwrap(), sha256(&whole));
        }
    }
}
