//! The identities of repositories in their various forms.

use super::*;
use crate::settings::project::folder::FolderSearch;

#[test]
fn origin_comes_first_and_else_the_only_remote() {
    let table = [
        ("[core]\n\turl = x\n", None),
        ("[remote \"origin\"]\n\turl = a\n\turl = b\n[remote \"x\"]\n\turl = c\n", Some("a")),
        ("[remote \"x\"]\n\tfetch = f\n\tURL = \"c\"\n[branch \"main\"]\n\turl = d\n", Some("c")),
        ("[remote \"x\"]\n\turl = c\n[remote \"y\"]\n\turl = d\n", None),
        ("[remote \"x\"]\n\tfetch = f\n", None),
        ("[Remote \"origin\"] url = a ; short\n", Some("a")),
        ("[remote.origin]\nurl = \"a b\"\\\n#c\n", Some("a b")),
        (
            "\u{feff}[url \"x]\"]\r\nurl = d\r\n[remote \"origin\"]\r\n# url = b\r\nurl = a\r\n",
            Some("a"),
        ),
    ];
    for (config, url) in table {
        assert_eq!(GitConfig::parse(config).remote_url(), url, "{config}");
    }
}

/// A repository with this configuration.
fn make_repository(root: &Path, config: &str) {
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git/config"), config).unwrap();
}

fn around(folder: &Path) -> Project {
    let folder = ProjectFolder::around(folder, FolderSearch::default()).unwrap();
    Project::of(folder, &RemoteSettings::default())
}

fn identity_around(folder: &Path) -> String {
    around(folder).identity.to_string()
}

#[test]
fn worktrees_and_clones_are_one_project() {
    let folder = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(folder.path()).unwrap();
    let (main, tree, clone) = (home.join("My Project"), home.join("tree"), home.join("clone"));
    make_repository(&main, "");
    fs::create_dir_all(main.join("src/deep")).unwrap();
    let linked = main.join(".git/worktrees/tree");
    fs::create_dir_all(&linked).unwrap();
    fs::write(linked.join("commondir"), "../..\n").unwrap();
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
    make_repository(&clone, "[remote \"origin\"]\n\turl = ../My Project\n");
    let whole = around(&main).folder;
    assert_eq!((&whole.root, &whole.worktree), (&main, &None));
    let linked = around(&tree).folder;
    assert_eq!((linked.root, linked.worktree), (main.clone(), Some(tree.clone())));
    for inside in [main.join("src/deep"), clone.clone()] {
        assert_eq!(identity_around(&inside), main.display().to_string());
    }
    // With a remote, the same on every machine.
    make_repository(&main, "[remote \"origin\"]\n\turl = git@github.com:acme/api.git\n");
    for inside in [main, tree, clone] {
        assert_eq!(identity_around(&inside), "github.com/acme/api");
    }
    assert_eq!(around(&home).folder.kind, ProjectKind::Plain);
}

#[test]
fn a_worktree_of_a_bare_repository_belongs_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(folder.path()).unwrap();
    let (bare, tree) = (home.join("api.git"), home.join("tree"));
    fs::create_dir_all(bare.join("worktrees/tree")).unwrap();
    fs::write(bare.join("config"), "[core]\n\tbare = true\n").unwrap();
    fs::write(bare.join("worktrees/tree/commondir"), "../..\n").unwrap();
    fs::create_dir_all(&tree).unwrap();
    let link = format!("gitdir: {}\n", bare.join("worktrees/tree").display());
    fs::write(tree.join(".git"), link).unwrap();
    assert_eq!(identity_around(&tree), bare.display().to_string());
    let name = around(&tree).folder_workspace();
    assert_eq!(name.unwrap().as_str(), "api");
}

#[test]
fn remotes_in_a_circle_come_to_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    make_repository(&a, "[remote \"origin\"]\n\turl = ../b\n");
    make_repository(&b, "[remote \"origin\"]\n\turl = ../a\n");
    assert!(identity_around(&a).ends_with(['a', 'b']));
}

#[test]
fn names_are_readable_and_differ() {
    let remote = |text: &str| ProjectIdentity::Remote(text.to_owned()).workspace(None, 6);
    let (acme, other) = (remote("github.com/acme/api"), remote("github.com/other/api"));
    assert_eq!(acme.as_str(), "api-e1dcaa", "every machine finds this name");
    assert!(other.as_str().starts_with("api-") && other != acme);
    assert!(remote("git.example/~ann/!!").as_str().starts_with("project-"));
    let long = format!("git.example/{}", "é".repeat(500));
    assert!(remote(&long).as_str().starts_with("éé"));
    let homes = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let keys = homes.each_ref().map(|home| HomeKey::open(home.path()).unwrap());
    let folder = ProjectIdentity::Folder("/work/api".into());
    let [first, second] = keys.each_ref().map(|key| folder.workspace(Some(key), 6));
    assert_ne!(first, second, "the folders of two machines are two projects");
}
