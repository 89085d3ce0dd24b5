//! The statements, which are those of SQLite, in the words of PostgreSQL.
//!
//! A statement is cut into tokens, and the few things that PostgreSQL says otherwise are replaced:
//! parameters, hints to the planner, functions, JSON and upserts. What cannot be replaced word by
//! word stands in [`FRAGMENTS`]. Nothing else in the store knows that there are two dialects.

use crate::base::error::Result;
use crate::store::sql::driver::store_failed;

/// Pieces of statements that PostgreSQL says in another way altogether.
const FRAGMENTS: &[(&str, &str)] = &[
    // The audiences of a sight are numbers, and the planner finds their rows by an index.
    (
        "IN (SELECT value FROM json_each(:audiences))",
        "= ANY (ARRAY(SELECT v::bigint FROM jsonb_array_elements_text(:audiences::jsonb) v))",
    ),
    // A number that no audience had before, without a sequence.
    (
        "INSERT INTO audience (workspace, owner, user_id, sharing, quarantined) VALUES (",
        "INSERT INTO audience (number, workspace, owner, user_id, sharing, quarantined) \
         VALUES (1 + floor(random() * 9007199254740991)::bigint, ",
    ),
    // SQLite takes the columns without an aggregate from the row with the maximum.
    (
        "n.value, max(n.confidence), sum(n.count), m.text, n.place FROM",
        "(array_agg(n.value ORDER BY n.confidence DESC, n.name))[1], max(n.confidence), \
         sum(n.count), m.text, (array_agg(n.place ORDER BY n.confidence DESC, n.name))[1] FROM",
    ),
    ("GROUP BY m.sequence ORDER BY", "GROUP BY m.workspace, m.id ORDER BY"),
    (
        "SELECT e.workspace, e.session, e.entity_type, f.value, max(f.confidence), e.normalised FROM",
        "SELECT max(e.workspace), (array_agg(e.session ORDER BY f.confidence DESC, e.id))[1], \
         (array_agg(e.entity_type ORDER BY f.confidence DESC, e.id))[1], f.value, \
         max(f.confidence), (array_agg(e.normalised ORDER BY f.confidence DESC, e.id))[1] FROM",
    ),
];

/// The primary keys of the tables that a row replaces a row in.
const REPLACED_TABLES: &[(&str, &[&str])] = &[
    ("answer", &["workspace", "agent", "key"]),
    ("basis", &["workspace", "derived", "origin", "memory"]),
    ("case_proposal", &["workspace", "case_key", "number"]),
    ("certificate", &["workspace", "id"]),
    ("checkpoint", &["workspace", "id"]),
    ("context", &["workspace", "id"]),
    ("dead_letter", &["webhook", "sequence"]),
    ("outdated", &["workspace", "derived", "origin", "memory"]),
    ("relation", &["workspace", "id"]),
    ("steady", &["one"]),
    ("token", &["id"]),
];

/// Functions with another name.
const FUNCTIONS: &[(&str, &str)] = &[("ifnull", "coalesce"), ("instr", "strpos"), ("char", "chr")];

/// Words after the source of a `FROM` that are not its alias.
const CLAUSE_WORDS: [&str; 10] =
    ["WHERE", "CROSS", "JOIN", "LEFT", "ON", "ORDER", "GROUP", "LIMIT", "UNION", "INDEXED"];

/// A parameter of a statement, in the order in which PostgreSQL numbers them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParameterName {
    /// `?1`, counted from 0.
    Position(usize),
    /// `:name`, with its colon.
    Name(String),
}

/// A statement for PostgreSQL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translation {
    pub(super) sql: String,
    pub(super) parameters: Vec<ParameterName>,
}

/// What of a statement is missing or was not expected.
#[derive(Debug, thiserror::Error)]
#[error("a statement cannot be said to PostgreSQL: {0}")]
struct UntranslatableStatement(String);

/// A token of a statement, and whether space stands before it.
#[derive(Debug, Clone, Copy)]
struct SqlToken<'s> {
    text: &'s str,
    spaced: bool,
}

impl SqlToken<'_> {
    fn is(&self, word: &str) -> bool {
        self.text == word
    }

    fn is_word(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
    }
}

/// The statement in the words of PostgreSQL; `lower` is the collation that lower-cases text.
pub(super) fn translate(statement: &str, lower: &str) -> Result<Translation> {
    let mut text = statement.to_owned();
    for (ours, theirs) in FRAGMENTS {
        if text.contains(ours) {
            text = text.replace(ours, theirs);
        }
    }
    let tokens = tokens_of(&text);
    let mut output = StatementText { sql: String::new(), parameters: Vec::new(), lower };
    let replaced = output.begin(&tokens).ok_or_else(|| untranslatable(statement))?;
    output.extend(&tokens).ok_or_else(|| untranslatable(statement))?;
    output.sql.push_str(&replaced);
    Ok(Translation { sql: output.sql, parameters: output.parameters })
}

fn untranslatable(statement: &str) -> crate::base::error::Error {
    store_failed(UntranslatableStatement(statement.to_owned()))
}

/// Cuts a statement into words, numbers, texts, parameters and signs.
fn tokens_of(text: &str) -> Vec<SqlToken<'_>> {
    let bytes = text.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let run = |from: usize, holds: &dyn Fn(&u8) -> bool| {
        bytes[from..].iter().position(|byte| !holds(byte)).map_or(bytes.len(), |count| from + count)
    };
    let (mut tokens, mut place, mut spaced) = (Vec::new(), 0, false);
    while place < bytes.len() {
        let end = match bytes[place] {
            byte if byte.is_ascii_whitespace() => {
                (place, spaced) = (place + 1, true);
                continue;
            }
            b'\'' => 1 + run(place + 1, &|byte| *byte != b'\''),
            b':' if bytes.get(place + 1) == Some(&b':') => place + 2,
            b'?' | b':' => run(place + 1, &is_name),
            b'-' if text[place..].starts_with("->>") => place + 3,
            b'|' | b'<' | b'>' => run(place, &|byte| matches!(byte, b'|' | b'<' | b'>' | b'=')),
            byte if is_name(&byte) => run(place, &is_name),
            _ => place + 1,
        };
        tokens.push(SqlToken { text: &text[place..end.min(text.len())], spaced });
        (place, spaced) = (end, false);
    }
    tokens
}

/// The statement as far as it is translated.
struct StatementText<'l> {
    sql: String,
    parameters: Vec<ParameterName>,
    lower: &'l str,
}

impl StatementText<'_> {
    /// The clause that ends a statement that begins with `INSERT OR …`.
    fn begin(&self, tokens: &[SqlToken<'_>]) -> Option<String> {
        let [insert, or, verb, into, table, rest @ ..] = tokens else { return Some(String::new()) };
        if !(insert.is("INSERT") && or.is("OR") && into.is("INTO")) {
            return Some(String::new());
        }
        if verb.is("IGNORE") {
            return Some(" ON CONFLICT DO NOTHING".to_owned());
        }
        let (_, key) = REPLACED_TABLES.iter().find(|(name, _)| table.is(name))?;
        let columns = &rest[1..closing(rest, 0)?];
        let sets = columns
            .iter()
            .filter(|column| column.is_word() && !key.contains(&column.text))
            .map(|column| format!("{0} = excluded.{0}", column.text));
        let sets = sets.collect::<Vec<_>>().join(", ");
        Some(format!(" ON CONFLICT ({}) DO UPDATE SET {sets}", key.join(", ")))
    }

    fn push(&mut self, token: SqlToken<'_>, text: &str) {
        if token.spaced {
            self.sql.push(' ');
        }
        self.sql.push_str(text);
    }

    /// Appends these tokens in the words of PostgreSQL.
    fn extend(&mut self, tokens: &[SqlToken<'_>]) -> Option<()> {
        let mut place = 0;
        while place < tokens.len() {
            place += self.next(tokens, place)?;
        }
        Some(())
    }

    /// Appends what begins at this token; returns the number of tokens that it takes.
    fn next(&mut self, tokens: &[SqlToken<'_>], place: usize) -> Option<usize> {
        let token = tokens[place];
        let after = |count: usize| tokens.get(place + count).map_or("", |token| token.text);
        match token.text {
            "INDEXED" if after(1) == "BY" => return Some(3),
            "OR" if place == 1 && tokens[0].is("INSERT") => return Some(2),
            "IS" => return Some(self.comparison(token, after(1), after(2))),
            "CROSS" if after(1) == "JOIN" => {
                let source = source_length(&tokens[place + 2..])?;
                let on = tokens.get(place + 2 + source).is_some_and(|next| next.is("ON"));
                self.push(token, if on { "JOIN" } else { "CROSS JOIN" });
                return Some(2);
            }
            "->>" => {
                self.sql.push_str("::jsonb");
                let next = tokens.get(place + 1)?;
                match json_path(next.text) {
                    Some(path) => self.push(token, &format!("#>> {path}")),
                    None => self.push(token, &format!("->> {}", next.text)),
                }
                return Some(2);
            }
            // It only keeps the planner of SQLite from an index.
            "+" if place > 0 && is_operand_expected(tokens[place - 1]) => {
                self.push(token, "");
                return Some(1);
            }
            _ => {}
        }
        if token.text.starts_with(['?', ':']) && token.text != "::" {
            let number = self.parameter(token.text)?;
            self.push(token, &format!("${number}"));
            return Some(1);
        }
        if token.is_word() && after(1) == "(" {
            return self.call(tokens, place);
        }
        self.push(token, token.text);
        Some(1)
    }

    /// Appends `IS`, which compares any two values in SQLite; returns the number of tokens.
    fn comparison(&mut self, token: SqlToken<'_>, next: &str, second: &str) -> usize {
        let is_plain = |word: &str| matches!(word, "NULL" | "TRUE" | "FALSE" | "DISTINCT");
        match next {
            "NOT" if is_plain(second) => self.push(token, "IS"),
            "NOT" => {
                self.push(token, "IS DISTINCT FROM");
                return 2;
            }
            next if is_plain(next) => self.push(token, "IS"),
            _ => self.push(token, "IS NOT DISTINCT FROM"),
        }
        1
    }

    /// The number of a parameter, counted from 1.
    fn parameter(&mut self, text: &str) -> Option<usize> {
        let name = match text.strip_prefix('?') {
            // Without a number it is the next one.
            Some("") => ParameterName::Position(self.parameters.len()),
            Some(number) => ParameterName::Position(number.parse::<usize>().ok()?.checked_sub(1)?),
            None => ParameterName::Name(text.to_owned()),
        };
        let known = self.parameters.iter().position(|parameter| *parameter == name);
        let place = known.unwrap_or(self.parameters.len());
        if known.is_none() {
            self.parameters.push(name);
        }
        Some(place + 1)
    }

    /// Appends a call of a function, or a word before a parenthesis; returns the number of tokens.
    fn call(&mut self, tokens: &[SqlToken<'_>], place: usize) -> Option<usize> {
        let token = tokens[place];
        let end = closing(tokens, place + 1)?;
        let arguments = split_arguments(&tokens[place + 2..end]);
        let length = end + 1 - place;
        let text = match (token.text, arguments.len()) {
            ("max", 2..) => return self.renamed(tokens, place, "greatest"),
            ("min", 2..) => return self.renamed(tokens, place, "least"),
            ("sum", 1) if tokens.get(end + 1).is_none_or(|next| !next.is("OVER")) => {
                format!("(sum({}))::bigint", self.part(arguments[0])?)
            }
            ("substr", 2) if arguments[1].first().is_some_and(|sign| sign.is("-")) => {
                let text = self.part(arguments[0])?;
                format!("right({text}, {})", self.part(&arguments[1][1..])?)
            }
            ("commonbook_lower", 1) => {
                format!("lower(({}) COLLATE \"{}\")", self.part(arguments[0])?, self.lower)
            }
            ("json_array_length", 1) => {
                format!("jsonb_array_length(({})::jsonb)", self.part(arguments[0])?)
            }
            ("json_array_length", 2) => {
                let path = json_path(arguments[1].first()?.text)?;
                format!("jsonb_array_length(({})::jsonb #> {path})", self.part(arguments[0])?)
            }
            ("json_type", 2) => {
                let path = json_path(arguments[1].first()?.text)?;
                format!("(({})::jsonb #> {path})", self.part(arguments[0])?)
            }
            ("json_each", 1 | 2) => {
                let mut list = format!("({})::jsonb", self.part(arguments[0])?);
                if let Some(path) = arguments.get(1) {
                    list = format!("{list} #> {}", json_path(path.first()?.text)?);
                }
                let has_alias = tokens
                    .get(end + 1)
                    .is_some_and(|next| next.is_word() && !CLAUSE_WORDS.contains(&next.text));
                format!(
                    "LATERAL (SELECT j.value COLLATE \"C\" AS value, j.place - 1 AS key \
                     FROM jsonb_array_elements_text({list}) WITH ORDINALITY AS j (value, place)){}",
                    if has_alias { "" } else { " json_items" }
                )
            }
            (name, _) => {
                let renamed = FUNCTIONS.iter().find(|(ours, _)| *ours == name);
                return self.renamed(tokens, place, renamed.map_or(name, |(_, theirs)| theirs));
            }
        };
        self.push(token, &text);
        Some(length)
    }

    /// These tokens in the words of PostgreSQL, apart.
    fn part(&mut self, tokens: &[SqlToken<'_>]) -> Option<String> {
        let before = std::mem::take(&mut self.sql);
        self.extend(tokens)?;
        let part = std::mem::replace(&mut self.sql, before);
        Some(part.trim_start().to_owned())
    }

    /// Appends a word under another name, and the parenthesis after it.
    fn renamed(&mut self, tokens: &[SqlToken<'_>], place: usize, name: &str) -> Option<usize> {
        self.push(tokens[place], name);
        self.push(*tokens.get(place + 1)?, "(");
        Some(2)
    }
}

/// Whether an operand follows this token.
fn is_operand_expected(before: SqlToken<'_>) -> bool {
    matches!(before.text, "WHERE" | "AND" | "OR" | "BY" | "ON" | "," | "(")
}

/// The place of the parenthesis that closes the one at `open`.
fn closing(tokens: &[SqlToken<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

/// The arguments between two parentheses.
fn split_arguments<'t, 's>(tokens: &'t [SqlToken<'s>]) -> Vec<&'t [SqlToken<'s>]> {
    let mut depth = 0_i32;
    let arguments = tokens.split(|token| {
        depth += i32::from(token.is("(")) - i32::from(token.is(")"));
        depth == 0 && token.is(",")
    });
    arguments.filter(|argument| !argument.is_empty()).collect()
}

/// The number of tokens of a source after `JOIN`, with its alias and its hint.
fn source_length(tokens: &[SqlToken<'_>]) -> Option<usize> {
    let mut length = match tokens {
        [first, ..] if first.is("(") => closing(tokens, 0)? + 1,
        [_, second, ..] if second.is("(") => closing(tokens, 1)? + 1,
        [_, ..] => 1,
        [] => return None,
    };
    if tokens.get(length).is_some_and(|next| next.is_word() && !CLAUSE_WORDS.contains(&next.text)) {
        length += 1;
    }
    if tokens.get(length).is_some_and(|next| next.is("INDEXED")) {
        length += 3;
    }
    Some(length)
}

/// The path `'$.a.b'` as `'{a,b}'`; `None` if the text is no path.
fn json_path(text: &str) -> Option<String> {
    let path = text.strip_prefix("'$.")?.strip_suffix('\'')?;
    Some(format!("'{{{}}}'", path.replace('.', ",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement of SQLite, and the same in PostgreSQL.
    const STATEMENTS: [(&str, &str); 22] = [
        ("SELECT a FROM t WHERE b = ?2 AND c = ?1", "SELECT a FROM t WHERE b = $1 AND c = $2"),
        ("SELECT a FROM t WHERE :b = b OR c = :b", "SELECT a FROM t WHERE $1 = b OR c = $1"),
        ("UPDATE t SET a = ?, b = ? WHERE c = ?", "UPDATE t SET a = $1, b = $2 WHERE c = $3"),
        ("SELECT '?1 :a ->> IS' FROM t", "SELECT '?1 :a ->> IS' FROM t"),
        ("SELECT a FROM t INDEXED BY t_a WHERE a = 1", "SELECT a FROM t WHERE a = 1"),
        (
            "SELECT a FROM t WHERE a IS NULL AND b IS NOT NULL",
            "SELECT a FROM t WHERE a IS NULL AND b IS NOT NULL",
        ),
        ("SELECT a FROM t WHERE a IS ?1", "SELECT a FROM t WHERE a IS NOT DISTINCT FROM $1"),
        ("SELECT a FROM t WHERE a IS NOT 1", "SELECT a FROM t WHERE a IS DISTINCT FROM 1"),
        ("SELECT a FROM t WHERE +a = 1 ORDER BY +b", "SELECT a FROM t WHERE a = 1 ORDER BY b"),
        ("SELECT 1 + ifnull(max(a), 0) FROM t", "SELECT 1 + coalesce(max(a), 0) FROM t"),
        ("SELECT max(a, min(b, ?1)) FROM t", "SELECT greatest(a, least(b, $1)) FROM t"),
        ("SELECT sum(a), sum(b) OVER w FROM t", "SELECT (sum(a))::bigint, sum(b) OVER w FROM t"),
        (
            "SELECT substr(a, -length(:e)), substr(a, 1, 4) FROM t",
            "SELECT right(a, length($1)), substr(a, 1, 4) FROM t",
        ),
        ("SELECT instr(a, 'x') > 0, char(10) FROM t", "SELECT strpos(a, 'x') > 0, chr(10) FROM t"),
        ("SELECT commonbook_lower(a) FROM t", "SELECT lower((a) COLLATE \"fine\") FROM t"),
        (
            "SELECT a ->> '$.b.c', (:w ->> 0) FROM t",
            "SELECT a::jsonb #>> '{b,c}', ($1::jsonb ->> 0) FROM t",
        ),
        (
            "SELECT json_type(a, '$.b') FROM t WHERE json_array_length(?1) = 0",
            "SELECT ((a)::jsonb #> '{b}') FROM t WHERE jsonb_array_length(($1)::jsonb) = 0",
        ),
        (
            "SELECT a FROM t CROSS JOIN u INDEXED BY u_a ON u.a = t.a CROSS JOIN v WHERE a",
            "SELECT a FROM t JOIN u ON u.a = t.a CROSS JOIN v WHERE a",
        ),
        (
            "INSERT OR IGNORE INTO t (a) SELECT a FROM u",
            "INSERT INTO t (a) SELECT a FROM u ON CONFLICT DO NOTHING",
        ),
        (
            "INSERT OR REPLACE INTO token (id, agent, scopes) VALUES (?1, ?2, ?3)",
            "INSERT INTO token (id, agent, scopes) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, scopes = excluded.scopes",
        ),
        (
            "SELECT w.value FROM json_each(?1) w JOIN t ON t.a = w.key",
            "SELECT w.value FROM LATERAL (SELECT j.value COLLATE \"C\" AS value, j.place - 1 AS key \
             FROM jsonb_array_elements_text(($1)::jsonb) WITH ORDINALITY AS j (value, place)) w JOIN t ON t.a = w.key",
        ),
        (
            "SELECT a FROM t WHERE a IN (SELECT value FROM json_each(b, '$.c'))",
            "SELECT a FROM t WHERE a IN (SELECT value FROM LATERAL (SELECT j.value COLLATE \"C\" AS value, \
             j.place - 1 AS key FROM jsonb_array_elements_text((b)::jsonb #> '{c}') WITH ORDINALITY AS \
             j (value, place)) json_items)",
        ),
    ];

    #[test]
    fn a_statement_is_said_in_the_words_of_postgresql() {
        for (ours, theirs) in STATEMENTS {
            assert_eq!(translate(ours, "fine").unwrap().sql, theirs);
        }
    }

    #[test]
    fn a_parameter_has_one_number_wherever_it_stands() {
        let found = translate("SELECT ?2 WHERE ?1 = ?2", "fine").unwrap().parameters;
        assert_eq!(found, [ParameterName::Position(1), ParameterName::Position(0)]);
        let found = translate("SELECT :b WHERE :a = :b", "fine").unwrap().parameters;
        assert_eq!(found, [":b", ":a"].map(|name| ParameterName::Name(name.to_owned())));
    }

    #[test]
    fn a_row_replaces_another_only_in_a_table_with_a_known_key() {
        assert!(translate("INSERT OR REPLACE INTO unknown (a) VALUES (?1)", "fine").is_err());
    }

    /// The statements of all verbs as they are written, each space and continued line one space.
    fn written_statements() -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/sql");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let texts = files.map(|path| std::fs::read_to_string(path).unwrap().replace("\\\n", " "));
        let words =
            texts.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        words.collect::<Vec<_>>().join(" ")
    }

    /// What is replaced as it is written is no longer replaced when a statement changes a letter of it.
    #[test]
    fn every_piece_that_is_replaced_stands_in_a_statement() {
        let statements = written_statements();
        for (piece, _) in FRAGMENTS {
            assert!(statements.contains(piece), "no statement contains {piece:?}");
        }
        for (table, _) in REPLACED_TABLES {
            let insert = format!("INSERT OR REPLACE INTO {table} ");
            assert!(statements.contains(&insert), "no statement contains {insert:?}");
        }
    }
}
