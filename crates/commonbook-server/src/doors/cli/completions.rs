//! Completions for shells, and manual pages, of the same commands.

use std::path::PathBuf;

use clap::Command;
use clap_complete::Shell;
use commonbook::base::error::{Error, ErrorKind, Result};

use crate::calls::output::{count_text, print_note, print_unbroken};

/// Prints the completions of a shell.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsCommand {
    /// Shell that reads them
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the manual page of the program, or writes the pages of all commands into a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct ManCommand {
    /// Folder to write a page for each command into, such as `~/.local/share/man/man1`
    folder: Option<PathBuf>,
}

impl CompletionsCommand {
    pub(crate) fn run(&self, program: &mut Command) {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, program, "commonbook", &mut text);
        print_unbroken(String::from_utf8_lossy(&text).trim_end());
    }
}

impl ManCommand {
    /// Prints the page of the program, or writes all pages.
    ///
    /// # Errors
    /// `unavailable` if a page cannot be written.
    pub(crate) fn run(&self, program: Command) -> Result<()> {
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Unavailable, format!("cannot write a manual page: {error}"))
                .hint("Name a folder that you can write to.")
                .with_cause(error)
        };
        let Some(folder) = &self.folder else {
            let mut page = Vec::new();
            clap_mangen::Man::new(program).render(&mut page).map_err(failed)?;
            print_unbroken(String::from_utf8_lossy(&page).trim_end());
            return Ok(());
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(program, folder).map_err(failed)?;
        let pages = std::fs::read_dir(folder).map_err(failed)?.count() as u64;
        let pages = count_text(pages, "page", "pages");
        print_note(&format!("{} has {pages}", folder.display()));
        Ok(())
    }
}
