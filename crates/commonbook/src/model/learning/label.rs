//! The labels that mark a learning, in twelve languages: `Remember:`, `Gotchas`, `For the next one:`.

use std::sync::LazyLock;

use commonbook_text::word_list::rows;

use super::LearningType;

/// The longest label, in words.
const LABEL_WORDS_MAX: usize = 10;

/// What stands between labels that share a heading: `Gotchas and pitfalls`.
const LABEL_JOINTS: [&str; 8] = [" and ", " & ", " / ", "/", " + ", " und ", " et ", " y "];

/// Beginnings of brackets that name the source of what was quoted: `Lessons (from the manual)`.
const SOURCE_BEGINNINGS: [&str; 8] =
    ["from ", "quoted", "according ", "aus ", "laut ", "selon ", "según ", "来自"];

/// A label that marks what follows it as a learning.
#[derive(Debug)]
pub(super) struct LearningLabel {
    /// Its words in lower case; `…` at the beginning or the end stands for any words, or none.
    form: &'static str,
    /// The type of what follows it.
    pub(super) kind: LearningType,
    pub(super) rule: LabelRule,
}

/// What is special about a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelRule {
    Plain,
    /// What follows makes no sense without it: `Root cause: …`.
    Told,
    /// A comma may stand for its colon: `Next time, …`.
    Comma,
    /// Tools print it, too: it counts in a heading, in bold letters, or behind a sign.
    Marked,
}

static LABELS: LazyLock<Vec<LearningLabel>> = LazyLock::new(|| {
    let labels = rows(include_str!("labels.txt")).map(|[form, kind, rule]| LearningLabel {
        form,
        kind: LearningType::from_type_word(kind),
        rule: match rule {
            "told" => LabelRule::Told,
            "comma" => LabelRule::Comma,
            "marked" => LabelRule::Marked,
            _ => LabelRule::Plain,
        },
    });
    labels.collect()
});

/// The label that these words are; several labels may share them.
pub(super) fn find_label(words: &str) -> Option<&'static LearningLabel> {
    let key = label_key(words);
    if key.is_empty() || key.split_whitespace().count() > LABEL_WORDS_MAX {
        return None;
    }
    let one = |key: &str| LABELS.iter().find(|label| label.is_named(key));
    one(&key).or_else(|| {
        let joint = LABEL_JOINTS.iter().find(|joint| key.contains(*joint))?;
        let mut all = key.split(joint).map(one);
        let first = all.next()??;
        all.all(|next| next.is_some()).then_some(first)
    })
}

/// Whether a bracket behind a label names the source of a quotation.
pub(super) fn names_source(bracket: &str) -> bool {
    let bracket = bracket.trim().to_lowercase();
    SOURCE_BEGINNINGS.iter().any(|beginning| bracket.starts_with(beginning))
}

/// The words of a label in lower case, without emphasis and the number behind it.
fn label_key(words: &str) -> String {
    let bare = words.replace(['*', '_'], "").replace('’', "'").to_lowercase();
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    let unnumbered = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    unnumbered.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

impl LearningLabel {
    fn is_named(&self, key: &str) -> bool {
        if let Some(end) = self.form.strip_prefix("… ") {
            let before = key.strip_suffix(end);
            return before.is_some_and(|before| before.is_empty() || before.ends_with(' '));
        }
        if let Some(start) = self.form.strip_suffix(" …") {
            let after = key.strip_prefix(start);
            return after.is_some_and(|after| after.is_empty() || after.starts_with([' ', ',']));
        }
        self.form == key
    }
}
