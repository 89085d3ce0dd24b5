//! The person's own files of instructions: by where they lie and whose they are, never by what they say.

use std::path::{Path, PathBuf};

use crate::system::modes::belongs_to_user;

/// Where coding clients read what their user tells them in every project, below the home of the user. A name that ends in `/`
/// is a folder of such files.
const OWN_FILES: [&str; 10] = [
    ".claude/CLAUDE.md",
    ".claude/CLAUDE.local.md",
    ".claude/rules/",
    ".codex/AGENTS.md",
    ".codex/AGENTS.override.md",
    ".gemini/GEMINI.md",
    ".copilot/copilot-instructions.md",
    ".config/opencode/AGENTS.md",
    ".config/AGENTS.md",
    ".cursor/rules/",
];

/// The files of one import that are the person's own.
pub(super) struct OwnFiles {
    /// The home of the user, without links.
    home: PathBuf,
    /// What is imported.
    path: PathBuf,
    /// The file that was judged last.
    last: Option<(String, bool)>,
}

impl OwnFiles {
    /// Those below a path that the person imports.
    pub(super) fn of(path: &Path, user_home: &Path) -> Option<Self> {
        let home = user_home.canonicalize().ok()?;
        Some(Self { home, path: path.to_owned(), last: None })
    }

    /// Whether a file of the import, by the name that its lines give it, is the person's own.
    pub(super) fn holds(&mut self, file: &str) -> bool {
        if let Some((last, is_own)) = &self.last
            && last == file
        {
            return *is_own;
        }
        let path = if self.path.is_dir() { self.path.join(file) } else { self.path.clone() };
        let is_own = is_own(&path, &self.home);
        self.last = Some((file.to_owned(), is_own));
        is_own
    }
}

/// Whether a file, behind every link, lies where only its user keeps rules, and nobody else may write it.
fn is_own(file: &Path, home: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let Some(place) = file.strip_prefix(home).ok().and_then(Path::to_str) else { return false };
    let is_known = |known: &&str| match known.ends_with('/') {
        true => place.starts_with(*known),
        false => place == *known,
    };
    OWN_FILES.iter().any(is_known) && belongs_to_user(&file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[cfg(unix)]
    #[test]
    fn a_file_is_the_persons_by_its_place_behind_every_link_and_by_its_owner() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("ann"), folder.path().join("ann/work"));
        for below in [".claude/rules", ".codex", ".gemini", "work/.claude"] {
            fs::create_dir_all(home.join(below)).unwrap();
        }
        let write = |file: PathBuf, mode: u32| {
            fs::write(&file, "Never push on Fridays.").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        };
        write(home.join(".claude/CLAUDE.md"), 0o644);
        write(home.join(".claude/rules/git.md"), 0o600);
        write(home.join(".codex/AGENTS.md"), 0o666);
        write(project.join("CLAUDE.md"), 0o644);
        write(project.join(".claude/CLAUDE.md"), 0o644);
        symlink(project.join("CLAUDE.md"), home.join(".gemini/GEMINI.md")).unwrap();
        symlink(home.join(".claude/CLAUDE.md"), project.join("AGENTS.md")).unwrap();
        let table = [
            // What is imported, the file of a line, whether it is the person's.
            (".claude/CLAUDE.md", "CLAUDE.md", true),
            (".claude", "CLAUDE.md", true),
            (".claude", "rules/git.md", true),
            // Everyone may write it.
            (".codex/AGENTS.md", "AGENTS.md", false),
            // What stands there is the project's.
            (".gemini/GEMINI.md", "GEMINI.md", false),
            ("work", "CLAUDE.md", false),
            ("work", ".claude/CLAUDE.md", false),
            ("work", "../.claude/CLAUDE.md", true),
            // What stands there is the person's.
            ("work/AGENTS.md", "AGENTS.md", true),
            (".claude", "missing.md", false),
        ];
        for (path, file, expected) in table {
            let mut own = OwnFiles::of(&home.join(path), &home).unwrap();
            assert_eq!([own.holds(file), own.holds(file)], [expected; 2], "{path}: {file}");
        }
        let elsewhere = folder.path().join("other");
        fs::create_dir(&elsewhere).unwrap();
        let mut own = OwnFiles::of(&home.join(".claude"), &elsewhere).unwrap();
        assert!(!own.holds("CLAUDE.md"));
    }
}
