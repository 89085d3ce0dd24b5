//! First commits, from the log of a branch and from git.

use super::*;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgSign=false"]);
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn root_of(folder: &Path) -> String {
    git(folder, &["rev-list", "--max-parents=0", "HEAD"])
}

#[test]
fn copies_of_a_repository_have_one_first_commit() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("api");
    fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q"]);
    let data = repository.join(".git");
    assert_eq!(first_commit(&data).unwrap(), None);
    git(&repository, &["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&repository, &["commit", "-q", "--allow-empty", "--amend", "-m", "first"]);
    git(&repository, &["commit", "-q", "--allow-empty", "-m", "two"]);
    let root = root_of(&repository);
    assert_eq!(first_commit(&data).unwrap().as_deref(), Some(&*root));
    // A stranger's settings name programs, and none runs; objects may be packed, the log may be gone.
    git(&repository, &["gc", "-q"]);
    let mark = folder.path().join("mark");
    let run = format!("touch {}", mark.display());
    fs::remove_dir_all(data.join("logs")).unwrap();
    let settings = format!(
        "[core]\n\tfsmonitor = {run}\n\tsshCommand = {run}\n\talternateRefsCommand = {run}\n\tpager = {run}\n\
         [extensions]\n\tpartialClone = evil\n[remote \"evil\"]\n\turl = ext::{run}\n\tpromisor = true\n\
         \tuploadpack = {run}\n[alias]\n\trev-list = !{run}\n[include]\n\tpath = /dev/zero\n"
    );
    fs::write(data.join("config"), settings).unwrap();
    assert_eq!(logged_commit(&data), None);
    assert_eq!(first_commit(&data).unwrap().as_deref(), Some(&*root));
    assert!(!mark.exists());
    fs::write(data.join("HEAD"), "ref: refs/../../../etc/passwd\n").unwrap();
    assert_eq!(first_commit(&data).unwrap(), None);
    fs::write(data.join("HEAD"), format!("{}\n", "0123456789".repeat(4))).unwrap();
    assert!(first_commit(&data).is_err());
}
