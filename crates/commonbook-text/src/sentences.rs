//! Sentences: a text split into its sentences, and two texts joined sentence by sentence.

use unicode_segmentation::UnicodeSegmentation;

/// Joins the sentences of both texts, each once, in order, as far as whole ones fit into `chars_max`
/// characters. A sentence without its mark gets a full stop when another
/// follows it.
#[must_use]
pub fn join_sentences(known: &str, said: &str, chars_max: usize) -> String {
    let (mut text, mut chars) = (String::new(), 0);
    let mut seen: Vec<String> = Vec::new();
    for sentence in sentences(known).chain(sentences(said)) {
        let plain = comparable_form(sentence);
        if plain.is_empty() || seen.contains(&plain) {
            continue;
        }
        let gap = match text.chars().next_back() {
            None => "",
            Some(last) if is_end(last) => " ",
            Some(_) => ". ",
        };
        let length = gap.len() + sentence.chars().count();
        if chars + length > chars_max {
            break;
        }
        text.push_str(gap);
        text.push_str(sentence);
        chars += length;
        seen.push(plain);
    }
    text
}

/// The sentences of a text as they are written; a line end ends one too.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(UnicodeSegmentation::split_sentence_bounds).map(str::trim)
}

/// A sentence as it is compared: its letters, in lower case, with single blanks.
fn comparable_form(sentence: &str) -> String {
    let bare = sentence.trim_end_matches(|c: char| is_end(c) || matches!(c, ',' | ';' | ':'));
    bare.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character ends a sentence, in the scripts that have a mark of their own for it too.
fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟' | ':' | ';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_joined_by_sentence_and_each_stands_once() {
        let table = [
            (
                "Used for type safety",
                "Compile target ES2020",
                "Used for type safety. Compile target ES2020",
            ),
            (
                "Used for type safety.",
                "Compile target ES2020.",
                "Used for type safety. Compile target ES2020.",
            ),
            (
                "Type safety in React components",
                "Build configuration",
                "Type safety in React components. Build configuration",
            ),
            ("A. B", "B. C", "A. B. C"),
            ("Used here", "used  HERE.", "Used here"),
            ("Really?", "Yes!", "Really? Yes!"),
            (
                "It is v1.2.3 since May",
                "See example.com/a.b",
                "It is v1.2.3 since May. See example.com/a.b",
            ),
            ("One\nTwo", "Three", "One. Two. Three"),
            ("数据库。", "很快。", "数据库。 很快。"),
            ("", "Only this", "Only this"),
            ("Only this", " ", "Only this"),
        ];
        for (known, said, expected) in table {
            assert_eq!(join_sentences(known, said, 1_000), expected);
        }
    }

    #[test]
    fn a_long_context_ends_where_a_sentence_does() {
        let mut text = String::new();
        for n in 0..100 {
            text = join_sentences(&text, &format!("This is sentence number {n} of many"), 1_000);
        }
        let chars = text.chars().count();
        assert!((950..=1_000).contains(&chars), "{chars}");
        assert!(text.ends_with("of many"), "{text}");
        let whole = "x".repeat(1_000);
        assert_eq!(join_sentences(&whole, "More", 1_000), whole);
        assert_eq!(join_sentences("Less", &whole, 1_000), "Less", "no sentence is cut");
    }
}
