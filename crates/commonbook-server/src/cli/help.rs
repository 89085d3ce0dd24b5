//! The help of the program: its commands in sections, by what people do with them.

use clap::Command;

/// The sections, each with its commands.
const COMMAND_SECTIONS: [(&str, &[&str]); 6] = [
    (
        "Memories",
        &["save", "batch", "search", "show", "list", "update", "delete", "restore", "history"],
    ),
    (
        "Context and sessions",
        &[
            "context",
            "explain",
            "learn",
            "changes",
            "mark",
            "session",
            "checkpoint",
            "checkpoints",
            "summarise",
            "resume",
        ],
    ),
    ("Work with other agents", &["case", "handoff", "entity", "contradictions", "agents", "agent"]),
    (
        "Supervise",
        &[
            "stats", "users", "events", "monitor", "review", "appeal", "release", "adopt", "purge",
            "undo", "token",
        ],
    ),
    ("Connect", &["setup", "serve", "mcp", "hook", "workspace", "memory", "demo"]),
    ("Maintain", &["import", "export", "reindex", "doctor"]),
];

/// Columns of the help.
const HELP_COLUMNS: usize = 80;

/// Columns of the names of commands.
const NAME_COLUMNS: usize = 15;

/// Replaces the flat list of commands by sections.
pub(crate) fn with_sections(command: Command) -> Command {
    let mut text = String::new();
    for (section, names) in COMMAND_SECTIONS {
        text += &format!("\n{section}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &command_lines(name, &about);
        }
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{text}\n\
         Run `commonbook COMMAND --help` for the options of a command.\n\nOptions:\n{{options}}"
    ))
}

/// A command with its description, wrapped.
fn command_lines(name: &str, about: &str) -> String {
    let (mut lines, mut line) = (String::new(), format!("  {name:<NAME_COLUMNS$}"));
    for word in about.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > HELP_COLUMNS {
            lines += &format!("{line}\n");
            line = " ".repeat(NAME_COLUMNS + 2);
        }
        line += &format!(" {word}");
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_stands_in_one_section() {
        let mut listed: Vec<&str> =
            COMMAND_SECTIONS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        listed.sort_unstable();
        let program = crate::clap_command();
        let visible = program.get_subcommands().filter(|command| !command.is_hide_set());
        let mut commands: Vec<&str> = visible.map(Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(listed, commands);
    }
}
