//! Talk: which memories are turns of a conversation and which are notes.
//!
//! What stands around a turn explains it; a note explains itself, and ten notes that an agent saves one
//! after another explain nothing about each other. The texts tell: people and agents who talk address
//! somebody. `docs/decisions/0009-ranking.md` has the figures.

/// Characters of a text in which it addresses somebody or does not.
const ADDRESS_CHARS: usize = 300;

/// Share of the memories saved one after another that address somebody, from which on they are talk. Of
/// LoCoMo's turns .96 to .98 and all of BEAM's are talk by it, of the notes of a writer who chats .04 to .12; at .3
/// among 8 on each side a fifth of these notes was, and turns go before notes.
const TALK_SHARE_MIN: f64 = 0.35;

/// Memories on each side that decide with a memory whether it is a turn.
pub const TALK_REACH: usize = 16;

/// Whether a text asks, or says "you".
#[must_use]
pub fn addresses_somebody(text: &str) -> bool {
    let end = text.char_indices().nth(ADDRESS_CHARS).map_or(text.len(), |(end, _)| end);
    let beginning = &text[..end];
    asks(beginning) || {
        let mut words = beginning.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| ["you", "your", "yours"].iter().any(|you| word.eq_ignore_ascii_case(you)))
    }
}

/// Whether a text asks a question.
#[must_use]
pub fn asks(text: &str) -> bool {
    text.contains(['?', '？'])
}

/// Whether memories saved one after another are talk, of which this many address somebody: one alone
/// that asks among few is a note with a question.
#[must_use]
pub fn is_talk(addressing: usize, memories: usize) -> bool {
    addressing > 1 && addressing as f64 >= TALK_SHARE_MIN * memories as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_and_you_address_somebody() {
        for text in ["Ann: how is Bob?", "Thank YOU all", "is this your key", "几点开会？"] {
            assert!(addresses_somebody(text), "{text}");
        }
        let late = format!("{} you?", "word ".repeat(80));
        for text in ["The young yard", "Ports: 8080, 9090.", late.as_str(), ""] {
            assert!(!addresses_somebody(text), "{text}");
        }
    }

    #[test]
    fn two_fifths_that_address_make_talk() {
        assert!(is_talk(4, 10) && !is_talk(3, 10) && is_talk(2, 2) && !is_talk(1, 3));
    }
}
