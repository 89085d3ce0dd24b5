//! Folders of strangers: git's own files in a vault, and links that lead out of it.

use std::fs;
use std::process::Command;

use commonbook::base::error::ErrorKind;
use commonbook_vault::folder::{DiskSteps, VaultFolder};
use commonbook_vault::git::files_of_others;
use commonbook_vault::settings::VaultSettings;

#[test]
fn a_vault_that_is_a_git_directory_is_no_repository() {
    let folder = tempfile::tempdir().unwrap();
    let script = "git init -q . && echo x > note.md && git add note.md \
                  && git -c user.name=e -c user.email=e@x commit -qm x && mv .git/* . && rmdir .git \
                  && git --git-dir=. config core.bare false && git --git-dir=. config core.worktree . \
                  && git --git-dir=. config log.showSignature true";
    let made =
        Command::new("sh").args(["-ec", script]).current_dir(folder.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(fs::exists(folder.path().join("HEAD")).unwrap());
    assert!(files_of_others(folder.path(), &["note.md"]).is_empty());
    fs::write(folder.path().join("vault.json"), r#"{"format":1,"workspace":"x"}"#).unwrap();
    let refused = VaultSettings::read(&VaultFolder::new(folder.path(), Box::new(DiskSteps)));
    let error = refused.map(drop).unwrap_err();
    assert!(error.message.contains("is itself a git directory"), "{error}");
}

#[cfg(unix)]
#[test]
fn no_link_in_a_vault_is_followed() {
    let (vault, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("secret.md"), "a secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), vault.path().join("memories")).unwrap();
    let secret = outside.path().join("secret.md");
    std::os::unix::fs::symlink(&secret, vault.path().join("vault.json")).unwrap();
    let folder = VaultFolder::new(vault.path(), Box::new(DiskSteps));
    let kind = |done: commonbook::base::error::Result<()>| done.map_err(|error| error.kind);
    let refused = Err(ErrorKind::Invalid);
    for path in ["memories/secret.md", "vault.json"] {
        assert_eq!(kind(folder.read(path).map(drop)), refused);
        assert_eq!(kind(folder.write(path, "another text")), refused);
        assert_eq!(kind(folder.remove(path)), refused);
        assert_eq!(kind(folder.rename(path, "elsewhere.md")), refused);
    }
    assert_eq!(kind(VaultSettings::read(&folder).map(drop)), refused);
    assert_eq!(fs::read_to_string(secret).unwrap(), "a secret");
}
