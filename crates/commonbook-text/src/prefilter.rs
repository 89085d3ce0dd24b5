//! A keyword filter: finds in one pass over a text the rules that can match it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Input, MatchKind};

/// Bytes of text that a process scans keyword by keyword before it builds the automaton. Most
/// commands scan one short text, and building the automaton took 4 % of a delegation without a
/// server.
const WORD_SCAN_BYTES_MAX: usize = 16 * 1024;

/// The keywords of all rules of a table; a rule cannot match a text without one of its keywords.
///
/// A regular expression is slow on a text that it does not match. One pass for the keywords of all
/// rules reads each byte of an ordinary text once.
#[derive(Debug)]
pub struct KeywordFilter {
    words: Vec<&'static str>,
    /// The rule of each word.
    rules: Vec<usize>,
    count: usize,
    // No DFA: it is three times as fast, but takes 12 ms to build, and a command saves one memory.
    automaton: OnceLock<NFA>,
    /// Bytes scanned so far.
    seen: AtomicUsize,
}

impl KeywordFilter {
    /// Creates a filter from the keywords of each rule, in the order of the rules. Letter case does
    /// not matter.
    pub fn of<W: AsRef<[&'static str]>>(rules: impl Iterator<Item = W>) -> Self {
        let (mut words, mut owners, mut count) = (Vec::new(), Vec::new(), 0);
        for (rule, keywords) in rules.enumerate() {
            let keywords = keywords.as_ref();
            words.extend_from_slice(keywords);
            owners.extend(keywords.iter().map(|_| rule));
            count = rule + 1;
        }
        let (automaton, seen) = (OnceLock::new(), AtomicUsize::new(0));
        Self { words, rules: owners, count, automaton, seen }
    }

    /// Returns the rules with a keyword in the text, in order.
    ///
    /// # Panics
    /// If the keywords have more than 4 GiB, which a table in the source cannot have.
    pub fn rules_for(&self, text: &str) -> Vec<usize> {
        let before = self.seen.fetch_add(text.len(), Ordering::Relaxed);
        if before.saturating_add(text.len()) <= WORD_SCAN_BYTES_MAX {
            self.scan_words(text)
        } else {
            self.scan_automaton(text)
        }
    }

    fn scan_words(&self, text: &str) -> Vec<usize> {
        let text = text.to_ascii_lowercase();
        let words = self.words.iter().zip(&self.rules);
        let found = words.filter(|(word, _)| text.contains(&word.to_ascii_lowercase()));
        self.sorted_rules(found.map(|(_, rule)| *rule))
    }

    fn scan_automaton(&self, text: &str) -> Vec<usize> {
        let automaton = self.automaton.get_or_init(|| {
            NFA::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .build(&self.words)
                .expect("a table of keywords is small")
        });
        let hits = automaton.try_find_overlapping_iter(Input::new(text));
        let hits = hits.expect("the automaton is built for overlaps, and unanchored");
        self.sorted_rules(hits.map(|hit| self.rules[hit.pattern().as_usize()]))
    }

    /// Sorts rules and removes duplicates.
    fn sorted_rules(&self, rules: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut found = vec![false; self.count];
        rules.for_each(|rule| found[rule] = true);
        (0..self.count).filter(|rule| found[*rule]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_automaton_find_the_same_rules() {
        let table: [&[&str]; 4] = [&["key", "Token"], &["token"], &["ghp_"], &["\u{e9}t\u{e9}"]];
        let keywords = KeywordFilter::of(table.into_iter());
        for (text, expected) in [
            ("", &[][..]),
            ("KEY", &[0]),
            ("a keyToKEN", &[0, 1]),
            ("GHP_x and \u{c9}T\u{c9}", &[2]),
            ("\u{e9}t\u{e9}: ke y", &[3]),
            ("tok en", &[]),
        ] {
            assert_eq!(keywords.scan_words(text), expected, "{text}");
            assert_eq!(keywords.scan_automaton(text), expected, "{text}");
        }
    }

    #[test]
    fn the_automaton_is_made_when_there_is_much_to_look_through() {
        let keywords = KeywordFilter::of([&["key"][..]].into_iter());
        for (length, made) in [(10, false), (WORD_SCAN_BYTES_MAX - 10, false), (1, true), (1, true)]
        {
            let text = format!("{:x<width$}", "", width = length);
            assert_eq!(keywords.rules_for(&text), [0; 0]);
            assert_eq!(keywords.automaton.get().is_some(), made, "{length}");
        }
    }
}
