//! The commands of this program in the text that an agent gives to a shell.

/// The names of this program's file.
const OWN_PROGRAMS: [&str; 2] = ["commonbook", "commonbook.exe"];

/// Shells that run the text of their next argument after `-c`.
const SHELLS: [&str; 9] =
    ["sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "powershell.exe"];

/// Words that may stand before the program that they run.
const WRAPPERS: [&str; 24] = [
    "!", "builtin", "command", "do", "doas", "else", "env", "exec", "if", "ionice", "nice",
    "nohup", "npx", "pipx", "run", "stdbuf", "sudo", "then", "time", "timeout", "until", "uvx",
    "while", "xargs",
];

/// The arguments of each call of this program in a text for a shell.
pub(super) fn own_calls(text: &str) -> Vec<Vec<String>> {
    simple_commands(text).iter().flat_map(|words| own_calls_of(words)).collect()
}

/// The arguments of each call of this program that these words run.
pub(super) fn own_calls_of(words: &[String]) -> Vec<Vec<String>> {
    let is_program = |word: &String| {
        let name = file_name(word);
        OWN_PROGRAMS.contains(&name) || SHELLS.contains(&name)
    };
    let Some(at) = words.iter().position(is_program) else { return Vec::new() };
    if !words[..at].iter().all(|word| may_precede(word)) {
        return Vec::new();
    }
    let arguments = &words[at + 1..];
    if OWN_PROGRAMS.contains(&file_name(&words[at])) {
        return vec![arguments.to_vec()];
    }
    let is_text_flag = |word: &String| {
        word.strip_prefix('-').is_some_and(|flag| {
            flag.eq_ignore_ascii_case("command") || (flag.len() <= 3 && flag.ends_with('c'))
        })
    };
    let text = arguments.iter().position(is_text_flag).and_then(|at| arguments.get(at + 1));
    text.map_or_else(Vec::new, |text| own_calls(text))
}

/// The name of the file of a path in either notation.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether a program may follow this word: an assignment, a wrapper, or an option or number of one.
fn may_precede(word: &str) -> bool {
    let is_option = word.starts_with('-') || word.starts_with(|first: char| first.is_ascii_digit());
    is_option || word.contains('=') || WRAPPERS.contains(&file_name(word))
}

/// The simple commands of a text for a shell, each as its words. Comments and here-documents are none.
fn simple_commands(text: &str) -> Vec<Vec<String>> {
    let mut reader = CommandReader::default();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        rest = reader.read(character, rest);
    }
    reader.end_command();
    reader.commands
}

/// What is read of a text for a shell.
#[derive(Default)]
struct CommandReader {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    /// The word that ends the here-document after this line.
    document_end: Option<String>,
}

impl CommandReader {
    /// Reads a character; returns what follows it and is not read yet.
    fn read<'t>(&mut self, character: char, rest: &'t str) -> &'t str {
        let next = rest.chars().next();
        match (self.quote, character) {
            (Some(quote), _) if quote == character => self.quote = None,
            (None, '\'' | '"') => {
                self.quote = Some(character);
                self.word.get_or_insert_default();
            }
            (None, '\\') | (Some('"'), '\\')
                if next.is_some_and(|it| self.quote.is_none() || "\"\\$`".contains(it)) =>
            {
                let escaped = next.unwrap_or_default();
                // A backslash before the end of a line continues it.
                if escaped != '\n' {
                    self.word.get_or_insert_default().push(escaped);
                }
                return &rest[escaped.len_utf8()..];
            }
            (Some(_), _) => self.word.get_or_insert_default().push(character),
            (None, '#') if self.word.is_none() => {
                return rest.find('\n').map_or("", |end| &rest[end..]);
            }
            (None, '<') if rest.starts_with('<') && !rest.starts_with("<<") => {
                self.end_word();
                let named = rest[1..].trim_start_matches(['-', ' ']);
                let end = named.find([' ', '\n', ';', '|', '&', ')', '>']).unwrap_or(named.len());
                self.document_end = Some(named[..end].trim_matches(['\'', '"']).to_owned());
                return &named[end..];
            }
            (None, '\n') => {
                self.end_command();
                return self.document_end.take().map_or(rest, |end| after_document(rest, &end));
            }
            (None, ';' | '&' | '|' | '(' | ')' | '{' | '}' | '`') => self.end_command(),
            (None, _) if character.is_whitespace() => self.end_word(),
            (None, _) => self.word.get_or_insert_default().push(character),
        }
        rest
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

/// What follows the line that ends a here-document; nothing if no line does.
fn after_document<'t>(text: &'t str, end: &str) -> &'t str {
    let mut rest = text;
    while let Some((line, behind)) = rest.split_once('\n') {
        if line.trim() == end {
            return behind;
        }
        rest = behind;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_this_program_are_found_in_texts_for_a_shell() {
        let table = [
            ("commonbook save foo", vec!["save foo"]),
            ("cd /srv/app && commonbook save 'the gate is blue'", vec!["save the gate is blue"]),
            ("cat notes.md | ./target/debug/commonbook learn -", vec!["learn -"]),
            ("FOO=1 timeout 10 ~/bin/commonbook case append k \"a b\"", vec!["case append k a b"]),
            ("bash -lc 'make; commonbook checkpoint --title x'", vec!["checkpoint --title x"]),
            ("if commonbook save x; then commonbook list; fi", vec!["save x", "list"]),
            ("id=$(commonbook save x)", vec!["save x"]),
            ("& \"C:\\tools\\commonbook.exe\" save x", vec!["save x"]),
            ("commonbook save \\\n  --topic a x", vec!["save --topic a x"]),
            ("commonbook save - <<'END'\nwe say commonbook list\nEND\nls", vec!["save -"]),
            ("cat > how.md <<EOF\ncommonbook save x\nEOF", vec![]),
            ("cat > how.md <<EOF\ncommonbook save x", vec![]),
            ("echo commonbook save x", vec![]),
            ("grep -r 'commonbook save' docs", vec![]),
            ("which commonbook", vec![]),
            ("# commonbook save x", vec![]),
            ("cargo build -p commonbook-server", vec![]),
            ("echo 'open", vec![]),
            ("", vec![]),
        ];
        for (text, expected) in table {
            let calls: Vec<String> = own_calls(text).iter().map(|call| call.join(" ")).collect();
            assert_eq!(calls, expected, "{text}");
        }
    }
}
