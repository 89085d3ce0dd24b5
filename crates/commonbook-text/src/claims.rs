//! Claims: what a sentence plainly states, taken apart by rules that read words alone.

pub mod clause;
pub mod opposites;
pub mod value;
pub mod vocabulary;
pub mod word;

use crate::string_enum;

string_enum! {
    /// What two memories differ in.
    DifferenceKind {
        /// A number: `30 seconds` and `60 seconds`.
        Number = "number",
        /// A date, a day of the week or a time of day.
        Date = "date",
        /// Whether something is so: `enabled` and `disabled`.
        Boolean = "boolean",
        /// One denies what the other says.
        Negation = "negation",
        /// Words that exclude each other: `verbose` and `concise`.
        Antonym = "antonym",
        /// Two agents each keep a profile of one user, or the state of one user's task.
        Author = "author",
    }
}
