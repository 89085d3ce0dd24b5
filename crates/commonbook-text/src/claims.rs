//! Claims: the plain statements of a sentence, parsed by rules on words.

mod change;
pub mod clause;
pub mod compare;
mod names;
pub mod opposites;
pub mod value;
pub mod vocabulary;
pub mod word;

use crate::string_enum;

string_enum! {
    /// The kind of difference between two memories.
    DifferenceKind {
        /// `30 seconds` and `60 seconds`.
        Number = "number",
        /// A date, weekday or time of day.
        Date = "date",
        /// `enabled` and `disabled`.
        Boolean = "boolean",
        /// One memory denies the statement of the other.
        Negation = "negation",
        /// `verbose` and `concise`.
        Antonym = "antonym",
        /// `PostgreSQL` and `MySQL`.
        Name = "name",
        /// Other words that cannot both hold: no rule finds it, only an endpoint.
        Meaning = "meaning",
        /// Two agents each keep a profile of one user, or the state of one user's task.
        Author = "author",
    }
}
