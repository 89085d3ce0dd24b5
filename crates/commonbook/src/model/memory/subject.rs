//! Whom a memory is about: a user, or the project.
//!
//! A memory about a user has the user's id, and the permission rule shows it to callers of that user
//! alone. A memory about the project has none. So the two cannot disagree: the subject is derived
//! from `user_id`, and stored as that.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Memory, MemoryType};
use crate::base::error::{Error, Result};
use crate::model::entity::EntityLabel;
use commonbook_text::about::{SubjectInput, is_about_project};
use commonbook_text::entities::EntityType;
use commonbook_text::string_enum;

string_enum! {
    /// What a memory is about.
    MemorySubject {
        /// The user: only callers of that user see it.
        User = "user",
        /// The project: every reader sees it, if it is shared.
        Project = "project",
    }
}

/// What an author writes about a memory, from which its subject is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubjectEvidence<'a> {
    pub(super) memory_type: &'a MemoryType,
    pub(super) title: Option<&'a str>,
    pub(super) text: &'a str,
    pub(super) summary: Option<&'a str>,
    pub(super) topics: &'a [String],
    pub(super) entities: &'a [EntityLabel],
}

impl SubjectEvidence<'_> {
    /// The subject of a memory whose author, who works for `user`, does not choose it. In doubt it
    /// is the user.
    pub(super) fn judge(&self, user: &str) -> MemorySubject {
        let topics = self.topics.iter().map(String::as_str);
        let labels: Vec<&str> = self.title.into_iter().chain(self.summary).chain(topics).collect();
        let input = SubjectInput {
            text: self.text,
            labels: &labels,
            memory_type: self.memory_type.as_str(),
            user: Some(user),
        };
        let names_person =
            self.entities.iter().any(|entity| entity.entity_type == EntityType::Person);
        match !names_person && is_about_project(&input) {
            true => MemorySubject::Project,
            false => MemorySubject::User,
        }
    }
}

impl Memory {
    /// What the memory is about.
    #[must_use]
    pub fn subject(&self) -> MemorySubject {
        subject_of(self.user_id.as_deref())
    }

    /// Changes what the memory is about, for a caller that works for `user`.
    ///
    /// # Errors
    /// `invalid` if the memory is to be about a user and the caller works for none.
    pub(super) fn set_subject(&mut self, about: MemorySubject, user: Option<&str>) -> Result<()> {
        match about {
            MemorySubject::Project => self.user_id = None,
            MemorySubject::User if self.user_id.is_none() => {
                self.user_id = Some(user.ok_or_else(missing_user)?.to_owned());
            }
            MemorySubject::User => {}
        }
        Ok(())
    }

    /// Makes a memory about the project one about the user, if a change of its words made it so. The
    /// reverse needs the author's word: what is the user's stays the user's.
    pub(super) fn follow_words(&mut self, before: &Self, user: Option<&str>) {
        let Some(user) = user.filter(|_| self.user_id.is_none()) else { return };
        let judged = |memory: &Self| memory.subject_evidence().judge(user);
        if judged(before) == MemorySubject::Project && judged(self) == MemorySubject::User {
            self.user_id = Some(user.to_owned());
        }
    }

    fn subject_evidence(&self) -> SubjectEvidence<'_> {
        SubjectEvidence {
            memory_type: &self.memory_type,
            title: self.title.as_deref(),
            text: &self.text,
            summary: self.summary.as_deref(),
            topics: &self.topics,
            entities: &self.entities,
        }
    }
}

/// The error of a memory about a user by a caller that works for none.
pub(super) fn missing_user() -> Error {
    Error::invalid("about", "the caller works for no user; expected project").hint(
        "Name the user: --user or COMMONBOOK_USER_ID at the command line, the header \
         X-Commonbook-User over HTTP; or leave `about` out.",
    )
}

const fn subject_of(user: Option<&str>) -> MemorySubject {
    match user {
        Some(_) => MemorySubject::User,
        None => MemorySubject::Project,
    }
}

/// The subject of a memory as a response shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SubjectFields<'a> {
    /// The user in `user_id`, or the project.
    about: MemorySubject,
    /// The user it is about. Callers that work for another user do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<&'a str>,
}

#[derive(Deserialize)]
struct UserField {
    #[serde(default)]
    user_id: Option<String>,
}

/// Writes the user of a memory with the subject that it shows.
pub(super) fn serialize<S: Serializer>(
    user_id: &Option<String>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let user_id = user_id.as_deref();
    SubjectFields { about: subject_of(user_id), user_id }.serialize(serializer)
}

/// Reads the user of a memory. The subject follows from it.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<String>, D::Error> {
    UserField::deserialize(deserializer).map(|field| field.user_id)
}
