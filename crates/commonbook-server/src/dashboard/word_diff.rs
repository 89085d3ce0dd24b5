//! The words that differ between two texts.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

/// The newer text with the words that were removed and added.
pub(super) fn word_diff(older: &str, newer: &str) -> Markup {
    let diff = TextDiff::from_words(older, newer);
    html! {
        @for change in diff.iter_all_changes() {
            @match change.tag() {
                ChangeTag::Equal => { (change.value()) }
                ChangeTag::Delete => { del { (change.value()) } }
                ChangeTag::Insert => { ins { (change.value()) } }
            }
        }
    }
}

/// One of two texts, with the words that the other does not have marked.
pub(super) fn marked_side(text: &str, other: &str) -> Markup {
    let diff = TextDiff::from_words(other, text);
    html! {
        @for change in diff.iter_all_changes() {
            @match change.tag() {
                ChangeTag::Equal => { (change.value()) }
                ChangeTag::Delete => {}
                ChangeTag::Insert => { mark { (change.value()) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_that_differ_are_marked_and_no_text_becomes_markup() {
        let shown = word_diff("retries three times", "retries five <b>times").into_string();
        assert_eq!(
            shown,
            "retries <del>three</del><ins>five</ins> <del>times</del><ins>&lt;b&gt;times</ins>"
        );
        let shown = marked_side("Ann leads", "Bert leads").into_string();
        assert_eq!(shown, "<mark>Ann</mark> leads");
    }
}
