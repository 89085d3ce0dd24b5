//! `bench retrieval`: how well questions find the memories that answer them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, Result};
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::import;
use commonbook::model::memory::SaveMemory;
use commonbook::model::origin::TextOrigin;
use commonbook::model::search::SearchMemory;
use commonbook::model::workspace::Workspace;
use serde_json::{Value, json};

use super::controls::{self, BM25, ControlRanking};
use super::dataset::{DataSet, DatasetMemory, DatasetQuestion, MemoryGranularity, error_at_line};
use super::machine::MachineProfile;
use super::metrics::{RankingMetrics, percentile};
use super::{BuildTimes, EmbedderChoice};
use commonbook_server::child::step_error;
use commonbook_server::config::Config;
use commonbook_server::follow;
use commonbook_server::output::{self, print_line, print_note};

/// Hits requested per question.
const HITS_PER_QUESTION: u32 = 20;

/// Lines imported per transaction.
const BENCH_CHUNK_LINES: usize = 500;

/// Arguments of the retrieval bench.
#[derive(Debug, clap::Args)]
pub(super) struct RetrievalBench {
    /// The folder of memories.jsonl and questions.jsonl, or a file of stories by another hand
    #[arg(long)]
    data: PathBuf,
    /// Asks only the questions of this split
    #[arg(long)]
    split: Option<String>,
    /// The part of a conversation that becomes one memory
    #[arg(long, value_enum, default_value_t)]
    gran: MemoryGranularity,
    /// Saves one memory after the other, as agents over MCP do: without sessions and times
    #[arg(long)]
    one_by_one: bool,
    /// A file for all rankings, one JSON object per question
    #[arg(long)]
    out: Option<PathBuf>,
    /// Also the figures of each category
    #[arg(long)]
    by_category: bool,
    #[command(flatten)]
    by: EmbedderChoice,
}

/// The hits of a question.
struct RankedAnswer<'d> {
    question: &'d DatasetQuestion,
    ranked: Vec<String>,
    ms: f64,
}

impl RetrievalBench {
    /// Imports the data into a new home, asks every question, and reports the metrics.
    ///
    /// # Errors
    /// `invalid` for data that is missing or malformed; else the error of the failing step.
    pub(super) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let mut data = DataSet::read(&self.data, self.gran)?;
        if let Some(split) = &self.split {
            data.keep_split(split)?;
        }
        if data.cut > 0 {
            print_note(&format!(
                "cut to 64 KiB, as longer texts are not kept: {} of them",
                data.cut
            ));
        }
        let out = self.out.as_deref().map(|path| create(path).map(|file| (path, file)));
        let folder = super::bench_folder(None)?;
        let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
        self.by.give_embedder(&book, config)?;
        let workspaces = match self.one_by_one {
            true => save_one_by_one(&book, &data.memories)?,
            false => import(&book, &data.memories)?,
        };
        let built = super::rebuild(&book, data.memories.len())?;
        let answers = ask_all(&book, &workspaces, &data)?;
        if let Some((path, file)) = out.transpose()? {
            write(file, &answers).map_err(|error| unwritable(path, error))?;
        }
        let embedder = self.by.open_embedder(config)?;
        let report = RetrievalReport {
            bench: self,
            data: &data,
            workspaces: workspaces.len(),
            embedder: self.by.name(config),
            built,
            controls: controls::rank_by_controls(&data, embedder.as_deref())?,
            counted: answers.iter().filter(|answer| answer.question.is_scored()).collect(),
        };
        if as_json {
            output::print_json(&report.value());
        } else {
            report.print();
        }
        Ok(())
    }
}

/// Imports the memories as `commonbook import` does, each conversation into its own workspace.
pub(super) fn import(
    book: &Commonbook,
    memories: &[DatasetMemory],
) -> Result<BTreeMap<String, Workspace>> {
    let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Import);
    let mut workspaces: BTreeMap<String, Workspace> = BTreeMap::new();
    let bar = super::bench_progress_bar("importing", memories.len());
    for chunk in memories.chunks(BENCH_CHUNK_LINES) {
        let mut lines = Vec::with_capacity(chunk.len());
        for memory in chunk {
            let at_line = |error: Error| error_at_line(&memory.place, &error);
            let line = import::parse(memory.line.to_string().as_bytes(), TextOrigin::File)
                .map_err(at_line)?;
            let workspace = line.workspace(None, &caller).map_err(at_line)?;
            let taken =
                workspaces.iter().any(|(conv, name)| *conv != memory.conv && *name == workspace);
            if taken {
                let reason = format!("another conversation has the workspace {workspace} already");
                return Err(at_line(Error::invalid("conv", reason)));
            }
            workspaces.insert(memory.conv.clone(), workspace);
            lines.push(line);
        }
        let outcomes = book.import_lines(&caller, None, lines)?;
        for (memory, outcome) in chunk.iter().zip(outcomes) {
            outcome.map_err(|error| error_at_line(&memory.place, &error))?;
        }
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    follow::find_mentions_with_progress(book)?;
    Ok(workspaces)
}

/// Saves the memories one after the other, each by its speaker and now.
fn save_one_by_one(
    book: &Commonbook,
    memories: &[DatasetMemory],
) -> Result<BTreeMap<String, Workspace>> {
    let bar = super::bench_progress_bar("saving", memories.len());
    let mut workspaces = BTreeMap::new();
    for DatasetMemory { place, conv, line } in memories {
        let at_line = |error: Error| error_at_line(place, &error);
        let text = |field: &str| line[field].as_str().unwrap_or_default();
        let workspace: Workspace = conv.parse().map_err(at_line)?;
        let speaker = AgentName::nearest_agent_name(text("speaker"), "speaker").map_err(at_line)?;
        let caller = Caller::new(Some(speaker), workspace.clone(), EntryPoint::Mcp);
        // The id of the data set, by which a hit is known.
        let metadata = [("id".to_owned(), line["id"].clone())].into_iter().collect();
        let request =
            SaveMemory { text: text("text").to_owned(), metadata, ..SaveMemory::default() };
        book.save_memory(&caller, &request).map_err(at_line)?;
        workspaces.insert(conv.clone(), workspace);
        bar.inc(1);
    }
    bar.finish_and_clear();
    follow::find_mentions_with_progress(book)?;
    Ok(workspaces)
}

/// Asks every question.
fn ask_all<'d>(
    book: &Commonbook,
    workspaces: &BTreeMap<String, Workspace>,
    data: &'d DataSet,
) -> Result<Vec<RankedAnswer<'d>>> {
    let bar = super::bench_progress_bar("asking", data.questions.len());
    let mut answers = Vec::with_capacity(data.questions.len());
    for question in &data.questions {
        answers.push(ask(book, &workspaces[&question.conv], question)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(answers)
}

/// Asks as an agent without memories.
fn ask<'d>(
    book: &Commonbook,
    workspace: &Workspace,
    question: &'d DatasetQuestion,
) -> Result<RankedAnswer<'d>> {
    let stranger: AgentName = "stranger".parse()?;
    let caller = Caller::new(Some(stranger), workspace.clone(), EntryPoint::Cli);
    let request = SearchMemory {
        query: question.question.clone(),
        k: Some(HITS_PER_QUESTION),
        ..SearchMemory::default()
    };
    let begun = Instant::now();
    let answer = book.search_memory(&caller, &request);
    let ms = super::millis(begun.elapsed());
    let hits = match answer {
        Ok(answer) => answer.hits,
        Err(error) => {
            print_note(&format!("{}: counted as a miss: {}", question.qid, error.message));
            Vec::new()
        }
    };
    // An import keeps further fields of a line as metadata, so also the id of the data set.
    let text = |id: Option<&Value>| id.and_then(Value::as_str).map(str::to_owned);
    let ranked = hits.iter().filter_map(|hit| text(hit.memory.metadata.get("id"))).collect();
    Ok(RankedAnswer { question, ranked, ms })
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    File::create(path).map(BufWriter::new).map_err(|error| unwritable(path, error))
}

fn write(mut file: BufWriter<File>, answers: &[RankedAnswer<'_>]) -> std::io::Result<()> {
    for RankedAnswer { question, ranked, ms } in answers {
        writeln!(file, "{}", json!({"qid": question.qid, "ranked": ranked, "ms": ms}))?;
    }
    file.flush()
}

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    step_error(&format!("{} cannot be written", path.display()), error)
}

/// The report of a run.
struct RetrievalReport<'d> {
    bench: &'d RetrievalBench,
    data: &'d DataSet,
    workspaces: usize,
    embedder: &'d str,
    built: BuildTimes,
    controls: Vec<ControlRanking>,
    counted: Vec<&'d RankedAnswer<'d>>,
}

/// The figures of a set of questions.
struct RetrievalFigures {
    count: usize,
    mean: RankingMetrics,
    /// The ends of the means' 95 % intervals.
    interval: [[f64; 7]; 2],
    p50: f64,
    p95: f64,
}

impl RetrievalFigures {
    fn of(answers: &[&RankedAnswer<'_>]) -> Self {
        let worth =
            |answer: &&RankedAnswer<'_>| RankingMetrics::of(&answer.question.gold, &answer.ranked);
        let times: Vec<f64> = answers.iter().map(|answer| answer.ms).collect();
        let each: Vec<_> = answers.iter().map(worth).collect();
        Self {
            count: answers.len(),
            mean: RankingMetrics::mean(&each),
            interval: RankingMetrics::interval(&each),
            p50: percentile(&times, 50.0),
            p95: percentile(&times, 95.0),
        }
    }

    fn value(&self) -> Value {
        let mut value = json!(self.mean);
        value["n"] = self.count.into();
        let [low, high] = self.interval;
        let ends = RankingMetrics::NAMES.into_iter().zip(low.into_iter().zip(high));
        value["interval_95"] = ends.map(|(name, ends)| (name.to_owned(), json!(ends))).collect();
        value["p50_ms"] = self.p50.into();
        value["p95_ms"] = self.p95.into();
        value
    }

    fn print(&self, name: &str) {
        let Self { count, p50, p95, .. } = self;
        let worth = figure_columns(self.mean.figures());
        print_line(&format!("{name:26} {count:5}{worth} {p50:8.2} {p95:8.2}"));
        for (end, figures) in ["95 % from", "95 % to"].into_iter().zip(self.interval) {
            print_line(&format!("  {end:24} {:5}{}", "", figure_columns(figures)));
        }
    }
}

/// The columns of the metrics.
fn figure_columns(figures: [f64; 7]) -> String {
    figures.iter().map(|figure| format!(" {figure:7.4}")).collect()
}

/// How often a newer memory ranks above the one that it replaced.
#[derive(Debug, Default, PartialEq, Eq, serde::Serialize)]
struct UpdateFigures {
    /// Questions with both.
    questions: usize,
    /// Those of them for which both were found.
    both_found: usize,
    /// Those of these with the newer one above.
    newer_first: usize,
}

impl UpdateFigures {
    fn of(answers: &[&RankedAnswer<'_>]) -> Self {
        let mut updates = Self::default();
        for answer in answers {
            let roles = &answer.question.roles;
            if roles.original_info.is_empty() || roles.updated_info.is_empty() {
                continue;
            }
            updates.questions += 1;
            let best = |ids: &[String]| answer.ranked.iter().position(|id| ids.contains(id));
            let (older, newer) = (best(&roles.original_info), best(&roles.updated_info));
            if let (Some(older), Some(newer)) = (older, newer) {
                updates.both_found += 1;
                updates.newer_first += usize::from(newer < older);
            }
        }
        updates
    }
}

impl RetrievalReport<'_> {
    fn categories(&self) -> BTreeMap<&str, RetrievalFigures> {
        let mut groups: BTreeMap<&str, Vec<&RankedAnswer<'_>>> = BTreeMap::new();
        for answer in &self.counted {
            groups.entry(&answer.question.category).or_default().push(answer);
        }
        groups.into_iter().map(|(name, answers)| (name, RetrievalFigures::of(&answers))).collect()
    }

    /// The metrics of which the program's mean is below that of BM25.
    fn below_bm25(&self) -> Vec<&'static str> {
        let own = RetrievalFigures::of(&self.counted).mean.figures();
        let bm25 = self.controls.iter().find(|control| control.name == BM25);
        let simple = bm25.map(|control| control.metrics(self.data, None).figures());
        let pairs = own.into_iter().zip(simple.into_iter().flatten());
        let named = RankingMetrics::NAMES.into_iter().zip(pairs);
        named.filter(|(_, (own, simple))| own < simple).map(|(name, _)| name).collect()
    }

    fn print_controls(&self, category: Option<&str>) {
        for control in &self.controls {
            let worth = figure_columns(control.metrics(self.data, category).figures());
            print_line(&format!("  {:24} {:5}{worth}", control.name, ""));
        }
    }

    fn controls_value(&self) -> Value {
        let metrics = |control: &ControlRanking| json!(control.metrics(self.data, None));
        self.controls.iter().map(|control| (control.name.to_owned(), metrics(control))).collect()
    }

    fn value(&self) -> Value {
        let categories = self.categories();
        let categories: BTreeMap<_, _> =
            categories.iter().map(|(name, figures)| (name, figures.value())).collect();
        json!({
            "bench": "retrieval",
            "data": self.bench.data,
            "gran": self.bench.gran.name(),
            "workspaces": self.workspaces,
            "memories": self.data.memories.len(),
            "asked": self.data.questions.len(),
            "counted": self.counted.len(),
            "embedder": self.embedder,
            "index": self.built,
            "all": RetrievalFigures::of(&self.counted).value(),
            "by_category": categories,
            "controls": self.controls_value(),
            "below_bm25": self.below_bm25(),
            "updates": UpdateFigures::of(&self.counted),
            "machine": MachineProfile::detect_machine(),
        })
    }

    fn print(&self) {
        print_line(&format!(
            "data      {}: {} memories (each a {}) in {} workspaces",
            self.bench.data.display(),
            self.data.memories.len(),
            self.bench.gran.name(),
            self.workspaces
        ));
        print_line(&format!(
            "questions {}, of which {} count; the first {HITS_PER_QUESTION} hits of each",
            self.data.questions.len(),
            self.counted.len()
        ));
        print_line(&format!(
            "index     words in {:.1} s, vectors in {:.1} s; embedder {}",
            self.built.words_seconds, self.built.vectors_seconds, self.embedder
        ));
        MachineProfile::detect_machine().print();
        let names: String =
            RankingMetrics::NAMES.iter().map(|name| format!(" {name:>7}")).collect();
        print_line(&format!("\n{:26} {:>5}{names} {:>8} {:>8}", "", "n", "p50 ms", "p95 ms"));
        RetrievalFigures::of(&self.counted).print("all");
        self.print_controls(None);
        if self.bench.by_category {
            for (name, figures) in self.categories() {
                figures.print(name);
                self.print_controls(Some(name));
            }
        }
        match self.below_bm25().as_slice() {
            [] => print_line("\nno figure of all questions is below BM25's"),
            below => print_line(&format!("\nbelow BM25's: {}", below.join(", "))),
        }
        let UpdateFigures { questions, both_found, newer_first } = UpdateFigures::of(&self.counted);
        if questions > 0 {
            print_line(&format!(
                "\nthe newer above the older it replaced: {newer_first} of {both_found} where both \
                 were found, of {questions}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sets_written_here_rank_by_words_no_lower_than_bm25() {
        for set in ["engineering", "languages"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks").join(set);
            let data = DataSet::read(&folder, MemoryGranularity::Turn).unwrap();
            let home = tempfile::tempdir().unwrap();
            let book = crate::open_bench_book(home.path(), Arc::new(SystemClock)).unwrap();
            let workspaces = import(&book, &data.memories).unwrap();
            crate::rebuild(&book, data.memories.len()).unwrap();
            let answers = ask_all(&book, &workspaces, &data).unwrap();
            let own = RetrievalFigures::of(&answers.iter().collect::<Vec<_>>()).mean.figures();
            let controls = controls::rank_by_controls(&data, None).unwrap();
            let bm25 = controls[0].metrics(&data, None).figures();
            assert!(
                own.iter().zip(bm25).all(|(own, bm25)| *own >= bm25),
                "{set}: {own:?} {bm25:?}"
            );
        }
    }

    #[test]
    fn updates_count_only_if_both_memories_were_found() {
        let question = |original: &str, updated: &str| -> DatasetQuestion {
            serde_json::from_value(json!({
                "qid": "q", "conv": "c", "gran": "turn", "category": "x", "question": "?",
                "gold": ["a"], "roles": {"original_info": [original], "updated_info": [updated]},
            }))
            .unwrap()
        };
        let none: DatasetQuestion = serde_json::from_value(json!({
            "qid": "q", "conv": "c", "gran": "turn", "category": "x", "question": "?", "gold": ["a"],
        }))
        .unwrap();
        let questions =
            [question("old", "new"), question("x", "new"), question("new", "old"), none];
        let ranked = ["new", "old"].map(str::to_owned).to_vec();
        let answers: Vec<RankedAnswer<'_>> = questions
            .iter()
            .map(|question| RankedAnswer { question, ranked: ranked.clone(), ms: 1.0 })
            .collect();
        let found = UpdateFigures::of(&answers.iter().collect::<Vec<_>>());
        assert_eq!(found, UpdateFigures { questions: 3, both_found: 2, newer_first: 1 });
    }
}
