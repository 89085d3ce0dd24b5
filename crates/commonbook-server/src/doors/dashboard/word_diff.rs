//! The words that differ between two texts, as markup.

use commonbook_text::word_diff::{self, StretchKind};
use maud::{Markup, html};

/// The newer text with the words that were removed and added.
pub(super) fn word_diff(older: &str, newer: &str) -> Markup {
    html! {
        @for stretch in word_diff::word_diff(older, newer) {
            @match stretch.kind {
                StretchKind::Same => { (stretch.text) }
                StretchKind::Removed => { del { (stretch.text) } }
                StretchKind::Added => { ins { (stretch.text) } }
            }
        }
    }
}

/// One of two texts, with the words that the other does not have marked.
pub(super) fn marked_side(text: &str, other: &str) -> Markup {
    html! {
        @for stretch in word_diff::word_diff(other, text) {
            @match stretch.kind {
                StretchKind::Same => { (stretch.text) }
                StretchKind::Removed => {}
                StretchKind::Added => { mark { (stretch.text) } }
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
