//! Whether Codex runs our hooks: it skips, without a word, each one that its user has not trusted.

use std::path::Path;

use commonbook::base::error::{Error, Result};
use commonbook::base::home_key::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, TableLike};

use super::clients::OWN_FILE_WORD;
use crate::system::atomic;

/// The number of our hooks in this `hooks.json` that Codex does not run. The user's `config.toml` has
/// the hash of each trusted hook, under the path of its file and its place in it.
///
/// # Errors
/// `unavailable` if a file cannot be read, `conflict` if it does not have its format.
pub(crate) fn untrusted_hooks(hooks: &Path, config: &Path) -> Result<usize> {
    let Some(text) = atomic::read(hooks)? else { return Ok(0) };
    let file: Value = serde_json::from_str(&text).map_err(|error| unreadable(hooks, &error))?;
    let states: DocumentMut = atomic::read(config)?
        .unwrap_or_default()
        .parse()
        .map_err(|error: toml_edit::TomlError| unreadable(config, &error))?;
    let states = states.get("hooks").and_then(|hooks| hooks.get("state"));
    let states = states.and_then(|states| states.as_table_like());
    let real = hooks.canonicalize().unwrap_or_else(|_| hooks.to_owned());
    let is_trusted = |hook: &CodexHook| {
        let state = |path: &Path| {
            let key = format!("{}:{}", path.display(), hook.place);
            states?.get(&key)?.as_table_like()
        };
        state(hooks).or_else(|| state(&real)).is_some_and(|state| hook.is_trusted_by(state))
    };
    Ok(own_hooks(&file).filter(|hook| !is_trusted(hook)).count())
}

fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Error {
    Error::conflict(format!("{}: {error}", path.display()))
        .hint("Correct the file, then run `commonbook setup codex` again.")
}

/// A hook of ours in a file of Codex.
struct CodexHook {
    /// `pre_tool_use:0:1`: its event, its group and its position in the group.
    place: String,
    /// The hash of its definition.
    hash: String,
}

impl CodexHook {
    fn is_trusted_by(&self, state: &dyn TableLike) -> bool {
        let enabled = state.get("enabled").and_then(toml_edit::Item::as_bool).unwrap_or(true);
        let trusted = state.get("trusted_hash").and_then(toml_edit::Item::as_str);
        enabled && trusted == Some(self.hash.as_str())
    }
}

fn own_hooks(file: &Value) -> impl Iterator<Item = CodexHook> {
    let events = file["hooks"].as_object().into_iter().flatten();
    events.flat_map(|(event, groups)| {
        let event = snake_case(event);
        let groups = groups.as_array().into_iter().flatten().enumerate();
        groups.flat_map(move |(group, matched)| {
            let event = event.clone();
            let hooks = matched["hooks"].as_array().into_iter().flatten().enumerate();
            hooks.filter(|(_, hook)| is_own(hook)).map(move |(position, hook)| CodexHook {
                place: format!("{event}:{group}:{position}"),
                hash: hook_hash(&event, &matched["matcher"], hook),
            })
        })
    })
}

fn is_own(hook: &Value) -> bool {
    let command = hook["command"].as_str().unwrap_or_default();
    command.contains(OWN_FILE_WORD) && command.contains(" hook codex ")
}

/// The hash by which Codex recognises a hook: of its definition as JSON with sorted keys.
fn hook_hash(event: &str, matcher: &Value, hook: &Value) -> String {
    let definition = json!({
        "async": false, "command": hook["command"], "timeout": hook["timeout"], "type": "command",
    });
    let mut identity = json!({"event_name": event, "hooks": [definition]});
    if matcher.is_string() {
        identity["matcher"] = matcher.clone();
    }
    format!("sha256:{}", hex(&Sha256::digest(identity.to_string())))
}

/// `PreToolUse` as `pre_tool_use`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hooks as `commonbook setup codex` wrote them, with the hashes that Codex 0.169.0 listed.
    const HOOKS: &str = r#"{"hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}, {"hooks": [
            {"type": "command", "command": "/tmp/wE-bin/tee-commonbook hook codex Stop", "timeout": 5}
        ]}],
        "PreToolUse": [{"matcher": "spawn_agent|mcp__commonbook__.*", "hooks": [
            {"type": "command", "command": "/tmp/wE-bin/tee-commonbook hook codex PreToolUse", "timeout": 5}
        ]}]
    }}"#;
    const STOP_HASH: &str = "22b53ffd0da6507c23d1169b7a9ed0f9ed577ac91e4d5a17f78a30f6a4177b39";
    const CALL_HASH: &str = "c1ceee88cfefa44ad290e42030a359907318caddc5678e35d4277f7509e82dd1";

    #[test]
    fn a_hook_runs_only_with_the_hash_of_what_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let (hooks, config) = (folder.path().join("hooks.json"), folder.path().join("config.toml"));
        let count = || untrusted_hooks(&hooks, &config).unwrap();
        assert_eq!(count(), 0, "there are no hooks");
        std::fs::write(&hooks, HOOKS).unwrap();
        assert_eq!(count(), 2, "there is no configuration");
        let state = |place: &str, hash: &str| {
            let key = format!("{}:{place}", hooks.display());
            format!("[hooks.state.{key:?}]\ntrusted_hash = \"sha256:{hash}\"\n")
        };
        let (stop, call) = (state("stop:1:0", STOP_HASH), state("pre_tool_use:0:0", CALL_HASH));
        let table = [
            (String::new(), 2),
            (stop.clone(), 1),
            (format!("model = \"m\"\n\n{stop}{call}"), 0),
            (format!("{stop}{call}enabled = false\n"), 1),
            (format!("{stop}{}", state("pre_tool_use:0:0", STOP_HASH)), 1),
            (format!("{stop}{}", state("pre_tool_use:1:0", CALL_HASH)), 1),
        ];
        for (text, expected) in table {
            std::fs::write(&config, &text).unwrap();
            assert_eq!(count(), expected, "{text}");
        }
        std::fs::write(&config, "model = ").unwrap();
        assert!(untrusted_hooks(&hooks, &config).is_err());
    }
}
