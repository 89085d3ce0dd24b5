//! `memory`: the standing memory files, one a role, as people look after them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::agent::Agent;
use commonbook::model::learning::LearningType;
use commonbook::model::standing::{
    AddOutcome, StandingDocument, route, section_of, standing_paths,
};
use commonbook::prompt::context::{ContextPreferences, StandingLocation};
use commonbook::verbs::{change_standing, make_standing_folder};
use serde_json::{Value, json};

use super::show::table;
use crate::config::Config;
use crate::output::{self, print_line, print_note};

/// Shows and changes standing memory files.
#[derive(Debug, Args)]
pub(crate) struct StandingCommand {
    #[command(subcommand)]
    what: StandingAction,
    /// In the home folder, for every project, instead of in this project
    #[arg(long, global = true)]
    everywhere: bool,
}

#[derive(Debug, Subcommand)]
enum StandingAction {
    /// Make the folder, and a file for each role that is named and has none
    Init { roles: Vec<String> },
    /// Tell how full each file is
    Status,
    /// Print the file of a role as it is
    View { role: String },
    /// Add an item to the file of a role, which is made where there is none
    Add {
        role: String,
        text: String,
        /// The section it goes to; that of its type by default
        #[arg(long)]
        section: Option<String>,
        /// What sort of thing it is
        #[arg(long = "type", value_enum)]
        sort: Option<StandingItemType>,
    },
    /// Take out items that say the same as another, of one role or of all
    Clean { role: Option<String> },
    /// Clean, break long lines, and make the file keep to its limits
    Optimize { role: Option<String> },
    /// Tell which role's file something belongs into
    Route { text: String },
    /// Show which file is read for a role, where it is looked for, and what is in it
    Show { role: Option<String> },
}

/// What sort of thing an item is.
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
}

/// A file that is there.
struct RoleFile {
    role: String,
    path: PathBuf,
    standing: StandingDocument,
}

impl StandingCommand {
    /// Carries it out.
    ///
    /// # Errors
    /// `invalid` with the field; `not_found` for a role without a file; `unavailable` for a file that
    /// cannot be read or written.
    pub(crate) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let home = config.store_path()?.parent().map(Path::to_owned).unwrap_or_default();
        let preferences = config.preferences()?;
        let (project, everywhere) = (config.project(), self.everywhere);
        let place = StandingFolders { project, home, preferences, everywhere };
        let told = match &self.what {
            StandingAction::Init { roles } => place.init(roles)?,
            StandingAction::Status => place.status()?,
            StandingAction::View { role } => {
                let found = place.require_role_file(role)?;
                let text = found.standing.render();
                json!({"role": found.role, "file": found.path, "text": text, "lines": [text.trim_end()]})
            }
            StandingAction::Add { role, text, section, sort } => {
                let usual = sort.map_or(section_of(""), StandingItemType::section);
                place.add(role, section.as_deref().unwrap_or(usual), text)?
            }
            StandingAction::Clean { role } => {
                place.change_role_files(role.as_deref(), |_, (_, standing)| {
                    let gone = standing.clean();
                    (gone, Vec::new())
                })?
            }
            StandingAction::Optimize { role } => {
                place.change_role_files(role.as_deref(), |place, standing| {
                    let (role, standing) = standing;
                    let (gone, warnings) = standing.optimize(&place.preferences.limits(role));
                    (gone, warnings.iter().map(ToString::to_string).collect())
                })?
            }
            StandingAction::Route { text } => place.route(text)?,
            StandingAction::Show { role } => place.show(role.as_deref())?,
        };
        print_standing_answer(told, as_json);
        Ok(())
    }
}

/// Prints an answer: its `lines` for people, all else as JSON.
fn print_standing_answer(mut told: Value, as_json: bool) {
    let lines = told.as_object_mut().and_then(|told| told.remove("lines"));
    if as_json {
        return output::print_json(&told);
    }
    for text in lines.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
        print_line(text);
    }
    for warning in told["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        print_note(&format!("warning: {warning}"));
    }
}

/// The role that a name means.
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

    /// Where the file of a role is, or is looked for.
    fn role_paths(&self, agent: &Agent) -> Vec<PathBuf> {
        standing_paths(self.project.as_deref().filter(|_| !self.everywhere), &self.home, agent)
    }

    fn find(&self, agent: &Agent) -> Result<Option<RoleFile>> {
        let path = self.role_paths(agent).into_iter().find(|path| path.is_file());
        let Some(path) = path else { return Ok(None) };
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
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
            Error::not_found(format!("{} has no standing memory", agent.role()))
                .hint(format!("`commonbook memory init {}` makes one.", agent.role()))
        })
    }

    /// Every file that is there and would be read, by role.
    fn role_files(&self) -> Result<Vec<RoleFile>> {
        let mut roles = BTreeMap::new();
        for folder in [self.folder(), self.home.join("memories")] {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Some(stem) = name.strip_suffix(".md").filter(|it| !it.starts_with('.')) else {
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
            let message = format!("{} cannot be made: {error}", folder.display());
            Error::new(ErrorKind::Unavailable, message).with_cause(error)
        })?;
        let (mut made, mut lines) = (Vec::new(), vec![format!("Files go to {}", folder.display())]);
        for role in roles {
            let agent = parse_role(role)?;
            if let Some(found) = self.find(&agent)? {
                lines.push(format!("{} has {} already", found.role, found.path.display()));
                continue;
            }
            let path = folder.join(format!("{}.md", agent.role()));
            change_standing(&path, self.folder_kind(&path), |there| {
                Ok((there.unwrap_or_else(|| StandingDocument::new(agent.role())), ()))
            })?;
            lines.push(format!("Made {}", path.display()));
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
            warnings.extend(over.iter().map(|it| format!("{}: {it}", found.role)));
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
            true => "No standing memories here; `commonbook memory init ROLE` makes one".to_owned(),
            false => table(&["role", "items", "bytes", "file"], rows.into_iter()),
        };
        Ok(json!({"files": files, "warnings": warnings, "lines": [lines]}))
    }

    fn add(&self, role: &str, section: &str, text: &str) -> Result<Value> {
        let agent = parse_role(role)?;
        let there = self.role_paths(&agent).into_iter().find(|path| path.is_file());
        let path = there.unwrap_or_else(|| self.folder().join(format!("{}.md", agent.role())));
        let limits = self.preferences.limits(agent.role());
        let (added, warnings) = change_standing(&path, self.folder_kind(&path), |standing| {
            let mut standing = standing.unwrap_or_else(|| StandingDocument::new(agent.role()));
            let added = standing.add(section, text, &limits)?;
            Ok((standing, added))
        })?;
        let (outcome, told) = match &added {
            AddOutcome::Added => ("added", format!("Added to {}", path.display())),
            AddOutcome::Repeated(same) => ("repeated", format!("The file says so already: {same}")),
        };
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        Ok(json!({"file": path, "outcome": outcome, "warnings": warnings, "lines": [told]}))
    }

    /// Changes the file of a role, or each file; tells what was taken out.
    fn change_role_files(
        &self,
        role: Option<&str>,
        change: impl Fn(&Self, (&str, &mut StandingDocument)) -> (Vec<String>, Vec<String>),
    ) -> Result<Value> {
        let all = match role {
            Some(role) => vec![self.require_role_file(role)?],
            None => self.role_files()?,
        };
        let (mut files, mut lines, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for RoleFile { role, path, .. } in all {
            let (gone, warned) = change_standing(&path, self.folder_kind(&path), |standing| {
                let mut standing = standing.unwrap_or_else(|| StandingDocument::new(&role));
                let told = change(self, (&role, &mut standing));
                Ok((standing, told))
            })?;
            lines.push(format!("{}: {} taken out", path.display(), gone.len()));
            lines.extend(gone.iter().map(|item| format!("  - {item}")));
            warnings.extend(warned.iter().map(|it| format!("{role}: {it}")));
            files.push(json!({"role": role, "file": path, "taken_out": gone}));
        }
        Ok(json!({"files": files, "warnings": warnings, "lines": lines}))
    }

    fn route(&self, text: &str) -> Result<Value> {
        let all = self.role_files()?;
        let files = all.iter().map(|found| (found.role.as_str(), &found.standing));
        let empty = StandingDocument::parse("");
        let unknown = ["engineer", "qa", "research", "ops", "documentation", "security", "pm"];
        let unknown =
            unknown.into_iter().filter(|role| all.iter().all(|found| found.role != *role));
        let routed = route(text, files.chain(unknown.map(|role| (role, &empty))));
        Ok(match routed {
            Some(routed) => {
                let words = routed.words.join(", ");
                let told = format!("{} (score {:.2}, by {words})", routed.role, routed.score);
                json!({"role": routed.role, "score": routed.score, "words": routed.words, "lines": [told]})
            }
            None => json!({"role": null, "lines": ["Nothing in it speaks for one role"]}),
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
        let (mut told, mut lines) = (Vec::new(), Vec::new());
        for agent in roles {
            let places = self.role_paths(&agent);
            let found = self.find(&agent)?;
            lines.push(agent.role().to_owned());
            for path in &places {
                let read = found.as_ref().is_some_and(|found| found.path == *path);
                lines.push(format!("  {} {}", if read { "*" } else { " " }, path.display()));
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
            told.push(
                json!({"role": agent.role(), "file": file, "places": places, "items": items}),
            );
        }
        Ok(json!({"roles": told, "lines": lines}))
    }
}
