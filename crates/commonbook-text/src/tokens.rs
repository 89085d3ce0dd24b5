//! Tokens: how much of a model's attention a text takes, counted as models count it.
//!
//! The vocabulary is `o200k`, the one of OpenAI's present models; other families differ from it by
//! some percent either way, which a budget has to leave room for.

mod pretokens;
mod vocabulary;

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use unicode_segmentation::UnicodeSegmentation;

use pretokens::pieces;
use vocabulary::token_lengths;

/// What stands for the rest of a text that was cut.
pub const CUT_MARK: &str = " …";

/// The tokens that are left of a budget. Everything that gives room to texts for a model takes it here.
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

    /// The tokens that are left.
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

/// How many tokens a text is.
#[must_use]
pub fn count(text: &str) -> usize {
    pieces(text).map(piece_tokens).sum()
}

/// Pieces of which is known how many tokens they are: for each place the piece that last had it, as
/// its hash without the lowest bits, and in those the number. The same words come again and again,
/// in one context several times. Two pieces are one here with a chance of 2⁻⁶⁴.
static TOKEN_COUNT_CACHE: [AtomicU64; 1 << 16] = [const { AtomicU64::new(0) }; 1 << 16];

/// The bits of an entry that hold the number of tokens.
const TOKEN_COUNT_MASK: u64 = 0x3ff;

/// A key of this process alone: nobody can write two pieces that are one.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// How many tokens a piece is.
fn piece_tokens(piece: &str) -> usize {
    if piece.len() == 1 {
        return 1;
    }
    let hash = HASHER.hash_one(piece);
    let place = &TOKEN_COUNT_CACHE[hash as usize % TOKEN_COUNT_CACHE.len()];
    let known = place.load(Ordering::Relaxed);
    // A piece is at least one token: an empty place is none's.
    if known & !TOKEN_COUNT_MASK == hash & !TOKEN_COUNT_MASK && known & TOKEN_COUNT_MASK > 0 {
        return (known & TOKEN_COUNT_MASK) as usize;
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

/// A text within a budget: whole where it fits, else its beginning and [`CUT_MARK`], both together
/// within the budget. Where not even that fits, nothing.
#[must_use]
pub fn cut(text: &str, budget: usize) -> Cow<'_, str> {
    if fits(text, budget) {
        return Cow::Borrowed(text);
    }
    let mut room = budget.saturating_sub(count(CUT_MARK));
    while room > 0 {
        let told = format!("{}{CUT_MARK}", beginning(text, room));
        if told.len() == CUT_MARK.len() {
            break;
        }
        // Two texts side by side may be a token more than each by itself.
        if fits(&told, budget) {
            return Cow::Owned(told);
        }
        room -= 1;
    }
    Cow::Borrowed("")
}

/// The longest beginning of a text within a budget that ends where a sentence ends, where that
/// keeps at least half of what fits; else where a word ends; else between two characters.
#[must_use]
pub fn beginning(text: &str, budget: usize) -> &str {
    let mut end = budget_end(text, budget);
    if end == text.len() {
        return text;
    }
    loop {
        let told = &text[..end];
        let told = &told[..best_end(told, text[end..].chars().next())];
        // A shorter text is fewer tokens, but for a word that lost its end.
        if count(told) <= budget {
            return told;
        }
        end = told.char_indices().next_back().map_or(0, |(place, _)| place);
    }
}

/// Where a text that goes on with `next` is best ended.
fn best_end(told: &str, next: Option<char>) -> usize {
    let ended = |at: usize| told[..at].trim_end().len();
    let half = told.len() / 2;
    // The last sentence is the one that was cut.
    let sentence = told.split_sentence_bound_indices().last().map_or(0, |(place, _)| ended(place));
    if sentence > 0 && sentence >= half {
        return sentence;
    }
    let within_word =
        next.is_some_and(char::is_alphanumeric) && told.ends_with(char::is_alphanumeric);
    if !within_word {
        return ended(told.len());
    }
    let word = told.rfind(char::is_whitespace).map_or(0, ended);
    if word > 0 && word >= half { word } else { told.len() }
}

/// The byte until which a text is within a budget; the end of a character.
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
