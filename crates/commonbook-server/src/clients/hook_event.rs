//! The coding clients that have hooks, and the moments at which they call one.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A coding client that has hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HookClient {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode, through the plugin that `commonbook setup` writes.
    Opencode,
    /// Cursor, the editor; its command line runs none of these hooks.
    Cursor,
}

impl HookClient {
    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
        }
    }

    /// The variable in which the client names the folder that it opened.
    pub(crate) const fn folder_variable(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
            Self::Gemini => Some("GEMINI_PROJECT_DIR"),
            Self::Codex | Self::Copilot | Self::Opencode | Self::Cursor => None,
        }
    }
}

impl std::fmt::Display for HookClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// An event in a client's session that concerns memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookEvent {
    /// A session starts or resumes.
    SessionStart,
    /// The user has sent a prompt.
    Prompt,
    /// The agent is about to delegate a task to a sub-agent.
    Delegation,
    /// The agent is about to call a tool of Commonbook.
    OwnCall,
    /// A sub-agent starts.
    SubagentStart,
    /// A sub-agent has finished.
    SubagentStop,
    /// The client is about to compact the conversation.
    Compaction,
    /// The agent has finished its turn.
    TurnEnd,
    /// The session ends.
    SessionEnd,
    /// Any other event; the hook does nothing.
    Other,
}

impl HookEvent {
    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::Prompt => "prompt",
            Self::Delegation => "delegation",
            Self::OwnCall => "own_call",
            Self::SubagentStart => "subagent_start",
            Self::SubagentStop => "subagent_stop",
            Self::Compaction => "compaction",
            Self::TurnEnd => "turn_end",
            Self::SessionEnd => "session_end",
            Self::Other => "other",
        }
    }

    /// Whether a hook writes what has happened.
    pub(crate) const fn is_recorded(self) -> bool {
        matches!(self, Self::SubagentStop | Self::TurnEnd | Self::Compaction | Self::SessionEnd)
    }
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
