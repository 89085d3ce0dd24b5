//! Guesses: what somebody suspected, and whether it was refuted or made idle later.

use std::collections::BTreeSet;

use jiff::Timestamp;

use commonbook_text::terms;

/// Words that say that a sentence is a guess.
const HEDGES: [&str; 44] = [
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
    " theory: ",
    " wonder ",
    " wondering ",
    " eventuell ",
    " ich tippe ",
    " möglicherweise ",
    " vermute ",
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
const REFUTATIONS: [&str; 42] = [
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
    " wasn't it ",
    " wasn't the ",
    " ausgeschlossen ",
    " ist es nicht ",
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
const CAUSES: [&str; 15] = [
    " caused by ",
    " culprit ",
    " culprit:",
    " found it: ",
    " root cause",
    " the cause is ",
    " the cause was ",
    " the cause: ",
    " the reason is ",
    " the reason was ",
    " turned out to be ",
    " ursache ",
    " ursache:",
    " la cause ",
    " la causa ",
];

/// What later sentences say about guesses.
#[derive(Default)]
pub(super) struct Verdicts {
    /// When a cause was stated last.
    cause: Option<Timestamp>,
    /// What was refuted, and when.
    refuted: Vec<(Timestamp, BTreeSet<String>)>,
}

impl Verdicts {
    /// Reads a sentence that was written at this time.
    pub(super) fn read(&mut self, sentence: &str, at: Timestamp) {
        let padded = padded(sentence);
        let guesses = has(&padded, &HEDGES);
        let is_refutation = has(&padded, &REFUTATIONS);
        if !guesses && !is_refutation && has(&padded, &CAUSES) {
            self.cause = self.cause.max(Some(at));
        }
        if !is_refutation {
            return;
        }
        // Of "ruled out Redis: the latency is as before", the first clause names what it is about.
        for clause in padded.split([',', ';', ':', '(', '—', '–']) {
            let clause = format!(" {} ", clause.trim());
            if has(&clause, &REFUTATIONS) {
                self.refuted.push((at, terms::query_terms(&clause).into_iter().collect()));
            }
        }
    }

    /// Whether a sentence of this time is a guess that was refuted later, or whose question was
    /// answered later by a cause.
    pub(super) fn has_settled(&self, sentence: &str, at: Timestamp) -> bool {
        let padded = padded(sentence);
        if !has(&padded, &HEDGES) || has(&padded, &REFUTATIONS) {
            return false;
        }
        let words = || terms::query_terms(sentence);
        self.cause.is_some_and(|cause| cause > at)
            || (self.refuted.iter())
                .any(|(then, named)| *then > at && words().iter().any(|word| named.contains(word)))
    }
}

/// The sentence in small letters between spaces, without the marks at its ends.
fn padded(sentence: &str) -> String {
    let lower = sentence.to_lowercase().replace('’', "'");
    let lower = lower.replace(['.', '!', '?'], " ");
    format!(" {} ", lower.trim())
}

fn has(padded: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| padded.contains(phrase))
}
