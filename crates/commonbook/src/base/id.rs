//! Ids: a type prefix and a UUIDv7 in 26 characters (TypeID 0.3), and the source of new ones.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use schemars::generate::Contract;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use type_safe_id::{StaticType, TypeSafeId};
use uuid::{ContextV7, Uuid};

use crate::base::clock::Timestamp;
use crate::base::error::{Error, ErrorKind, Result};

/// A kind of ids, with its prefix.
pub trait IdKind: StaticType + Send + Sync + 'static {
    /// The noun for messages.
    const NOUN: &'static str;
}

/// Declares kinds of ids: prefix, noun and type.
macro_rules! kinds {
    ($($kind:ident $prefix:literal $noun:literal $(#[$about:meta])* $id:ident,)+) => {$(
        #[doc = concat!("The kind of ids that begin with `", $prefix, "_`.")]
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $kind;

        impl StaticType for $kind {
            const TYPE: &'static str = $prefix;
        }

        impl IdKind for $kind {
            const NOUN: &'static str = $noun;
        }

        $(#[$about])*
        pub type $id = Id<$kind>;
    )+};
}

kinds! {
    MemoryKind "mem" "memory"
    /// The id of a memory.
    MemoryId,
    TokenKind "tok" "token"
    /// The id of a token.
    TokenId,
    OperationIdKind "act" "operation"
    /// The id of a bulk operation.
    OperationId,
    SessionKind "ses" "session"
    /// The id of a session.
    SessionId,
    EntityKind "ent" "entity"
    /// The id of an entity, derived from its first name: the same wherever the entity is found.
    EntityId,
    RelationKind "rel" "relation"
    /// The id of a relation.
    RelationId,
    ReviewKind "rev" "review"
    /// The id of a statement or merge that waits for a decision.
    ReviewId,
    CheckpointIdKind "chk" "checkpoint"
    /// The id of a checkpoint.
    CheckpointId,
    ContextIdKind "ctx" "context"
    /// The id of a context and its receipt.
    ContextId,
    HandoffIdKind "hnd" "handoff"
    /// The id of a handoff.
    HandoffId,
    ContradictionIdKind "con" "contradiction"
    /// The id of a contradiction, derived from the ids of its memories.
    ContradictionId,
    CertificateIdKind "crt" "certificate"
    /// The id of the certificate of what was forgotten.
    CertificateId,
    WebhookKind "whk" "webhook"
    /// The id of a webhook.
    WebhookId,
    RequestKind "req" "request"
    /// The id of a request, which finds its response in the log.
    RequestId,
}

/// An id of one kind; the type system keeps kinds apart.
pub struct Id<K>(Uuid, PhantomData<fn() -> K>);

impl<K: IdKind> Id<K> {
    /// An id with this UUID.
    #[must_use]
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    /// The UUID of the id.
    #[must_use]
    pub const fn uuid(&self) -> Uuid {
        self.0
    }

    /// The id derived from this text, always the same. It reveals neither a time nor the text.
    #[must_use]
    pub fn from_name(text: &str) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
        Self::from_uuid(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// A new id, made at this time.
    pub fn new(ids: &dyn IdSource, at: Timestamp) -> Self {
        Self::from_uuid(ids.next(at))
    }

    /// The time at which the id was made, to the millisecond; 1970 for the id of a name.
    #[must_use]
    pub fn made_at(&self) -> Timestamp {
        let time = self.0.get_timestamp().map(|time| time.to_unix());
        let time = time.and_then(|(seconds, nanos)| {
            Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanos).ok()?).ok()
        });
        time.unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// The first and the last id with this prefix.
    ///
    /// # Errors
    /// `invalid` if no id has this prefix.
    pub fn prefix_range(prefix: &str) -> Result<(Self, Self)> {
        let bare = prefix.strip_prefix(K::TYPE).and_then(|rest| rest.strip_prefix('_'));
        let suffix = bare.unwrap_or(prefix).to_ascii_lowercase();
        if suffix.is_empty() || suffix.len() > 26 {
            return Err(Self::malformed(prefix));
        }
        let fill =
            |letter: &str| format!("{}_{suffix}{}", K::TYPE, letter.repeat(26 - suffix.len()));
        let bound = |letter| fill(letter).parse().map_err(|_| Self::malformed(prefix));
        Ok((bound("0")?, bound("z")?))
    }

    /// Parses an id. Returns `None` for any other text, without the cost of an error: in lists of
    /// mixed ids most attempts fail.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        TypeSafeId::<K>::from_str(text).ok().map(|id| Self::from_uuid(id.uuid()))
    }

    fn malformed(text: &str) -> Error {
        let shown: String = text.chars().take(40).collect();
        let article = if K::NOUN.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let reason = format!(
            "{shown:?} is not the id of {article} {}; expected an id, or its last \
             {DELETION_HANDLE_CHARS_MIN} letters",
            K::NOUN
        );
        Error::invalid("id", reason).hint(format!(
            "Expected '{}_' and 26 letters and digits, as search and list return it.",
            K::TYPE
        ))
    }
}

impl<K: IdKind> FromStr for Id<K> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| Self::malformed(text))
    }
}

impl<K: IdKind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TypeSafeId::<K>::from_uuid(self.0).fmt(f)
    }
}

impl<K: IdKind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> std::hash::Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<K: IdKind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: IdKind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(|error: Error| serde::de::Error::custom(error.message))
    }
}

impl<K: IdKind> JsonSchema for Id<K> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}_id", K::NOUN).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let id = format!("{}_[0-7][0-9a-hjkmnp-tv-z]{{25}}", K::TYPE);
        // In a request, the end of an id names the same thing.
        let pattern = match generator.contract() {
            Contract::Serialize => format!("^{id}$"),
            _ => format!("^({id}|#?{HANDLE_PATTERN})$"),
        };
        json_schema!({ "type": "string", "pattern": pattern })
    }
}

/// Letters of a handle, at least, where it names a memory to delete or purge. Every text shows as many.
pub const DELETION_HANDLE_CHARS_MIN: usize = 8;

/// Letters of a handle in a request, at least.
pub const HANDLE_CHARS_MIN: usize = 6;

/// The handle of an id as every text shows it: its last eight letters, enough for every request; more
/// only where a reader sees another id with the same. An id without that many letters is its own handle.
#[must_use]
pub fn handle(id: &str) -> &str {
    handle_of_length(id, DELETION_HANDLE_CHARS_MIN)
}

/// A handle, as a JSON Schema pattern.
pub const HANDLE_PATTERN: &str = "[0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{6,26}";

/// A handle by which a memory is deleted, as a JSON Schema pattern.
pub const DELETION_HANDLE_PATTERN: &str = "[0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{8,26}";

/// The letters of a handle, in lower case and without the `#` before it. Returns `None` for a text
/// that cannot be the end of an id.
#[must_use]
pub fn parse_handle(text: &str) -> Option<String> {
    let ending = text.trim().trim_start_matches('#').to_ascii_lowercase();
    let is_letter = |c: char| c.is_ascii_digit() || (c.is_ascii_lowercase() && !"ilou".contains(c));
    let fits = (HANDLE_CHARS_MIN..=26).contains(&ending.len()) && ending.chars().all(is_letter);
    fits.then_some(ending)
}

/// The last `length` letters of an id.
#[must_use]
pub fn handle_of_length(id: &str, length: usize) -> &str {
    let is_id = id.split_once('_').is_some_and(|(_, letters)| letters.len() == 26);
    match id.len().checked_sub(length) {
        Some(start) if is_id && id.is_char_boundary(start) => &id[start..],
        _ => id,
    }
}

/// A source of new ids.
pub trait IdSource: Send + Sync {
    /// A UUIDv7 made at this time, greater than all before it of the same time.
    fn next(&self, at: Timestamp) -> Uuid;

    /// 256 random bits.
    ///
    /// # Errors
    /// `unavailable` if the machine has none.
    fn secret(&self) -> Result<[u8; 32]>;
}

/// Random ids. Nothing else makes them.
#[derive(Debug)]
pub struct RandomIds(Mutex<ContextV7>);

impl Default for RandomIds {
    fn default() -> Self {
        Self(Mutex::new(ContextV7::new()))
    }
}

impl IdSource for RandomIds {
    fn next(&self, at: Timestamp) -> Uuid {
        let context = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Uuid::new_v7(uuid_time(&*context, at))
    }

    fn secret(&self) -> Result<[u8; 32]> {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits).map_err(|error| {
            Error::new(ErrorKind::Unavailable, "the machine has no random bits to give")
                .with_cause(error)
        })?;
        Ok(bits)
    }
}

/// Ids that count up from one, with the time they are made at; for tests.
#[derive(Debug, Default)]
pub struct CountingIds(Mutex<u64>);

impl IdSource for CountingIds {
    fn next(&self, at: Timestamp) -> Uuid {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
        let mut random = [0; 10];
        random[2..].copy_from_slice(&count.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    /// The same in every test.
    fn secret(&self) -> Result<[u8; 32]> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        Ok([count.to_be_bytes()[7]; 32])
    }
}

fn uuid_time(
    context: impl uuid::ClockSequence<Output = impl Into<u128>>,
    at: Timestamp,
) -> uuid::Timestamp {
    let seconds = u64::try_from(at.as_second()).unwrap_or(0);
    let nanos = u32::try_from(at.subsec_nanosecond()).unwrap_or(0);
    uuid::Timestamp::from_unix(context, seconds, nanos)
}
