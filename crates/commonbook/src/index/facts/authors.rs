//! The words by which questions name authors.

use std::collections::HashMap;

use commonbook_text::terms;

/// The distinct authors of the classes.
#[derive(Debug, Default)]
pub(super) struct ClassAuthors {
    numbers: HashMap<Box<str>, u32>,
    /// The word for each author; `None` if a question cannot name the author.
    called: Vec<Option<String>>,
    /// The author of each class.
    of_classes: Vec<u32>,
}

impl ClassAuthors {
    /// Adds the author of the next class.
    pub(super) fn push(&mut self, author: &str) {
        let number = self.numbers.get(author).copied().unwrap_or_else(|| {
            let number = u32::try_from(self.called.len()).unwrap_or(u32::MAX);
            self.called.push(calling_name(author));
            self.numbers.insert(author.into(), number);
            number
        });
        self.of_classes.push(number);
    }

    /// Whether one of these words names the author of a class.
    pub(super) fn is_named(&self, class: u32, words: &[String]) -> bool {
        let called = &self.called[self.of_classes[class as usize] as usize];
        called.as_ref().is_some_and(|called| words.contains(called))
    }
}

/// The word by which a question names an author: the first word of its role, unless it is a
/// function word.
fn calling_name(author: &str) -> Option<String> {
    let role = author.rsplit('/').next().unwrap_or(author);
    let first = terms::plain_words(role).into_iter().next()?;
    (!terms::is_function_word(&first)).then_some(first)
}
