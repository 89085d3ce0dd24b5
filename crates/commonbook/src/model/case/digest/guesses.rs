//! Guesses: what somebody suspected, and whether it was refuted or made idle later.

use std::collections::BTreeSet;

use jiff::Timestamp;

use commonbook_text::terms;

/// Words that say that a sentence is a guess.
const HEDGES: [&str; 55] = [
    " a guess",
    " bet ",
    " could be ",
    " could it ",
    " guess ",
    " guessing ",
    " hunch ",
    " hypothesis",
    " likely ",
    " looks like ",
    " maybe ",
    " might ",
    " my money is on ",
    " my theory ",
    " not sure ",
    " perhaps ",
    " possibly ",
    " presumably ",
    " probably ",
    " seems ",
    " smells like ",
    " suspect ",
    " suspecting ",
    " suspicion ",
    " prolly ",
    " probs ",
    " theory ",
    " think it's ",
    " think its ",
    " think that ",
    " i think ",
    " i'd say ",
    " i assume ",
    " assuming ",
    " wonder ",
    " wondering ",
    " eventuell ",
    " ich tippe ",
    " möglicherweise ",
    " vermute ",
    " vermutung ",
    " schätze ",
    " vermutlich ",
    " vielleicht ",
    " wahrscheinlich ",
    " je pense que ",
    " je soupçonne ",
    " peut-être ",
    " probablement ",
    " creo que ",
    " probablemente ",
    " quizá ",
    " quizás ",
    " sospecho ",
    " tal vez ",
];

/// Words that say that something was found not to hold, in the clause that names it.
const REFUTATIONS: [&str; 53] = [
    " disproved ",
    " excluded ",
    " exonerated",
    " has nothing to do with ",
    " innocent ",
    " is fine ",
    " is healthy ",
    " is not it ",
    " is not the ",
    " isn't it ",
    " isn't the ",
    " not caused by ",
    " not guilty ",
    " not related ",
    " not the cause",
    " not the culprit",
    " not the problem",
    " red herring",
    " refuted ",
    " rule out ",
    " ruled out ",
    " ruling out ",
    " turned out wrong ",
    " unrelated ",
    " was a dead end ",
    " was fine ",
    " was not it ",
    " was not the ",
    " was wrong ",
    " i was wrong ",
    " my bad ",
    " is good ",
    " are fine ",
    " is clean ",
    " doesn't explain ",
    " does not explain ",
    " wasn't it ",
    " wasn't the ",
    " ausgeschlossen ",
    " ist es nicht ",
    " war es nicht ",
    " liegt es nicht ",
    " lag es nicht ",
    " ist sauber ",
    " nicht die ursache",
    " nicht schuld ",
    " unschuldig ",
    " écarté ",
    " n'est pas la cause",
    " n'y est pour rien",
    " descartado ",
    " descartada ",
    " no es la causa",
];

/// Words with which a sentence states a cause.
const CAUSES: [&str; 13] = [
    " caused by ",
    " culprit ",
    " found it : ",
    " root cause",
    " the cause is ",
    " the cause was ",
    " the cause : ",
    " the reason is ",
    " the reason was ",
    " turned out to be ",
    " ursache ",
    " la cause ",
    " la causa ",
];

/// Words with which a sentence proposes what to do.
const PROPOSALS: [&str; 14] = [
    " could ",
    " what if ",
    " how about ",
    " why not ",
    " we can also ",
    " we should ",
    " should we ",
    " idea : ",
    " option : ",
    " proposal : ",
    " könnte ",
    " könnten ",
    " on pourrait ",
    " podríamos ",
];

/// Words with which a sentence states what was decided.
const DECISIONS: [&str; 12] = [
    " decision ",
    " decided ",
    " agreed ",
    " we agree ",
    " approved ",
    " rejected ",
    " we will not ",
    " we won't ",
    " entscheidung ",
    " entschieden ",
    " décision ",
    " decisión ",
];

/// What sentences say about guesses and proposals that were written before them.
#[derive(Default)]
pub(super) struct Verdicts {
    /// When a cause was stated last.
    cause: Option<Timestamp>,
    /// What was refuted.
    refuted: Vec<Verdict>,
    /// What was decided about.
    decided: Vec<Verdict>,
}

/// The words of what was refuted or decided, and when.
struct Verdict {
    at: Timestamp,
    named: BTreeSet<String>,
}

/// Words that a proposal and a decision about it share at least.
const DECIDED_WORDS_MIN: usize = 2;

impl Verdicts {
    /// Reads a sentence that was written at this time.
    pub(super) fn read(&mut self, sentence: &str, at: Timestamp) {
        let plain = plain(sentence);
        let guesses = has(&plain, &HEDGES);
        let is_refutation = refutes(&plain);
        if !guesses && !is_refutation && has(&plain, &CAUSES) {
            self.cause = self.cause.max(Some(at));
        }
        if !guesses && has(&plain, &DECISIONS) {
            self.decided.push(Verdict { at, named: words(sentence) });
        }
        if !is_refutation {
            return;
        }
        // Of "ruled out Redis: the latency is as before", the first clause names what it is about; of "the
        // cert is good, so expiry is not it", both do.
        let mut before = String::new();
        for clause in sentence.split([',', ';', ':', '(', '—', '–', '.']) {
            if has(&self::plain(clause), &REFUTATIONS) {
                self.refuted.push(Verdict { at, named: words(&format!("{before} {clause}")) });
            }
            before = clause.to_owned();
        }
    }

    /// Whether a sentence of this time is a guess that was refuted later, or whose question was
    /// answered later by a cause, or a proposal about which a later sentence decides.
    pub(super) fn has_settled(&self, sentence: &str, at: Timestamp) -> bool {
        let plain = plain(sentence);
        let own = words(sentence);
        let decided = |verdict: &&Verdict| {
            let shared = verdict.named.intersection(&own);
            let names = shared.clone().any(|word| word.contains(['_', '-', '/', '.']));
            verdict.at > at && (names || shared.count() >= DECIDED_WORDS_MIN)
        };
        if has(&plain, &PROPOSALS)
            && !has(&plain, &DECISIONS)
            && self.decided.iter().any(|verdict| decided(&verdict))
        {
            return true;
        }
        if !has(&plain, &HEDGES) || refutes(&plain) {
            return false;
        }
        self.cause.is_some_and(|cause| cause > at)
            || (self.refuted.iter())
                .any(|verdict| verdict.at > at && !verdict.named.is_disjoint(&own))
    }
}

/// Whether a sentence says that something does not hold.
pub(super) fn refutes(plain: &str) -> bool {
    has(plain, &REFUTATIONS)
}

fn words(text: &str) -> BTreeSet<String> {
    terms::query_terms(text).into_iter().collect()
}

/// The words of a sentence in small letters, each between spaces; of its marks the colon alone.
pub(super) fn plain(sentence: &str) -> String {
    let lower = sentence.to_lowercase().replace('’', "'").replace(':', " : ");
    let words = lower.split(|c: char| c.is_whitespace() || ".!?,;()\"“”„…—–".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

pub(super) fn has(plain: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| plain.contains(phrase))
}
