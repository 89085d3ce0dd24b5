//! `workspace list` and `workspace alias`: which workspace each project uses, and choosing another one for a project.

use clap::Subcommand;
use commonbook::Commonbook;
use commonbook::base::error::{Error, Result};
use commonbook::model::workspace::Workspace;
use serde_json::json;

use crate::calls::output;
use crate::settings::config::Config;
use crate::settings::project::map::{ProjectMap, planned_workspace, workspace_of};

/// Shows and chooses the workspaces of projects, and moves memories between them.
#[derive(Debug, Subcommand)]
pub(super) enum WorkspaceAction {
    /// Lists the projects of this home with their workspaces, and the workspaces without a project
    List,
    /// Makes the project of this folder, with all its clones and worktrees, use another workspace
    Alias {
        /// Workspace to use; its memories stay where they are
        #[arg(required_unless_present = "undo")]
        name: Option<String>,
        /// Use the project's own workspace again
        #[arg(long, conflicts_with = "name")]
        undo: bool,
    },
}

impl WorkspaceAction {
    /// Runs the action and prints its response.
    ///
    /// # Errors
    /// `invalid` outside of a project and for a name that is no workspace's; `not_found` if there
    /// is no choice to undo; `unavailable` if the map cannot be written.
    pub(super) fn run(
        &self,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        match self {
            Self::List => list(config, open, as_json),
            Self::Alias { name, .. } => {
                let name = name.as_deref().map(str::parse).transpose()?;
                choose(config, name, as_json)
            }
        }
    }
}

fn list(config: &Config, open: impl FnOnce() -> Result<Commonbook>, as_json: bool) -> Result<()> {
    let home = config.home()?;
    let map = ProjectMap::read(home)?;
    let used = match config.has_store()? {
        true => open()?.store().read(|tx| tx.workspaces())?,
        false => Vec::new(),
    };
    let here = config.found_project().map(|here| -> Result<_> {
        let workspace = planned_workspace(Some(home), &here, &config.remote_settings())?;
        let project = here.identity.to_string();
        Ok(json!({"root": here.folder.root, "project": project, "workspace": workspace}))
    });
    let here = here.transpose()?;
    let projects: Vec<_> = map
        .projects
        .iter()
        .map(|(root, known)| {
            let workspace = map.aliases.get(&known.identity).unwrap_or(&known.workspace);
            json!({"workspace": workspace, "project": known.identity, "root": root})
        })
        .collect();
    let is_of_project =
        |name: &Workspace| projects.iter().any(|row| row["workspace"] == json!(name));
    let others: Vec<_> = used.iter().filter(|name| !is_of_project(name)).collect();
    if as_json {
        output::print_json(&json!({"here": here, "items": projects, "others": others}));
        return Ok(());
    }
    if let Some(here) = &here {
        output::print_line(&format!(
            "here: {} ({})",
            text(&here["workspace"]),
            text(&here["project"])
        ));
    }
    for row in &projects {
        let [workspace, project, root] =
            ["workspace", "project", "root"].map(|key| text(&row[key]));
        let folder = if project == root { String::new() } else { format!("  {root}") };
        output::print_line(&format!("{workspace:24}  {project}{folder}"));
    }
    others
        .iter()
        .for_each(|name| output::print_line(&format!("{name:24}  no project of this home")));
    Ok(())
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Chooses the workspace of the project here; `None` is its own one.
fn choose(config: &Config, chosen: Option<Workspace>, as_json: bool) -> Result<()> {
    let Some(here) = config.found_project() else {
        return Err(Error::invalid("folder", "this folder is no project's")
            .hint("Go to the folder of the project, or name a workspace with --workspace."));
    };
    let (home, project) = (config.home()?, here.identity.to_string());
    let settings = config.remote_settings();
    let before = workspace_of(Some(home), &here, &settings)?.name;
    let is_known = ProjectMap::change(home, |map| match chosen {
        Some(name) => {
            // What was saved so far stays to be found.
            let earlier = map.earlier.entry(project.clone()).or_default();
            earlier.insert(before.clone());
            earlier.remove(&name);
            map.aliases.insert(project.clone(), name);
            true
        }
        None => map.aliases.remove(&project).is_some(),
    })?;
    if !is_known {
        return Err(Error::not_found(format!("{project} uses its own workspace {before} already"))
            .hint("Run `commonbook workspace list`."));
    }
    let workspace = workspace_of(Some(home), &here, &settings)?.name;
    if as_json {
        let response = json!({"project": project, "workspace": workspace, "before": before});
        output::print_json(&response);
    } else {
        output::print_line(&format!("{project} now uses workspace {workspace} (before: {before})"));
    }
    Ok(())
}

/// Shows once that this project may have memories in the workspace that older versions named after its
/// folder.
pub(super) fn note_older_workspace(config: &Config, open: impl FnOnce() -> Result<Commonbook>) {
    let shown = show_older_workspace(config, open);
    if let Err(error) = shown {
        tracing::debug!(%error, "cannot look for an older workspace");
    }
}

fn show_older_workspace(config: &Config, open: impl FnOnce() -> Result<Commonbook>) -> Result<()> {
    let Some(here) = config.found_project() else { return Ok(()) };
    let (home, root) = (config.home()?, &here.folder.root);
    let map = ProjectMap::read(home)?;
    let Some(known) = map.projects.get(root).filter(|known| !known.older_shown) else {
        return Ok(());
    };
    let is_chosen = map.aliases.contains_key(&known.identity);
    if let Some(older) = here.folder_workspace().filter(|_| !is_chosen)
        && config.has_store()?
        && !open()?.store().read(|tx| tx.journals_of(std::slice::from_ref(&older)))?.is_empty()
    {
        let workspace = &known.workspace;
        output::print_note(&format!(
            "note: this project uses workspace {workspace}. An older version used {older} for every \
             folder of that name. If its memories belong to this project, run `commonbook workspace \
             alias {older}`; `--undo` takes that back."
        ));
    }
    ProjectMap::change(home, |map| {
        if let Some(known) = map.projects.get_mut(root) {
            known.older_shown = true;
        }
    })
}
