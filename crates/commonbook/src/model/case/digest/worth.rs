//! The floor of a digest: which sentences are worth an entry of a case at all.
//!
//! A sentence needs a sign that it says something about the work, and none of the signs of talk: a
//! question, code, a greeting, a report of what goes on just now, an order to the agent itself.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::sentence::DigestSentence;
use super::{DigestSource, binding};
use crate::model::memory::Importance;

/// Types of memories that are no facts about the work.
const SILENT_TYPES: [&str; 5] = ["conversation", "handoff", "profile", "question", "task_context"];

/// Types whose author has said that the memory matters to others.
const TELLING_TYPES: [&str; 5] = ["answer", "decision", "learning", "milestone", "procedural"];

/// Share of signs of code among the characters of a sentence.
const CODE_SHARE_MAX: f64 = 0.08;

/// The longest greeting, in words.
const GREETING_WORDS_MAX: usize = 9;

/// The words of a section of `worth.txt`.
struct WorthVocabulary {
    chat: FxHashSet<&'static str>,
    small_talk: FxHashSet<&'static str>,
    greetings: FxHashSet<&'static str>,
    activities: FxHashSet<&'static str>,
    finite: FxHashSet<&'static str>,
    orders: FxHashSet<&'static str>,
    work: FxHashSet<&'static str>,
}

static VOCABULARY: LazyLock<WorthVocabulary> = LazyLock::new(|| {
    let section = |name: &str| words_of_section(include_str!("worth.txt"), name);
    WorthVocabulary {
        chat: section("chat"),
        small_talk: section("small talk"),
        greetings: section("greetings"),
        activities: section("activities"),
        finite: section("finite"),
        orders: section("orders"),
        work: section("work"),
    }
});

/// Beginnings of sentences that say what their author is about to do, and of orders to it.
const TALK_OPENERS: [&str; 49] = [
    "act as ",
    "bin dran",
    "ein moment",
    "gleich zurück",
    "ich bin dran",
    "ich schaue",
    "je regarde",
    "je vais ",
    "moment, ",
    "schaue ",
    "voy a ",
    "estoy mirando",
    "as a language model",
    "as an ai",
    "certainly",
    "going to ",
    "here is ",
    "here are ",
    "here's ",
    "i am ",
    "i can ",
    "i have started",
    "i just ",
    "i need to ",
    "i want ",
    "i will ",
    "i'd like ",
    "i'll ",
    "i'm ",
    "i've started",
    "just ",
    "let me ",
    "let us ",
    "let's ",
    "my task",
    "next i ",
    "next, i ",
    "of course",
    "on it",
    "please ",
    "sure, ",
    "the task is to ",
    "the user ",
    "we will now ",
    "wip",
    "you are ",
    "you must ",
    "you should ",
    "your task",
];

/// Words that say that something goes on just now.
const ONGOING: [&str; 17] = [
    " are running",
    " back soon",
    " en cours",
    " läuft gerade",
    " melde mich",
    " schaue gerade",
    " still waiting",
    " in progress",
    " is building",
    " is compiling",
    " is running",
    " now, will ",
    " right now",
    " so far so good",
    " stand by",
    " underway",
    " will report",
];

/// The beginnings of lines of programs, shells and logs.
const CODE_OPENERS: [&str; 39] = [
    "#!",
    "#[",
    "#include",
    "$ ",
    "%",
    "+++",
    "---",
    "// ",
    "/*",
    "<",
    "> ",
    "@@",
    "[error",
    "[info",
    "[warn",
    "assert",
    "cargo ",
    "class ",
    "const ",
    "curl ",
    "def ",
    "diff --git",
    "docker ",
    "export ",
    "fn ",
    "for (",
    "from ",
    "func ",
    "function ",
    "git ",
    "if (",
    "import ",
    "let ",
    "npm ",
    "pub ",
    "return ",
    "select ",
    "sudo ",
    "traceback",
];

/// Words of a line of a log among which its level stands.
const LOG_HEAD_WORDS: usize = 6;

/// Levels as logs write them.
const LOG_LEVELS: [&str; 9] =
    ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "SEVERE"];

/// First words of a sentence that says what its author has begun; what began by itself has a verb in
/// `-ing` behind it.
const BEGINNINGS: [&str; 6] =
    ["kicked", "launched", "restarted", "started", "triggered", "gestartet"];

/// First words of a question, and those that follow.
const QUESTION_WORDS: [&str; 8] = ["how", "what", "when", "where", "which", "who", "whose", "why"];
const QUESTION_VERBS: [&str; 22] = [
    "anyone", "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may",
    "might", "should", "somebody", "shall", "was", "were", "will", "would", "about", "if",
];
const QUESTION_SUBJECTS: [&str; 13] = [
    "anybody", "anyone", "i", "it", "somebody", "someone", "that", "there", "these", "they",
    "this", "we", "you",
];

/// Whether a sentence of a memory may become an entry.
pub(super) fn is_worth_entry(memory: &DigestSource, sentence: &DigestSentence) -> bool {
    let kind = memory.memory_type.as_str();
    if SILENT_TYPES.contains(&kind) || sentence.asks {
        return false;
    }
    let own = sentence.own_words.as_str();
    let lower = own.to_lowercase().replace('’', "'");
    let words: Vec<&str> = words(&lower).collect();
    let vocabulary = &*VOCABULARY;
    let is_telling = TELLING_TYPES.contains(&kind) || memory.importance >= Importance::High;
    let has_small_talk = words.iter().any(|word| vocabulary.small_talk.contains(word));
    let is_talk = asks(&words)
        || is_code(own, &lower)
        || is_log_line(own)
        || is_chat(&words)
        || is_status(&lower, &words)
        || (has_small_talk && !TELLING_TYPES.contains(&kind));
    // "Fix the leak" is an order, "fix is in the branch" is none.
    let is_order = words.first().is_some_and(|word| vocabulary.orders.contains(word))
        && !words.get(1).is_some_and(|word| vocabulary.finite.contains(word));
    if is_talk || (is_order && !is_telling) {
        return false;
    }
    is_telling || sentence.tells_outcome || tells_of_work(own, &words)
}

fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
}

/// Whether it is a question without its mark.
fn asks(words: &[&str]) -> bool {
    match words {
        [first, second, ..] if QUESTION_WORDS.contains(first) => QUESTION_VERBS.contains(second),
        [first, second, ..] if QUESTION_VERBS.contains(first) => QUESTION_SUBJECTS.contains(second),
        _ => false,
    }
}

/// Whether it is a line of a program, a shell or a log. What stands in backticks is a name.
fn is_code(text: &str, lower: &str) -> bool {
    let opens = CODE_OPENERS.iter().any(|opener| lower.starts_with(opener));
    let prose: String = text.split('`').step_by(2).collect();
    let signs = "{}[]()<>=;|&$\\*+#@~^";
    let count = prose.chars().filter(|c| signs.contains(*c)).count() as f64;
    let letters = prose.chars().filter(|c| !c.is_whitespace()).count().max(1) as f64;
    let ends = prose.trim_end().ends_with([';', '{', '}', '\\']);
    let is_prose_opener =
        (lower.starts_with("from ") || lower.starts_with("let ") || lower.starts_with("class "))
            && count == 0.0;
    let only_names = !prose.contains(char::is_alphabetic) && text.contains('`');
    only_names || (opens && !is_prose_opener) || ends || count / letters > CODE_SHARE_MAX
}

/// Whether it is a line of a log: a time or a bracket, and then its level.
fn is_log_line(text: &str) -> bool {
    let mut words = text.split_whitespace().take(LOG_HEAD_WORDS);
    let begins = words.clone().next().is_some_and(|word| {
        word.starts_with('[')
            || (word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit()))
            || word.len() >= 10 && word.starts_with("20")
    });
    let is_level =
        |word: &str| LOG_LEVELS.contains(&word.trim_matches(|c: char| !c.is_alphabetic()));
    begins && words.any(is_level)
}

/// Whether a sentence greets, thanks or confirms, and says nothing else.
pub(super) fn is_talk(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    is_chat(&words(&lower).collect::<Vec<&str>>())
}

/// Whether it greets, thanks or confirms, and says nothing else.
fn is_chat(words: &[&str]) -> bool {
    let vocabulary = &*VOCABULARY;
    let all = words.iter().all(|word| vocabulary.chat.contains(word));
    let greets = words.first().is_some_and(|word| vocabulary.greetings.contains(word))
        && words.get(1) != Some(&"to")
        && words.len() <= GREETING_WORDS_MAX;
    all || greets
}

/// Whether it reports what goes on just now or comes next, and nothing that lasts.
fn is_status(lower: &str, words: &[&str]) -> bool {
    let vocabulary = &*VOCABULARY;
    let padded = format!(" {lower}");
    // "I'll send the report by Friday" is a next step.
    let is_talk = TALK_OPENERS.iter().any(|opener| lower.starts_with(opener));
    if (is_talk && !binding::has_term(lower))
        || ONGOING.iter().any(|ongoing| padded.contains(ongoing))
    {
        return true;
    }
    let begins =
        words.iter().position(|word| !["still", "now", "currently", "also"].contains(word));
    let Some(first) = begins.and_then(|index| words.get(index..)) else { return false };
    let is_activity = first.first().is_some_and(|word| vocabulary.activities.contains(word));
    if let [word, next, ..] = first
        && BEGINNINGS.contains(word)
        && !next.ends_with("ing")
        && !words.iter().any(|word| ["because", "since", "to"].contains(word))
    {
        return true;
    }
    // "Running the tests takes four minutes" has a verb of its own.
    is_activity && !first[1..].iter().any(|word| vocabulary.finite.contains(word))
}

/// Whether it has a name, a number or a word of the work. A text in another script is not judged.
fn tells_of_work(text: &str, words: &[&str]) -> bool {
    let foreign = text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count();
    if foreign * 2 > text.chars().filter(|c| c.is_alphabetic()).count() {
        return true;
    }
    let is_name = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let capitals = inner.chars().filter(|c| c.is_uppercase()).count();
        inner.contains(['_', '/']) || inner.contains("::") || inner.contains('.') || capitals >= 2
    };
    text.contains('`')
        || text.chars().any(|c| c.is_ascii_digit())
        || text.split_whitespace().any(is_name)
        || words.iter().any(|word| is_work_word(word))
}

/// Whether a word, in singular or plural, is one of the work.
fn is_work_word(word: &str) -> bool {
    let work = &VOCABULARY.work;
    let singular = || word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    work.contains(word)
        || word.strip_suffix('s').is_some_and(|stem| work.contains(stem))
        || word.strip_suffix("es").is_some_and(|stem| work.contains(stem))
        || singular().is_some_and(|singular| work.contains(singular.as_str()))
}

/// The words of a section: the lines after `# NAME` and before the next such line.
fn words_of_section(text: &'static str, name: &str) -> FxHashSet<&'static str> {
    let lines = text.lines().skip_while(|line| line.strip_prefix("# ") != Some(name)).skip(1);
    let section = lines.take_while(|line| !line.starts_with("# "));
    section.flat_map(str::split_whitespace).collect()
}
