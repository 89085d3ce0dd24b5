//! Errors of embedders and endpoints: the reason, the wrong setting and the next step.

use std::sync::Arc;

/// The result of fallible functions in this crate.
pub type EmbedResult<T, E = EmbedError> = std::result::Result<T, E>;

/// The party that has to act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedErrorKind {
    /// A setting or a text is wrong: the caller has to change it.
    Invalid,
    /// A model or an endpoint does not respond now: a later call may succeed.
    Unavailable,
    /// A fault of this crate.
    Internal,
}

/// An error with its reason and, where known, the next step.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// The party that has to act.
    pub kind: EmbedErrorKind,
    /// The reason, in a whole sentence without a full stop.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
    /// The field or setting that is wrong, as a path (`texts[3]`).
    pub field: Option<String>,
    /// The underlying error; for the log, never for a response.
    #[source]
    pub cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl EmbedError {
    /// Creates an error of a kind with its reason.
    pub fn new(kind: EmbedErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, field: None, cause: None }
    }

    /// Creates an error about a field or setting.
    pub fn invalid(field: &str, reason: impl Into<String>) -> Self {
        let error = Self::new(EmbedErrorKind::Invalid, format!("{field}: {}", reason.into()));
        Self { field: Some(field.to_owned()), ..error }
    }

    /// Adds the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the underlying error, for the log.
    #[must_use]
    pub fn with_cause(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }
}
