//! Which sentences of a conversation are kept; English alone.

use std::sync::LazyLock;

use regex::Regex;

use super::MessageRole;

/// Why a sentence is kept, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SentenceKind {
    /// It begins with `Remember:` or "please remember".
    Remember,
    /// The person corrects the agent, or tells it what it always or never does.
    Correction,
    /// Something was decided.
    Decision,
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($pattern).expect("the tests compile it"));
    };
}

pattern!(REMEMBER, r"(?i)^(?:remember\s*:|please,? remember(?:\s*:|\s+that\b|,)?)\s*");
pattern!(
    CORRECTION,
    r"(?ix)^(?:
        (?:no|nope|wrong|incorrect|not\ quite)(?:[,.!:;]|\s+[-—–])
        | actually,?\s
        | (?:that|this)(?:'s|’s|\ is)\ (?:wrong|incorrect|not\ right|not\ what)
        | (?:please\ )?(?:don't|don’t|do\ not|never|always|stop)\s
        | (?:please\ )?(?:use|prefer|write|call|put|keep)\s.*\binstead\b
        | i\ (?:said|told\ you|meant)\s
    )"
);
pattern!(
    DECISION,
    r"(?ix)^(?:decision|decided)\s*:
      | \b(?:we|i)(?:'ve|’ve|\ have)?\ decided\b
      | \bthe\ decision\ (?:is|was)\b"
);
pattern!(
    CHOICE,
    r"(?i)^(?:ok(?:ay)?,? |yes,? )?(?:let's|let’s|we'll|we’ll|we will) (?:go with|use|stick with|switch to|keep)\b"
);
pattern!(NOTE, r"(?s)<system-reminder>.*?(?:</system-reminder>|$)");

/// Beginnings of messages that a client wrote in the person's place.
const INJECTED: [&str; 12] = [
    "<command-",
    "<local-command",
    "<bash-",
    "<user-prompt-submit-hook",
    "<environment_context",
    "<user_instructions",
    "<task-notification",
    "<session_context",
    "# AGENTS.md instructions",
    "Caveat: The messages below",
    "This session is being continued",
    "[Request interrupted",
];

/// Whether a client wrote this message, and no person.
pub(super) fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    INJECTED.iter().any(|begin| text.starts_with(begin))
}

/// The text without what a client put into a person's message.
pub(super) fn without_notes(text: &str) -> String {
    NOTE.replace_all(text, "").into_owned()
}

/// A sentence without emphasis, list marks and line ends.
pub(super) fn plain_sentence(sentence: &str) -> String {
    let words = sentence.replace("**", "").replace("__", "");
    let words = words.trim_start_matches(['*', '_', '-', '>', ' ']);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl SentenceKind {
    /// Why a sentence is kept; `None` if it is not.
    pub(super) fn of(sentence: &str, role: MessageRole) -> Option<Self> {
        if sentence.ends_with(['?', ':']) {
            return None;
        }
        if REMEMBER.is_match(sentence) {
            return Some(Self::Remember);
        }
        if role == MessageRole::User && CORRECTION.is_match(sentence) {
            return Some(Self::Correction);
        }
        let is_decision =
            DECISION.is_match(sentence) || (role == MessageRole::User && CHOICE.is_match(sentence));
        is_decision.then_some(Self::Decision)
    }

    /// What is kept of the sentence.
    pub(super) fn content(self, sentence: &str) -> String {
        match self {
            Self::Remember => REMEMBER.replace(sentence, "").trim().to_owned(),
            Self::Correction | Self::Decision => sentence.trim().to_owned(),
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Correction => "correction",
            Self::Decision => "decision",
        }
    }

    /// The type of the memory.
    pub(super) const fn memory_type(self) -> &'static str {
        match self {
            Self::Remember | Self::Correction => "learning",
            Self::Decision => "decision",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_corrections_and_marked_sentences_are_kept() {
        use SentenceKind::{Correction, Decision, Remember};
        let table = [
            ("Remember: the crane is serviced on Fridays.", Some(Remember), Some(Remember)),
            ("please remember that CI needs Node 22", Some(Remember), Some(Remember)),
            ("Please remember the milk", Some(Remember), Some(Remember)),
            ("I remember that test", None, None),
            ("Do you remember: it broke?", None, None),
            ("No, use tabs in this file.", Some(Correction), None),
            ("No one knows", None, None),
            ("Never commit to main.", Some(Correction), None),
            ("Use pnpm instead of npm.", Some(Correction), None),
            ("Use pnpm.", None, None),
            ("That's wrong, the port is 7077.", Some(Correction), None),
            ("Decision: SQLite, not Postgres.", Some(Decision), Some(Decision)),
            ("We decided to ship on Friday.", Some(Decision), Some(Decision)),
            ("Let's go with the second design.", Some(Decision), None),
            ("We'll use the second design.", Some(Decision), None),
            ("Should we have decided that?", None, None),
            ("I undecided", None, None),
        ];
        for (sentence, by_user, by_agent) in table {
            assert_eq!(SentenceKind::of(sentence, MessageRole::User), by_user, "{sentence}");
            assert_eq!(SentenceKind::of(sentence, MessageRole::Agent), by_agent, "{sentence}");
        }
    }
}
