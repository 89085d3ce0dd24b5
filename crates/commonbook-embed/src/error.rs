//! Why an embedder or an endpoint failed, with the setting that is wrong and the next step.

use std::sync::Arc;

/// The result of everything here that can fail.
pub type EmbedResult<T, E = EmbedError> = std::result::Result<T, E>;

/// Who has to do something about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedErrorKind {
    /// A setting or a text is wrong: the caller has to change it.
    Invalid,
    /// A model or an endpoint does not answer now: a later try may succeed.
    Unavailable,
    /// This crate made a mistake.
    Internal,
}

/// An error with its reason and, where there is one, the next step.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// Who has to do something about it.
    pub kind: EmbedErrorKind,
    /// The reason, in a whole sentence without a full stop.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
    /// The field or setting that is wrong, as a path (`texts[3]`).
    pub field: Option<String>,
    /// The error beneath; for the log, never for an answer.
    #[source]
    pub cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl EmbedError {
    /// An error of this kind with its reason.
    pub fn new(kind: EmbedErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, field: None, cause: None }
    }

    /// An error of a field or setting.
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

    /// Adds the error beneath, for the log.
    #[must_use]
    pub fn with_cause(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }
}
