//! The help of the program: its commands in sections, by what people do with them.

use clap::Command;

use crate::calls::output::{bold, dim};

/// A section: its commands, and three examples.
struct CommandSection {
    title: &'static str,
    commands: &'static [&'static str],
    examples: [&'static str; 3],
}

/// The sections of the help.
const COMMAND_SECTIONS: [CommandSection; 6] = [
    CommandSection {
        title: "Memories",
        commands: &[
            "save", "batch", "search", "show", "list", "update", "delete", "restore", "retract",
            "history", "diff", "why",
        ],
        examples: [
            "commonbook save We deploy on Fridays --type decision --topic deploy",
            "commonbook search when do we deploy",
            "commonbook update 9hm2x4qd --text 'We deploy on Tuesdays'",
        ],
    },
    CommandSection {
        title: "Context and sessions",
        commands: &[
            "context",
            "briefing",
            "contexts",
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
        examples: [
            "commonbook context fix the payment retries",
            "commonbook session start --agent claude-code",
            "commonbook changes --agent claude-code --mark",
        ],
    },
    CommandSection {
        title: "Work with other agents",
        commands: &["case", "handoff", "entity", "contradictions", "outdated", "agents", "agent"],
        examples: [
            "commonbook handoff create gemini-cli Write the press release --agent codex",
            "commonbook case open outage --title 'Outage of 3 March'",
            "commonbook contradictions list",
        ],
    },
    CommandSection {
        title: "Supervise",
        commands: &[
            "stats",
            "rates",
            "users",
            "knowledge",
            "events",
            "audit",
            "monitor",
            "review",
            "appeal",
            "release",
            "adopt",
            "purge",
            "undo",
            "forget",
            "forgotten",
            "allow",
            "dashboard",
            "token",
            "webhook",
        ],
        examples: [
            "commonbook stats",
            "commonbook monitor --event 'memory.*'",
            "commonbook purge --since 2h --agent codex --dry-run",
        ],
    },
    CommandSection {
        title: "Connect",
        commands: &["init", "setup", "serve", "mcp", "hook", "workspace", "memory", "demo"],
        examples: [
            "commonbook setup",
            "commonbook setup claude-code --dry-run",
            "commonbook serve --port 7077",
        ],
    },
    CommandSection {
        title: "Maintain",
        commands: &[
            "import",
            "export",
            "vault",
            "rebuild",
            "consolidate",
            "backup",
            "restore-backup",
            "migrate",
            "reindex",
            "doctor",
            "config",
            "upgrade",
            "uninstall",
            "completions",
            "man",
        ],
        examples: [
            "commonbook export memories.jsonl",
            "commonbook doctor --deep",
            "commonbook completions bash > ~/.local/share/bash-completion/completions/commonbook",
        ],
    },
];

/// The examples of groups of commands, and of commands whose arguments need some.
const COMMAND_EXAMPLES: &[(&str, [&str; 3])] = &[
    (
        "workspace",
        [
            "commonbook workspace list",
            "commonbook workspace alias shop",
            "commonbook workspace move default --topic billing --dry-run",
        ],
    ),
    (
        "save",
        [
            "commonbook save The gate is blue",
            "commonbook save 'Why: the old one jammed' --title Gate --topic gate --topic paint",
            "git log -1 --format=%B | commonbook save - --type episodic",
        ],
    ),
    (
        "search",
        [
            "commonbook search what colour is the gate",
            "commonbook search 'gate topic:paint since:7d'",
            "commonbook search gate --owner codex --scope home -k 3",
        ],
    ),
    (
        "session",
        [
            "commonbook session start --case outage",
            "commonbook session use 9hm2x4qd",
            "commonbook session end --summary 'The gate opens again'",
        ],
    ),
    (
        "case",
        [
            "commonbook case open outage --title 'Outage of 3 March'",
            "commonbook case append outage The gateway was down from 9 to 10",
            "commonbook case read outage",
        ],
    ),
    (
        "handoff",
        [
            "commonbook handoff create gemini-cli Write the press release --next-step 'Ask Ann'",
            "commonbook handoff list --agent gemini-cli",
            "commonbook handoff accept 9hm2x4qd --agent gemini-cli",
        ],
    ),
    (
        "entity",
        [
            "commonbook entity list --type tool",
            "commonbook entity show tool:TypeScript",
            "commonbook entity merge tool:ts tool:TypeScript",
        ],
    ),
    (
        "contradictions",
        [
            "commonbook contradictions list",
            "commonbook contradictions show 9hm2x4qd",
            "commonbook contradictions resolve 9hm2x4qd keep_newer",
        ],
    ),
    (
        "token",
        [
            "commonbook token create codex --scope read --scope write --expires 30d",
            "commonbook token list",
            "commonbook token revoke 9hm2x4qd",
        ],
    ),
    (
        "webhook",
        [
            "commonbook webhook add https://example.com/events --event 'memory.*'",
            "commonbook webhook show 9hm2x4qd",
            "commonbook webhook retry 9hm2x4qd",
        ],
    ),
];

/// The examples of a command, as the help prints them; empty if it has none.
pub(super) fn examples(command: &str) -> String {
    let found = COMMAND_EXAMPLES.iter().find(|(name, _)| *name == command);
    found.map(|(_, lines)| format!("Examples:\n  {}", lines.join("\n  "))).unwrap_or_default()
}

/// Columns of the help.
const HELP_COLUMNS: usize = 80;

/// Columns of the names of commands.
const NAME_COLUMNS: usize = 15;

/// Replaces the flat list of commands by sections.
pub(crate) fn with_sections(command: Command) -> Command {
    let mut text = String::new();
    for CommandSection { title, commands, examples } in &COMMAND_SECTIONS {
        text += &format!("\n{}\n", bold(&format!("{title}:")));
        for name in *commands {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &command_lines(name, &about);
        }
        for example in examples {
            text += &format!("{}\n", dim(&format!("  $ {example}")));
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
            COMMAND_SECTIONS.iter().flat_map(|section| section.commands).copied().collect();
        listed.sort_unstable();
        let program = crate::clap_command();
        let visible = program.get_subcommands().filter(|command| !command.is_hide_set());
        let mut commands: Vec<&str> = visible.map(Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(listed, commands);
    }

    #[test]
    fn each_example_is_a_command_that_parses() {
        let sections = COMMAND_SECTIONS.iter().flat_map(|section| section.examples);
        let lines = sections.chain(COMMAND_EXAMPLES.iter().flat_map(|(_, lines)| *lines));
        for line in lines {
            let command = line.rsplit(" | ").next().unwrap().split(" > ").next().unwrap();
            let mut words = Vec::new();
            for (index, part) in command.split('\'').enumerate() {
                match index % 2 {
                    0 => words.extend(part.split_whitespace().map(str::to_owned)),
                    _ => words.push(part.to_owned()),
                }
            }
            let parsed = crate::clap_command().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }
}
