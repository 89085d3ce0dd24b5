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
        /// A number: `30 seconds` and `60 seconds`.
        Number = "number",
        /// A date, a day of the week or a time of day.
        Date = "date",
        /// The state of something: `enabled` and `disabled`.
        Boolean = "boolean",
        /// One memory denies the statement of the other.
        Negation = "negation",
        /// Words that exclude each other: `verbose` and `concise`.
        Antonym = "antonym",
        /// One name for another: `PostgreSQL` and `MySQL`.
        Name = "name",
        /// Other words that cannot both hold: no rule finds it, only an endpoint.
        Meaning = "meaning",
        /// Two agents each keep a profile of one user, or the state of one user's task.
        Author = "author",
    }
}
