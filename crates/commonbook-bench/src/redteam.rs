//! `bench redteam`: how many paragraphs of ordinary documentation are quarantined, and how long
//! judging takes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use commonbook::base::error::Result;
use commonbook_text::{injection, secrets};

use commonbook_server::child::step_error;
use commonbook_server::output::print_line;

/// Minimum length of a judged paragraph, in characters.
const PARAGRAPH_CHARS_MIN: usize = 20;
/// Length of a printed paragraph, in characters.
const GLANCE_CHARS: usize = 300;

/// Arguments of the red-team bench.
#[derive(Debug, clap::Args)]
pub(super) struct RedteamBench {
    /// A folder with Markdown, for example the sources of packages; each paragraph is judged alone
    #[arg(long)]
    docs: PathBuf,
}

/// The results.
#[derive(Default)]
struct JudgementCount {
    paragraphs: usize,
    flagged: usize,
    redacted: usize,
    judging: Vec<Duration>,
    redacting: Vec<Duration>,
}

impl RedteamBench {
    /// Judges every paragraph, and prints those that would be quarantined.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub(super) fn run(&self) -> Result<()> {
        let mut files = Vec::new();
        markdown(&self.docs, &mut files)?;
        let mut count = JudgementCount::default();
        for file in &files {
            // Files that are not text are skipped.
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            text.split("\n\n").for_each(|paragraph| count.judge(file, paragraph));
        }
        let JudgementCount { paragraphs, flagged, redacted, judging, redacting } = &mut count;
        print_line(&format!(
            "{} files, {paragraphs} paragraphs: {flagged} set apart, {redacted} redacted",
            files.len()
        ));
        print_line(&format!(
            "judging: {}; redacting: {}",
            percentiles_text(judging),
            percentiles_text(redacting)
        ));
        Ok(())
    }
}

impl JudgementCount {
    fn judge(&mut self, file: &Path, paragraph: &str) {
        if paragraph.trim().chars().count() < PARAGRAPH_CHARS_MIN {
            return;
        }
        self.paragraphs += 1;
        let begun = Instant::now();
        let reasons = injection::reasons(paragraph);
        self.judging.push(begun.elapsed());
        let begun = Instant::now();
        let redacted = secrets::redact(paragraph);
        self.redacting.push(begun.elapsed());
        let glance =
            |text: &str| text.chars().take(GLANCE_CHARS).collect::<String>().replace('\n', " ");
        if !reasons.is_empty() {
            self.flagged += 1;
            print_line(&format!("{reasons:?} {}: {}", file.display(), glance(paragraph)));
        }
        if !redacted.found.is_empty() {
            self.redacted += 1;
            print_line(&format!("redacted {}: {}", file.display(), glance(&redacted.text)));
        }
    }
}

/// The Markdown files below a folder.
fn markdown(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| step_error("no folder to read", error))?;
    for entry in entries {
        let path = entry.map_err(|error| step_error("no folder to read", error))?.path();
        if path.is_dir() && !path.is_symlink() {
            markdown(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    Ok(())
}

fn percentiles_text(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |percent: usize| {
        let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    format!("{:.0} µs p50, {:.0} µs p95, {:.0} µs p99", at(50), at(95), at(99))
}
