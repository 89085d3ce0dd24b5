//! Keywords: which of many rules can fit a text at all, found in one pass over it.

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Input, MatchKind};

/// The words without which a rule cannot match, for all rules of a table.
///
/// A regular expression is slow where it fits nowhere; one pass for all keywords of all rules lets
/// an ordinary text go by after looking at each byte once.
#[derive(Debug)]
pub(crate) struct Keywords {
    // Not a DFA, which is three times as fast and takes 12 ms to make: a command saves one memory.
    words: NFA,
    rules: Vec<usize>,
    count: usize,
}

impl Keywords {
    /// The keywords of each rule, in the order of the rules; letter case makes no difference.
    ///
    /// # Panics
    /// When the keywords take more than 4 GiB, which a table in the source cannot.
    pub(crate) fn of(rules: impl Iterator<Item = &'static [&'static str]>) -> Self {
        let mut words: Vec<&str> = Vec::new();
        let (mut owners, mut count) = (Vec::new(), 0);
        for (rule, keywords) in rules.enumerate() {
            words.extend(keywords);
            owners.extend(keywords.iter().map(|_| rule));
            count = rule + 1;
        }
        let words = NFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(words)
            .expect("a table of keywords is small");
        Self { words, rules: owners, count }
    }

    /// The rules of which a keyword stands in the text, in their order.
    pub(crate) fn rules_for(&self, text: &str) -> Vec<usize> {
        let mut found = vec![false; self.count];
        let hits = self.words.try_find_overlapping_iter(Input::new(text));
        for hit in hits.expect("the automaton is built for overlaps, and unanchored") {
            found[self.rules[hit.pattern().as_usize()]] = true;
        }
        (0..self.count).filter(|rule| found[*rule]).collect()
    }
}
