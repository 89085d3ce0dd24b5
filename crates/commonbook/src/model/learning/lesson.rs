//! Lessons of a report that stand behind no label: sentences that read like one.
//!
//! Most agents write what the next one must know into the middle of their reports. A sentence is a lesson where
//! the weights of its signs have a sum above 0: limits, causes, duties and negations, its length, and who speaks.
//! `lesson_signs.txt` has the signs and their weights.

use std::sync::LazyLock;

use commonbook_text::sentences::sentences;
use commonbook_text::word_list::rows;
use rustc_hash::FxHashMap;

use super::block::{TASK_BOXES, is_quotation, offset_in};
use super::markdown::{BlockKind, MarkdownBlock, MarkdownLine, markdown_blocks};
use super::report::is_report;

/// The lessons that are taken from one report: the surest ones.
const LESSONS_MAX: usize = 3;

/// The words that a lesson has at least.
const LESSON_WORDS_MIN: usize = 5;

/// The marks that begin a quotation.
const QUOTATION_BEGINNINGS: [char; 4] = ['"', '„', '“', '«'];

/// A sign that a sentence is a lesson, or that it is none.
struct LessonSign {
    name: &'static str,
    /// What it adds to the sum, in the unit of a logistic regression.
    weight: f32,
    /// What a second occurrence adds.
    again: f32,
    /// Whether words have it, and not the shape of the sentence.
    has_words: bool,
}

/// A word or phrase by which a sentence has a sign.
struct SignPhrase {
    /// The place of its sign among the signs.
    sign: usize,
    words: Vec<&'static str>,
    /// Whether it counts at the beginning of a sentence alone.
    is_beginning: bool,
}

/// The signs, and their phrases by the first word.
struct SignList {
    signs: Vec<LessonSign>,
    phrases: FxHashMap<&'static str, Vec<SignPhrase>>,
}

static SIGNS: LazyLock<SignList> = LazyLock::new(SignList::parse);

/// A sentence of a report.
struct ReportSentence<'a> {
    text: &'a str,
    is_item: bool,
    /// Whether it begins its paragraph or list item.
    is_first: bool,
}

/// A sentence that reads like a lesson.
struct LessonCandidate {
    text: String,
    score: f32,
}

/// The sentences of a report that read like lessons, the surest few in the order of the report. Headings, tables,
/// code, quotations, questions and checklists have none.
pub(super) fn lessons_in_prose(report: &str) -> Vec<String> {
    let blocks = markdown_blocks(report);
    let found: Vec<LessonCandidate> = blocks.iter().flat_map(candidates).collect();
    let mut scores: Vec<f32> = found.iter().map(|lesson| lesson.score).collect();
    scores.sort_unstable_by(|a, b| b.total_cmp(a));
    let least = scores.get(LESSONS_MAX - 1).copied().unwrap_or_default();
    let surest = found.into_iter().filter(|lesson| lesson.score >= least).take(LESSONS_MAX);
    surest.map(|lesson| lesson.text).collect()
}

/// The lessons of a paragraph or list item.
fn candidates(block: &MarkdownBlock) -> Vec<LessonCandidate> {
    if !matches!(block.kind, BlockKind::Paragraph | BlockKind::Item) {
        return Vec::new();
    }
    let joined = |part: fn(&MarkdownLine) -> &str| {
        block.lines.iter().map(part).collect::<Vec<&str>>().join(" ")
    };
    let text = joined(|line| &line.text);
    if TASK_BOXES.iter().any(|mark| text.starts_with(mark)) {
        return Vec::new();
    }
    // The mask has the length of the text, and ends no sentence within code or a quotation.
    let masked = joined(|line| &line.masked);
    let parts = sentences(&masked).filter_map(|part| {
        let at = offset_in(&masked, part);
        text.get(at..at + part.len())
    });
    let lessons = parts.enumerate().filter_map(|(place, part)| {
        let is_item = block.kind == BlockKind::Item;
        let sentence = ReportSentence { text: part, is_item, is_first: place == 0 };
        let score = SIGNS.score(&sentence);
        let can_be = !is_question(part) && !is_report(part) && !is_quotation(part);
        (score > 0.0 && can_be).then(|| LessonCandidate { text: part.to_owned(), score })
    });
    lessons.collect()
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['*', '_', ')', ' ']).ends_with(['?', '？'])
}

impl SignList {
    fn parse() -> Self {
        let number = |text: &str| text.parse().unwrap_or_default();
        let (mut signs, mut phrases) = (Vec::new(), FxHashMap::<_, Vec<SignPhrase>>::default());
        for [name, weight, again, list] in rows(include_str!("lesson_signs.txt")) {
            for phrase in list.split(", ").filter(|phrase| !phrase.is_empty()) {
                let bare = phrase.trim_start_matches('^');
                let words: Vec<&'static str> = bare.split(' ').collect();
                let is_beginning = bare != phrase;
                let sign = SignPhrase { sign: signs.len(), words, is_beginning };
                phrases.entry(sign.words[0]).or_default().push(sign);
            }
            let (weight, again) = (number(weight), number(again));
            signs.push(LessonSign { name, weight, again, has_words: !list.is_empty() });
        }
        Self { signs, phrases }
    }

    /// The sum of the weights of the signs that a sentence has; none for a sentence of few words.
    fn score(&self, sentence: &ReportSentence<'_>) -> f32 {
        if sentence.length() < LESSON_WORDS_MIN {
            return f32::MIN;
        }
        let lower = sentence.text.to_lowercase().replace('’', "'");
        let words = words(&lower);
        let mut counts = vec![0_u32; self.signs.len()];
        for (at, word) in words.iter().enumerate() {
            for phrase in self.phrases.get(word).into_iter().flatten() {
                let fits = words[at..].starts_with(&phrase.words);
                counts[phrase.sign] += u32::from(fits && (at == 0 || !phrase.is_beginning));
            }
        }
        let weight = |(sign, count): (&LessonSign, u32)| match count {
            0 if sign.has_words || !sentence.has_shape(sign.name) => 0.0,
            0 | 1 => sign.weight,
            _ => sign.weight + sign.again,
        };
        self.signs.iter().zip(counts).map(weight).sum()
    }
}

/// The words of a text in lower case, with the apostrophes and hyphens inside them.
fn words(lower: &str) -> Vec<&str> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-');
    let parts = lower.split(|c| !is_inside(c)).map(|word| word.trim_matches(['\'', '-']));
    parts.filter(|word| !word.is_empty()).collect()
}

impl ReportSentence<'_> {
    fn length(&self) -> usize {
        self.text.split_whitespace().count()
    }

    /// Whether it has the shape that a sign names.
    fn has_shape(&self, sign: &str) -> bool {
        match sign {
            "constant" => true,
            "in a list" => self.is_item,
            "above fourteen words" => self.length() > 14,
            "above twenty-five words" => self.length() > 25,
            "with a quotation" => self.text.contains(QUOTATION_BEGINNINGS),
            "with an aside" => self.text.contains([';', '(']),
            "with numbers" => {
                let is_digit = |c: char| c.is_ascii_digit();
                self.text.split(|c| !is_digit(c)).filter(|part| !part.is_empty()).count() > 2
            }
            "at the beginning" => self.is_first,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [&str; 8] = [
        "constant",
        "in a list",
        "above fourteen words",
        "above twenty-five words",
        "with a quotation",
        "with an aside",
        "with numbers",
        "at the beginning",
    ];

    #[test]
    fn each_sign_has_words_or_a_shape() {
        let text = "One (two 1 2 3), and \"three\" are as long as they can be, so that a sentence of \
            more than twenty-five words has each of the shapes that the list names here.";
        let sentence = ReportSentence { text, is_item: true, is_first: true };
        for sign in &SIGNS.signs {
            assert!(sign.weight != 0.0, "{}", sign.name);
            assert_eq!(SHAPES.contains(&sign.name), !sign.has_words, "{}", sign.name);
            assert!(sign.has_words || sentence.has_shape(sign.name), "{}", sign.name);
        }
        assert_eq!(SIGNS.signs.iter().filter(|sign| !sign.has_words).count(), SHAPES.len());
    }

    #[test]
    fn a_sentence_that_states_what_the_next_one_must_know_is_a_lesson() {
        let report = "The import runs again, PR 812 is open, all 114 tests are green.\n\n\
            It took longer because the staging broker silently drops messages above 1 MB, so a batch \
            must never have more than 200 orders; otherwise the consumer waits for an acknowledgement that \
            does not come. I moved the retry to `OrderFeed`. Shall I also clean the old topic, because \
            nobody has done so since March and it is not used by anybody but the nightly job?\n\n\
            > The consumer must never be restarted without a drain, because otherwise offsets are not kept.\n\n\
            - [ ] never restart the consumer without a drain, because otherwise the offsets are not committed\n";
        let found = lessons_in_prose(report);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("It took longer because the staging broker"), "{found:?}");
    }

    #[test]
    fn the_surest_lessons_of_a_report_are_taken_in_its_order() {
        let sure = |name: &str| {
            format!(
                "The {name} must not be started without its cache, because otherwise it never comes \
                 back and does not say why, so always check it before and after each deployment."
            )
        };
        let weak =
            "The cache is only read once, because it does not change while the job runs here.";
        let report = ["one", "two", "three"].map(sure).join("\n\n");
        let found = lessons_in_prose(&format!("{weak}\n\n{report}\n\n{weak}"));
        assert_eq!(found, ["one", "two", "three"].map(sure));
        assert_eq!(lessons_in_prose(weak), Vec::<String>::new());
        assert_eq!(lessons_in_prose(&format!("Done. {weak}")), [weak]);
    }
}
