//! The files of each client, and their contents.

mod texts;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{FileContent, JsonEntry};
use commonbook::base::error::{Error, Result};

/// A file that contains this word is ours.
pub(super) const OWN_FILE_WORD: &str = "commonbook";
/// Seconds that a client waits for a hook; the hook itself answers within two.
const HOOK_SECONDS: u32 = 5;

/// A client that setup supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SetupClient {
    /// Claude Code.
    #[value(alias = "claude")]
    ClaudeCode,
    /// Codex.
    #[value(alias = "codex-cli")]
    Codex,
    /// Gemini CLI.
    #[value(alias = "gemini-cli")]
    Gemini,
    /// GitHub Copilot CLI.
    #[value(aliases = ["copilot-cli", "github-copilot"])]
    Copilot,
    /// opencode.
    Opencode,
    /// Cursor.
    #[value(aliases = ["cursor-agent", "cursor-cli"])]
    Cursor,
    /// VS Code.
    #[value(name = "vscode", aliases = ["vs-code", "code"])]
    #[serde(rename = "vscode")]
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// Cline, in VS Code.
    Cline,
}

impl SetupClient {
    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::Cline => "cline",
        }
    }

    /// The name of its program.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::VsCode => "code",
            _ => self.name(),
        }
    }

    /// A file of the user's settings, relative to the user's home folder: the folder of it is there if the client is.
    pub(crate) const fn settings_file(self) -> &'static str {
        match self {
            Self::ClaudeCode => ".claude/settings.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Copilot => ".copilot/mcp-config.json",
            Self::Opencode => ".config/opencode/opencode.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => VSCODE_FILE,
            Self::Windsurf => ".codeium/windsurf/mcp_config.json",
            Self::Zed => ZED_FILE,
            Self::Cline => CLINE_FILE,
        }
    }

    /// The file of a project's MCP servers, for a client that gets only the server.
    const fn project_file(self) -> Option<&'static str> {
        match self {
            Self::VsCode => Some(".vscode/mcp.json"),
            Self::Zed => Some(".zed/settings.json"),
            _ => None,
        }
    }

    /// Whether the client has no files of a project that setup could write.
    const fn is_of_user_alone(self) -> bool {
        matches!(self, Self::Copilot | Self::Windsurf | Self::Cline)
    }
}

/// Where VS Code keeps the MCP servers of its default profile.
const VSCODE_FILE: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/mcp.json"
} else if cfg!(windows) {
    "AppData/Roaming/Code/User/mcp.json"
} else {
    ".config/Code/User/mcp.json"
};

/// Where Cline, an extension of VS Code, keeps its MCP servers.
const CLINE_FILE: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
} else if cfg!(windows) {
    "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
} else {
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
};

/// Where Zed keeps its settings.
const ZED_FILE: &str =
    if cfg!(windows) { "AppData/Roaming/Zed/settings.json" } else { ".config/zed/settings.json" };

impl std::fmt::Display for SetupClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The scope of a setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SetupScope {
    /// You, in all projects.
    User,
    /// Everyone who works on this project.
    Project,
}

impl SetupScope {
    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl std::fmt::Display for SetupScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The options of a setup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetupOptions {
    /// The scope.
    pub(crate) scope: SetupScope,
    /// The program that the client starts: `commonbook`, or a path.
    pub(crate) program: String,
    /// The home folder, if it is not the default.
    pub(crate) home: Option<String>,
    /// The MCP tools that the server offers, if not the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<String>,
}

impl SetupOptions {
    /// The arguments that name the home folder.
    fn home_arguments(&self) -> impl Iterator<Item = &str> {
        self.home.iter().flat_map(|home| ["--home", home.as_str()])
    }
}

/// A file to write.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClientFile {
    /// Its path, relative to the user's home folder or the project's folder.
    pub(crate) path: &'static str,
    /// An alternative path, used if only this file exists.
    pub(crate) or: Option<&'static str>,
    /// The content to write into it.
    pub(crate) content: FileContent,
}

/// Everything to write for a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SetupPlan {
    /// The scope.
    pub(crate) scope: SetupScope,
    /// The files.
    pub(crate) files: Vec<ClientFile>,
    /// What the user must do in addition.
    pub(crate) notes: Vec<&'static str>,
}

/// Plans the setup of a client.
///
/// # Errors
/// `invalid` if the client does not support the scope, or if a shell cannot quote the program.
pub(crate) fn setup_plan(client: SetupClient, chosen: &SetupOptions) -> Result<SetupPlan> {
    if client.is_of_user_alone() && chosen.scope == SetupScope::Project {
        return Err(Error::invalid("scope", format!("{client} supports only the scope user"))
            .hint(format!("Run `commonbook setup {client}` without --scope.")));
    }
    let program = ShellProgram {
        windows: is_windows_path(&chosen.program),
        program: shell_quoted("program", &chosen.program)?,
        home: chosen
            .home_arguments()
            .map(|part| shell_quoted("home", part))
            .collect::<Result<Vec<_>>>()?,
    };
    let notes = match (client, chosen.scope) {
        (SetupClient::Codex, _) => {
            vec![
                "Codex runs hooks only after you trust them: start Codex and confirm them in /hooks.",
            ]
        }
        (SetupClient::Cursor, SetupScope::User) => {
            vec![
                "Cursor reads rules only from projects: run `commonbook setup cursor --scope project` there too.",
            ]
        }
        _ => Vec::new(),
    };
    Ok(SetupPlan { scope: chosen.scope, files: files(client, chosen, &program), notes })
}

/// The program and its home arguments, quoted for a shell.
struct ShellProgram {
    windows: bool,
    program: String,
    home: Vec<String>,
}

impl ShellProgram {
    /// The command of a hook.
    fn hook(&self, client: SetupClient, event: &str) -> String {
        match client {
            // Gemini runs hooks with PowerShell on Windows, and with bash elsewhere.
            SetupClient::Gemini if self.windows => self.powershell_hook(client, event),
            _ => {
                let command = format!("{} hook {client} {event}", self.program);
                [&[command], self.home.as_slice()].concat().join(" ")
            }
        }
    }

    /// The command of a hook for PowerShell, which takes a quoted path for a text unless it is called
    /// with `&`.
    fn powershell_hook(&self, client: SetupClient, event: &str) -> String {
        let call = if self.program.starts_with('"') { "& " } else { "" };
        let command = format!("{call}{} hook {client} {event}", self.program);
        [&[command], self.home.as_slice()].concat().join(" ")
    }
}

/// The files of a client.
fn files(client: SetupClient, chosen: &SetupOptions, program: &ShellProgram) -> Vec<ClientFile> {
    let user = chosen.scope == SetupScope::User;
    let at = |for_user, for_project| if user { for_user } else { for_project };
    let file = |path, content| ClientFile { path, or: None, content };
    let server = server(client, chosen);
    let set = |path: &[&str]| JsonEntry::Set { path: owned_path(path), value: server.clone() };
    let servers = |path| file(path, FileContent::Json(vec![set(&["mcpServers", "commonbook"])]));
    let hooks = || hooks(client, program);
    let instructions = |path| file(path, FileContent::Block(texts::instructions_block()));
    match client {
        SetupClient::ClaudeCode => vec![
            servers(at(".claude.json", ".mcp.json")),
            file(".claude/settings.json", FileContent::Json(hooks())),
        ],
        SetupClient::Codex => {
            let keys = server.as_object().cloned().unwrap_or_default();
            let table = FileContent::Toml(owned_path(&["mcp_servers", "commonbook"]), keys);
            vec![
                file(".codex/config.toml", table),
                file(".codex/hooks.json", FileContent::Json(hooks())),
                instructions(at(".codex/AGENTS.md", "AGENTS.md")),
            ]
        }
        SetupClient::Gemini => {
            let entries = [set(&["mcpServers", "commonbook"])].into_iter().chain(hooks());
            vec![
                file(".gemini/settings.json", FileContent::Json(entries.collect())),
                instructions(at(".gemini/GEMINI.md", "GEMINI.md")),
            ]
        }
        SetupClient::Copilot => vec![
            servers(".copilot/mcp-config.json"),
            file(".copilot/hooks/commonbook.json", FileContent::Whole(copilot_hooks(program))),
            // Copilot does not show its agent the instructions of an MCP server.
            instructions(".copilot/copilot-instructions.md"),
        ],
        SetupClient::Opencode => {
            let plugin = FileContent::Whole(texts::opencode_plugin(
                &chosen.program,
                chosen.home_arguments(),
            ));
            vec![
                ClientFile {
                    path: at(".config/opencode/opencode.json", "opencode.json"),
                    or: Some(at(".config/opencode/opencode.jsonc", "opencode.jsonc")),
                    content: FileContent::Json(vec![set(&["mcp", "commonbook"])]),
                },
                file(
                    at(".config/opencode/plugins/commonbook.js", ".opencode/plugins/commonbook.js"),
                    plugin,
                ),
            ]
        }
        SetupClient::Cursor => {
            let rule =
                || file(".cursor/rules/commonbook.mdc", FileContent::Whole(texts::cursor_rule()));
            let mut files = vec![
                servers(".cursor/mcp.json"),
                file(".cursor/hooks.json", FileContent::Json(versioned(hooks()))),
            ];
            files.extend((!user).then(rule));
            files
        }
        SetupClient::VsCode | SetupClient::Windsurf | SetupClient::Zed | SetupClient::Cline => {
            server_file(client, chosen).into_iter().collect()
        }
    }
}

/// The file of a client that gets the server alone; none in a scope that it does not have.
fn server_file(client: SetupClient, chosen: &SetupOptions) -> Option<ClientFile> {
    let servers = match client {
        SetupClient::VsCode => "servers",
        SetupClient::Zed => "context_servers",
        _ => "mcpServers",
    };
    let path = match chosen.scope {
        SetupScope::User => client.settings_file(),
        SetupScope::Project => client.project_file()?,
    };
    let value = server(client, chosen);
    let entry = JsonEntry::Set { path: owned_path(&[servers, "commonbook"]), value };
    Some(ClientFile { path, or: None, content: FileContent::Json(vec![entry]) })
}

/// The variables that Codex forwards to the MCP server, which gets few others.
const FORWARDED_VARIABLES: [&str; 8] = [
    "COMMONBOOK",
    "COMMONBOOK_DATABASE",
    "COMMONBOOK_HOME",
    "COMMONBOOK_URL",
    "COMMONBOOK_TOKEN",
    "COMMONBOOK_WORKSPACE",
    "COMMONBOOK_AGENT_ID",
    "COMMONBOOK_USER_ID",
];

/// The entry of the MCP server in the form of each client: a process that the client starts in the
/// project's folder.
fn server(client: SetupClient, chosen: &SetupOptions) -> Value {
    let program = &chosen.program;
    let own = ["mcp", "--client", client.name()];
    let tools = chosen.tools.as_ref().map(|tools| ["--tools", tools]);
    let further = tools.into_iter().flatten().chain(chosen.home_arguments());
    let arguments: Vec<&str> = own.into_iter().chain(further).collect();
    match client {
        SetupClient::Opencode => {
            let command = [&[program.as_str()], arguments.as_slice()].concat();
            json!({"type": "local", "command": command, "enabled": true})
        }
        SetupClient::ClaudeCode => {
            json!({"type": "stdio", "command": program, "args": arguments, "alwaysLoad": true})
        }
        SetupClient::VsCode => json!({"type": "stdio", "command": program, "args": arguments}),
        SetupClient::Zed => json!({"command": program, "args": arguments, "env": {}}),
        SetupClient::Copilot => {
            json!({"type": "local", "command": program, "args": arguments, "tools": ["*"]})
        }
        SetupClient::Codex => {
            json!({"command": program, "args": arguments, "env_vars": FORWARDED_VARIABLES})
        }
        SetupClient::Gemini | SetupClient::Cursor | SetupClient::Windsurf | SetupClient::Cline => {
            json!({"command": program, "args": arguments})
        }
    }
}

/// The events of a client for which setup installs hooks, each with its tools.
const fn events(client: SetupClient) -> &'static [(&'static str, Option<&'static str>)] {
    match client {
        SetupClient::ClaudeCode => &[
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", Some("Agent|Task|mcp__commonbook__.*")),
            ("SubagentStop", None),
            ("PreCompact", None),
            ("Stop", None),
            ("SessionEnd", None),
        ],
        SetupClient::Codex => &[
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", Some("spawn_agent|mcp__commonbook__.*")),
            ("SubagentStop", None),
            ("PreCompact", None),
            ("Stop", None),
            ("SessionEnd", None),
        ],
        SetupClient::Gemini => &[
            ("SessionStart", None),
            ("BeforeAgent", None),
            ("BeforeTool", Some("invoke_agent|mcp_commonbook_.*")),
            ("AfterTool", Some("invoke_agent")),
            ("PreCompress", None),
            ("AfterAgent", None),
            ("SessionEnd", None),
        ],
        SetupClient::Copilot => &[
            ("sessionStart", None),
            ("userPromptSubmitted", None),
            ("preToolUse", None),
            ("subagentStop", None),
            ("agentStop", None),
            ("sessionEnd", None),
        ],
        SetupClient::Cursor => &[
            ("sessionStart", None),
            ("afterAgentResponse", None),
            ("subagentStop", None),
            ("preCompact", None),
            ("sessionEnd", None),
        ],
        // It gets a plugin.
        SetupClient::Opencode => &[],
        // They have no hooks that give an agent a context, or none whose format is known.
        SetupClient::VsCode | SetupClient::Windsurf | SetupClient::Zed | SetupClient::Cline => &[],
    }
}

/// The hooks of a client that stores them in lists by event.
fn hooks(client: SetupClient, program: &ShellProgram) -> Vec<JsonEntry> {
    let mark = vec![OWN_FILE_WORD.to_owned(), format!(" hook {client} ")];
    let entry = |(event, matcher): &(&str, Option<&str>)| {
        let timeout = match (client, *event) {
            // Gemini counts in milliseconds; Codex waits at most three seconds at the end of a session.
            (SetupClient::Gemini, _) => HOOK_SECONDS * 1_000,
            (SetupClient::Codex, "SessionEnd") => 3,
            _ => HOOK_SECONDS,
        };
        let command = program.hook(client, event);
        let hook = json!({"type": "command", "command": command, "timeout": timeout});
        let value = match matcher {
            // Its lists have the commands themselves.
            None if client == SetupClient::Cursor => hook,
            Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
            None => json!({"hooks": [hook]}),
        };
        JsonEntry::Push { path: owned_path(&["hooks", event]), value, mark: mark.clone() }
    };
    events(client).iter().map(entry).collect()
}

/// Hooks in a file that has to name the version of its format.
fn versioned(hooks: Vec<JsonEntry>) -> Vec<JsonEntry> {
    let version = JsonEntry::Need { path: owned_path(&["version"]), value: json!(1) };
    [version].into_iter().chain(hooks).collect()
}

fn copilot_hooks(program: &ShellProgram) -> String {
    let hooks = events(SetupClient::Copilot).iter().map(|(event, _)| {
        let hook = json!([{
            "type": "command", "bash": program.hook(SetupClient::Copilot, event),
            "powershell": program.powershell_hook(SetupClient::Copilot, event),
            "timeoutSec": HOOK_SECONDS,
        }]);
        ((*event).to_owned(), hook)
    });
    let file = json!({"version": 1, "hooks": hooks.collect::<Map<String, Value>>()});
    format!("{file:#}\n")
}

/// Whether a path is one of Windows: `C:\\…`, `C:/…` or `\\\\server\\…`.
fn is_windows_path(path: &str) -> bool {
    let drive = path.starts_with(|c: char| c.is_ascii_alphabetic());
    path.starts_with("\\\\")
        || drive && (path[1..].starts_with(":\\") || path[1..].starts_with(":/"))
}

/// A part of a command, quoted for a shell. A backslash is quoted too, since bash removes it.
fn shell_quoted(field: &str, program: &str) -> Result<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ':' | '+');
    if program.is_empty()
        || program.contains(|c: char| matches!(c, '"' | '$' | '`' | '!' | '%') || c.is_control())
    {
        let reason = format!("a shell command cannot contain {program:?}");
        return Err(Error::invalid(field, reason));
    }
    Ok(if program.chars().all(plain) { program.to_owned() } else { format!("\"{program}\"") })
}

fn owned_path(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}
