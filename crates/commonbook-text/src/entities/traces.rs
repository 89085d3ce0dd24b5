//! Traces: the calls in a stack trace, and the functions that code defines.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};

use super::{EntityEvidence, TextMention};
use crate::entities::EntityType;
use crate::word_list::WordList;

/// Maximum calls of one trace: those nearest to the failure matter most.
const TRACE_FRAMES_MAX: usize = 8;
/// Maximum definitions of one block of code.
const DEFINITIONS_MAX: usize = 32;

/// Parts of paths and names that belong to libraries.
static FOREIGN_PARTS: WordList = WordList::new(include_str!("traces/foreign_parts.txt"));

/// The lines of traces with a function or a file, by language.
static FRAME_PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    expression(concat!(
        r#"(?m)^\s*File "(?P<pyfile>(?u:[^"\n]){1,300})", line \d+(?:, in (?P<py>[A-Za-z_]\w*))?"#,
        r"|^\s+at (?:async |new )?(?P<js>[\w$.<>]{1,120}) \((?P<jsfile>(?u:[^()\n:]){1,300}):\d+:\d+\)",
        r"|^\s+at (?P<java>[\w$.]{1,200})\((?P<javafile>\w{1,80}\.(?:java|kt|scala)):\d+\)",
        r"|^\s+at (?P<rsfile>(?u:[^ \t\n:()]){1,300}):\d+:\d+$",
        r"|^\s*\d+: (?P<rs>[\w:]{1,200})$",
        r"|panicked at (?P<panic>(?u:[^ \t\n:']){1,300}):\d+",
        r"|^\s*--> (?P<error>(?u:[^ \t\n:]){1,300}):\d+",
        r"|^\t(?P<gofile>/?(?u:[^ \t\n:]){1,300}\.go):\d+",
    ))
});

static DEFINITION_PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"(?m)^\s*(?:pub(?:\([a-z]+\))? |export |default |async |static |const |unsafe |private |public |protected |override )*(?:fn|def|func|function|fun|sub) (?:\((?u:[^)\n]){1,60}\) )?(?P<name>[A-Za-z_]\w{1,80})\s?[<(\[]",
    )
});

/// An expression in ASCII classes, which stays small and fast.
fn expression(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the tests compile every expression")
}

/// Finds the files and functions of a stack trace.
pub(super) fn find(trace: &str, start: usize, found: &mut Vec<TextMention>) {
    let own = |text: &str| !FOREIGN_PARTS.iter().any(|foreign| text.contains(foreign));
    let frames = FRAME_PATTERN.captures_iter(trace).filter(|frame| own(&frame[0]));
    for frame in frames.take(TRACE_FRAMES_MAX) {
        for name in ["py", "js", "java", "rs"] {
            let Some(called) = frame.name(name) else { continue };
            let range = start + called.start()..start + called.end();
            let value = short_function_name(called.as_str());
            if !value.is_empty() {
                found.push(TextMention::with_value(
                    EntityType::Function,
                    range,
                    value,
                    EntityEvidence::Cue,
                ));
            }
        }
        add_file(&frame, start, found);
    }
}

fn add_file(frame: &Captures<'_>, start: usize, found: &mut Vec<TextMention>) {
    let names = ["pyfile", "jsfile", "javafile", "rsfile", "panic", "error", "gofile"];
    for path in names.iter().filter_map(|name| frame.name(name)) {
        if path.as_str().contains('.') {
            let range = start + path.start()..start + path.end();
            found.push(TextMention::new(EntityType::File, range, EntityEvidence::Cue));
        }
    }
}

/// Returns the last two parts of a long name: `com.acme.Cart.add` is `Cart.add`.
fn short_function_name(called: &str) -> String {
    let called = called.trim_end_matches("::{closure}");
    let mark = if called.contains("::") { "::" } else { "." };
    let parts: Vec<&str> = called.split(mark).filter(|part| !part.is_empty()).collect();
    let named = |part: &&str| !part.contains(['<', '>', '$']) && *part != "Object";
    let parts: Vec<&str> = parts.into_iter().filter(named).collect();
    parts[parts.len().saturating_sub(2)..].join(mark)
}

/// Finds the functions that a block of code defines.
pub(super) fn definitions(code: &str, start: usize, found: &mut Vec<TextMention>) {
    for hit in DEFINITION_PATTERN.captures_iter(code).take(DEFINITIONS_MAX) {
        if let Some(name) = hit.name("name") {
            let range = start + name.start()..start + name.end();
            found.push(TextMention::new(EntityType::Function, range, EntityEvidence::Listed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, find: fn(&str, usize, &mut Vec<TextMention>)) -> Vec<String> {
        let mut found = Vec::new();
        find(text, 0, &mut found);
        found
            .into_iter()
            .map(|mention| mention.value.unwrap_or(text[mention.range].to_owned()))
            .collect()
    }

    #[test]
    fn a_long_trace_gives_its_first_calls() {
        let trace: String =
            (0..1_000).map(|n| format!("  File \"a{n}.py\", line 1, in f{n}\n")).collect();
        assert_eq!(values(&trace, find).len(), 2 * TRACE_FRAMES_MAX);
    }

    #[test]
    fn definitions_are_found_and_calls_are_not() {
        let code = "pub fn save<T>(x: T) {}\nasync function load(a) {}\ndef run(self):\nfunc (s *Server) Serve(w int) {\nsave(1); let f = load;";
        assert_eq!(values(code, definitions), ["save", "load", "run", "Serve"]);
    }
}
