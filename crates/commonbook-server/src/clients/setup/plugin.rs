//! Plugins of clients: which clients have ours installed, by their own files. `setup` writes none of these.

use std::path::PathBuf;

use serde_json::Value;
use toml_edit::DocumentMut;

use super::clients::SetupClient;
use crate::settings::config::Config;
use crate::system::atomic;

/// The clients that take plugins.
const CLIENTS: [SetupClient; 3] =
    [SetupClient::ClaudeCode, SetupClient::Codex, SetupClient::Gemini];

/// The name of our plugin, in whichever marketplace: `commonbook@commonbook`.
const PLUGIN_PREFIX: &str = "commonbook@";

/// The clients of this user that have our plugin. A file that cannot be read says nothing of plugins.
pub(crate) fn clients_with_plugin(config: &Config) -> Vec<SetupClient> {
    CLIENTS.into_iter().filter(|client| has_plugin(*client, config).unwrap_or(false)).collect()
}

fn has_plugin(client: SetupClient, config: &Config) -> Option<bool> {
    let file = |path: &str| -> Option<PathBuf> {
        config.client_path(path).or_else(|| Some(config.user_home.clone()?.join(path)))
    };
    let read = |path: &str| atomic::read(&file(path)?).ok().flatten();
    match client {
        SetupClient::ClaudeCode => {
            let settings: Value = serde_json::from_str(&read(".claude/settings.json")?).ok()?;
            let mut plugins = settings["enabledPlugins"].as_object()?.iter();
            Some(plugins.any(|(name, on)| name.starts_with(PLUGIN_PREFIX) && on == true))
        }
        SetupClient::Codex => {
            let settings: DocumentMut = read(".codex/config.toml")?.parse().ok()?;
            let mut plugins = settings.get("plugins")?.as_table_like()?.iter();
            Some(plugins.any(|(name, plugin)| {
                let enabled = plugin.get("enabled").and_then(toml_edit::Item::as_bool);
                name.starts_with(PLUGIN_PREFIX) && enabled.unwrap_or(true)
            }))
        }
        _ => Some(file(".gemini/extensions/commonbook/gemini-extension.json")?.is_file()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_plugin_is_known_by_the_files_of_its_client() {
        let user = tempfile::tempdir().unwrap();
        let config = Config { user_home: Some(user.path().to_owned()), ..Config::default() };
        let write = |path: &str, text: &str| {
            let path = user.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(clients_with_plugin(&config), []);
        write(".claude/settings.json", "{\"enabledPlugins\": {\"commonbook@commonbook\": false}}");
        write(".codex/config.toml", "[plugins.\"other@commonbook\"]\nenabled = true\n");
        assert_eq!(clients_with_plugin(&config), []);
        write(".claude/settings.json", "{\"enabledPlugins\": {\"commonbook@commonbook\": true}}");
        write(".codex/config.toml", "[plugins.\"commonbook@commonbook\"]\nenabled = true\n");
        write(".gemini/extensions/commonbook/gemini-extension.json", "{}");
        assert_eq!(clients_with_plugin(&config), CLIENTS);
        write(".codex/config.toml", "no table");
        let others = [SetupClient::ClaudeCode, SetupClient::Gemini];
        assert_eq!(clients_with_plugin(&config), others);
    }
}
