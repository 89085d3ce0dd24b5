//! What questions call authors by.

use std::collections::HashMap;

use commonbook_text::terms;

/// The authors of the classes, each once.
#[derive(Debug, Default)]
pub(super) struct ClassAuthors {
    numbers: HashMap<Box<str>, u32>,
    /// What a question calls each author by; nothing where it cannot.
    called: Vec<Option<String>>,
    /// The author of each class.
    of_classes: Vec<u32>,
}

impl ClassAuthors {
    /// Notes the author of the next class.
    pub(super) fn push(&mut self, author: &str) {
        let number = self.numbers.get(author).copied().unwrap_or_else(|| {
            let number = u32::try_from(self.called.len()).unwrap_or(u32::MAX);
            self.called.push(calling_name(author));
            self.numbers.insert(author.into(), number);
            number
        });
        self.of_classes.push(number);
    }

    /// Whether what the author of a class is called by is one of these words.
    pub(super) fn is_named(&self, class: u32, words: &[String]) -> bool {
        let called = &self.called[self.of_classes[class as usize] as usize];
        called.as_ref().is_some_and(|called| words.contains(called))
    }
}

/// What a question calls an author by: the first word of the role, unless it is one of grammar.
fn calling_name(author: &str) -> Option<String> {
    let role = author.rsplit('/').next().unwrap_or(author);
    let first = terms::plain_words(role).into_iter().next()?;
    (!terms::is_function_word(&first)).then_some(first)
}
