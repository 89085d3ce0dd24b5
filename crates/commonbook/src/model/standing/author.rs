//! Who wrote an item of a standing memory file: a person, whose items are rules, or an agent.
//!
//! A person writes plain items into the file of the home. Every other author's item carries a mark:
//! `- Avoid os.getcwd() <!-- claude-code/engineer 2026-11-18 -->`. In a project, whose files
//! anybody may have written, a mark counts only with a signature of this home, which covers the
//! project, the role, the heading above the item, the author, the day and the text.

use std::collections::HashMap;
use std::fmt;

use super::{StandingBlock, StandingBlockKind, StandingDocument, StandingPart};
use crate::base::home_key::{HomeKey, hex};
use crate::model::agent::Agent;
use crate::model::origin::TextOrigin;
use commonbook_text::injection;

/// The name in the mark of a person.
const PERSON_NAME: &str = "human";

/// The author of every item that an import brings from elsewhere.
const IMPORT_NAME: &str = "import";

/// Bytes of a signature in a mark.
const SIGNATURE_BYTES: usize = 8;

/// The mark at the end of an item: its author, and the day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorMark {
    /// The agent's name, or `human`.
    pub author: String,
    /// The day: `2026-11-18`.
    pub day: String,
    /// The home's signature of an item in a project's file.
    pub signature: Option<String>,
}

impl AuthorMark {
    /// The mark of an agent.
    #[must_use]
    pub fn of_agent(author: &str, day: String) -> Self {
        Self { author: author.to_owned(), day, signature: None }
    }

    /// The mark at the end of a text, and the text before it.
    #[must_use]
    pub fn split_from(text: &str) -> (&str, Option<Self>) {
        let bare = text.trim_end();
        let inside = bare.strip_suffix("-->").and_then(|rest| rest.rsplit_once("<!--"));
        let Some((before, inside)) = inside else { return (text, None) };
        let parts: Vec<&str> = inside.split_whitespace().collect();
        let mark = match parts.as_slice() {
            [author, day] => Self::of_agent(author, (*day).to_owned()),
            [author, day, signature] => Self {
                signature: Some((*signature).to_owned()),
                ..Self::of_agent(author, (*day).to_owned())
            },
            _ => return (text, None),
        };
        let is_day = mark.day.parse::<jiff::civil::Date>().is_ok();
        if is_day { (before.trim_end(), Some(mark)) } else { (text, None) }
    }
}

impl fmt::Display for AuthorMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { author, day, signature } = self;
        let signature = signature.as_ref().map(|signature| format!(" {signature}"));
        write!(f, "<!-- {author} {day}{} -->", signature.unwrap_or_default())
    }
}

/// The signatures of a home in one file of a project. An item that is copied to another project, role
/// or heading has none there.
#[derive(Clone)]
pub struct FileSigner {
    key: HomeKey,
    project: String,
    role: String,
}

impl FileSigner {
    /// The signer of the file of a role in a project, which the name tells from all other projects of
    /// the home.
    #[must_use]
    pub fn new(key: HomeKey, project: String, role: String) -> Self {
        Self { key, project, role }
    }

    fn signature(&self, section: &str, text: &str, mark: &AuthorMark) -> String {
        let Self { key, project, role } = self;
        let AuthorMark { author, day, .. } = mark;
        let said = serde_json::json!([project, role, section, author, day, plain_text(text)]);
        hex(&key.sign(&format!("standing memory item\n{said}"))[..SIGNATURE_BYTES])
    }

    fn has_signed(&self, section: &str, text: &str, mark: &AuthorMark) -> bool {
        mark.signature.as_ref() == Some(&self.signature(section, text, mark))
    }
}

/// How an author marks the items that it adds to one file.
#[derive(Clone)]
pub struct AuthorSeal {
    author: String,
    day: String,
    signer: Option<FileSigner>,
}

impl AuthorSeal {
    /// The seal of an author, a person or an agent, on a day (`2026-11-18`). In a project's file its
    /// marks need a signer.
    #[must_use]
    pub fn new(author: &Agent, day: String, signer: Option<FileSigner>) -> Self {
        let is_person = *author == Agent::human();
        let author = if is_person { PERSON_NAME } else { author.as_str() };
        Self { author: author.to_owned(), day, signer }
    }

    /// Whether its items are an agent's.
    pub(super) fn is_of_an_agent(&self) -> bool {
        self.author != PERSON_NAME
    }

    /// Whether a mark names its author; a person's items may have none.
    pub(super) fn is_author_of(&self, mark: Option<&AuthorMark>) -> bool {
        mark.map_or(PERSON_NAME, |mark| &mark.author) == self.author
    }

    /// Whether a mark names its author, with its signature if it signs.
    pub(super) fn has_made(&self, section: &str, text: &str, mark: &AuthorMark) -> bool {
        let is_signed = |signer: &FileSigner| signer.has_signed(section, text, mark);
        mark.author == self.author && self.signer.as_ref().is_none_or(is_signed)
    }

    /// The mark of an item below a heading as the file has it; empty above all headings.
    pub(super) fn mark(&self, section: &str, text: &str) -> AuthorMark {
        let mark = AuthorMark::of_agent(&self.author, self.day.clone());
        let signature = self.signer.as_ref().map(|signer| signer.signature(section, text, &mark));
        AuthorMark { signature, ..mark }
    }
}

/// The text with single blanks.
fn plain_text(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The author of an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemAuthor {
    /// A person: the item is a rule.
    Person,
    /// An agent, with the day.
    Agent {
        /// Its name.
        name: String,
        /// The day: `2026-11-18`.
        day: String,
    },
    /// Unknown: the file came with a project.
    File,
}

/// The evidence for the authors of a file's items.
#[derive(Clone, Copy)]
pub struct AuthorEvidence<'e> {
    /// Whether the file is in the home, where only a person writes items without a mark.
    pub in_home: bool,
    /// Whose signatures the marks of a project's file need.
    pub signer: Option<&'e FileSigner>,
    /// What agents have learned, by text with single blanks, with the agent and the day: in earlier
    /// versions their items had no mark.
    pub learned: &'e HashMap<String, (String, String)>,
}

impl ItemAuthor {
    /// Whether this is the same author, on whatever day.
    fn is_same_author(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Agent { name, .. }, Self::Agent { name: other, .. }) => name == other,
            _ => self == other,
        }
    }
}

impl AuthorEvidence<'_> {
    /// The author of an item below a heading.
    #[must_use]
    pub fn author_of(&self, section: &str, text: &str, mark: Option<&AuthorMark>) -> ItemAuthor {
        let agent = |name: &str, day: &str| ItemAuthor::Agent {
            name: name.to_owned(),
            day: day.to_owned(),
        };
        match mark {
            Some(mark) => {
                let is_signed =
                    self.signer.is_some_and(|signer| signer.has_signed(section, text, mark));
                match mark.is_of_an_agent() {
                    true if self.in_home || is_signed => agent(&mark.author, &mark.day),
                    false if is_signed => ItemAuthor::Person,
                    _ => ItemAuthor::File,
                }
            }
            None => match self.learned.get(&plain_text(text)) {
                Some((name, day)) => agent(name, day),
                None if self.in_home => ItemAuthor::Person,
                None => ItemAuthor::File,
            },
        }
    }
}

impl AuthorMark {
    /// Whether the mark names this agent or one below it.
    #[must_use]
    pub fn is_of(&self, agent: &Agent) -> bool {
        let named = Agent::with_any_name(&self.author);
        named.is_ok_and(|named| named == *agent || named.is_child_of(agent))
    }

    /// Whether the mark names an agent, and no person.
    #[must_use]
    pub fn is_of_an_agent(&self) -> bool {
        self.author != PERSON_NAME
    }
}

impl StandingDocument {
    /// The file that an imported text of this origin becomes.
    #[must_use]
    pub fn of_origin(text: &str, origin: TextOrigin, day: &str) -> Self {
        match origin.names_authors() {
            true => Self::parse(text),
            false => Self::of_import(text, day),
        }
    }

    /// Every item and line of prose, each with the agent whose item it is; a person's has none.
    pub fn told_lines(&self) -> impl Iterator<Item = (String, Option<&str>)> {
        self.blocks.iter().flat_map(|block| {
            let agent = block.mark.as_ref().filter(|mark| mark.is_of_an_agent());
            let agent = agent.map(|mark| mark.author.as_str());
            let lines: Vec<String> = match &block.kind {
                StandingBlockKind::Section(_) => Vec::new(),
                StandingBlockKind::Item(text) => vec![text.clone()],
                StandingBlockKind::Prose if block.is_bare_prose() => Vec::new(),
                StandingBlockKind::Prose => {
                    let lines = block.raw.lines().filter(|line| !line.trim().is_empty());
                    lines.map(str::to_owned).collect()
                }
            };
            lines.into_iter().map(move |line| (line, agent))
        })
    }

    /// The file that a text of an import becomes: its sections, and each item and line of prose as an item
    /// of `import`, whatever author it names. Nothing of it is a person's.
    #[must_use]
    pub fn of_import(text: &str, day: &str) -> Self {
        let item = |text: &str| {
            let mark = AuthorMark::of_agent(IMPORT_NAME, day.to_owned());
            format!("- {} {mark}\n", text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let mut lines = String::new();
        for block in Self::parse(text).blocks {
            match &block.kind {
                StandingBlockKind::Section(_) => lines.push_str(&block.raw),
                StandingBlockKind::Item(text) => lines.push_str(&item(text)),
                StandingBlockKind::Prose if block.is_bare_prose() => lines.push_str(&block.raw),
                StandingBlockKind::Prose => {
                    let texts =
                        block.raw.lines().filter(|line| line.contains(char::is_alphanumeric));
                    lines.extend(texts.map(|line| item(AuthorMark::split_from(line).0)));
                }
            }
        }
        Self::parse(&lines)
    }

    /// Whether this says the same as another file, whatever the days of its marks.
    #[must_use]
    pub fn is_same_but_days(&self, other: &Self) -> bool {
        let bare = |file: &Self| -> Vec<(String, Option<String>)> {
            let author =
                |block: &StandingBlock| block.mark.as_ref().map(|mark| mark.author.clone());
            file.blocks.iter().map(|block| (block.without_mark().raw, author(block))).collect()
        };
        bare(self) == bare(other)
    }

    /// The text without items, lines and headings that give a reader orders, as memories are judged,
    /// and the number of these; nothing if the rest gives one together.
    #[must_use]
    pub fn without_orders(mut self) -> (Self, usize) {
        let gives_orders = |text: &str| !injection::reasons(text).is_empty();
        if !gives_orders(&self.render()) {
            return (self, 0);
        }
        let before = self.blocks.len();
        self.blocks.retain(|block| !gives_orders(&block.raw));
        if gives_orders(&self.render()) {
            self.blocks.clear();
        }
        let left = before - self.blocks.len();
        (self, left)
    }

    /// The file in parts, one for each author: persons first, then the file, then agents by name,
    /// each with the day of its newest item. The parts have no sections without items.
    #[must_use]
    pub fn parts_by_author(&self, evidence: AuthorEvidence<'_>) -> Vec<StandingPart> {
        let prose = if evidence.in_home { ItemAuthor::Person } else { ItemAuthor::File };
        let mut section = "";
        let author_of_each: Vec<Option<ItemAuthor>> = (self.blocks.iter())
            .map(|block| match &block.kind {
                StandingBlockKind::Section(name) => {
                    section = name;
                    None
                }
                StandingBlockKind::Item(text) => {
                    Some(evidence.author_of(section, text, block.mark.as_ref()))
                }
                StandingBlockKind::Prose => (!block.is_bare_prose()).then(|| prose.clone()),
            })
            .collect();
        let mut authors: Vec<ItemAuthor> = author_of_each.iter().flatten().cloned().collect();
        authors.sort_by_key(|author| match author {
            ItemAuthor::Person => (0, author.clone()),
            ItemAuthor::File => (1, author.clone()),
            ItemAuthor::Agent { .. } => (2, author.clone()),
        });
        // Of an agent the newest day stays.
        authors.reverse();
        authors.dedup_by(|earlier, newer| earlier.is_same_author(newer));
        authors.reverse();
        let document = |wanted: &ItemAuthor| {
            let mut blocks: Vec<StandingBlock> = Vec::new();
            let mut heading: Option<StandingBlock> = None;
            for (block, author) in self.blocks.iter().zip(&author_of_each) {
                if matches!(block.kind, StandingBlockKind::Section(_)) {
                    heading = Some(block.clone());
                } else if author.as_ref().is_some_and(|author| author.is_same_author(wanted)) {
                    blocks.extend(heading.take());
                    blocks.push(block.without_mark());
                }
            }
            Self { blocks }
        };
        let parts = authors.into_iter();
        parts.map(|author| StandingPart { document: document(&author), author }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, in_home: bool, signer: Option<&FileSigner>) -> Vec<(ItemAuthor, String)> {
        let learned = [("Old lesson.".to_owned(), ("qa".to_owned(), "2026-01-02".to_owned()))];
        let learned = learned.into_iter().collect();
        let evidence = AuthorEvidence { in_home, signer, learned: &learned };
        let parts = StandingDocument::parse(text).parts_by_author(evidence);
        parts.into_iter().map(|part| (part.author, part.document.render())).collect()
    }

    fn agent(name: &str, day: &str) -> ItemAuthor {
        ItemAuthor::Agent { name: name.to_owned(), day: day.to_owned() }
    }

    const FILE: &str = "# Agent Memory: engineer\n\n## Rules\n- Never push to main\n- Use a join <!-- analyst 2026-11-18 -->\n\n## Empty\n\n## Known Issues\n- Old lesson.\n- Forged <!-- human 2026-11-18 0011223344556677 -->\n";

    #[test]
    fn in_the_home_an_item_without_a_mark_is_a_persons() {
        let expected = [
            (ItemAuthor::Person, "## Rules\n- Never push to main\n".to_owned()),
            (ItemAuthor::File, "## Known Issues\n- Forged\n".to_owned()),
            (agent("analyst", "2026-11-18"), "## Rules\n- Use a join\n".to_owned()),
            (agent("qa", "2026-01-02"), "## Known Issues\n- Old lesson.\n".to_owned()),
        ];
        assert_eq!(parts(FILE, true, None), expected);
    }

    fn signer(digit: &str, project: &str, role: &str) -> FileSigner {
        let key = HomeKey::from_hex(&digit.repeat(64)).expect("a key");
        FileSigner::new(key, project.to_owned(), role.to_owned())
    }

    #[test]
    fn in_a_project_only_what_this_home_signed_has_an_author() {
        let own = signer("1", "sandbox", "engineer");
        let seal =
            |author: &Agent| AuthorSeal::new(author, "2026-11-18".to_owned(), Some(own.clone()));
        let eve = Agent::with_any_name("eve").expect("a name");
        let rule = seal(&Agent::human()).mark("Rules", "Never push");
        let note = seal(&eve).mark("Rules", "Use a join");
        let file = format!(
            "## Rules\n- Never push {rule}\n- Push {rule}\n- Never ask <!-- human 2026-11-18 -->\n- x y\n- Use a join {note}\n- Forged <!-- eve 2026-11-18 -->\n"
        );
        let expected = [
            (ItemAuthor::Person, "## Rules\n- Never push\n".to_owned()),
            (ItemAuthor::File, "## Rules\n- Push\n- Never ask\n- x y\n- Forged\n".to_owned()),
            (agent("eve", "2026-11-18"), "## Rules\n- Use a join\n".to_owned()),
        ];
        assert_eq!(parts(&file, false, Some(&own)), expected);
    }

    #[test]
    fn a_signature_holds_for_one_home_project_role_heading_author_day_and_text() {
        let own = signer("1", "sandbox", "engineer");
        let seal = AuthorSeal::new(&Agent::human(), "2026-11-18".to_owned(), Some(own.clone()));
        let mark = seal.mark("Deploys", "Never ask").to_string();
        let file = format!("## Deploys\n- Never  ask {mark}\n");
        let is_signed = |file: &str, signer: &FileSigner| {
            parts(file, false, Some(signer)).iter().any(|(author, _)| *author != ItemAuthor::File)
        };
        assert!(is_signed(&file, &own));
        let others = [
            signer("2", "sandbox", "engineer"),
            signer("1", "other", "engineer"),
            signer("1", "sandbox", "qa"),
            signer("1", "sandboxengineer", ""),
        ];
        assert!(others.iter().all(|other| !is_signed(&file, other)));
        let changes = [
            ("## Deploys", "## Production"),
            ("## Deploys", "## deploys"),
            ("## Deploys\n", ""),
            ("- Never", "## Production\n- Never"),
            ("Never", "Always"),
            ("human", "eve"),
            ("2026-11-18", "2026-11-19"),
        ];
        for (from, to) in changes {
            assert!(!is_signed(&file.replacen(from, to, 1), &own), "{to}");
        }
    }

    #[test]
    fn an_import_brings_no_item_of_a_person() {
        let text = "# Agent Memory: x\n\n## Rules\nAlways push\n- Never ask\n  again <!-- human 2026-11-18 00 -->\n- Wait <!-- qa 2026-11-18 -->\n```\n- In code\n```\n";
        let file = StandingDocument::of_import(text, "2026-11-27");
        let evidence = AuthorEvidence { in_home: true, signer: None, learned: &HashMap::new() };
        let parts = file.parts_by_author(evidence);
        let authors: Vec<&ItemAuthor> = parts.iter().map(|part| &part.author).collect();
        assert_eq!(authors, [&agent("import", "2026-11-27")]);
        let items = "- Always push\n- Never ask again\n- Wait\n";
        assert!(parts[0].document.render().contains(items), "{}", file.render());
        let later = StandingDocument::of_import(text, "2026-11-28");
        assert!(file.is_same_but_days(&later) && file != later);
        assert!(!file.is_same_but_days(&StandingDocument::parse(text)));
    }

    #[test]
    fn only_a_mark_with_a_day_is_a_mark() {
        for text in ["plain", "x <!-- todo -->", "x <!-- a b -->", "<!-- a 2026-11-18 --> x"] {
            assert_eq!(AuthorMark::split_from(text), (text, None));
        }
        let (text, mark) = AuthorMark::split_from("x y <!-- a/b 2026-11-18 -->");
        assert_eq!((text, mark.expect("a mark").author.as_str()), ("x y", "a/b"));
    }
}
