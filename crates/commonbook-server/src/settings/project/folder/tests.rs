//! Folders that are projects, and those that are none.

use super::*;
use crate::settings::project::identity::Project;
use crate::settings::project::map::{identified_project, workspace_of};
use crate::settings::project::remote_settings::RemoteSettings;

/// A user's home with folders below it, and the home of Commonbook.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(path)
    }

    fn make(&self, paths: &[&str]) {
        paths.iter().for_each(|path| fs::create_dir_all(self.path(path)).unwrap());
    }

    fn find(&self, path: &str, is_opened: bool) -> Option<ProjectFolder> {
        let (home, user) = (self.path("ann/.commonbook"), self.path("ann"));
        let search =
            FolderSearch { home: Some(&home), user_home: Some(&user), is_opened, roots: None };
        ProjectFolder::around(&self.path(path), search)
    }

    /// The root of the project around a folder, and its workspace, which the map then knows.
    fn use_folder(&self, path: &str, is_opened: bool) -> Option<[String; 2]> {
        let found = self.find(path, is_opened)?;
        let disk = self.path("");
        let root = found.root.strip_prefix(&disk).unwrap().display().to_string();
        let home = self.path("ann/.commonbook");
        let settings = RemoteSettings::default();
        let project = identified_project(Some(&home), Project::of(found, &settings));
        let near = workspace_of(Some(&home), &project, &settings).unwrap();
        Some([root, near.name.to_string()])
    }

    fn root(&self, path: &str) -> Option<String> {
        self.use_folder(path, false).map(|[root, _]| root)
    }
}

#[test]
fn the_root_of_any_version_control_is_the_project() {
    let disk = Disk::new();
    let marks =
        [".hg", ".jj", ".sl", ".bzr", "_darcs", ".pijul", ".fslckout", "_FOSSIL_", ".p4config"];
    for (n, mark) in marks.iter().enumerate() {
        let root = format!("ann/v{n}");
        disk.make(&[&format!("{root}/{mark}"), &format!("{root}/a/b")]);
        assert_eq!(disk.root(&format!("{root}/a/b")), Some(root), "{mark}");
    }
    // Old working copies have a mark in every folder.
    disk.make(&["ann/s/.svn", "ann/s/a/.svn", "ann/s/a/b/.svn", "ann/c/a"]);
    for path in ["ann/c/CVS", "ann/c/a/CVS"] {
        disk.make(&[path]);
        fs::write(disk.path(path).join("Root"), ":pserver:x").unwrap();
    }
    assert_eq!(disk.root("ann/s/a/b").as_deref(), Some("ann/s"));
    assert_eq!(disk.root("ann/c/a").as_deref(), Some("ann/c"));
    // A linked working copy belongs to the main one.
    disk.make(&["ann/main/.hg/store", "ann/share/.hg", "ann/j/.jj/repo", "ann/j2/.jj"]);
    fs::write(disk.path("ann/share/.hg/sharedpath"), "../../main/.hg\n").unwrap();
    fs::write(disk.path("ann/j2/.jj/repo"), "../../j/.jj/repo").unwrap();
    assert_eq!(disk.root("ann/share").as_deref(), Some("ann/main"));
    assert_eq!(disk.root("ann/j2").as_deref(), Some("ann/j"));
    // What a stranger commits in a git repository names no other project.
    disk.make(&["ann/g/.git", "ann/g/x/.hg", "ann/g/y/objects", "ann/g/y/refs"]);
    fs::write(disk.path("ann/g/y/HEAD"), "").unwrap();
    fs::write(disk.path("ann/g/y/config"), "[remote \"origin\"]\nurl = h.example:a/b\n").unwrap();
    assert_eq!(disk.root("ann/g/x").as_deref(), Some("ann/g"));
    assert_eq!(disk.root("ann/g/y").as_deref(), Some("ann/g"));
    // A setting for all working copies is none.
    fs::write(disk.path("ann/.p4config"), "").unwrap();
    disk.make(&["ann/plain"]);
    assert_eq!(disk.root("ann/plain").as_deref(), Some("ann/plain"));
}

#[test]
fn a_plain_folder_is_a_project_with_the_folders_below_it() {
    let disk = Disk::new();
    disk.make(&["ann/.commonbook/x", "ann/notes/sub/deep", "ann/work/api/.git", "ann/work/notes"]);
    for nowhere in ["", "ann", "ann/.commonbook", "ann/.commonbook/x"] {
        assert_eq!(disk.use_folder(nowhere, true), None, "{nowhere:?}");
    }
    for nowhere in ["/", "/usr/share/code", "/Applications/Client.app/Contents"] {
        let found = ProjectFolder::around(Path::new(nowhere), FolderSearch::default());
        assert!(found.is_none() || !cfg!(unix), "{nowhere}");
    }
    disk.make(&["ann/other-home"]);
    fs::write(disk.path("ann/other-home/hook.key"), "").unwrap();
    assert_eq!(disk.use_folder("ann/other-home", true), None);
    let notes = disk.use_folder("ann/notes", true).unwrap();
    assert_eq!(disk.use_folder("ann/notes/sub/deep", false).unwrap(), notes);
    // A client that opens a folder below it has a project of its own, for all that comes from there.
    let sub = disk.use_folder("ann/notes/sub", true).unwrap();
    assert_eq!(sub[0], "ann/notes/sub");
    assert_eq!(disk.use_folder("ann/notes/sub/deep", false).unwrap(), sub);
    // A folder of repositories is not the project of the folders beside them.
    let work = disk.use_folder("ann/work", true).unwrap();
    let beside = disk.use_folder("ann/work/notes", false).unwrap();
    assert_eq!((&*work[0], &*beside[0]), ("ann/work", "ann/work/notes"));
    assert_eq!(disk.root("ann/work/api").as_deref(), Some("ann/work/api"));
    let all = [&notes, &sub, &work, &beside].map(|[_, workspace]| workspace);
    assert!(all.iter().enumerate().all(|(n, one)| !all[..n].contains(one)), "{all:?}");
    // Its first version control leaves the project as it is.
    disk.make(&["ann/notes/.git"]);
    let config = "[remote \"origin\"]\nurl = h.example:ann/notes\n";
    fs::write(disk.path("ann/notes/.git/config"), config).unwrap();
    assert_eq!(disk.use_folder("ann/notes", true).unwrap(), notes);
}

#[test]
fn a_folder_that_is_gone_keeps_its_workspace() {
    let disk = Disk::new();
    disk.make(&["ann/api/.git/worktrees/t", "ann/tree/src", "ann/plain/a", "ann/other"]);
    fs::write(disk.path("ann/api/.git/worktrees/t/commondir"), "../..\n").unwrap();
    let link = format!("gitdir: {}\n", disk.path("ann/api/.git/worktrees/t").display());
    fs::write(disk.path("ann/tree/.git"), link).unwrap();
    let before = ["ann/tree/src", "ann/plain/a"].map(|path| disk.use_folder(path, false).unwrap());
    assert_eq!(before[0][0], "ann/api");
    assert_eq!(disk.find("ann/tree/src", false).unwrap().working_copy(), disk.path("ann/tree"));
    fs::remove_dir_all(disk.path("ann/tree")).unwrap();
    fs::remove_dir_all(disk.path("ann/plain")).unwrap();
    for (path, known) in [
        ("ann/tree", &before[0]),
        ("ann/tree/src/deep", &before[0]),
        ("ann/plain/a", &before[1]),
        ("ann/plain/a/b", &before[1]),
    ] {
        assert_eq!(disk.use_folder(path, false).as_ref(), Some(known), "{path}");
    }
    // The main working copy is gone too.
    fs::remove_dir_all(disk.path("ann/api")).unwrap();
    assert_eq!(disk.use_folder("ann/tree/src", true).as_ref(), Some(&before[0]));
    // A folder that nobody knew is a project by its path.
    let unknown = disk.use_folder("ann/unknown", false).unwrap();
    assert_eq!(unknown[0], "ann/unknown");
}

#[test]
fn copies_on_two_machines_meet_by_their_first_commit() {
    let disks = [Disk::new(), Disk::new()];
    let begin = |disk: &Disk, path: &str, digit: &str| {
        disk.make(&[&format!("{path}/.git/logs")]);
        let [nothing, first] = ["0", digit].map(|digit| digit.repeat(40));
        let log = format!("{nothing} {first} A <a@b> 0 +0000\tcommit (initial): one\n");
        fs::write(disk.path(path).join(".git/logs/HEAD"), log).unwrap();
    };
    let find = |disk: &Disk, path: &str| disk.use_folder(path, false).unwrap()[1].clone();
    disks.iter().for_each(|disk| begin(disk, "ann/api", "a"));
    let api = find(&disks[0], "ann/api");
    assert!(api.starts_with("api-"), "{api}");
    assert_eq!(find(&disks[1], "ann/api"), api);
    // Another folder of this home with the same key is a project of its own, and stays one.
    begin(&disks[0], "ann/copy/api", "a");
    begin(&disks[0], "ann/other", "b");
    let copy = find(&disks[0], "ann/copy/api");
    assert!(copy.starts_with("api-") && copy != api, "{copy}");
    assert!(find(&disks[0], "ann/other").starts_with("other-"));
    // A clone by its path belongs to it.
    disks[0].make(&["ann/clone/.git"]);
    fs::write(disks[0].path("ann/clone/.git/config"), "[remote \"origin\"]\nurl = ../api\n")
        .unwrap();
    assert_eq!(find(&disks[0], "ann/clone"), api);
    assert_eq!(find(&disks[0], "ann/api"), api);
    // Where it was moved to, it is known again.
    disks[0].make(&["ann/new"]);
    fs::rename(disks[0].path("ann/api"), disks[0].path("ann/new/api")).unwrap();
    assert_eq!(find(&disks[0], "ann/new/api"), api);
    assert_eq!(find(&disks[0], "ann/copy/api"), copy);
    // What was known by its folder, before its first commit too, keeps its workspace.
    disks[1].make(&["ann/young/.git"]);
    let young = find(&disks[1], "ann/young");
    begin(&disks[1], "ann/young", "c");
    assert_eq!(find(&disks[1], "ann/young"), young);
}

#[test]
fn what_other_version_controls_record_is_a_remote_too() {
    let disk = Disk::new();
    disk.make(&["ann/hg/.hg", "ann/hg2/.hg", "ann/j/.jj/repo/store/git", "ann/none/.hg"]);
    let hgrc = "%include ../x\n[paths]\ndefault = ssh://hg@h.example/a/api\ndefault-push = x\n";
    fs::write(disk.path("ann/hg/.hg/hgrc"), hgrc).unwrap();
    fs::write(disk.path("ann/hg2/.hg/hgrc"), "[paths]\ndefault = https://h.example/a/api\n")
        .unwrap();
    fs::write(disk.path("ann/j/.jj/repo/store/git_target"), "git").unwrap();
    let config = "[remote \"origin\"]\nurl = git@h.example:a/api.git\n";
    fs::write(disk.path("ann/j/.jj/repo/store/git/config"), config).unwrap();
    let names = ["hg", "hg2", "j", "none"]
        .map(|name| disk.use_folder(&format!("ann/{name}"), false).unwrap()[1].clone());
    assert!(names[..3].iter().all(|name| *name == names[0]) && names[3] != names[0], "{names:?}");
}
