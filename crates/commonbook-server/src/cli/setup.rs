//! `setup`: writes into a client's files what it needs to find Commonbook, and takes it out again.

use std::path::Path;

use clap::Args;
use commonbook::base::error::{Error, Result};
use serde_json::json;

use crate::config::Config;
use crate::output;
use crate::setup::clients::{McpTransport, SetupClient, SetupOptions, SetupScope};
use crate::setup::install::{FileChange, SetupChanges};

/// Lines of a file that are compared one by one; of longer stretches only the number is told.
const DIFF_LINES_MAX: usize = 1_000;

/// Connects a client: writes the MCP server and the hooks into its files.
#[derive(Debug, Args)]
pub(crate) struct SetupCommand {
    /// The client
    #[arg(value_enum)]
    client: SetupClient,
    /// For whom: for you in all projects, or for everybody who works on this one
    #[arg(long, value_enum, default_value = "user")]
    scope: SetupScope,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Take out what was written; every file is as it was before
    #[arg(long, conflicts_with_all = ["http", "header", "program"])]
    undo: bool,
    /// Call a server at this address instead of starting a process: `http://127.0.0.1:7077/mcp`
    #[arg(long, value_name = "URL")]
    http: Option<String>,
    /// A header for it, `Authorization: Bearer …` say; may be given several times
    #[arg(long, value_name = "NAME: VALUE", requires = "http")]
    header: Vec<String>,
    /// The program that the client starts; this one by default, `commonbook` with --scope project
    #[arg(long, value_name = "COMMAND")]
    program: Option<String>,
}

impl SetupCommand {
    /// Sets the client up, or takes that back, and tells which files it is about.
    ///
    /// # Errors
    /// `conflict` for a file that is not as the client would have it, `unavailable` for one that
    /// cannot be read or written, `invalid` for what the client does not have. Nothing was changed
    /// then.
    pub(crate) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let chosen = self.setup_options(config)?;
        let work = match self.undo {
            true => SetupChanges::undo(self.client, &chosen, config)?,
            false => SetupChanges::install(self.client, chosen, config)?,
        };
        let files: Vec<_> = work
            .changes
            .iter()
            .map(|change| json!({"path": change.path, "change": change.kind()}))
            .collect();
        let told = json!({
            "client": self.client, "scope": self.scope, "dry_run": self.dry_run, "files": files,
            "notes": work.notes,
        });
        let mut lines: Vec<String> = Vec::new();
        for change in &work.changes {
            lines.push(format!("{:10} {}", change.kind(), change.path.display()));
            if self.dry_run {
                lines.extend(diff_lines(change));
            }
        }
        lines.extend(work.notes.iter().map(|note| (*note).to_owned()));
        if work.changes.is_empty() {
            lines.push(format!("{} is not set up here", self.client));
        }
        if !self.dry_run {
            work.carry_out()?;
        }
        match as_json {
            true => output::print_json(&told),
            false => lines.iter().for_each(|line| output::print_line(line)),
        }
        Ok(())
    }

    fn setup_options(&self, config: &Config) -> Result<SetupOptions> {
        let header = |text: &String| {
            let (name, value) = text.split_once(':').ok_or_else(|| {
                Error::invalid("header", format!("{text:?} is no header"))
                    .hint("Write it like `X-Commonbook-Workspace: shop`.")
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        let link = match &self.http {
            None => McpTransport::Stdio,
            Some(url) => McpTransport::Http {
                url: url.clone(),
                headers: self.header.iter().map(header).collect::<Result<_>>()?,
            },
        };
        let program = match (&self.program, self.scope) {
            (Some(program), _) => program.clone(),
            // Others find the program elsewhere.
            (None, SetupScope::Project) => "commonbook".to_owned(),
            (None, SetupScope::User) => {
                let own = std::env::current_exe().ok();
                let own = own.as_deref().and_then(Path::to_str).map(str::to_owned);
                own.unwrap_or_else(|| "commonbook".to_owned())
            }
        };
        let home = match (self.scope, config.custom_home()) {
            (SetupScope::User, Some(home)) => Some(absolute_path(home)?),
            _ => None,
        };
        Ok(SetupOptions { scope: self.scope, link, program, home })
    }
}

fn absolute_path(path: &Path) -> Result<String> {
    let path = std::path::absolute(path).ok();
    let text = path.as_deref().and_then(Path::to_str).map(str::to_owned);
    text.ok_or_else(|| Error::invalid("home", "the folder's name is not UTF-8"))
}

/// The lines that come and go, each with its sign.
fn diff_lines(change: &FileChange) -> Vec<String> {
    let lines = |text: &Option<String>| -> Vec<String> {
        text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect()
    };
    let (before, after) = (lines(&change.before), lines(&change.after));
    let same = |(a, b): &(&String, &String)| a == b;
    let start = before.iter().zip(&after).take_while(same).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
    if before.len().max(after.len()) > DIFF_LINES_MAX {
        return vec![format!("  - {} lines\n  + {} lines", before.len(), after.len())];
    }
    // Lines that stay, by their places: the longest row of them that both have.
    let mut longest = vec![vec![0_u32; after.len() + 1]; before.len() + 1];
    for (i, old) in before.iter().enumerate().rev() {
        for (j, new) in after.iter().enumerate().rev() {
            longest[i][j] = match old == new {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut told) = (0, 0, Vec::new());
    while i < before.len() || j < after.len() {
        let (old, new) = (before.get(i), after.get(j));
        if old.is_some() && old == new {
            (i, j) = (i + 1, j + 1);
        } else if old.is_some() && (new.is_none() || longest[i + 1][j] >= longest[i][j + 1]) {
            told.push(format!("  - {}", before[i]));
            i += 1;
        } else {
            told.push(format!("  + {}", after[j]));
            j += 1;
        }
    }
    told
}
