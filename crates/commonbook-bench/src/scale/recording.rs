//! The statements of one save, from the log of the server, as a script for `pgbench`.

use commonbook::base::error::{Error, ErrorKind, Result};

use super::OWN_WORKSPACE;
use crate::database_server::BenchServer;

/// What begins a statement in the log, an execution of a prepared one, and the parameters of that.
const STATEMENT_MARK: &str = "LOG:  statement: ";
const EXECUTION_MARK: &str = "LOG:  execute ";
const PARAMETERS_MARK: &str = "DETAIL:  parameters: ";

/// How the statements begin whose answer is the position of the event, and which insert rows.
const POSITION_STATEMENT: &str = "INSERT INTO workspace ";
const INSERT_STATEMENT: &str = "INSERT INTO ";
const MEMORY_STATEMENT: &str = "INSERT INTO memory ";

/// The column of a position.
const POSITION_COLUMN: &str = "sequence";

/// A statement with the values of its parameters.
struct RecordedStatement {
    text: String,
    values: Vec<Option<String>>,
}

/// The transaction of one save.
pub(super) struct SaveRecording {
    /// What the transaction begins with, sent at once.
    begin: Vec<String>,
    statements: Vec<RecordedStatement>,
    /// The memory's id, and its workspace.
    id: String,
    workspace: String,
}

impl SaveRecording {
    /// Records a save in this workspace; `save` returns the id of the memory. It is called twice: what only the first
    /// save of a workspace does is not recorded.
    ///
    /// # Errors
    /// Those of the save; `internal` if the log does not have its transaction.
    pub(super) fn of_save(
        server: &BenchServer,
        workspace: &str,
        save: impl Fn() -> Result<String>,
    ) -> Result<Self> {
        save()?;
        let (id, log) = server.log_of(save)?;
        let missing = || Error::new(ErrorKind::Internal, "the log has no transaction of the save");
        let process = log.lines().find(|line| line.contains(MEMORY_STATEMENT));
        let process = process.and_then(|line| line.split(' ').next()).ok_or_else(missing)?;
        let mut recording =
            Self { begin: Vec::new(), statements: Vec::new(), id, workspace: workspace.to_owned() };
        for line in log.lines().filter_map(|line| line.strip_prefix(process)) {
            if recording.take(line.trim_start()) {
                return Ok(recording);
            }
        }
        Err(missing())
    }

    /// Takes a line of the log; returns whether the transaction of the save ends with it.
    fn take(&mut self, line: &str) -> bool {
        if let Some(text) = line.strip_prefix(STATEMENT_MARK) {
            if text.starts_with("BEGIN") {
                self.begin = text.split(';').map(|part| part.trim().to_owned()).collect();
                self.statements.clear();
            }
            let is_save = |known: &RecordedStatement| known.text.starts_with(MEMORY_STATEMENT);
            return text == "COMMIT" && self.statements.iter().any(is_save);
        }
        if let Some((_, text)) =
            line.strip_prefix(EXECUTION_MARK).and_then(|text| text.split_once(": "))
        {
            self.statements.push(RecordedStatement { text: text.to_owned(), values: Vec::new() });
        } else if let (Some(text), Some(last)) =
            (line.strip_prefix(PARAMETERS_MARK), self.statements.last_mut())
        {
            last.values = values_of(text);
        }
        false
    }

    /// The number of statements between the beginning and the commit.
    pub(super) fn statement_count(&self) -> usize {
        self.statements.len()
    }

    /// The script: another memory each time, at the next position, in the workspace or in one of each client's own.
    pub(super) fn script(&self, own_workspaces: bool) -> String {
        let mut lines = vec![r"\set stamp random(1, 999999999999999)".to_owned()];
        lines.push(r"\startpipeline".to_owned());
        lines.extend(self.begin.iter().map(|text| format!("{text};")));
        lines.push(r"\endpipeline".to_owned());
        for statement in &self.statements {
            let end = match statement.text.starts_with(POSITION_STATEMENT) {
                true => r" \gset",
                false => ";",
            };
            lines.push(self.statement(statement, own_workspaces) + end);
        }
        lines.push("COMMIT;\n".to_owned());
        lines.join("\n")
    }

    /// A statement with values in the place of its parameters.
    fn statement(&self, statement: &RecordedStatement, own_workspaces: bool) -> String {
        let RecordedStatement { text, values } = statement;
        let position = position_of_insert(text);
        let (mut written, mut rest) = (String::new(), text.as_str());
        while let Some((before, after)) = rest.split_once('$') {
            let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
            let number: usize = after[..digits].parse().unwrap_or_default();
            written += before;
            match values.get(number.wrapping_sub(1)) {
                Some(_) if position == Some(number) => written += ":sequence",
                Some(value) => written += &self.literal(value.as_deref(), own_workspaces),
                None => written += "$",
            }
            rest = if number == 0 { after } else { &after[digits..] };
        }
        written + rest
    }

    /// A value as SQL: with another id, and with the workspace of the client if each has its own.
    fn literal(&self, value: Option<&str>, own_workspaces: bool) -> String {
        let Some(value) = value else { return "NULL".to_owned() };
        let quoted = format!("'{}'", value.replace('\'', "''"));
        let id = "' || 'mem_' || lpad(:stamp::text, 26, '0') || '";
        let mut written = quoted.replace(&self.id, id);
        if own_workspaces {
            let own = format!("' || '{OWN_WORKSPACE}' || :client_id || '");
            written = written.replace(&self.workspace, &own);
        }
        match written == quoted {
            true => quoted,
            false => format!("({written})"),
        }
    }
}

/// The number of the parameter that is the position, in a statement that inserts a row with one.
fn position_of_insert(text: &str) -> Option<usize> {
    if text.starts_with(POSITION_STATEMENT) || !text.contains(") VALUES ($1") {
        return None;
    }
    let columns = text.strip_prefix(INSERT_STATEMENT)?.split_once(" (")?.1.split_once(')')?.0;
    columns.split(", ").position(|column| column == POSITION_COLUMN).map(|place| place + 1)
}

/// The values of a line such as `$1 = 'harbour', $2 = NULL`.
fn values_of(text: &str) -> Vec<Option<String>> {
    let (mut values, mut rest) = (Vec::new(), text);
    while let Some((_, after)) = rest.split_once(" = ") {
        let Some(quoted) = after.strip_prefix('\'') else {
            values.push(None);
            rest = after;
            continue;
        };
        let (mut value, mut letters) = (String::new(), quoted.char_indices().peekable());
        rest = "";
        while let Some((place, letter)) = letters.next() {
            match letter {
                '\'' if letters.peek().is_some_and(|(_, next)| *next == '\'') => {
                    letters.next();
                    value.push('\'');
                }
                '\'' => {
                    rest = &quoted[place + 1..];
                    break;
                }
                letter => value.push(letter),
            }
        }
        values.push(Some(value));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_a_line_are_read() {
        let values = values_of("$1 = 'har''bour, $9 = x', $2 = NULL, $3 = '', $4 = '7'");
        let expected = [Some("har'bour, $9 = x"), None, Some(""), Some("7")];
        assert_eq!(values.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_script_has_other_ids_and_positions() {
        let log = [
            "LOG:  statement: BEGIN; SET LOCAL jit = off",
            "LOG:  execute s1: INSERT INTO workspace (name, sequence) VALUES ($1, 1) RETURNING sequence",
            "DETAIL:  parameters: $1 = 'own-0'",
            "LOG:  execute s2: INSERT INTO memory (workspace, id, sequence) VALUES ($1, $2, $3)",
            "DETAIL:  parameters: $1 = 'own-0', $2 = 'mem_x', $3 = '2'",
            "LOG:  statement: COMMIT",
        ];
        let mut recording = SaveRecording {
            begin: Vec::new(),
            statements: Vec::new(),
            id: "mem_x".to_owned(),
            workspace: "own-0".to_owned(),
        };
        assert_eq!(log.map(|line| recording.take(line)), [false, false, false, false, false, true]);
        let own = recording.script(true);
        let lines: Vec<_> = own.lines().skip(1).collect();
        let memory = "('' || 'mem_' || lpad(:stamp::text, 26, '0') || '')";
        let workspace = "('' || 'own-' || :client_id || '')";
        assert_eq!(
            lines,
            [
                r"\startpipeline",
                "BEGIN;",
                "SET LOCAL jit = off;",
                r"\endpipeline",
                &format!(
                    r"INSERT INTO workspace (name, sequence) VALUES ({workspace}, 1) RETURNING sequence \gset"
                ),
                &format!(
                    "INSERT INTO memory (workspace, id, sequence) VALUES ({workspace}, {memory}, :sequence);"
                ),
                "COMMIT;",
            ]
        );
        assert!(recording.script(false).contains("VALUES ('own-0', 1)"));
    }
}
