//! Tokens: the size of a text for a model.
//!
//! The vocabulary is `o200k`, that of OpenAI's present models. Other families differ from it by
//! some percent either way, which a budget has to allow for.

mod pretokens;
mod vocabulary;

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use unicode_segmentation::UnicodeSegmentation;

use pretokens::pieces;
use vocabulary::token_lengths;

/// The end of a text that was cut.
pub const CUT_MARK: &str = " …";

/// The tokens left of a budget. Everything that allots room to texts for a model takes it from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBudget {
    tokens: usize,
}

impl TokenBudget {
    /// A budget of this many tokens.
    #[must_use]
    pub const fn new(tokens: usize) -> Self {
        Self { tokens }
    }

    /// The tokens left.
    #[must_use]
    pub const fn left(self) -> usize {
        self.tokens
    }

    /// Takes these tokens if they are left; returns whether they were.
    pub const fn take(&mut self, tokens: usize) -> bool {
        let fits = tokens <= self.tokens;
        if fits {
            self.tokens -= tokens;
        }
        fits
    }
}

/// The number of tokens of a text.
#[must_use]
pub fn count(text: &str) -> usize {
    pieces(text).map(piece_tokens).sum()
}

/// A cache of pieces with their number of tokens: each slot has the last piece that mapped to it,
/// as its hash without the lowest bits, and the number in those bits. The same words recur all the
/// time, in one context several times. Two pieces collide with a probability of 2⁻⁶⁴.
static TOKEN_COUNT_CACHE: [AtomicU64; 1 << 16] = [const { AtomicU64::new(0) }; 1 << 16];

/// The bits of an entry that hold the number of tokens.
const TOKEN_COUNT_MASK: u64 = 0x3ff;

/// A key of this process: nobody can construct two pieces that collide.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The number of tokens of a piece.
fn piece_tokens(piece: &str) -> usize {
    if piece.len() == 1 {
        return 1;
    }
    let hash = HASHER.hash_one(piece);
    let place = &TOKEN_COUNT_CACHE[hash as usize % TOKEN_COUNT_CACHE.len()];
    let entry = place.load(Ordering::Relaxed);
    // A piece has at least one token, so an empty slot matches none.
    if entry & !TOKEN_COUNT_MASK == hash & !TOKEN_COUNT_MASK && entry & TOKEN_COUNT_MASK > 0 {
        return (entry & TOKEN_COUNT_MASK) as usize;
    }
    let count = token_lengths(piece.as_bytes()).len();
    if count as u64 <= TOKEN_COUNT_MASK {
        place.store(hash & !TOKEN_COUNT_MASK | count as u64, Ordering::Relaxed);
    }
    count
}

/// The number of tokens of a text, if it is within the budget. Reads only the beginning of a text
/// that is far longer.
#[must_use]
pub fn count_within(text: &str, budget: usize) -> Option<usize> {
    let left =
        pieces(text).try_fold(budget, |left, piece| left.checked_sub(piece_tokens(piece)))?;
    Some(budget - left)
}

/// Whether a text is within a budget of tokens. Reads only the beginning of a text that is far
/// longer.
#[must_use]
pub fn fits(text: &str, budget: usize) -> bool {
    // A token is at least one byte.
    text.len() <= budget || budget_end(text, budget) == text.len()
}

/// A text within a budget: whole if it fits, else its beginning and [`CUT_MARK`], together within
/// the budget. Empty if not even that fits.
#[must_use]
pub fn cut(text: &str, budget: usize) -> Cow<'_, str> {
    if fits(text, budget) {
        return Cow::Borrowed(text);
    }
    let mut room = budget.saturating_sub(count(CUT_MARK));
    while room > 0 {
        let cut = format!("{}{CUT_MARK}", beginning(text, room));
        if cut.len() == CUT_MARK.len() {
            break;
        }
        // Two adjacent texts may have one token more than their sum.
        if fits(&cut, budget) {
            return Cow::Owned(cut);
        }
        room -= 1;
    }
    Cow::Borrowed("")
}

/// The longest beginning of a text within a budget that ends at the end of a sentence, if that
/// keeps at least half of what fits; else at the end of a word; else between two characters.
#[must_use]
pub fn beginning(text: &str, budget: usize) -> &str {
    let mut end = budget_end(text, budget);
    if end == text.len() {
        return text;
    }
    loop {
        let cut = &text[..end];
        let cut = &cut[..best_end(cut, text[end..].chars().next())];
        // A shorter text has fewer tokens, except if a word lost its end.
        if count(cut) <= budget {
            return cut;
        }
        end = cut.char_indices().next_back().map_or(0, |(place, _)| place);
    }
}

/// The best end of a text that continues with `next`.
fn best_end(cut: &str, next: Option<char>) -> usize {
    let ended = |at: usize| cut[..at].trim_end().len();
    let half = cut.len() / 2;
    // The last sentence is the one that was cut.
    let sentence = cut.split_sentence_bound_indices().last().map_or(0, |(place, _)| ended(place));
    if sentence > 0 && sentence >= half {
        return sentence;
    }
    let within_word =
        next.is_some_and(char::is_alphanumeric) && cut.ends_with(char::is_alphanumeric);
    if !within_word {
        return ended(cut.len());
    }
    let word = cut.rfind(char::is_whitespace).map_or(0, ended);
    if word > 0 && word >= half { word } else { cut.len() }
}

/// The byte up to which a text is within a budget, at the end of a character.
fn budget_end(text: &str, budget: usize) -> usize {
    let (mut left, mut end) = (budget, 0);
    for piece in pieces(text) {
        let tokens = piece_tokens(piece);
        if tokens > left {
            let fitting = token_lengths(piece.as_bytes()).into_iter().take(left).sum();
            return end + piece.floor_char_boundary(fitting);
        }
        left -= tokens;
        end += piece.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_are_counted_as_tiktoken_counts_them() {
        // As OpenAI's cookbook tells them for o200k_base.
        let table = [
            ("", 0),
            ("Hello, world!", 4),
            ("tiktoken is great!", 6),
            ("antidisestablishmentarianism", 6),
            ("2 + 2 = 4", 7),
            ("お誕生日おめでとう", 8),
        ];
        for (text, tokens) in table {
            assert_eq!(count(text), tokens, "{text:?}");
            assert!(fits(text, tokens), "{text:?}");
            assert!(tokens == 0 || !fits(text, tokens - 1), "{text:?}");
        }
    }

    #[test]
    fn what_is_cut_ends_with_a_sentence_where_one_ends_in_time() {
        let text = "Orders are read one by one. That takes three seconds. Join the tables instead.";
        assert_eq!(beginning(text, 1_000), text);
        assert_eq!(beginning(text, 14), "Orders are read one by one. That takes three seconds.");
        assert_eq!(cut(text, 12), "Orders are read one by one. …");
        assert_eq!(cut(text, 4), "Orders are read …");
        assert_eq!(cut(text, 1), "");
        assert_eq!(cut(text, 0), "");
    }

    #[test]
    fn a_word_is_not_broken_where_another_is_kept() {
        let text = "one antidisestablishmentarianism";
        assert_eq!(beginning("alpha beta antidisestablishmentarianism", 4), "alpha beta");
        assert_ne!(beginning(&text[4..], 2), "");
    }

    #[test]
    fn one_endless_word_is_cut_between_characters() {
        for letter in ["a", "é", "漢", "🙂", " ", "\n"] {
            let text = letter.repeat(50_000);
            let told = beginning(&text, 10);
            assert!(count(told) <= 10 && text.starts_with(told), "{letter:?}");
            assert!(told.is_empty() != letter.chars().all(|c| !c.is_whitespace()), "{letter:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn what_is_cut_fits_and_what_fits_is_not_cut(
            text in "([a-zé漢🙂]{1,12}[ .\n]{0,3}|\\PC{0,9}){0,30}",
            budget in 0_usize..80,
        ) {
            let tokens = count(&text);
            prop_assert_eq!(fits(&text, budget), tokens <= budget);
            let within = (tokens <= budget).then_some(tokens);
            prop_assert_eq!(count_within(&text, budget), within);
            let told = cut(&text, budget);
            prop_assert!(count(&told) <= budget, "{:?} of {} is {}", told, budget, count(&told));
            prop_assert_eq!(told == text.as_str(), tokens <= budget || text.is_empty());
            prop_assert!(text.starts_with(told.strip_suffix(CUT_MARK).unwrap_or(&told)));
            prop_assert!(count(beginning(&text, budget)) <= budget);
        }
    }
}
