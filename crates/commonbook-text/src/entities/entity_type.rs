//! The type of an entity: one of ten, or one that a configuration names.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::UnknownName;

/// Maximum letters of the name of an own type.
pub const OWN_TYPE_LETTERS_MAX: usize = 24;

/// The name of an own type: a letter, then small letters, digits, `-` and `_`; at most
/// [`OWN_TYPE_LETTERS_MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnTypeName([u8; OWN_TYPE_LETTERS_MAX]);

impl OwnTypeName {
    /// The name of this text; `None` if it cannot name a type, or is the name of a built-in type.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let follows =
            |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'_';
        let (bytes, mut letters) = (text.as_bytes(), [0; OWN_TYPE_LETTERS_MAX]);
        let begins = bytes.first().is_some_and(u8::is_ascii_lowercase);
        if !begins || !bytes.iter().all(|c| follows(*c)) || EntityType::built_in(text).is_some() {
            return None;
        }
        letters.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self(letters))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|c| *c == 0).unwrap_or(OWN_TYPE_LETTERS_MAX);
        std::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl fmt::Debug for OwnTypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The type of an entity. Entities of different types are never the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntityType {
    /// A human being.
    Person,
    /// A company, an institution, a team with a name.
    Organization,
    /// A product or a repository that people work on.
    Project,
    /// A program, language, library, format or service that people work with.
    Tool,
    /// A file or folder, by its path.
    File,
    /// A function or method, by its name in the code.
    Function,
    /// A URL.
    Url,
    /// A ticket, by its number.
    Issue,
    /// A decision, in a few words.
    Decision,
    /// A concept that has a name.
    Concept,
    /// A type that the configuration of a home names. Any well-formed name can be read, so that rows
    /// stay readable when the configuration changes; the verbs know which names are in use.
    Own(OwnTypeName),
}

/// The names of the built-in types, in order.
const BUILT_IN_NAMES: [(EntityType, &str); 10] = [
    (EntityType::Person, "person"),
    (EntityType::Organization, "organization"),
    (EntityType::Project, "project"),
    (EntityType::Tool, "tool"),
    (EntityType::File, "file"),
    (EntityType::Function, "function"),
    (EntityType::Url, "url"),
    (EntityType::Issue, "issue"),
    (EntityType::Decision, "decision"),
    (EntityType::Concept, "concept"),
];

impl EntityType {
    /// Every built-in type, in order.
    pub const ALL: &'static [Self] = &[
        Self::Person,
        Self::Organization,
        Self::Project,
        Self::Tool,
        Self::File,
        Self::Function,
        Self::Url,
        Self::Issue,
        Self::Decision,
        Self::Concept,
    ];

    /// The built-in type with this name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        BUILT_IN_NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Returns the name of the type.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Own(name) => name.as_str(),
            kind => BUILT_IN_NAMES.iter().find(|(of, _)| of == kind).map_or("", |(_, name)| name),
        }
    }
}

impl FromStr for EntityType {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let own = || OwnTypeName::of(text).map(Self::Own);
        Self::built_in(text).or_else(own).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            let known: Vec<String> = BUILT_IN_NAMES.map(|(_, name)| format!("`{name}`")).to_vec();
            UnknownName(format!("unknown type {shown:?}, expected one of {}", known.join(", ")))
        })
    }
}

impl fmt::Display for EntityType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for EntityType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for EntityType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|error: UnknownName| serde::de::Error::custom(error.0))
    }
}

impl JsonSchema for EntityType {
    fn schema_name() -> Cow<'static, str> {
        "EntityType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known = BUILT_IN_NAMES.map(|(_, name)| name).join(", ");
        json_schema!({
            "type": "string",
            "pattern": "^[a-z][a-z0-9_-]{0,23}$",
            "description": format!(
                "The type of an entity: {known}, or one that the settings name. Entities of \
                 different types are never the same."
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_written_as_its_name() {
        for (index, kind) in EntityType::ALL.iter().enumerate() {
            assert_eq!(BUILT_IN_NAMES[index].0, *kind);
            assert_eq!(kind.name().parse::<EntityType>().ok(), Some(*kind));
        }
        for name in ["service", "x", "cost-center_2", "abcdefghijklmnopqrstuvwx"] {
            let kind: EntityType = name.parse().expect(name);
            assert!(matches!(kind, EntityType::Own(own) if own.as_str() == name), "{name}");
            let json = serde_json::json!(kind);
            assert_eq!(json, name);
            assert_eq!(serde_json::from_value::<EntityType>(json).ok(), Some(kind));
        }
        for bad in ["", "Service", "9to5", "a b", "ä", "abcdefghijklmnopqrstuvwxy", "a\0", "-a"] {
            let error = bad.parse::<EntityType>().expect_err(bad);
            assert!(error.0.contains("`person`, `organization`, `project`"), "{error}");
        }
        assert_eq!(OwnTypeName::of("tool"), None);
    }
}
