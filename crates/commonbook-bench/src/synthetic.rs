//! Synthetic memories with realistic distributions: words by Zipf's law, sessions by topics.

use std::collections::HashSet;

use commonbook::base::clock::Timestamp;
use commonbook::base::error::Result;
use commonbook::base::limits;
use commonbook::model::memory::{Importance, MemoryType, SaveMemory, Sharing};
use fastrand::Rng;
use jiff::SignedDuration;

/// Number of synthetic words. Ticket numbers come on top, without limit.
const VOCABULARY_WORDS: usize = 40_000;

/// The most common English words, with their counts in the Brown corpus of about a million words
/// (Kučera and Francis 1967).
const FUNCTION_WORDS: &str = "the 69971 of 36411 and 28852 to 26149 a 23237 in 21341 that 10595 \
    is 10099 was 9816 he 9543 for 9489 it 8756 with 7289 as 7250 his 6997 on 6742 be 6377 at 5378 \
    by 5305 i 5173 this 5146 had 5133 not 4609 are 4393 but 4381 from 4369 or 4207 have 3941 \
    an 3747 they 3618 which 3562 one 3292 you 3286 were 3284 her 3037 all 3001 she 2859 there 2724 \
    would 2714 their 2670 we 2653 him 2619 been 2472 has 2439 when 2331 who 2252 will 2244 \
    more 2216 no 2201 if 2199 out 2096";

/// The share of these words in running text, in percent: the sum of their counts.
const FUNCTION_SHARE: u32 = 45;

/// The shares of content words that belong to the session's topic, and that are numbers.
const TOPIC_SHARE: u32 = 40;
const NUMBER_SHARE: u32 = 3;

/// The workspace of most memories; the others share the rest.
pub(super) const MAIN_WORKSPACE: &str = "harbour";
const OTHER_WORKSPACES: [&str; 4] = ["meadow", "lantern", "orchard", "quarry"];
const MAIN_SHARE: u32 = 80;

const CLIENTS: [&str; 5] = ["claude-code", "codex", "gemini-cli", "cursor", "aider"];
const ROLES: [&str; 4] = ["backend", "frontend", "docs", "review"];
const TYPES: [&str; 10] = [
    "semantic",
    "semantic",
    "semantic",
    "semantic",
    "episodic",
    "episodic",
    "decision",
    "learning",
    "learning",
    "procedural",
];

/// Days over which the memories were saved.
const HISTORY_DAYS: i64 = 730;

/// A weighted random choice.
struct WeightedUrn(Vec<f64>);

impl WeightedUrn {
    fn of(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let add = |weight: f64| {
            sum += weight;
            sum
        };
        Self(weights.into_iter().map(add).collect())
    }

    /// Zipf's law: weights inverse to the rank, with the first `head` ranks nearly equal.
    fn zipf(count: usize, head: f64) -> Self {
        Self::of((0..count).map(|place| 1.0 / (place as f64 + head)))
    }

    fn draw(&self, rng: &mut Rng) -> usize {
        let drawn = rng.f64() * self.0.last().copied().unwrap_or(0.0);
        self.0.partition_point(|sum| *sum <= drawn).min(self.0.len().saturating_sub(1))
    }
}

/// A memory to be saved, and the content words of its text.
pub(super) struct SyntheticMemory {
    /// The memory.
    pub(super) memory: SaveMemory,
    /// Its distinct synthetic words by rank, most common first.
    pub(super) words: Vec<usize>,
}

/// A session of one agent, about one topic.
pub(super) struct SyntheticSession {
    /// Its workspace.
    pub(super) workspace: &'static str,
    /// Its owner.
    pub(super) owner: String,
    /// Its id.
    pub(super) id: String,
    /// Its memories, in groups that are saved together, with the time of each group.
    pub(super) groups: Vec<(Timestamp, Vec<SyntheticMemory>)>,
}

struct SyntheticTopic {
    words: Vec<usize>,
    names: Vec<String>,
}

/// A world of sessions; determined by seed, size and time.
pub(super) struct SyntheticWorld {
    rng: Rng,
    words: Vec<String>,
    common: WeightedUrn,
    function: (Vec<&'static str>, WeightedUrn),
    topics: Vec<SyntheticTopic>,
    within_topic: WeightedUrn,
    types: Vec<MemoryType>,
    size: usize,
    made: usize,
    sessions: usize,
    until: Timestamp,
}

impl SyntheticWorld {
    /// A world of this many memories, the last of them saved at `until`.
    ///
    /// # Errors
    /// `invalid` for a malformed memory type.
    pub(super) fn new(seed: u64, size: usize, until: Timestamp) -> Result<Self> {
        let mut rng = Rng::with_seed(seed);
        let mut pairs = FUNCTION_WORDS.split_whitespace();
        let (mut function, mut counts) = (Vec::new(), Vec::new());
        while let (Some(word), Some(count)) = (pairs.next(), pairs.next()) {
            function.push(word);
            counts.push(count.parse().unwrap_or(1.0));
        }
        let words = vocabulary(&mut rng, &function);
        // A session has about 110 memories, and a topic about six sessions.
        let topics = (size / 660).clamp(40, 2_000);
        let topics = (0..topics).map(|_| topic(&mut rng, &words)).collect();
        let types: Result<Vec<MemoryType>> =
            TYPES.iter().map(|name| MemoryType::try_from((*name).to_owned())).collect();
        Ok(Self {
            rng,
            words,
            // Function words have the first ranks; content words follow.
            common: WeightedUrn::zipf(VOCABULARY_WORDS, 20.0),
            function: (function, WeightedUrn::of(counts)),
            topics,
            within_topic: WeightedUrn::zipf(80, 3.0),
            types: types?,
            size,
            made: 0,
            sessions: 0,
            until,
        })
    }

    /// The spelling of a word.
    pub(super) fn word(&self, number: usize) -> &str {
        &self.words[number]
    }

    /// The time of a memory by its number: memories are spread evenly.
    fn time(&self, made: usize) -> Timestamp {
        let left = 1.0 - made as f64 / self.size.max(1) as f64;
        let before = SignedDuration::from_hours(24 * HISTORY_DAYS).mul_f64(left.max(0.0));
        self.until.checked_sub(before).unwrap_or(self.until)
    }

    fn memory(&mut self, topic: usize) -> SyntheticMemory {
        let count = self.rng.usize(25..=55);
        let (mut text, mut drawn) = (String::with_capacity(count * 7), Vec::new());
        let mut sentence = 0;
        for place in 0..count {
            let word = self.token(topic, &mut drawn);
            if sentence == 0 {
                text.extend(word.chars().take(1).flat_map(char::to_uppercase));
                text.extend(word.chars().skip(1));
                sentence = self.rng.usize(8..=16);
            } else {
                text.push_str(&word);
            }
            sentence -= 1;
            let last = place + 1 == count;
            text.push_str(match (sentence == 0 || last, last) {
                (true, true) => ".",
                (true, false) => ". ",
                (false, _) => " ",
            });
        }
        drawn.sort_unstable();
        drawn.dedup();
        let rng = &mut self.rng;
        let importance = match rng.u32(0..100) {
            0..15 => Importance::Low,
            15..80 => Importance::Normal,
            80..97 => Importance::High,
            _ => Importance::Critical,
        };
        let sharing = if rng.u32(0..10) == 0 { Sharing::Private } else { Sharing::Shared };
        let names = rng.choose_multiple(&self.topics[topic].names, 2);
        let memory = SaveMemory {
            text,
            topics: names.into_iter().take(rng.usize(1..=2)).cloned().collect(),
            memory_type: rng.choice(&self.types).cloned(),
            importance: Some(importance),
            sharing: Some(sharing),
            ..SaveMemory::default()
        };
        SyntheticMemory { memory, words: drawn }
    }

    /// One word of running text about this topic; synthetic words are also added to `drawn`.
    fn token(&mut self, topic: usize, drawn: &mut Vec<usize>) -> String {
        let rng = &mut self.rng;
        if rng.u32(0..100) < FUNCTION_SHARE {
            return self.function.0[self.function.1.draw(rng)].to_owned();
        }
        let word = match rng.u32(0..100) {
            0..NUMBER_SHARE => return rng.u32(1..2_000_000).to_string(),
            share if share < NUMBER_SHARE + TOPIC_SHARE => {
                self.topics[topic].words[self.within_topic.draw(rng)]
            }
            _ => self.common.draw(rng),
        };
        drawn.push(word);
        self.words[word].clone()
    }
}

impl Iterator for SyntheticWorld {
    type Item = SyntheticSession;

    fn next(&mut self) -> Option<SyntheticSession> {
        let left = self.size - self.made;
        if left == 0 {
            return None;
        }
        let topic = self.rng.usize(0..self.topics.len());
        let main = self.rng.u32(0..100) < MAIN_SHARE;
        let workspace = OTHER_WORKSPACES[self.rng.usize(0..OTHER_WORKSPACES.len())];
        // Some agents save more than others: the earlier of two draws wins.
        let mut first = |count: usize| self.rng.usize(0..count).min(self.rng.usize(0..count));
        let owner = format!("{}-{}", CLIENTS[first(CLIENTS.len())], ROLES[first(ROLES.len())]);
        let mut count = self.rng.usize(20..=200).min(left);
        let mut groups = Vec::new();
        while count > 0 {
            let group = count.min(limits::BATCH);
            self.made += group;
            count -= group;
            let at = self.time(self.made);
            groups.push((at, (0..group).map(|_| self.memory(topic)).collect()));
        }
        self.sessions += 1;
        let id = format!("session-{}", self.sessions);
        Some(SyntheticSession {
            workspace: if main { MAIN_WORKSPACE } else { workspace },
            owner,
            id,
            groups,
        })
    }
}

fn topic(rng: &mut Rng, words: &[String]) -> SyntheticTopic {
    // The most common words belong to no topic.
    let own: Vec<usize> = (0..80).map(|_| rng.usize(100..VOCABULARY_WORDS)).collect();
    let names = own.iter().take(5).map(|word| words[*word].clone()).collect();
    SyntheticTopic { words: own, names }
}

const ONSETS: &str = "b c d f g h j k l m n p r s t v w z bl br cl cr dr fl fr gl gr pl pr sh sl st \
    str th tr ch";
const NUCLEI: &str = "a e i o u a e i o ai ea ee oo ou";
const CODAS: &str = "n r l t m nd rk st x ck b p";

/// Distinct pronounceable words: common ones short, rare ones longer.
fn vocabulary(rng: &mut Rng, taken: &[&str]) -> Vec<String> {
    let parts = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
    let (onsets, nuclei, codas) = (parts(ONSETS), parts(NUCLEI), parts(CODAS));
    let mut known: HashSet<String> = taken.iter().map(|word| (*word).to_owned()).collect();
    let mut words = Vec::with_capacity(VOCABULARY_WORDS);
    while words.len() < VOCABULARY_WORDS {
        let syllables = match words.len() {
            0..1_000 => rng.usize(1..=2),
            1_000..10_000 => rng.usize(2..=3),
            _ => rng.usize(2..=4),
        };
        let mut word = String::new();
        for _ in 0..syllables {
            word.push_str(onsets[rng.usize(0..onsets.len())]);
            word.push_str(nuclei[rng.usize(0..nuclei.len())]);
        }
        if syllables == 1 || rng.bool() {
            word.push_str(codas[rng.usize(0..codas.len())]);
        }
        if known.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(seed: u64, size: usize) -> SyntheticWorld {
        SyntheticWorld::new(seed, size, "2026-01-01T00:00:00Z".parse().unwrap()).unwrap()
    }

    fn texts(world: SyntheticWorld) -> Vec<(Timestamp, String)> {
        let groups = world.flat_map(|session| session.groups);
        groups
            .flat_map(|(at, group)| {
                group.into_iter().map(move |synthetic| (at, synthetic.memory.text))
            })
            .collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_world() {
        let (one, same, other) = (world(7, 500), world(7, 500), world(8, 500));
        let (one, same, other) = (texts(one), texts(same), texts(other));
        assert_eq!(one.len(), 500);
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn words_are_spread_as_in_english() {
        let texts = texts(world(7, 3_000));
        let words: Vec<String> = texts
            .iter()
            .flat_map(|(_, text)| text.split_whitespace())
            .map(|word| word.trim_matches('.').to_lowercase())
            .collect();
        let each = words.len() / texts.len();
        assert!((38..=42).contains(&each), "{each} words a memory");
        let the = words.iter().filter(|word| *word == "the").count() as f64 / words.len() as f64;
        assert!((0.055..0.085).contains(&the), "{the} of them are `the`");
        let distinct: HashSet<&String> = words.iter().collect();
        assert!(distinct.len() > 10_000, "{} distinct ones", distinct.len());
    }

    #[test]
    fn memories_are_spread_over_two_years_workspaces_and_owners() {
        let sessions: Vec<SyntheticSession> = world(7, 20_000).collect();
        let first = sessions.first().unwrap().groups[0].0;
        let last = sessions.last().unwrap().groups.last().unwrap().0;
        assert_eq!(last.to_string(), "2026-01-01T00:00:00Z");
        assert!(first < "2024-01-10T00:00:00Z".parse().unwrap(), "{first}");
        let owners: HashSet<&String> = sessions.iter().map(|session| &session.owner).collect();
        assert!(owners.len() > 15, "{}", owners.len());
        let of_main = sessions.iter().filter(|session| session.workspace == MAIN_WORKSPACE).count();
        assert!(of_main * 10 > sessions.len() * 7 && of_main < sessions.len());
        let memories: Vec<&SyntheticMemory> = sessions
            .iter()
            .flat_map(|session| session.groups.iter().flat_map(|(_, group)| group))
            .collect();
        assert_eq!(memories.len(), 20_000);
        let private =
            |synthetic: &&&SyntheticMemory| synthetic.memory.sharing == Some(Sharing::Private);
        let private = memories.iter().filter(private).count();
        assert!((1_800..2_200).contains(&private), "{private}");
    }
}
