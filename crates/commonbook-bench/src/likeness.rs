//! `bench likeness`: how well the rules separate similar names from those of other entities.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use commonbook::model::entity::EntityType;
use commonbook_text::entities::likeness::{
    ComparableName, LIKENESS_MIN, is_same, keys, nearly_same, probes,
};

use commonbook_server::child::step_error;
use commonbook_server::output::print_line;

/// Arguments of the likeness bench.
#[derive(Debug, clap::Args)]
pub(super) struct LikenessBench {
    /// A file of pairs, one per line: type, one name, another, and `same` or anything else;
    /// separated by tabs
    #[arg(long)]
    pairs: Option<PathBuf>,
    /// A file of people, one per line: record, person, given name, family name; separated by tabs
    #[arg(long)]
    people: Option<PathBuf>,
}

/// Number of equal pairs, and of pairs judged equal.
#[derive(Default)]
struct PairCount {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl PairCount {
    fn add(&mut self, same: bool, found: bool) {
        match (same, found) {
            (true, true) => self.right += 1,
            (false, true) => self.wrong += 1,
            (true, false) => self.missed += 1,
            (false, false) => {}
        }
    }

    fn print(&self, label: &str) {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        print_line(&format!(
            "{label:<14} same {:>5}  found {:>5}  wrong {:>4}  precision {:.3}  recall {:.3}",
            self.right + self.missed,
            self.right + self.wrong,
            self.wrong,
            share(self.right, self.right + self.wrong),
            share(self.right, self.right + self.missed)
        ));
    }
}

impl LikenessBench {
    /// Judges every pair of the files, and counts.
    ///
    /// # Errors
    /// `invalid` for a malformed line, `internal` for a file that cannot be read.
    pub(super) fn run(&self) -> Result<()> {
        if let Some(path) = &self.pairs {
            pairs(&read(path)?)?;
        }
        if let Some(path) = &self.people {
            people(&read(path)?);
        }
        if self.pairs.is_none() && self.people.is_none() {
            return Err(Error::invalid("pairs", "no file is given; expected pairs or people")
                .hint("Give --pairs FILE or --people FILE."));
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<String> {
    let unreadable = |error| step_error(&format!("{} cannot be read", path.display()), error);
    std::fs::read_to_string(path).map_err(unreadable)
}

fn pairs(text: &str) -> Result<()> {
    let (mut all, mut fuzzy) = (PairCount::default(), PairCount::default());
    let mut by_kind: HashMap<EntityType, PairCount> = HashMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, one, other, expected] = fields.as_slice() else {
            return Err(Error::invalid("pairs", format!("{line:?} is no pair")));
        };
        let kind: EntityType = kind.parse()?;
        let (same, found) = (*expected == "same", is_same(kind, one, other));
        all.add(same, found);
        by_kind.entry(kind).or_default().add(same, found);
        if nearly_same(
            &ComparableName::of(kind, one),
            &ComparableName::of(kind, other),
            LIKENESS_MIN,
        )
        .is_some()
        {
            fuzzy.add(same, found);
        }
        if same != found {
            let what = if same { "missed" } else { "wrong" };
            print_line(&format!("{what}: {kind}: {one} | {other}"));
        }
    }
    for kind in EntityType::ALL {
        if let Some(count) = by_kind.get(kind) {
            count.print(kind.name());
        }
    }
    all.print("all");
    fuzzy.print("of them fuzzy");
    Ok(())
}

/// Finds every pair of equal and similar names, and counts those of one person.
fn people(records: &str) {
    let person = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, person, given, family] = fields.as_slice() else { return None };
        let whole = !given.is_empty() && !family.is_empty();
        let name = || ComparableName::of(EntityType::Person, &format!("{given} {family}"));
        whole.then(|| ((*person).to_owned(), name()))
    };
    let people: Vec<(String, ComparableName)> = records.lines().filter_map(person).collect();
    let (mut filed, mut known) = (HashMap::<String, Vec<usize>>::new(), HashMap::new());
    let (mut exact, mut near) = (HashSet::new(), HashSet::new());
    for (place, (_, name)) in people.iter().enumerate() {
        let equal: &mut Vec<usize> = known.entry(name.normalised()).or_default();
        exact.extend(equal.iter().map(|known| (*known, place)));
        equal.push(place);
        for other in probes(name).iter().filter_map(|key| filed.get(key)).flatten() {
            if nearly_same(name, &people[*other].1, LIKENESS_MIN).is_some() {
                near.insert((*other, place));
            }
        }
        for key in keys(name) {
            filed.entry(key).or_default().push(place);
        }
    }
    let mut of_person: HashMap<&str, usize> = HashMap::new();
    for (person, _) in &people {
        *of_person.entry(person).or_default() += 1;
    }
    let there: usize = of_person.values().map(|n| n * (n - 1) / 2).sum();
    let count = |pairs: &HashSet<(usize, usize)>| {
        let right = pairs.iter().filter(|(a, b)| people[*a].0 == people[*b].0).count();
        PairCount { right, wrong: pairs.len() - right, missed: there - right }
    };
    print_line(&format!("{} records with both names", people.len()));
    count(&exact).print("exact");
    count(&near).print("fuzzy");
    count(&exact.union(&near).copied().collect()).print("both");
}
