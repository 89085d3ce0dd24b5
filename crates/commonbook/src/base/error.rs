//! Errors, in one shape for all doors.

use std::num::NonZeroU32;
use std::sync::Arc;

use commonbook_embed::{EmbedError, EmbedErrorKind};
use commonbook_text::UnknownName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of anything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The hint of a request that does not have the shape its schema describes. Each door replaces it by
/// its own: the command line names `--help`, REST its OpenAPI document.
pub const REQUEST_SHAPE_HINT: &str = "Send the fields that the schema of this request describes.";

/// The hint about a memory that was saved without a name. Each door replaces it by its own, with the name of
/// the caller.
pub const NAMELESS_OWNER_HINT: &str =
    "If you saved it without a name, make it yours with `adopt_memories`.";

/// The kind of an error; doors map it to a status or an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request is wrong (400).
    Invalid,
    /// The caller is not identified (401).
    Unauthenticated,
    /// The caller may not do this (403).
    Forbidden,
    /// It does not exist for the caller (404).
    NotFound,
    /// It conflicts with the present state (409).
    Conflict,
    /// A part of the request exceeds its limit (413).
    TooLarge,
    /// Too many requests in a short time (429).
    RateLimited,
    /// The store cannot answer now; nothing was written (503).
    Unavailable,
    /// A bug in Commonbook; nothing was written (500).
    Internal,
}

impl ErrorKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::TooLarge,
        Self::RateLimited,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The kind's name in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        let kind = match error.kind {
            EmbedErrorKind::Invalid => ErrorKind::Invalid,
            EmbedErrorKind::Unavailable => ErrorKind::Unavailable,
            EmbedErrorKind::Internal => ErrorKind::Internal,
        };
        let EmbedError { message, hint, field, cause, .. } = error;
        Self { hint, field, cause, ..Self::new(kind, message) }
    }
}

impl From<UnknownName> for Error {
    fn from(unknown: UnknownName) -> Self {
        Self::new(ErrorKind::Invalid, unknown.0).hint(REQUEST_SHAPE_HINT)
    }
}

/// What is wrong, more exactly than the kind says, where a caller or a door does something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// Another agent owns what the caller tried to change.
    OwnershipMismatch,
    /// This process may only read the store.
    UnwritableStore,
    /// The request lacks the field.
    MissingField,
    /// The field has a text without a word.
    EmptyField,
    /// The field has to be a JSON object.
    NoObject,
}

impl ErrorCode {
    const ALL: [Self; 5] = [
        Self::OwnershipMismatch,
        Self::UnwritableStore,
        Self::MissingField,
        Self::EmptyField,
        Self::NoObject,
    ];

    /// The code's name in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OwnershipMismatch => "ownership_mismatch",
            Self::UnwritableStore => "unwritable_store",
            Self::MissingField => "missing_field",
            Self::EmptyField => "empty_field",
            Self::NoObject => "no_object",
        }
    }
}

/// The owner of what another agent tried to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnershipMismatch {
    /// The agent that owns it.
    pub owner: String,
    /// The agent that tried to change it.
    pub caller: String,
}

/// An error with its reason and, if known, the next step.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The reason, a sentence without a full stop.
    pub message: String,
    /// The next step, an imperative.
    pub hint: Option<String>,
    /// The field of the request that is wrong, as a path (`topics[3]`).
    pub field: Option<String>,
    /// Set if the caller tried to change what another agent owns.
    pub mismatch: Option<Box<OwnershipMismatch>>,
    /// What is wrong more exactly, if there is a code for it.
    pub code: Option<ErrorCode>,
    /// The seconds to wait before the same request can succeed, if known.
    pub retry_after: Option<NonZeroU32>,
    /// The underlying error; for the log, never in a response.
    #[source]
    pub cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            field: None,
            mismatch: None,
            code: None,
            retry_after: None,
            cause: None,
        }
    }

    /// An error about one field of the request.
    pub fn invalid(field: &str, reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, format!("{field}: {}", reason.into())).with_field(field)
    }

    /// An error about a field that the request lacks; the reason says what needs it.
    pub fn missing(field: &str, reason: impl Into<String>) -> Self {
        Self::invalid(field, reason).with_code(ErrorCode::MissingField)
    }

    /// An error about a field whose text has no word.
    #[must_use]
    pub fn empty(field: &str) -> Self {
        Self::invalid(field, "must not be empty").with_code(ErrorCode::EmptyField)
    }

    /// An error about a field that exceeds its limit, in `unit`.
    #[must_use]
    pub fn too_large(field: &str, found: usize, limit: usize, unit: &str) -> Self {
        Self::new(ErrorKind::TooLarge, format!("{field}: {found} {unit}; the maximum is {limit}"))
            .with_field(field)
            .hint(match field {
                "text" => "Shorten it, or split it into several memories.",
                _ => "Shorten it.",
            })
    }

    /// An error about something that does not exist, or that the caller may not see.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, what)
    }

    /// An error about a conflict with the present state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// An error for a caller that sends too many requests, and may continue after `seconds`.
    #[must_use]
    pub fn rate_limited(message: impl Into<String>, seconds: NonZeroU32) -> Self {
        let plural = if seconds.get() == 1 { "" } else { "s" };
        let error = Self::new(ErrorKind::RateLimited, message);
        Self { retry_after: Some(seconds), ..error }
            .hint(format!("Wait {seconds} second{plural}, then send requests more slowly."))
    }

    /// An error about a memory that belongs to another agent.
    #[must_use]
    pub fn ownership_mismatch(owner: &str, caller: &str) -> Self {
        let mut error = Self::new(
            ErrorKind::Forbidden,
            format!("this memory belongs to '{owner}', and you are '{caller}'"),
        )
        .hint(match owner {
            "anonymous" => NAMELESS_OWNER_HINT,
            _ => "To keep your own version, save it as a new memory with `save_memory`.",
        });
        error.mismatch = Some(Box::new(OwnershipMismatch {
            owner: owner.to_owned(),
            caller: caller.to_owned(),
        }));
        error.with_code(ErrorCode::OwnershipMismatch)
    }

    /// The reason without the field that [`Self::invalid`] puts before it.
    #[must_use]
    pub fn reason(&self) -> &str {
        let field = self.field.as_deref().unwrap_or_default();
        let rest = self.message.strip_prefix(field).and_then(|rest| rest.strip_prefix(": "));
        rest.unwrap_or(&self.message)
    }

    /// The field that a request lacks, if that is the error.
    #[must_use]
    pub fn missing_field(&self) -> Option<&str> {
        self.field.as_deref().filter(|_| self.code == Some(ErrorCode::MissingField))
    }

    /// The error of a part of a request, whose field stands at `place`: `entries[3]`. Without a field it stays as it is.
    #[must_use]
    pub fn in_part(self, place: &str) -> Self {
        let Some(field) = &self.field else { return self };
        let path = format!("{place}.{field}");
        Self { message: format!("{path}: {}", self.reason()), ..self }.with_field(&path)
    }

    /// Sets the field that is wrong.
    #[must_use]
    pub fn with_field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    /// Sets what is wrong more exactly.
    #[must_use]
    pub fn with_code(self, code: ErrorCode) -> Self {
        Self { code: Some(code), ..self }
    }

    /// Sets the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the underlying error, for the log.
    #[must_use]
    pub fn with_cause(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    /// The response for this error.
    #[must_use]
    pub fn body(&self, request_id: Option<String>) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                kind: self.kind,
                code: self.code.map(|code| code.name().to_owned()),
                field: self.field.clone(),
                message: self.message.clone(),
                hint: self.hint.clone(),
                owner: self.mismatch.as_ref().map(|m| m.owner.clone()),
                caller: self.mismatch.as_ref().map(|m| m.caller.clone()),
                retry_after: self.retry_after,
                request_id,
            },
        }
    }
}

/// The shape of an error on every door.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// An error with its reason and the next step.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDetail {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// A more specific code than the kind: `ownership_mismatch`; `unwritable_store` for a store that can
    /// only be read; `missing_field`, `empty_field` or `no_object` for what is wrong with `field`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The field of the request that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The reason.
    pub message: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The agent that owns the memory, with `ownership_mismatch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The agent that called, with `ownership_mismatch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The seconds to wait, with `rate_limited`, and with `unavailable` if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<NonZeroU32>,
    /// The id of the request, as in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl From<ErrorDetail> for Error {
    /// An error that another process returned; its underlying error stayed there.
    fn from(detail: ErrorDetail) -> Self {
        let mismatch = detail.owner.zip(detail.caller);
        Self {
            kind: detail.kind,
            message: detail.message,
            hint: detail.hint,
            field: detail.field,
            mismatch: mismatch.map(|(owner, caller)| Box::new(OwnershipMismatch { owner, caller })),
            code: ErrorCode::ALL
                .into_iter()
                .find(|code| detail.code.as_deref() == Some(code.name())),
            retry_after: detail.retry_after,
            cause: None,
        }
    }
}

impl Error {
    /// The error of a write to a store that this process may only read: on a read-only disk, or of another user.
    #[must_use]
    pub fn unwritable_store() -> Self {
        let message = "the store cannot be written by this user";
        Self::new(ErrorKind::Unavailable, message)
            .hint("Write as the user that owns the home; commands that read, and `export`, work.")
            .with_code(ErrorCode::UnwritableStore)
    }
}

/// The result of a write that a reader can do without where the store can only be read; `None` there.
///
/// # Errors
/// Every other error of the write.
pub fn unless_unwritable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.code == Some(ErrorCode::UnwritableStore) => {
            tracing::debug!(%error, "a reader goes on without this write");
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// The result of work that a reader can do without; `None` if the store is unavailable for it, as on a read-only
/// disk.
///
/// # Errors
/// Every other error of the work.
pub fn unless_unavailable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.kind == ErrorKind::Unavailable => {
            tracing::debug!(%error, "a reader goes on without this work");
            Ok(None)
        }
        result => result.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_can_only_be_read_is_known_by_its_code_in_any_words_and_process() {
        let error = Error::unwritable_store();
        assert_eq!(error.code, Some(ErrorCode::UnwritableStore));
        let sent = Error::from(error.body(None).error);
        let reworded = Error { message: "le magasin".to_owned(), ..sent.clone() };
        let same_words = Error::new(ErrorKind::Unavailable, sent.message.clone());
        for (error, goes_on) in [(error, true), (sent, true), (reworded, true), (same_words, false)]
        {
            assert_eq!(unless_unwritable::<()>(Err(error.clone())).is_ok(), goes_on, "{error:?}");
        }
    }
}
