//! The part of a text that is nearest to another text: what a reader has to see of a long note to judge
//! whether it says the same or the contrary.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::sentences::sentences;
use crate::terms::{query_terms, terms};

/// What a word with a value or a name weighs beside a shared word that no other sentence has.
const VALUE_WEIGHT: f64 = 0.3;

/// What further sentences must add to be shown beside the nearest one: a shared word of their own.
const MORE_WEIGHT_MIN: f64 = 1.0;

/// A part of fewer words goes on with the next sentence: a heading or a label says little alone.
const PART_WORDS_MIN: usize = 10;

/// The mark where something was left out.
const CUT: &str = "…";

/// Marks that end a clause of a long sentence.
const CLAUSE_ENDS: [char; 8] = [',', ';', ':', '(', ')', '—', '–', '→'];

/// The part of `text` that shares most with `other`: whole sentences of at most `words_max` words
/// together, or as much of one longer sentence, by its clauses, where its shared words and its values
/// stand. The shared words that few sentences have count most. Empty for a text without words.
#[must_use]
pub fn nearest_part(text: &str, other: &str, words_max: usize) -> String {
    WeighedText::of(text, &SoughtTerms::of(other)).nearest_part(words_max)
}

/// The terms of a text, for which others are read.
#[derive(Debug)]
pub struct SoughtTerms(HashSet<String>);

impl SoughtTerms {
    /// Those of this text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(query_terms(text).into_iter().collect())
    }
}

/// A text with what its sentences share with another one: read once, for parts of any length.
#[derive(Debug)]
pub struct WeighedText<'t> {
    sentences: Vec<WeighedSentence<'t>>,
    weights: SharedTermWeights,
}

impl<'t> WeighedText<'t> {
    /// Reads a text for the terms of another one.
    #[must_use]
    pub fn of(text: &'t str, sought: &SoughtTerms) -> Self {
        let sentences: Vec<WeighedSentence<'t>> = sentences(text)
            .map(|sentence| WeighedSentence::of(without_mark(sentence), &sought.0))
            .filter(|sentence| !sentence.words.is_empty())
            .collect();
        let weights = SharedTermWeights::of(&sentences);
        Self { sentences, weights }
    }

    /// As [`nearest_part`].
    #[must_use]
    pub fn nearest_part(&self, words_max: usize) -> String {
        let Self { sentences, weights } = self;
        let mut best: Option<(usize, f64)> = None;
        for (place, sentence) in sentences.iter().enumerate() {
            let weight = weights.of_words(&sentence.words, &[]);
            if best.is_none_or(|(_, most)| weight > most) {
                best = Some((place, weight));
            }
        }
        let Some((place, _)) = best else { return String::new() };
        if sentences[place].words.len() > words_max {
            return sentences[place].cut(words_max, weights);
        }
        let mut shown = String::new();
        let mut before: Option<usize> = None;
        for place in chosen(sentences, place, words_max, weights) {
            match before {
                Some(before) if before + 1 == place => {
                    // A heading or the line of a list has no mark at its end.
                    let is_open = shown.ends_with(|last: char| last.is_alphanumeric());
                    shown.push_str(if is_open { "; " } else { " " });
                }
                Some(_) => shown.push_str(&format!(" {CUT} ")),
                None => {}
            }
            shown.push_str(sentences[place].text);
            before = Some(place);
        }
        shown
    }
}

/// The sentences that are shown with this one, in their order: those that share most besides, and
/// those around it while they are few words.
fn chosen(
    sentences: &[WeighedSentence<'_>],
    place: usize,
    words_max: usize,
    weights: &SharedTermWeights,
) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::from([place]);
    let mut words = sentences[place].words.len();
    let mut covered = sentences[place].terms();
    loop {
        let room = words_max.saturating_sub(words);
        let others = sentences
            .iter()
            .enumerate()
            .filter(|(other, sentence)| !chosen.contains(other) && sentence.words.len() <= room);
        let added =
            others.map(|(other, sentence)| (other, weights.of_terms(&sentence.terms(), &covered)));
        let Some((more, weight)) = added.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        else {
            break;
        };
        if weight < MORE_WEIGHT_MIN {
            break;
        }
        chosen.insert(more);
        words += sentences[more].words.len();
        covered.extend(sentences[more].terms());
    }
    let (mut from, mut to) = (place, place);
    while words < PART_WORDS_MIN {
        let (next, end) = match from.checked_sub(1) {
            _ if to + 1 < sentences.len() => (to + 1, &mut to),
            Some(before) => (before, &mut from),
            None => break,
        };
        *end = next;
        let more = sentences[next].words.len();
        if words + more > words_max {
            break;
        }
        if chosen.insert(next) {
            words += more;
        }
    }
    chosen
}

/// A line without the mark of a list or a heading.
fn without_mark(line: &str) -> &str {
    match line.split_once(' ') {
        Some((mark, rest)) if mark.chars().all(|c| "-*#>•+".contains(c)) => rest.trim_start(),
        _ => line,
    }
}

/// What the shared terms weigh: one that no other sentence has weighs one.
#[derive(Debug)]
struct SharedTermWeights(HashMap<String, f64>);

impl SharedTermWeights {
    fn of(sentences: &[WeighedSentence<'_>]) -> Self {
        let mut counts: HashMap<String, f64> = HashMap::new();
        for term in sentences.iter().flat_map(WeighedSentence::terms) {
            *counts.entry(term).or_default() += 1.0;
        }
        Self(counts.into_iter().map(|(term, count)| (term, 1.0 / count)).collect())
    }

    /// The weight of these terms without those that are covered.
    fn of_terms(&self, terms: &[String], covered: &[String]) -> f64 {
        let new = terms.iter().filter(|term| !covered.contains(term));
        new.filter_map(|term| self.0.get(term)).sum()
    }

    /// The weight of these words without the terms that are covered; values count where something is
    /// shared.
    fn of_words(&self, words: &[WeighedWord], covered: &[String]) -> f64 {
        let shared = self.of_terms(&distinct_terms(words), covered);
        let has_value = words.iter().any(|word| word.is_value);
        shared + if has_value && shared > 0.0 { VALUE_WEIGHT } else { 0.0 }
    }
}

/// The shared terms of these words, each once.
fn distinct_terms(words: &[WeighedWord]) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for term in words.iter().flat_map(|word| &word.shared) {
        if !terms.contains(term) {
            terms.push(term.clone());
        }
    }
    terms
}

/// A sentence with what it shares with the other text.
#[derive(Debug)]
struct WeighedSentence<'t> {
    text: &'t str,
    words: Vec<WeighedWord>,
}

/// A word of a sentence.
#[derive(Debug)]
struct WeighedWord {
    at: Range<usize>,
    /// The shared terms among its own.
    shared: Vec<String>,
    /// Whether it has a digit, or capitals that do not begin the sentence.
    is_value: bool,
    /// Whether a clause begins with it.
    begins: bool,
}

impl<'t> WeighedSentence<'t> {
    fn of(text: &'t str, wanted: &HashSet<String>) -> Self {
        let mut end = 0;
        let found = text.unicode_word_indices().enumerate();
        let words = found.map(|(place, (start, word))| {
            let gap = &text[end..start];
            end = start + word.len();
            let capitals = word.chars().skip(usize::from(place == 0)).any(char::is_uppercase);
            WeighedWord {
                at: start..end,
                shared: terms(word).into_iter().filter(|term| wanted.contains(term)).collect(),
                is_value: capitals || word.chars().any(char::is_numeric),
                begins: place == 0 || gap.contains(' ') && gap.contains(CLAUSE_ENDS),
            }
        });
        Self { text, words: words.collect() }
    }

    fn terms(&self) -> Vec<String> {
        distinct_terms(&self.words)
    }

    /// The most telling clauses in a row with at most `words_max` words, the first such; words in a row
    /// around what is telling, where clauses are longer or say clearly less.
    fn cut(&self, words_max: usize, weights: &SharedTermWeights) -> String {
        let words_max = words_max.max(1);
        let weight = |run: &Range<usize>| weights.of_words(&self.words[run.clone()], &[]);
        let begins = (0..self.words.len()).filter(|place| self.words[*place].begins);
        let begins: Vec<usize> = begins.chain([self.words.len()]).collect();
        let mut clauses: Option<(Range<usize>, f64)> = None;
        for (place, from) in begins.iter().enumerate() {
            for to in begins[place + 1..].iter().take_while(|to| **to - from <= words_max) {
                let weight = weight(&(*from..*to));
                if clauses.as_ref().is_none_or(|(_, most)| weight > *most) {
                    clauses = Some((*from..*to, weight));
                }
            }
        }
        let last = self.words.len().saturating_sub(words_max);
        let windows: Vec<(usize, f64)> =
            (0..=last).map(|from| (from, weight(&(from..from + words_max)))).collect();
        let most = windows.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
        match clauses {
            Some((run, weight)) if weight + MORE_WEIGHT_MIN > most => self.shown(run),
            _ => {
                // The middle one, so that what is telling stands with the words around it.
                let alike: Vec<usize> = windows
                    .iter()
                    .filter(|(_, weight)| *weight >= most)
                    .map(|(from, _)| *from)
                    .collect();
                let from = alike.get(alike.len() / 2).copied().unwrap_or_default();
                self.shown(from..(from + words_max).min(self.words.len()))
            }
        }
    }

    /// These words with the marks around them, and marks where the sentence was cut.
    fn shown(&self, run: Range<usize>) -> String {
        let (from, to) = (run.start, run.end);
        let start = if from == 0 { 0 } else { self.words[from].at.start };
        let end = self.words.get(to).map_or(self.text.len(), |next| next.at.start);
        let before = if from == 0 { String::new() } else { format!("{CUT} ") };
        let after = if end == self.text.len() { String::new() } else { format!(" {CUT}") };
        format!("{before}{}{after}", self.text[start..end].trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_sentence_is_shown_whole_with_its_value() {
        let text = "Reviewed alert rules with the on-call engineer. Disk: 85 % warn. Replication lag: \
                    fires at 300 seconds, severity page. Certificates: 14 days.";
        let other = "The alert for the replication lag fires at 60 seconds.";
        let part = nearest_part(text, other, 30);
        assert!(part.contains("Replication lag: fires at 300 seconds"), "{part}");
    }

    #[test]
    fn a_heading_goes_on_with_the_line_that_says_something() {
        let text = "# Gateway timeouts\n\n- upstream: 30 s\n- downstream: 60 s";
        let part = nearest_part(text, "The gateway timeouts are 10 seconds", 30);
        assert_eq!(part, "Gateway timeouts; upstream: 30 s; downstream: 60 s");
        let last = nearest_part("We measured it in May. Then 40 ms", "Then 50 ms", 30);
        assert_eq!(last, "We measured it in May. Then 40 ms");
    }

    #[test]
    fn sentences_that_share_more_are_shown_beside_the_nearest_one() {
        let text = "Spot in prod is decided: no. For good, after the consumer failed in the night of \
                    the move. Not batch, not ci, nothing (veko, retro of 21 may).";
        let part = nearest_part(text, "batch: from monday 70 % spot, agreed with veko", 30);
        assert_eq!(
            part,
            "Spot in prod is decided: no. … Not batch, not ci, nothing (veko, retro of 21 may)."
        );
    }

    #[test]
    fn a_long_sentence_is_cut_between_its_clauses() {
        let text = "portal cert again, reminder for the next one: the sync job only copies the pem, \
                    haproxy has to be reloaded by hand, and nobody noticed for two days or so";
        let part = nearest_part(text, "the sync job does the haproxy reload itself", 20);
        let clauses = "the sync job only copies the pem, haproxy has to be reloaded by hand,";
        assert!(part.contains(clauses), "{part}");
    }

    #[test]
    fn a_long_sentence_is_cut_around_what_is_shared_and_its_value() {
        let filler = (0..60).map(|n| format!("{} ", ["so", "then", "and", "or"][n % 4]));
        let filler: String = filler.collect();
        let text = format!("{filler}the queue drains after 45 minutes {filler}end");
        let part = nearest_part(&text, "The queue drains after an hour", 12);
        assert!(part.contains("queue drains after 45 minutes"), "{part}");
        assert!(part.starts_with("… ") && part.ends_with(" …"), "{part}");
        assert!(part.unicode_words().count() <= 12, "{part}");
    }

    #[test]
    fn a_part_has_at_most_its_words_in_any_script() {
        let texts = [
            "数据库连接池最多二十个连接而且每个连接三十秒后超时并且重试三次",
            "a b c d e f g h i j k",
        ];
        for text in texts {
            for most in [1, 5, 30] {
                let part = nearest_part(text, text, most);
                assert!(part.unicode_words().count() <= most, "{most} {part}");
                assert!(!part.is_empty());
            }
        }
        assert_eq!(nearest_part("", "x", 30), "");
        assert_eq!(nearest_part(" … ", "x", 30), "");
        assert_eq!(nearest_part("Only this", "", 30), "Only this");
    }
}
