//! `bench extraction`: the entities found in your own texts, with samples, and the speed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use commonbook::base::error::{Error, Result};
use commonbook::model::entity::{EntityMention, EntityType};
use commonbook_text::entities::{ExtractedEntity, ExtractionInput, MemoryPart, extract, speakers};
use serde_json::Value;

use commonbook_server::child::step_error;
use commonbook_server::output::print_line;

/// Arguments of the extraction bench.
#[derive(Debug, clap::Args)]
pub(super) struct ExtractionBench {
    /// A folder with Markdown, or a file with one JSON object per line: `text`, `speaker`
    path: PathBuf,
    /// Samples of each type
    #[arg(long, default_value_t = 10)]
    samples: usize,
    /// Only lines of this granularity
    #[arg(long)]
    gran: Option<String>,
}

struct SampleText {
    text: String,
    speakers: Vec<String>,
}

impl ExtractionBench {
    /// Reads every text, and reports the entities found.
    ///
    /// # Errors
    /// `invalid` for a line that is not JSON, `internal` for a file that cannot be read.
    pub(super) fn run(&self) -> Result<()> {
        let texts = self.read()?;
        let bytes: usize = texts.iter().map(|text| text.text.len()).sum();
        let begun = Instant::now();
        let matches = |sample: &SampleText| {
            let (text, speakers) = (sample.text.as_str(), sample.speakers.as_slice());
            extract(&ExtractionInput { text, speakers, ..ExtractionInput::default() })
        };
        let all: Vec<Vec<ExtractedEntity>> = texts.iter().map(matches).collect();
        let seconds = begun.elapsed().as_secs_f64();
        print_line(&format!(
            "{} texts, {bytes} bytes, {:.1} ms, {:.0} texts/s, {:.1} MB/s",
            texts.len(),
            seconds * 1e3,
            texts.len() as f64 / seconds,
            bytes as f64 / seconds / 1e6
        ));
        let mut by_kind: BTreeMap<EntityType, Vec<(usize, &ExtractedEntity)>> = BTreeMap::new();
        for (place, found) in all.iter().enumerate() {
            for it in found {
                by_kind.entry(it.entity_type).or_default().push((place, it));
            }
        }
        for (kind, found) in &by_kind {
            self.print(*kind, found, &texts);
        }
        Ok(())
    }

    /// Half of the samples are the most frequent ones, half are spread over the others.
    fn print(&self, kind: EntityType, found: &[(usize, &ExtractedEntity)], texts: &[SampleText]) {
        let mut distinct: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (place, (_, it)) in found.iter().enumerate() {
            distinct.entry(&it.normalised).or_insert((0, place)).0 += 1;
        }
        print_line(&format!("\n{kind}: {} in all, {} different", found.len(), distinct.len()));
        let mut ranked: Vec<(usize, usize)> = distinct.into_values().collect();
        ranked.sort_by_key(|(count, first)| (std::cmp::Reverse(*count), *first));
        let (half, step) = (self.samples / 2, (ranked.len() / self.samples.max(1)).max(1));
        let spread = ranked.iter().skip(half).step_by(step);
        for (count, first) in ranked.iter().take(half).chain(spread).take(self.samples) {
            let (place, it) = found[*first];
            let within = it.places.iter().find(|place| place.part == MemoryPart::Text);
            let around = within.map_or_else(String::new, |place_in_text| {
                EntityMention::excerpt(&texts[place].text, place_in_text.from)
            });
            print_line(&format!("- {} ×{count} {:.2} | {around}", it.value, it.confidence));
        }
    }

    fn read(&self) -> Result<Vec<SampleText>> {
        if self.path.is_dir() {
            let mut texts = Vec::new();
            walk(&self.path, &mut texts)?;
            return Ok(texts);
        }
        let mut texts = Vec::new();
        for given in read(&self.path)?.lines() {
            let value: Value = serde_json::from_str(given)
                .map_err(|error| Error::invalid("path", format!("a line is not JSON: {error}")))?;
            let wanted = self.gran.as_deref().is_none_or(|gran| value["gran"] == gran);
            if let (Some(text), Some(fields), true) =
                (value["text"].as_str(), value.as_object(), wanted)
            {
                texts.push(SampleText { text: text.to_owned(), speakers: speakers(fields) });
            }
        }
        Ok(texts)
    }
}

fn read(path: &Path) -> Result<String> {
    let unreadable = |error| step_error(&format!("{} cannot be read", path.display()), error);
    std::fs::read_to_string(path).map_err(unreadable)
}

/// The Markdown files below a folder, sorted, without build output.
fn walk(folder: &Path, texts: &mut Vec<SampleText>) -> Result<()> {
    let unreadable = |error| step_error(&format!("{} cannot be read", folder.display()), error);
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            walk(&path, texts)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            texts.push(SampleText { text: read(&path)?, speakers: Vec::new() });
        }
    }
    Ok(())
}
