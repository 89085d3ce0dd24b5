//! Statements: organizations, projects, decisions and concepts, recognised by the words around them.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};

use super::{EntityEvidence, TextMention, listed};
use crate::entities::EntityType;
use crate::entities::vocabulary;

/// Maximum characters of a decision; a longer one is cut after a word.
const DECISION_CHARS_MAX: usize = 100;
/// Bytes after the first word of a decision that contain its end.
const SENTENCE_BYTES: usize = 400;
/// Bytes before the verb of a decision that contain a denial.
const DENIAL_BYTES: usize = 24;

/// An expression in ASCII classes, which stays small and fast.
fn expression(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the tests compile every expression")
}

static INSTITUTION: LazyLock<Regex> = LazyLock::new(|| {
    expression(concat!(
        r"\b(?P<a>(?:[A-Z][\w&'-]{1,30} (?:& )?){1,4}(?:Inc|Ltd|LLC|GmbH|Corp|Corporation|AG|plc|Foundation|University|Institute|College|Academy|Bank|Hospital|Association|Consortium|Labs|Studios|Ventures|Holdings|Technologies|Agency|Ministry|Society))\b",
        r"|\b(?P<b>(?:University|Institute|Ministry|Department|Bank|College) of [A-Z]\w{2,30}(?: [A-Z]\w{2,30})?)\b",
    ))
});

static EMPLOYER: LazyLock<Regex> = LazyLock::new(|| {
    expression(concat!(
        r"\b(?:(?:[Ww]ork(?:s|ed|ing)?|job|internship|intern|employed|engineer|developer|manager|position|hired) (?:at|for|by)|(?:CEO|CTO|CFO|founder|co-founder|employee) (?:of|at)|(?:company|startup|agency|firm|non-profit|nonprofit|charity) (?:called|named)) ",
        r"(?P<name>[A-Z][\w&'-]{1,30}(?: (?:of |and |& )?[A-Z][\w&'-]{1,30}){0,3})",
    ))
});

static PROJECT: LazyLock<Regex> = LazyLock::new(|| {
    expression(concat!(
        r"\b[Pp]roject (?P<a>[A-Z][a-z]\w{1,30}|[a-z]\w{1,30}-[\w-]{2,40})\b",
        r"|\b(?:[Tt]he|[Oo]ur|[Mm]y) `?(?P<b>[A-Z]\w{1,30}(?:[ -][A-Z]\w{1,30}){0,2}|[a-z]\w{0,30}-[\w-]{2,40})`? (?:project|repo|repository|codebase|monorepo)\b",
        r"|\b(?:project|app|application|product|website|repo|repository|game) (?:called|named) [`\x22]?(?P<c>[A-Z][\w-]{1,30}(?: [A-Z][\w-]{1,30}){0,3})",
        r"|(?m:^\s{0,4}(?:[-*] )?(?:repo|repository|project): `?(?P<d>[\w.-]{2,40}(?:/[\w.-]{2,60})?)`?$)",
    ))
});

/// Verbs and nouns before a decision.
static DECISION_VERB: LazyLock<Regex> = LazyLock::new(|| {
    expression(concat!(
        r"(?i)\b(?:",
        r"(?:decided|agreed|opted)(?: to| on| that| against| for)",
        r"|(?:we|i|they|he|she|team|group|and) (?:chose)(?: to)?",
        r"|(?:settled|settling) on",
        r"|(?:we'll|we will|we are|we're|i'll) (?:go|going) with",
        r"|decision(?::| is to| was to| is:| was:)",
        r")[ \n]+(?P<what>(?u-i:[^ \n\t.!?]))",
    ))
});

/// Marks and words that end a decision within its sentence.
static DECISION_END: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"[.;!?](?:\s|$)|\n\s*\n|, and (?:[iI]|we|they|he|she|it)\b| as mentioned|,? (?:because|'cause|since|so that|as it|as they|due to|which|given that|but|although|when|after|before)\b| (?:—|–|-) | \(|: ",
    )
});

/// A decision record by its number.
static DECISION_RECORD: LazyLock<Regex> =
    LazyLock::new(|| expression(r"\bADR[- ]?0*(?P<number>[1-9]\d{0,4})\b"));

/// A concept with its abbreviation: "Retrieval-Augmented Generation (RAG)".
static ABBREVIATION: LazyLock<Regex> = LazyLock::new(|| {
    expression(r"\b(?P<long>[A-Za-z][a-z]+(?:[ -][A-Za-z][a-z]+){1,5}) \((?P<short>[A-Z]{2,6})s?\)")
});

/// A concept that a glossary defines: "**Workspace** — …".
static GLOSSARY_ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    expression(r"^(?:[-*|] )?\*\*(?P<name>[\w][\w -]{2,40})\*\* (?:—|–|\||is an? )")
});

/// Finds the statements of a block of prose.
pub(super) fn find(block: &str, start: usize, found: &mut Vec<TextMention>) {
    find_organizations(block, start, found);
    find_projects(block, start, found);
    find_decisions(block, start, found);
    find_concepts(block, start, found);
}

/// Whether a name begins with an ordinary word, like the first word of a sentence.
fn begins_ordinary(name: &str) -> bool {
    let first = name.split(' ').next().unwrap_or(name).trim_end_matches(['.', ',']);
    vocabulary::is_ordinary(&first.to_lowercase())
}

/// Removes ordinary words before a name: "Then Acme Labs" is "Acme Labs".
fn without_beginning(name: &str) -> &str {
    let mut rest = name;
    while begins_ordinary(rest) {
        match rest.split_once(' ') {
            Some((_, after)) => rest = after,
            None => return "",
        }
    }
    rest
}

fn find_organizations(block: &str, start: usize, found: &mut Vec<TextMention>) {
    for hit in INSTITUTION.captures_iter(block) {
        let Some(name) = hit.name("a").or(hit.name("b")) else { continue };
        let bare =
            if hit.name("a").is_some() { without_beginning(name.as_str()) } else { name.as_str() };
        let bare = bare.trim_start_matches(|c: char| !c.is_uppercase());
        if bare.contains(' ') {
            let range = start + name.end() - bare.len()..start + name.end();
            found.push(TextMention::new(EntityType::Organization, range, EntityEvidence::Shape));
        }
    }
    for hit in EMPLOYER.captures_iter(block) {
        let Some(name) = hit.name("name") else { continue };
        let tool =
            listed::find_whole(name.as_str()).is_some_and(|(kind, _)| kind == EntityType::Tool);
        let person = vocabulary::given_name(&name.as_str().to_lowercase()).is_some();
        if !begins_ordinary(name.as_str()) && !tool && !person {
            let text = name
                .as_str()
                .trim_end_matches(['\'', '’', '-'])
                .trim_end_matches("'s")
                .trim_end_matches("’s");
            let range = start + name.start()..start + name.start() + text.len();
            found.push(TextMention::new(EntityType::Organization, range, EntityEvidence::Cue));
        }
    }
}

fn find_projects(block: &str, start: usize, found: &mut Vec<TextMention>) {
    for hit in PROJECT.captures_iter(block) {
        let named = ["a", "b", "c", "d"].iter().find_map(|group| hit.name(group));
        let Some(name) = named else { continue };
        let ordinary = begins_ordinary(name.as_str()) && !name.as_str().contains(['-', '/']);
        // "Project Phoenix" is a project, "the React project" only uses React.
        let tool = hit.name("a").is_none() && listed::find_whole(name.as_str()).is_some();
        let titled = hit.name("a").is_some() && is_in_title(block, &hit);
        if !ordinary && !tool && !titled && name.len() > 2 {
            let range = start + name.start()..start + name.end();
            found.push(TextMention::new(EntityType::Project, range, EntityEvidence::Cue));
        }
    }
}

/// Whether a hit is in a heading or a label, where every noun has a capital letter.
fn is_in_title(block: &str, hit: &Captures<'_>) -> bool {
    let Some(all) = hit.get(0) else { return true };
    let before = block[..all.start()].trim_end().rsplit(' ').next().unwrap_or_default();
    let after = &block[all.end()..];
    let capital = |text: &str| text.trim_start().starts_with(|c: char| c.is_ascii_uppercase());
    block.starts_with('#')
        || after.starts_with(['*', ':', '|', '\n'])
        || (capital(after) && after.starts_with(' '))
        || (capital(before)
            && !before.ends_with('.')
            && !vocabulary::is_ordinary(&before.to_lowercase()))
        || before.ends_with("**")
        || after.is_empty()
        || before.eq_ignore_ascii_case("your")
}

fn find_decisions(block: &str, start: usize, found: &mut Vec<TextMention>) {
    for hit in DECISION_RECORD.captures_iter(block) {
        let number = format!("ADR-{}", &hit["number"]);
        found.push(TextMention::with_value(
            EntityType::Decision,
            range_of(&hit, 0, start),
            number,
            EntityEvidence::Shape,
        ));
    }
    let mut taken = 0;
    for hit in DECISION_VERB.captures_iter(block) {
        let (Some(all), Some(what)) = (hit.get(0), hit.name("what")) else { continue };
        if all.start() < taken {
            continue;
        }
        let before =
            &block[character_start(block, all.start().saturating_sub(DENIAL_BYTES))..all.start()];
        let rest = &block[what.start()..character_start(block, what.start() + SENTENCE_BYTES)];
        let Some((value, length)) = parse_decision(before, &block[all.start()..what.start()], rest)
        else {
            continue;
        };
        taken = what.start() + length;
        let range = start + what.start()..start + taken;
        found.push(TextMention::with_value(
            EntityType::Decision,
            range,
            value,
            EntityEvidence::Cue,
        ));
    }
}

/// Returns the last index up to this one at which a character begins.
fn character_start(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// Parses a decision: returns the decision as stored, and its length in the text. Returns `None` if
/// the decision is a question, denied or left open.
fn parse_decision(before: &str, verb: &str, rest: &str) -> Option<(String, usize)> {
    let verb = verb.trim_end().to_lowercase();
    let clause = before.rsplit(['.', '!', '?', ',', ';', '\n']).next().unwrap_or_default();
    let clause = format!(" {} ", clause.to_lowercase());
    let open = [
        "not ",
        "n't ",
        "n’t ",
        "never ",
        " if ",
        " when ",
        " once ",
        " until ",
        " whether ",
        " yet ",
        " you ",
    ];
    if open.iter().any(|word| clause.contains(word)) {
        return None;
    }
    let mut end = DECISION_END.find(rest).map_or(rest.len(), |reason| reason.start());
    let is_question = rest[end..].starts_with('?');
    if rest[..end].chars().count() > DECISION_CHARS_MAX {
        let cut = rest.char_indices().nth(DECISION_CHARS_MAX).map_or(rest.len(), |(at, _)| at);
        end = rest[..cut].rfind(char::is_whitespace).unwrap_or(cut);
    }
    let text = rest[..end].trim_end_matches([' ', ',', ':', '*', '`']);
    // "She chose them" is a taste; a choice over something else is a decision.
    let chosen = verb.ends_with("chose")
        && ![" over ", " instead of "].iter().any(|word| text.contains(word));
    let pointing = ["the following", "this ", "that ", "it ", "in writing"]
        .iter()
        .any(|word| text.starts_with(word));
    if is_question || chosen || pointing || text.split_whitespace().count() < 2 || text.len() < 8 {
        return None;
    }
    let value = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(['`', '*'], "");
    let value = if verb.ends_with("against") { format!("against {value}") } else { value };
    Some((value, text.len()))
}

fn find_concepts(block: &str, start: usize, found: &mut Vec<TextMention>) {
    for hit in ABBREVIATION.captures_iter(block) {
        let initials: String = {
            let words = hit["long"].split([' ', '-']);
            words.filter_map(|word| word.chars().next()).flat_map(char::to_uppercase).collect()
        };
        let short = &hit["short"];
        // The words that the abbreviation stands for are the last ones before it.
        if let Some(before) = initials.strip_suffix(short)
            && let Some(long) = hit.name("long")
        {
            let skipped: usize =
                long.as_str().split_inclusive([' ', '-']).take(before.len()).map(str::len).sum();
            let range = start + long.start() + skipped..start + long.end();
            found.push(TextMention::new(EntityType::Concept, range, EntityEvidence::Cue));
        }
    }
    if let Some(hit) = GLOSSARY_ENTRY.captures(block) {
        let name = &hit["name"];
        // "**page** | …" in a glossary is an ordinary word with a meaning of its own.
        let general = vocabulary::is_ordinary(&name.to_lowercase());
        if !general && listed::find_whole(name).is_none() && name.split(' ').count() <= 4 {
            let range =
                hit.name("name").map_or(0..0, |name| start + name.start()..start + name.end());
            found.push(TextMention::new(EntityType::Concept, range, EntityEvidence::Cue));
        }
    }
}

fn range_of(hit: &Captures<'_>, group: usize, start: usize) -> std::ops::Range<usize> {
    hit.get(group).map_or(start..start, |found| start + found.start()..start + found.end())
}
