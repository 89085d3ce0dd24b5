//! Further calls for a view: the words behind ids, and notes beside an empty response.

use commonbook::model::caller::Caller;
use commonbook::model::search::SearchResponse;
use commonbook::model::stats::WorkspaceStats;
use commonbook::verbs::names;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::offer;
use crate::calls::output::{count_text, print_line, print_note};
use crate::clients::remote::ServerAddress;
use crate::clients::remote::address::ServerMap;
use crate::settings::config::Config;
use crate::settings::project::map::ProjectMap;

/// Fields of a request that select no memories.
const PAGE_FIELDS: [&str; 8] =
    ["query", "k", "limit", "cursor", "order", "sort", "scope", "include"];

/// Other workspaces that a note counts.
const COUNTED_WORKSPACES_MAX: usize = 5;

/// Calls a verb as this caller; `None` if it fails.
pub(super) type VerbCall<'c> = dyn Fn(&Caller, &str, Value) -> Option<Value> + 'c;

/// What a view may look up besides its response.
pub(super) struct ViewLookup<'c> {
    /// The caller of the command.
    pub(super) caller: &'c Caller,
    /// The request of the command.
    pub(super) request: &'c Map<String, Value>,
    /// Calls a verb.
    pub(super) call: &'c VerbCall<'c>,
    /// The configuration of a command that may find nothing.
    pub(super) config: Option<&'c Config>,
}

impl ViewLookup<'_> {
    /// The response of a verb; `None` if it fails.
    pub(super) fn get<T: DeserializeOwned>(&self, verb: &str, request: Value) -> Option<T> {
        self.get_as(self.caller, verb, request)
    }

    fn get_as<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        verb: &str,
        request: Value,
    ) -> Option<T> {
        T::deserialize(&(self.call)(caller, verb, request)?).ok()
    }

    /// The filters of the request, in words: `type decision, topic tea`.
    fn filters(&self) -> String {
        let text = |value: &Value| match value {
            Value::String(text) => format!(" {text}"),
            Value::Bool(true) => String::new(),
            Value::Array(items) => {
                let items =
                    items.iter().map(|item| item.as_str().map_or(item.to_string(), str::to_owned));
                format!(" {}", items.collect::<Vec<_>>().join(" "))
            }
            value => format!(" {value}"),
        };
        let filters = self.request.iter().filter(|(name, value)| {
            !PAGE_FIELDS.contains(&name.as_str()) && **value != Value::Bool(false)
        });
        let filters =
            filters.map(|(name, value)| format!("{}{}", super::flag_name(name), text(value)));
        filters.collect::<Vec<_>>().join(", ")
    }

    /// Prints that there is nothing, where the command looked, and the command that makes something.
    pub(super) fn print_empty_with(&self, nothing: &str, command: &str) {
        self.print_empty(nothing);
        if self.filters().is_empty() {
            print_note(command);
        }
    }

    /// Prints that there is nothing, and where the command looked.
    pub(super) fn print_empty(&self, nothing: &str) {
        let Caller { agent, workspace, .. } = self.caller;
        let filters = self.filters();
        let filters = if filters.is_empty() { filters } else { format!(" with {filters}") };
        print_line(&format!("{nothing} in {workspace} for {agent}{filters}"));
        self.note_servers();
        self.note_moved_project();
    }

    /// Notes the workspace of the project here before it was moved.
    fn note_moved_project(&self) {
        let Some(config) = self.config.filter(|config| config.workspace.is_none()) else { return };
        let map = config.home.as_deref().and_then(|home| ProjectMap::read(home).ok());
        let (Some(here), Some(map)) = (config.found_project(), map) else { return };
        if let Some((root, workspace)) = map.moved_from(&here) {
            let root = root.display();
            print_note(&format!(
                "if this project was {root}: `commonbook workspace alias {workspace}` gives it those \
                 memories"
            ));
        }
    }

    /// Notes the clients whose memories are at a server, while this command reads elsewhere.
    fn note_servers(&self) {
        let Some(config) = self.config else { return };
        let (Ok(home), Ok(own)) = (config.home(), ServerAddress::of(config, None)) else { return };
        let own = own.map(|own| own.url);
        let clients = ServerMap::read(home).unwrap_or_default().clients;
        for (client, address) in &clients {
            if own.as_ref() != Some(&address.url) {
                let (url, variables) = (&address.url, offer::server_variables(address));
                print_note(&format!("{client} uses {url}; `{variables} commonbook …` reads there"));
            }
        }
    }

    /// Notes the memories that the caller sees in this workspace and in the others of the home.
    pub(super) fn note_memories_elsewhere(&self) {
        let count = |caller: &Caller| {
            self.get_as(caller, names::GET_MEMORY_STATS, json!({}))
                .map_or(0, |stats: WorkspaceStats| stats.memories)
        };
        let here = count(self.caller);
        if here > 0 && !self.filters().is_empty() {
            print_note(&format!("without filters: {}", count_text(here, "memory", "memories")));
        }
        // The response of a search in the whole home names every workspace.
        let home = json!({"query": "x", "k": 1, "scope": "home"});
        let home: Option<SearchResponse> = self.get(names::SEARCH_MEMORY, home);
        let others = home.into_iter().flat_map(|home| home.workspaces);
        let others = others.filter(|name| *name != self.caller.workspace);
        let counts = others.filter_map(|workspace| {
            let caller = Caller { workspace: workspace.clone(), ..self.caller.clone() };
            Some((workspace, count(&caller))).filter(|(_, count)| *count > 0)
        });
        let counts: Vec<String> = counts
            .take(COUNTED_WORKSPACES_MAX)
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        if !counts.is_empty() {
            print_note(&format!(
                "memories in other workspaces: {}; `--workspace NAME` reads one",
                counts.join(", ")
            ));
        }
    }

    /// Notes the memories that the same search finds without filters, and in the whole home.
    pub(super) fn note_hits_elsewhere(&self) {
        let total = |request: Value| {
            self.get(names::SEARCH_MEMORY, request).map_or(0, |found: SearchResponse| found.total)
        };
        let query = self.request.get("query").cloned().unwrap_or_default();
        let without = total(json!({"query": query}));
        if without > 0 {
            let found = count_text(without, "memory matches", "memories match");
            print_note(&format!("without filters {found}"));
        }
        let home = total(json!({"query": query, "scope": "home"}));
        if home > without {
            let found = count_text(home - without, "memory matches", "memories match");
            print_note(&format!("{found} in other workspaces: `--scope home` reads all"));
        }
        if without == 0 && home == 0 {
            self.note_memories_elsewhere();
        }
    }
}
