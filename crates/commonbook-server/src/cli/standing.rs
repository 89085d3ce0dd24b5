//! `memory`: shows and edits standing memory files, one for each role.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::model::agent::Agent;
use commonbook::model::learning::LearningType;
use commonbook::model::standing::{
    AddOutcome, AuthorMark, StandingDocument, route, section_of, standing_paths,
};
use commonbook::prompt::context::{ContextPreferences, StandingLocation};
use commonbook::verbs::{change_standing, make_standing_folder};
use serde_json::{Value, json};

use super::layout::table;
use crate::config::Config;
use crate::output::{self, print_line, print_note};

/// Shows and changes standing memory files.
#[derive(Debug, Args)]
pub(crate) struct StandingCommand {
    #[command(subcommand)]
    action: StandingAction,
    /// Use the files in the home folder, for every project, instead of those in this project
    #[arg(long, global = true)]
    everywhere: bool,
}

#[derive(Debug, Subcommand)]
enum StandingAction {
    /// Creates the folder, and a file for each named role that has none
    Init { roles: Vec<String> },
    /// Shows how full each file is
    Status,
    /// Prints the file of a role
    View { role: String },
    /// Adds an item to the file of a role; creates the file if needed
    Add {
        role: String,
        text: String,
        /// Section to add it to; the section of its type by default
        #[arg(long)]
        section: Option<String>,
        /// Type of the item
        #[arg(long = "type", value_enum)]
        item_type: Option<StandingItemType>,
    },
    /// Removes repeated items from the file of one role, or of all roles
    Clean { role: Option<String> },
    /// Cleans the file, breaks long lines, and cuts the file to its limits
    Optimize { role: Option<String> },
    /// Shows which role's file fits a text
    Route { text: String },
    /// Shows the paths of a role's file, the one that is used, and its items
    Show { role: Option<String> },
}

impl StandingAction {
    fn changes_files(&self) -> bool {
        !matches!(self, Self::Status | Self::View { .. } | Self::Route { .. } | Self::Show { .. })
    }
}

/// The type of an item.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum StandingItemType {
    Pattern,
    Architecture,
    Guideline,
    Mistake,
    Strategy,
    Integration,
    Performance,
    Context,
}

impl StandingItemType {
    fn section(self) -> &'static str {
        section_of(LearningType::from_type_word(&format!("{self:?}")).name())
    }
}

/// The folders, and how large files may get.
struct StandingFolders {
    project: Option<PathBuf>,
    home: PathBuf,
    preferences: ContextPreferences,
    everywhere: bool,
    /// The agent that runs the command.
    agent: Agent,
}

/// A file that is there.
struct RoleFile {
    role: String,
    path: PathBuf,
    standing: StandingDocument,
}

impl StandingCommand {
    /// Runs the action and prints its response.
    ///
    /// # Errors
    /// `invalid` with the field; `not_found` if the role has no file; `unavailable` if a file
    /// cannot be read or written.
    pub(crate) fn run(&self, config: &Config, agent: Agent, as_json: bool) -> Result<()> {
        let home = config.store_path()?.parent().map(Path::to_owned).unwrap_or_default();
        if self.action.changes_files() {
            config.require_settings()?;
        }
        let preferences = config.preferences()?;
        let (project, everywhere) = (config.project(), self.everywhere);
        let folders = StandingFolders { project, home, preferences, everywhere, agent };
        let response = match &self.action {
            StandingAction::Init { roles } => folders.init(roles)?,
            StandingAction::Status => folders.status()?,
            StandingAction::View { role } => {
                let found = folders.require_role_file(role)?;
                let text = found.standing.render();
                json!({"role": found.role, "file": found.path, "text": text, "lines": [text.trim_end()]})
            }
            StandingAction::Add { role, text, section, item_type } => {
                let default = item_type.map_or(section_of(""), StandingItemType::section);
                folders.add(role, section.as_deref().unwrap_or(default), text)?
            }
            StandingAction::Clean { role } => folders
                .change_role_files(role.as_deref(), |_, standing| (standing.clean(), Vec::new()))?,
            StandingAction::Optimize { role } => {
                folders.change_role_files(role.as_deref(), |role, standing| {
                    let limits = folders.preferences.limits(role);
                    let (removed, warnings) = standing.optimize(&limits);
                    (removed, warnings.iter().map(ToString::to_string).collect())
                })?
            }
            StandingAction::Route { text } => folders.route(text)?,
            StandingAction::Show { role } => folders.show(role.as_deref())?,
        };
        print_standing_response(response, as_json);
        Ok(())
    }
}

/// Prints a response: its `lines` for people, all other fields as JSON.
fn print_standing_response(mut response: Value, as_json: bool) {
    let lines = response.as_object_mut().and_then(|response| response.remove("lines"));
    if as_json {
        return output::print_json(&response);
    }
    for text in lines.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
        print_line(text);
    }
    for warning in response["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        print_note(&format!("warning: {warning}"));
    }
}

/// Parses the name of a role.
fn parse_role(name: &str) -> Result<Agent> {
    Agent::with_any_name(name).map_err(|error| error.with_field("role"))
}

impl StandingFolders {
    fn folder(&self) -> PathBuf {
        match self.project.as_ref().filter(|_| !self.everywhere) {
            Some(project) => project.join(".commonbook").join("memories"),
            None => self.home.join("memories"),
        }
    }

    /// Whether a path is in the home or in a project.
    fn folder_kind(&self, path: &Path) -> StandingLocation {
        if path.starts_with(&self.home) {
            StandingLocation::Home
        } else {
            StandingLocation::Project
        }
    }

    /// The paths at which the file of a role can be; the first one that exists is used.
    fn role_paths(&self, agent: &Agent) -> Vec<PathBuf> {
        standing_paths(self.project.as_deref().filter(|_| !self.everywhere), &self.home, agent)
    }

    fn find(&self, agent: &Agent) -> Result<Option<RoleFile>> {
        let path = self.role_paths(agent).into_iter().find(|path| path.is_file());
        let Some(path) = path else { return Ok(None) };
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let message = format!("cannot read {}: {error}", path.display());
            Error::new(ErrorKind::Unavailable, message).with_cause(error)
        })?;
        Ok(Some(RoleFile {
            role: agent.role().to_owned(),
            path,
            standing: StandingDocument::parse(&text),
        }))
    }

    fn require_role_file(&self, role: &str) -> Result<RoleFile> {
        let agent = parse_role(role)?;
        self.find(&agent)?.ok_or_else(|| {
            Error::not_found(format!("the role {} has no standing memory file", agent.role()))
                .hint(format!("Run `commonbook memory init {}`.", agent.role()))
        })
    }

    /// Every existing file that is in use, by role.
    fn role_files(&self) -> Result<Vec<RoleFile>> {
        let mut roles = BTreeMap::new();
        for folder in [self.folder(), self.home.join("memories")] {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Some(stem) = name.strip_suffix(".md").filter(|stem| !stem.starts_with('.'))
                else {
                    continue;
                };
                let role = stem.strip_suffix("_memories").unwrap_or(stem);
                if let Ok(agent) = Agent::with_any_name(role) {
                    roles.insert(agent.role().to_owned(), agent);
                }
            }
        }
        roles.into_values().filter_map(|agent| self.find(&agent).transpose()).collect()
    }

    fn init(&self, roles: &[String]) -> Result<Value> {
        let folder = self.folder();
        make_standing_folder(&folder, self.folder_kind(&folder)).map_err(|error| {
            let message = format!("cannot create {}: {error}", folder.display());
            Error::new(ErrorKind::Unavailable, message).with_cause(error)
        })?;
        let (mut made, mut lines) = (Vec::new(), vec![format!("Folder: {}", folder.display())]);
        for role in roles {
            let agent = parse_role(role)?;
            if let Some(found) = self.find(&agent)? {
                lines.push(format!("{} already has {}", found.role, found.path.display()));
                continue;
            }
            let path = folder.join(format!("{}.md", agent.role()));
            change_standing(&path, self.folder_kind(&path), |standing| {
                Ok((standing.unwrap_or_else(|| StandingDocument::new(agent.role())), ()))
            })?;
            lines.push(format!("Created {}", path.display()));
            made.push(path);
        }
        Ok(json!({"folder": folder, "made": made, "lines": lines}))
    }

    fn status(&self) -> Result<Value> {
        let (mut files, mut rows, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for found in self.role_files()? {
            let limits = self.preferences.limits(&found.role);
            let status = found.standing.status();
            let over = found.standing.limit_warnings(&limits);
            let over: Vec<String> = over.iter().map(ToString::to_string).collect();
            warnings.extend(over.iter().map(|warning| format!("{}: {warning}", found.role)));
            rows.push(vec![
                found.role.clone(),
                format!("{} of {}", status.items, limits.items),
                format!("{} of {}", status.bytes, limits.bytes),
                found.path.display().to_string(),
            ]);
            files.push(json!({
                "role": found.role, "file": found.path, "status": status, "over": over,
                "limits": {"bytes": limits.bytes, "items": limits.items, "line_chars": limits.line_chars},
            }));
        }
        let lines = match rows.is_empty() {
            true => {
                "No standing memory files; `commonbook memory init ROLE` creates one".to_owned()
            }
            false => table(&["role", "items", "bytes", "file"], rows),
        };
        Ok(json!({"files": files, "warnings": warnings, "lines": [lines]}))
    }

    fn add(&self, role: &str, section: &str, text: &str) -> Result<Value> {
        let agent = parse_role(role)?;
        let existing = self.role_paths(&agent).into_iter().find(|path| path.is_file());
        let path = existing.unwrap_or_else(|| self.folder().join(format!("{}.md", agent.role())));
        let limits = self.preferences.limits(agent.role());
        let (added, warnings) = change_standing(&path, self.folder_kind(&path), |standing| {
            let mut standing = standing.unwrap_or_else(|| StandingDocument::new(agent.role()));
            let mark = self.author_mark(self.folder_kind(&path), text)?;
            let added = standing.add(section, text, mark, &limits)?;
            Ok((standing, added))
        })?;
        let (outcome, line) = match &added {
            AddOutcome::Added => ("added", format!("Added to {}", path.display())),
            AddOutcome::Repeated(item) => ("repeated", format!("The file already has it: {item}")),
        };
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        Ok(json!({"file": path, "outcome": outcome, "warnings": warnings, "lines": [line]}))
    }

    /// The mark of an item that this command adds. A person, which is a caller at a terminal that names
    /// no agent, needs none in the home, and a signed one in a project; any other caller is named by it.
    fn author_mark(&self, location: StandingLocation, text: &str) -> Result<Option<AuthorMark>> {
        let day = SystemClock.now().strftime("%F").to_string();
        let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let is_person = at_terminal && self.agent.is_anonymous();
        Ok(match (is_person, location) {
            (false, _) => Some(AuthorMark::of_agent(self.agent.as_str(), day)),
            (true, StandingLocation::Home) => None,
            (true, StandingLocation::Project) => {
                Some(AuthorMark::of_person(text, day, &HomeKey::open(&self.home)?))
            }
        })
    }

    /// Changes the file of a role, or every file; reports the removed items.
    fn change_role_files(
        &self,
        role: Option<&str>,
        change: impl Fn(&str, &mut StandingDocument) -> (Vec<String>, Vec<String>),
    ) -> Result<Value> {
        let role_files = match role {
            Some(role) => vec![self.require_role_file(role)?],
            None => self.role_files()?,
        };
        let (mut files, mut lines, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for RoleFile { role, path, .. } in role_files {
            let (removed, role_warnings) =
                change_standing(&path, self.folder_kind(&path), |standing| {
                    let mut standing = standing.unwrap_or_else(|| StandingDocument::new(&role));
                    let changed = change(&role, &mut standing);
                    Ok((standing, changed))
                })?;
            lines.push(format!("{}: {} removed", path.display(), removed.len()));
            lines.extend(removed.iter().map(|item| format!("  - {item}")));
            warnings.extend(role_warnings.iter().map(|warning| format!("{role}: {warning}")));
            files.push(json!({"role": role, "file": path, "taken_out": removed}));
        }
        Ok(json!({"files": files, "warnings": warnings, "lines": lines}))
    }

    fn route(&self, text: &str) -> Result<Value> {
        let role_files = self.role_files()?;
        let files = role_files.iter().map(|found| (found.role.as_str(), &found.standing));
        let empty = StandingDocument::parse("");
        let unknown = ["engineer", "qa", "research", "ops", "documentation", "security", "pm"];
        let unknown =
            unknown.into_iter().filter(|role| role_files.iter().all(|found| found.role != *role));
        let routed = route(text, files.chain(unknown.map(|role| (role, &empty))));
        Ok(match routed {
            Some(routed) => {
                let words = routed.words.join(", ");
                let line = format!("{} (score {:.2}, by {words})", routed.role, routed.score);
                json!({"role": routed.role, "score": routed.score, "words": routed.words, "lines": [line]})
            }
            None => json!({"role": null, "lines": ["No role fits this text"]}),
        })
    }

    fn show(&self, role: Option<&str>) -> Result<Value> {
        let roles = match role {
            Some(role) => vec![parse_role(role)?],
            None => self
                .role_files()?
                .iter()
                .map(|found| parse_role(&found.role))
                .collect::<Result<Vec<_>>>()?,
        };
        let (mut shown, mut lines) = (Vec::new(), Vec::new());
        for agent in roles {
            let paths = self.role_paths(&agent);
            let found = self.find(&agent)?;
            lines.push(agent.role().to_owned());
            for path in &paths {
                let used = found.as_ref().is_some_and(|found| found.path == *path);
                lines.push(format!("  {} {}", if used { "*" } else { " " }, path.display()));
            }
            let mut section = "";
            for (name, item) in found.iter().flat_map(|found| found.standing.items()) {
                if name != section {
                    lines.push(format!("  {name}"));
                    section = name;
                }
                lines.push(format!("    - {item}"));
            }
            let items: Vec<Value> = (found.iter().flat_map(|found| found.standing.items()))
                .map(|(section, text)| json!({"section": section, "text": text}))
                .collect();
            let file = found.as_ref().map(|found| &found.path);
            shown
                .push(json!({"role": agent.role(), "file": file, "places": paths, "items": items}));
        }
        Ok(json!({"roles": shown, "lines": lines}))
    }
}
