//! The map of projects: which workspace each project of this home uses. `projects.json` in the home.
//!
//! Processes read the file without a lock and replace it whole under one. A project enters the map
//! when it is first used, and keeps its workspace from then on, also if its remote changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_lock::FileLock;
use commonbook::base::home_key::HomeKey;
use commonbook::base::limits;
use commonbook::model::workspace::Workspace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::first_commit::first_commit;
use super::folder::{ProjectFolder, ProjectKind};
use super::git::git_data;
use super::identity::{Project, ProjectIdentity, creation_time};
use super::remote::respelled;
use super::remote_settings::RemoteSettings;
use crate::system::atomic::{self, StagedFile};

/// Letters of a hash in the name of a workspace; more if another project has the name.
const HASH_CHARS: [usize; 3] = [6, 12, 24];

/// The spelling of remotes in the map. Version 1 has one for all forms of a remote.
const SPELLING: u32 = 1;

/// What a map has.
const MAP_SECTIONS: [&str; 3] = ["projects", "aliases", "spelling"];

/// Linked working copies of a project that are known after they are gone, the newest ones.
const WORKTREES_MAX: usize = 100;

/// The projects of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ProjectMap {
    /// Each project by its root.
    pub(crate) projects: BTreeMap<PathBuf, KnownProject>,
    /// The workspaces that a person chose, by the identity of the project.
    pub(crate) aliases: BTreeMap<String, Workspace>,
    /// Further workspaces of a project, from when its remote had several spellings, by its identity.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) earlier: BTreeMap<String, BTreeSet<Workspace>>,
    /// The version of the spelling of remotes.
    pub(crate) spelling: u32,
}

/// A project that was used with this home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownProject {
    /// Its identity when it was last used.
    pub(crate) identity: String,
    /// Its workspace.
    pub(crate) workspace: Workspace,
    /// The creation time of the repository, or of a folder without one, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<u64>,
    /// What keeps its files.
    #[serde(default, skip_serializing_if = "is_git")]
    pub(crate) kind: ProjectKind,
    /// The first commit of its repository, if it has no remote; empty if git does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_commit: Option<String>,
    /// Its linked working copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) worktrees: Vec<PathBuf>,
    /// Whether a person was shown the workspace that versions before projects had identities used.
    #[serde(default)]
    pub(crate) older_shown: bool,
}

/// The workspace in which a process works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NearWorkspace {
    /// Its name.
    pub(crate) name: Workspace,
    /// The workspaces that the project used before: searches read them too.
    pub(crate) earlier: Vec<Workspace>,
}

impl NearWorkspace {
    /// That of a project. Folders that git does not know shared the fallback before each had its own, and the
    /// spellings of a remote had a workspace each, which other machines find by themselves.
    fn of(map: &ProjectMap, project: &Project, name: Workspace) -> Self {
        let identity = project.identity.to_string();
        let derived = project.older_remote.iter().flat_map(|older| {
            let older = ProjectIdentity::Remote(older.clone());
            [&older, &project.identity].map(|identity| identity.workspace(None, HASH_CHARS[0]))
        });
        let is_own = |workspace: &Workspace| {
            map.projects
                .values()
                .all(|known| known.workspace != *workspace || known.identity == identity)
        };
        let shared =
            Some(Workspace::fallback()).filter(|_| project.folder.kind != ProjectKind::Git);
        let recorded = map.earlier.get(&identity).into_iter().flatten().cloned();
        let all = recorded.chain(derived.filter(is_own)).chain(shared);
        let mut earlier: Vec<Workspace> = Vec::new();
        for workspace in all.filter(|earlier| *earlier != name) {
            if !earlier.contains(&workspace) && earlier.len() < limits::EARLIER_WORKSPACES {
                earlier.push(workspace);
            }
        }
        Self { name, earlier }
    }
}

impl From<Workspace> for NearWorkspace {
    fn from(name: Workspace) -> Self {
        Self { name, earlier: Vec::new() }
    }
}

impl ProjectMap {
    /// The map of this home; empty if there is none.
    ///
    /// # Errors
    /// As [`atomic::read`], and `conflict` if it is damaged.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = map_path(home);
        let Some(text) = atomic::read(&path)? else { return Ok(Self::default()) };
        Self::parse(&text).map_err(|reason| {
            Error::conflict(format!("{} is damaged: {reason}", path.display()))
                .hint("Repair the file, or remove it: then each project has its first workspace.")
        })
    }

    /// Parses a map. A list in the place of an object, and an object without anything that a map has, is damage:
    /// what was there would be lost at the next change.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let map: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let whole: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let Some(sections) = whole.as_object() else { return Err("expected an object".to_owned()) };
        if !sections.is_empty() && !MAP_SECTIONS.iter().any(|name| sections.contains_key(*name)) {
            return Err(format!("expected `{}`", MAP_SECTIONS.join("` or `")));
        }
        let projects = sections.get("projects").and_then(Value::as_object);
        match projects.into_iter().flatten().find(|(_, known)| !known.is_object()) {
            Some((root, _)) => Err(format!("expected an object for {root:?}")),
            None => Ok(map),
        }
    }

    /// Changes the map of this home, one process after the other.
    ///
    /// # Errors
    /// As [`Self::read`]; `unavailable` if the map cannot be written.
    pub(crate) fn change<T>(home: &Path, act: impl FnOnce(&mut Self) -> T) -> Result<T> {
        atomic::create_folders(home)?;
        let _lock = lock(home)?;
        let before = Self::read(home)?;
        let mut map = before.clone();
        let done = act(&mut map);
        if map != before {
            let text = serde_json::to_string_pretty(&map)
                .map_err(|error| Error::conflict("cannot encode the map").with_cause(error))?;
            StagedFile::write(&map_path(home), &(text + "\n"))?.replace_target()?;
        }
        Ok(done)
    }

    /// The project of a folder that is gone: its root, its working copy or a folder above them was known.
    pub(super) fn gone_around(&self, folder: &Path) -> Option<ProjectFolder> {
        let gone = folder.ancestors().take_while(|folder| !folder.exists());
        let (root, known) = gone.into_iter().find_map(|gone| {
            let is_there = |(root, known): &(&PathBuf, &KnownProject)| {
                **root == gone || known.worktrees.iter().any(|worktree| worktree == gone)
            };
            self.projects.iter().find(is_there)
        })?;
        Some(ProjectFolder {
            root: root.clone(),
            worktree: None,
            kind: known.kind,
            data: root.clone(),
            recorded: Some(known.identity.clone()),
        })
    }

    /// The nearest folder around this one that is a project without a version control.
    pub(super) fn opened_around(&self, folder: &Path) -> Option<PathBuf> {
        let is_plain = |folder: &&Path| {
            self.projects.get(*folder).is_some_and(|known| known.kind == ProjectKind::Plain)
        };
        folder.ancestors().find(is_plain).map(Path::to_owned)
    }

    /// The project that a folder without a remote probably was before it was moved: its folder is
    /// gone, and it had the same data or name.
    pub(crate) fn moved_from(&self, project: &Project) -> Option<(&Path, &Workspace)> {
        let is_local =
            matches!(project.identity, ProjectIdentity::Folder(_) | ProjectIdentity::Commit { .. });
        let is_chosen = self.aliases.contains_key(&project.identity.to_string());
        let here = &project.folder.root;
        let was_it = |(root, known): &(&PathBuf, &KnownProject)| {
            let is_same_data = known.created.is_some() && known.created == project.created;
            let is_same_name = root.file_name() == here.file_name();
            *root != here && (is_same_data || is_same_name) && !root.exists()
        };
        let (root, known) = self.projects.iter().filter(|_| is_local && !is_chosen).find(was_it)?;
        Some((root, self.aliases.get(&known.identity).unwrap_or(&known.workspace)))
    }

    /// The project, known by its first commit if it has no remote. Where another folder of this home has the
    /// same one, such as a copy, each is known by its path.
    pub(super) fn identified(&self, project: Project) -> Project {
        let ProjectIdentity::Folder(path) = &project.identity else { return project };
        let is_own = *path == project.folder.root;
        let data = if is_own { project.folder.data.clone() } else { git_data(path) };
        let created = creation_time(&data);
        let is_same = |known: &&KnownProject| {
            known.created.zip(created).is_none_or(|(before, now)| before == now)
        };
        let known = self.projects.get(path).filter(is_same);
        let found = || match first_commit(&data) {
            Ok(found) => found,
            Err(error) => {
                tracing::debug!(%error, "a repository without a remote is known by its folder");
                Some(String::new())
            }
        };
        let commit = known.and_then(|known| known.first_commit.clone()).or_else(found);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let (Some(commit), Some(name)) = (commit, name) else { return project };
        let name = name.strip_suffix(".git").unwrap_or(&name).to_owned();
        let first_commit = Some(commit.clone()).filter(|_| is_own);
        let identity = ProjectIdentity::Commit { name, commit: commit.clone() };
        let text = identity.to_string();
        let has_it = |(other, known): &(&PathBuf, &KnownProject)| {
            *other != path && known.identity == text && known.first_commit.is_some()
        };
        let mut others = self.projects.iter().filter(has_it);
        let was_apart = known.is_some_and(|known| {
            known.first_commit.is_some() && known.identity == path.display().to_string()
        });
        let is_taken = others.any(|(other, _)| was_apart || other.exists());
        match commit.is_empty() || is_taken {
            true => Project { first_commit, ..project },
            false => Project { first_commit, identity, ..project },
        }
    }

    /// Gives the projects and choices of earlier versions the present spelling of their remotes. Spellings
    /// that had a workspace each are one project then: it uses the one that every machine derives, else the
    /// first one, and searches find what lies in the others.
    fn respell(&mut self, settings: &RemoteSettings) {
        if self.spelling >= SPELLING {
            return;
        }
        self.spelling = SPELLING;
        let respell = |identity: &str| match Path::new(identity).is_absolute() {
            true => identity.to_owned(),
            false => respelled(identity, settings).unwrap_or_else(|| identity.to_owned()),
        };
        for (identity, chosen) in std::mem::take(&mut self.aliases) {
            let identity = respell(&identity);
            let kept = self.aliases.entry(identity.clone()).or_insert_with(|| chosen.clone());
            if *kept != chosen {
                self.earlier.entry(identity).or_default().insert(chosen);
            }
        }
        let mut changed = BTreeSet::new();
        for known in self.projects.values_mut() {
            let identity = respell(&known.identity);
            if identity != known.identity {
                changed.insert(identity.clone());
                known.identity = identity;
            }
        }
        for identity in changed {
            let own = self.projects.values().filter(|known| known.identity == identity);
            let names: BTreeSet<Workspace> = own.map(|known| known.workspace.clone()).collect();
            let derived = ProjectIdentity::Remote(identity.clone()).workspace(None, HASH_CHARS[0]);
            let first = names.get(&derived).or(names.first());
            let Some(chosen) = self.aliases.get(&identity).or(first).cloned() else { continue };
            if names.len() > 1 {
                let others = names.into_iter().filter(|name| *name != chosen);
                self.earlier.entry(identity.clone()).or_default().extend(others);
            }
            self.aliases.insert(identity, chosen);
        }
        self.earlier.retain(|_, names| !names.is_empty());
    }

    /// The workspace of a project. Enters the project, and its new remote if that has changed.
    fn enter(&mut self, project: &Project, key: Option<&HomeKey>) -> Workspace {
        let Project { folder: ProjectFolder { root, kind, .. }, identity, created, .. } = project;
        let text = identity.to_string();
        let known = self.projects.get(root);
        if let (ProjectIdentity::Recorded(_), Some(known)) = (identity, known) {
            return self.aliases.get(&known.identity).unwrap_or(&known.workspace).clone();
        }
        // A remote that changes leaves the repository as it is, and so does the first version control of a
        // folder; another repository in its place does not.
        let is_same = |known: &&KnownProject| {
            let times = match known.kind {
                ProjectKind::Plain => known.created.zip(creation_time(root)),
                _ => known.created.zip(*created),
            };
            known.identity == text || times.is_none_or(|(before, now)| before == now)
        };
        let same = known.filter(is_same);
        let sibling = self.projects.values().find(|known| known.identity == text);
        let workspace = match (same, sibling) {
            (Some(known), _) | (None, Some(known)) => known.workspace.clone(),
            (None, None) => self.new_workspace(identity, &text, key),
        };
        let mut entry = KnownProject {
            identity: text.clone(),
            workspace: workspace.clone(),
            created: *created,
            older_shown: same.is_some_and(|known| known.older_shown),
            kind: *kind,
            first_commit: project.first_commit.clone(),
            worktrees: same.map(|known| known.worktrees.clone()).unwrap_or_default(),
        };
        entry.add_worktree(project.folder.worktree.as_deref());
        if let Some(before) = same.filter(|known| known.identity != text && sibling.is_none()) {
            // Clones with the new remote meet this project.
            let used = self.aliases.get(&before.identity).unwrap_or(&workspace).clone();
            self.aliases.entry(text.clone()).or_insert(used);
        }
        self.projects.insert(root.clone(), entry);
        self.aliases.get(&text).cloned().unwrap_or(workspace)
    }

    /// A workspace that no other project has.
    fn new_workspace(
        &self,
        identity: &ProjectIdentity,
        text: &str,
        key: Option<&HomeKey>,
    ) -> Workspace {
        let is_free = |workspace: &Workspace| {
            self.projects.values().all(|known| known.workspace != *workspace)
                && self.aliases.iter().all(|(owner, alias)| alias != workspace || owner == text)
        };
        let [least, .., most] = HASH_CHARS;
        let mut names = HASH_CHARS.iter().map(|chars| identity.workspace(key, *chars));
        let most = || identity.workspace(key, most.max(least));
        names.find(is_free).unwrap_or_else(most)
    }
}

impl KnownProject {
    /// Remembers a linked working copy.
    fn add_worktree(&mut self, worktree: Option<&Path>) {
        let Some(worktree) =
            worktree.filter(|own| !self.worktrees.iter().any(|known| known == own))
        else {
            return;
        };
        self.worktrees.push(worktree.to_owned());
        let surplus = self.worktrees.len().saturating_sub(WORKTREES_MAX);
        self.worktrees.drain(..surplus);
    }
}

/// For serde, which passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_git(kind: &ProjectKind) -> bool {
    *kind == ProjectKind::Git
}

/// The project, known by its first commit if it has no remote, as far as the map of this home lets it.
pub(crate) fn identified_project(home: Option<&Path>, project: Project) -> Project {
    let map = || home.and_then(|home| ProjectMap::read(home).ok()).unwrap_or_default();
    match (&project.identity, project.folder.kind) {
        (ProjectIdentity::Folder(_), ProjectKind::Git) => map().identified(project),
        _ => project,
    }
}

/// The workspace of a project in this home. In a home that cannot be written, a new project has the one
/// that its identity alone gives.
///
/// # Errors
/// As [`ProjectMap::read`] and [`HomeKey::read`]: in another workspace the project would seem to have no
/// memories, and what it saves would be lost for it.
pub(crate) fn workspace_of(
    home: Option<&Path>,
    project: &Project,
    settings: &RemoteSettings,
) -> Result<NearWorkspace> {
    let derived = || project.identity.workspace(None, HASH_CHARS[0]);
    let near = |map: &ProjectMap, name| NearWorkspace::of(map, project, name);
    let Some(home) = home else { return Ok(near(&ProjectMap::default(), derived())) };
    let map = ProjectMap::read(home)?;
    let mut after = map.clone();
    after.respell(settings);
    let known = after.enter(project, None);
    if after == map {
        return Ok(near(&map, known));
    }
    HomeKey::read(home)?;
    let enter = |key: &HomeKey, map: &mut ProjectMap| {
        map.respell(settings);
        let name = map.enter(project, Some(key));
        near(map, name)
    };
    let entered = atomic::create_folders(home)
        .and_then(|_| HomeKey::open(home))
        .and_then(|key| ProjectMap::change(home, |map| enter(&key, map)));
    Ok(entered.unwrap_or_else(|error| {
        tracing::warn!(%error, "the project cannot be written into the map of projects");
        near(&map, derived())
    }))
}

/// The workspace that a project has, or would get, without entering it.
///
/// # Errors
/// As [`workspace_of`].
pub(crate) fn planned_workspace(
    home: Option<&Path>,
    project: &Project,
    settings: &RemoteSettings,
) -> Result<Workspace> {
    let mut map = home.map(ProjectMap::read).transpose()?.unwrap_or_default();
    map.respell(settings);
    // The name depends on the key, so a home without one gets it now.
    let key = home.and_then(|home| HomeKey::open(home).ok());
    Ok(map.enter(project, key.as_ref()))
}

/// Waits until no other process changes the map.
fn lock(home: &Path) -> Result<FileLock> {
    FileLock::wait(&home.join("projects.lock")).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("cannot lock the map of projects: {error}"))
            .hint("Check the permissions of the home folder.")
            .with_cause(error)
    })
}

fn map_path(home: &Path) -> PathBuf {
    home.join("projects.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the user's settings rewrite nothing.
    fn workspace_of(home: Option<&Path>, project: &Project) -> Result<NearWorkspace> {
        super::workspace_of(home, project, &RemoteSettings::default())
    }

    fn repository(root: &str, remote: &str, created: u64) -> Project {
        let identity = match remote {
            "" => ProjectIdentity::Folder(root.into()),
            remote => ProjectIdentity::Remote(remote.to_owned()),
        };
        let folder = ProjectFolder {
            root: root.into(),
            worktree: None,
            kind: ProjectKind::Git,
            data: root.into(),
            recorded: None,
        };
        let older_remote = None;
        Project { folder, identity, older_remote, created: Some(created), first_commit: None }
    }

    #[test]
    fn a_project_keeps_its_workspace_and_shares_it_with_its_clones() {
        let home = tempfile::tempdir().unwrap();
        let find = |root: &str, remote: &str, created: u64| {
            let repository = repository(root, remote, created);
            workspace_of(Some(home.path()), &repository).unwrap().name.to_string()
        };
        let local = find("/work/api", "", 1);
        assert!(local.starts_with("api-"), "{local}");
        assert_ne!(find("/play/api", "", 2), local, "two folders of one name");
        // It gets a remote, and then another one.
        assert_eq!(find("/work/api", "github.com/acme/api", 1), local);
        assert_eq!(find("/elsewhere/api", "github.com/acme/api", 3), local, "a clone meets it");
        assert_eq!(find("/work/api", "git.example/acme/api", 1), local);
        assert_eq!(find("/third/api", "git.example/acme/api", 4), local);
        // Another repository in the same place is another project.
        let other = find("/work/api", "github.com/other/api", 9);
        assert_ne!(other, local);
        assert_eq!(find("/fourth/api", "github.com/other/api", 5), other);
        // Another machine finds the same name for a remote.
        let elsewhere = tempfile::tempdir().unwrap();
        let there = repository("/x/api", "github.com/other/api", 7);
        assert_eq!(workspace_of(Some(elsewhere.path()), &there).unwrap().name.to_string(), other);
        assert_eq!(workspace_of(None, &there).unwrap().name.to_string(), other);
    }

    #[test]
    fn a_repository_without_a_remote_is_known_again_where_it_was_moved_to() {
        let (home, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let still = there.path().display().to_string();
        let before = workspace_of(Some(home.path()), &repository("/work/api", "", 1)).unwrap().name;
        workspace_of(Some(home.path()), &repository(&still, "", 5)).unwrap();
        let map = ProjectMap::read(home.path()).unwrap();
        let table = [
            ("/play/api", "", 1, true),
            ("/play/other", "", 1, true),
            ("/play/api", "", 2, true),
            ("/play/other", "", 2, false),
            ("/play/api", "github.com/acme/api", 1, false),
            ("/work/api", "", 1, false),
            // That folder is not gone.
            ("/play/copy", "", 5, false),
        ];
        for (root, remote, created, is_found) in table {
            let found = map.moved_from(&repository(root, remote, created));
            let expected = is_found.then_some((Path::new("/work/api"), &before));
            assert_eq!(found, expected, "{root} {remote} {created}");
        }
    }

    #[test]
    fn the_spellings_of_a_remote_in_an_older_map_become_one_project() {
        let home = tempfile::tempdir().unwrap();
        let older = serde_json::json!({
            "projects": {
                "/a/api": {"identity": "github.com/Acme/API", "workspace": "API-111111", "created": 1},
                "/b/api": {"identity": "github.com/acme/api", "workspace": "api-e1dcaa", "created": 2},
                "/c/api": {"identity": "ssh.github.com/acme/api", "workspace": "api-222222", "created": 3},
                "/d/web": {"identity": "gitlab.com/A/Web", "workspace": "Web-333333", "created": 4},
                "/e/x": {"identity": "git.example/A/x", "workspace": "x-444444", "created": 5},
            },
            "aliases": {"gitlab.com/A/Web": "shop", "gitlab.com/a/web": "store"},
        });
        std::fs::write(map_path(home.path()), older.to_string()).unwrap();
        let find = |root: &str, remote: &str, older: Option<&str>| {
            let mut project = repository(root, remote, root.len() as u64);
            project.older_remote = older.map(str::to_owned);
            project.created = ProjectMap::read(home.path())
                .unwrap()
                .projects
                .get(Path::new(root))
                .and_then(|known| known.created);
            let near = workspace_of(Some(home.path()), &project).unwrap();
            let earlier: Vec<String> = near.earlier.into_iter().map(String::from).collect();
            (near.name.to_string(), earlier)
        };
        let texts =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for root in ["/a/api", "/b/api", "/c/api", "/new/api"] {
            let found = find(root, "github.com/acme/api", None);
            assert_eq!(
                found,
                ("api-e1dcaa".to_owned(), texts(&["api-111111", "api-222222"])),
                "{root}"
            );
        }
        let web = find("/d/web", "gitlab.com/a/web", None);
        assert_eq!(web, ("shop".to_owned(), texts(&["store"])));
        assert_eq!(find("/e/x", "git.example/A/x", None), ("x-444444".to_owned(), Vec::new()));
        // What another machine found for the older spelling, and finds for the present one, is read too.
        let (name, earlier) = find("/f/q", "github.com/acme/q", Some("github.com/Acme/Q"));
        assert!(
            name.starts_with("q-") && earlier.len() == 1 && earlier[0].starts_with("q-"),
            "{name} {earlier:?}"
        );
    }

    #[test]
    fn a_name_that_another_project_has_becomes_longer() {
        let project = repository("/work/api", "github.com/acme/api", 1);
        let mut map = ProjectMap::default();
        let taken = project.identity.workspace(None, HASH_CHARS[0]);
        map.aliases.insert("evil.example/api".to_owned(), taken.clone());
        let found = map.enter(&project, None);
        assert!(found.as_str().starts_with(taken.as_str()) && found != taken, "{found}");
        // The chosen workspace of the project itself is no obstacle.
        let mut map = ProjectMap::default();
        map.aliases.insert("github.com/acme/api".to_owned(), taken.clone());
        assert_eq!(map.enter(&project, None), taken);
    }

    #[test]
    fn many_threads_enter_their_projects_at_once() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for n in 0..16 {
                let home = home.path();
                scope.spawn(move || {
                    let project = repository(&format!("/work/{n}"), "", n);
                    workspace_of(Some(home), &project).unwrap()
                });
            }
        });
        assert_eq!(ProjectMap::read(home.path()).unwrap().projects.len(), 16);
    }

    #[test]
    fn a_damaged_map_or_key_sends_no_project_to_another_workspace() {
        let home = tempfile::tempdir().unwrap();
        let (old, new) =
            (repository("/work/api", "github.com/acme/api", 1), repository("/work/new", "", 2));
        let workspace = workspace_of(Some(home.path()), &old).unwrap().name;
        let (map, key) = (map_path(home.path()), home.path().join("hook.key"));
        let intact = std::fs::read(&map).unwrap();
        let list_for_object = r#"{"projects": {"/work/api": ["github.com/acme/api", "evil"]}}"#;
        for damage in ["{", "", "no JSON", "\0", "[]", r#"{"qrojects": {}}"#, list_for_object] {
            std::fs::write(&map, damage).unwrap();
            for project in [&old, &new] {
                let error = workspace_of(Some(home.path()), project).unwrap_err();
                assert!(error.message.contains("projects.json is damaged"), "{error}");
            }
            assert_eq!(std::fs::read_to_string(&map).unwrap(), damage, "nothing is overwritten");
            std::fs::write(&map, &intact).unwrap();
            std::fs::write(&key, damage).unwrap();
            assert_eq!(workspace_of(Some(home.path()), &old).unwrap().name, workspace);
            let error = workspace_of(Some(home.path()), &new).unwrap_err();
            assert!(error.message.contains("hook.key"), "{error}");
            std::fs::remove_file(&key).unwrap();
        }
        assert!(workspace_of(Some(home.path()), &new).unwrap().name.as_str().starts_with("new-"));
    }
}
