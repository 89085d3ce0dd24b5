//! Pure work on text: terms, tokens, dates, secrets, injections, entities and claims, without I/O, a clock or ids.
//!
//! Nothing here knows memories or agents: each function takes a text and returns its findings.

pub mod about;
pub mod boilerplate;
pub mod claims;
pub mod data_uri;
pub mod dates;
pub mod day;
pub mod decode;
pub mod echo;
pub mod entities;
pub mod fence;
pub mod headline;
pub mod injection;
pub mod json_text;
pub mod language;
pub mod nearest;
pub mod part;
pub mod personal;
pub mod prefilter;
pub mod referring;
pub mod sanitize;
pub mod secrets;
pub mod sentences;
mod string_enum;
pub mod terms;
pub mod tokens;
pub mod word_diff;
pub mod word_list;

pub use string_enum::UnknownName;
