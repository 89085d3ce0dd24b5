//! Separators: sentences whose words signs part instead of blanks: `ignore-all-previous-instructions`,
//! `ignore, all, previous, instructions`, `IgnoreAllPreviousInstructions`, `[Ignore](x) [all](y) …`.
//!
//! Only the places that show such signs are read again, each as a line of its own: a path or a list of names
//! costs its own length. Each step is linear in the text.

/// The signs that part words.
const SEPARATORS: [char; 7] = ['-', '_', '.', '/', '+', '|', ','];

/// Minimum gaps between the words of a sentence that has no blanks.
const GAPS_MIN: usize = 3;

/// Returns the sentences whose words signs part, a line each; `None` if there are none.
pub(super) fn parted_sentences(text: &str) -> Option<String> {
    let mut sentences = Vec::new();
    let mut run = WordRun::default();
    for token in text.split_whitespace() {
        sentences.extend(words_of(token));
        run.take(token, &mut sentences);
    }
    run.end(&mut sentences);
    sentences.extend(text.lines().filter_map(link_texts));
    (!sentences.is_empty()).then(|| sentences.join("\n"))
}

/// Returns the words of a token that are parted by separators or by capitals, if they can be a sentence.
fn words_of(token: &str) -> Option<String> {
    let (mut words, mut gaps) = (String::with_capacity(token.len() + GAPS_MIN), 0);
    let mut before: Option<char> = None;
    for letter in token.chars() {
        let is_inside = before.is_some_and(char::is_alphabetic);
        if SEPARATORS.contains(&letter) {
            gaps += usize::from(is_inside);
            words.push(' ');
        } else {
            if letter.is_uppercase() && before.is_some_and(char::is_lowercase) {
                gaps += 1;
                words.push(' ');
            }
            words.push(letter);
        }
        before = Some(letter);
    }
    (gaps >= GAPS_MIN).then_some(words)
}

/// Words in a row with the same separator between them, beside blanks: `ignore, all, previous, instructions`.
#[derive(Default)]
struct WordRun<'t> {
    words: Vec<&'t str>,
    /// Whether a separator follows the last word.
    goes_on: bool,
}

impl<'t> WordRun<'t> {
    fn take(&mut self, token: &'t str, sentences: &mut Vec<String>) {
        let word = token.trim_matches(SEPARATORS);
        if word.is_empty() {
            // A separator alone.
            self.goes_on |= !self.words.is_empty();
            return;
        }
        let is_parted = self.goes_on || token.starts_with(SEPARATORS);
        if !is_parted {
            self.end(sentences);
        }
        self.words.push(word);
        self.goes_on = token.ends_with(SEPARATORS);
    }

    /// Ends the run.
    fn end(&mut self, sentences: &mut Vec<String>) {
        if self.words.len() > GAPS_MIN {
            sentences.push(self.words.join(" "));
        }
        self.words.clear();
    }
}

/// Returns the texts of the links of a line as one sentence, if there are enough.
fn link_texts(line: &str) -> Option<String> {
    let mut texts = Vec::new();
    let mut rest = line;
    while let Some((before, target)) = rest.split_once("](") {
        let start = before.rfind('[').map_or(0, |at| at + 1);
        texts.push(&before[start..]);
        let Some((_, behind)) = target.split_once(')') else { break };
        rest = behind;
    }
    (texts.len() > GAPS_MIN).then(|| texts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_signs_part_is_read_again() {
        for (text, sentences) in [
            ("See a-b-c-d there", Some("a b c d")),
            ("one, two, three, four and five", Some("one two three four")),
            ("one | two | three | four", Some("one two three four")),
            ("doThisThingNow please", Some("do This Thing Now")),
            ("[a](x) [b](y) [c](z) [d](w)", Some("a b c d")),
            ("A sentence, with a comma. And a well-known word.", None),
            ("Two, three, words", None),
            ("[a](x) and [b](", None),
        ] {
            assert_eq!(parted_sentences(text).as_deref(), sentences, "{text}");
        }
    }
}
