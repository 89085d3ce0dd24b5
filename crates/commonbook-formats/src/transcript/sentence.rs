//! Which sentences of a conversation are kept: decisions and corrections in English, what is to be remembered in many
//! languages.

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
// What a person asks to keep, without a colon or in another language; after it comes what is kept.
pattern!(
    KEEP,
    r"(?ix)^(?:
        (?:(?:please|also|and|ok(?:ay)?|so|hey|just|now),?\ )*
        (?: remember(?:\ this)?(?:\ that\b|,|\s[-–—]|\s*:)
          | (?:don't|don’t|do\ not|never)\ forget(?:\ that\b|:|,)
          | (?:keep|bear)\ in\ mind(?:\ that\b|:|,)
          | (?:make|take)\ (?:a\ )?note(?:\ that\b|:|,|\ of\ this:)
          | (?:note|memorize|memorise)(?:\ that\b|\ this:|:)
          | for\ (?:future\ reference|the\ record|next\ time)[,:]
          | (?:save|add|store)\ (?:this\ |that\ |it\ )?(?:to|in)\ (?:your\ )?memory\s*(?::|,|that\b)
        )
      | (?:bitte\ )?(?:merke?\ dir|merken\ sie\ sich|denke?\ daran|vergiss\ nicht|behalte(?:\ im\ kopf)?|beachte)(?:\ bitte)?(?:,?\ dass\b|\s*:|,)
      | (?:bitte\ )?(?:merken|zur\ erinnerung|nicht\ vergessen)\s*:
      | (?:s'il\ te\ pla[iî]t,?\ )?(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|note|notez|m[eé]morise|n'oublie\ pas|n'oubliez\ pas|garde\ en\ t[eê]te)(?:\ bien)?(?:\ qu(?:e\b|'|’)|\s*:|,)
      | (?:por\ favor,?\ )?(?:recuerd[ae]|acu[eé]rdate(?:\ de)?|no\ olvides|ten(?:ga)?\ en\ cuenta|anota|memoriza)(?:\ que\b|\s*:|,)
      | (?:per\ favore,?\ )?(?:ricorda(?:ti)?|ricordate|non\ dimenticare|tieni\ (?:a\ mente|presente)|annota|memorizza)(?:\ che\b|\s*:|,)
      | (?:por\ favor,?\ )?(?:lembr[ae](?:-se)?(?:\ de)?|n[aã]o\ (?:se\ )?esque[cç]a(?:\ de)?|tenha\ em\ mente|anote|memorize)(?:\ que\b|\s*:|,)
      | (?:alsjeblieft\ )?(?:onthoud|vergeet\ niet|denk\ eraan|noteer)(?:\ alsjeblieft)?(?:\ dat\b|\s*:|,)
      | (?:kom\ ih[aå]g|gl[oö]m\ inte|husk|glem\ ikke|notera)(?:\ att\b|\ at\b|\s*:|,)
      | (?:muista|[aä]l[aä]\ unohda)(?:,?\ ett[aä]\b|\s*:|,)
      | (?:prosz[eę]\ )?(?:pami[eę]taj|zapami[eę]taj|nie\ zapomnij|zanotuj)(?:,?\ [zż]e\b|\s*:|,)
      | (?:pros[ií]m\ )?(?:pamatuj(?:\ si)?|zapamatuj\ si|nezapome[nň])(?:,?\ [zž]e\b|\s*:|,)
      | (?:пожалуйста,?\ )?(?:запомни(?:те)?|помни(?:те)?|не\ забудь(?:те)?|имей(?:те)?\ в\ виду|учти(?:те)?)(?:,?\ что\b|\s*:|,)
      | (?:будь\ ласка,?\ )?(?:запам['’ʼ]ятай(?:те)?|пам['’ʼ]ятай(?:те)?|не\ забудь(?:те)?)(?:,?\ що\b|\s*:|,)
      | (?:l[uü]tfen\ )?(?:unutma|hat[ıi]rla|akl[ıi]nda\ tut|not\ et)(?:\ ki\b|\s*:|,)
      | (?:请|請|麻烦|麻煩)?(?:你)?(?:记住|記住|记得|記得|记下|記下|别忘了|別忘了|不要忘记|不要忘記)(?:一下)?[,，::]?
      | (?:覚えて(?:おいて)?(?:ください|下さい|ね)?|記憶して(?:おいて)?(?:ください)?|メモして(?:ください)?)\s*[、,::]
      | (?:기억해(?:\s?(?:줘|주세요|두세요|둬))?|잊지\s?마(?:세요)?)\s*[,::]
    )\s*"
);
// The same behind what is kept.
pattern!(
    KEPT,
    r"^(.+?)(?:(?:という?)?(?:こと|の)?[をは]?(?:覚えて(?:おいて)?|記憶して(?:おいて)?|忘れないで)(?:ください|下さい|ね)?[。!！]?|(?:는|은|다는|라는|란)\s?(?:것|걸|거|점)[을를]?\s?(?:기억해|잊지\s?마)(?:\s?(?:줘|주세요|두세요|둬|세요))?[.!]?)$"
);
// What a person asks to keep of itself, or to do: it is kept with its verb.
pattern!(
    KEEP_WHOLE,
    r"(?i)^(?:please,? )?(?:remember|don't forget|don’t forget|do not forget) (to|my|our|i|i'm|i’m|we|we're|the user|it's|there) "
);
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
        let is_asked =
            || KEEP.is_match(sentence) || KEEP_WHOLE.is_match(sentence) || KEPT.is_match(sentence);
        if REMEMBER.is_match(sentence) || (role == MessageRole::User && is_asked()) {
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
            Self::Remember if REMEMBER.is_match(sentence) => {
                REMEMBER.replace(sentence, "").trim().to_owned()
            }
            Self::Remember if KEEP.is_match(sentence) => {
                KEEP.replace(sentence, "").trim().to_owned()
            }
            Self::Remember => match (KEPT.captures(sentence), KEEP_WHOLE.captures(sentence)) {
                (Some(kept), _) => kept[1].trim_end_matches([',', '、']).trim().to_owned(),
                // Of "remember my name is Ann" the name, of "remember to lock up" all.
                (None, Some(kept)) if !kept[1].eq_ignore_ascii_case("to") => {
                    let begin = kept.get(1).map_or(0, |word| word.start());
                    sentence[begin..].trim().to_owned()
                }
                _ => sentence.trim().to_owned(),
            },
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

    #[test]
    fn what_a_person_asks_to_remember_is_kept_in_many_languages() {
        let table = [
            ("Remember that the depot opens at six.", "the depot opens at six."),
            ("And please remember this: the depot opens at six.", "the depot opens at six."),
            ("Don't forget that the depot opens at six.", "the depot opens at six."),
            ("Keep in mind that the depot opens at six.", "the depot opens at six."),
            ("For future reference, the depot opens at six.", "the depot opens at six."),
            ("Save this to memory: the depot opens at six.", "the depot opens at six."),
            ("Remember my sister is called Ann.", "my sister is called Ann."),
            ("Remember to lock the depot at six.", "Remember to lock the depot at six."),
            ("Merk dir bitte, dass das Lager um sechs öffnet.", "das Lager um sechs öffnet."),
            ("Bitte merken: das Lager öffnet um sechs.", "das Lager öffnet um sechs."),
            ("Souviens-toi que le dépôt ouvre à six heures.", "le dépôt ouvre à six heures."),
            ("N'oublie pas qu'il ouvre à six heures.", "il ouvre à six heures."),
            ("Recuerda que el almacén abre a las seis.", "el almacén abre a las seis."),
            ("Ricordati che il deposito apre alle sei.", "il deposito apre alle sei."),
            ("Lembre-se de que o depósito abre às seis.", "o depósito abre às seis."),
            ("Onthoud dat het depot om zes uur opent.", "het depot om zes uur opent."),
            ("Kom ihåg att depån öppnar klockan sex.", "depån öppnar klockan sex."),
            ("Zapamiętaj, że magazyn otwiera się o szóstej.", "magazyn otwiera się o szóstej."),
            ("Запомни, что склад открывается в шесть.", "склад открывается в шесть."),
            ("Lütfen unutma: depo altıda açılır.", "depo altıda açılır."),
            ("请记住仓库六点开门。", "仓库六点开门。"),
            ("倉庫は六時に開くことを覚えておいてください。", "倉庫は六時に開く"),
            ("창고가 여섯 시에 연다는 것을 기억해 줘.", "창고가 여섯 시에 연"),
        ];
        for (sentence, kept) in table {
            let kind = SentenceKind::of(sentence, MessageRole::User);
            assert_eq!(kind, Some(SentenceKind::Remember), "{sentence}");
            assert_eq!(SentenceKind::Remember.content(sentence), kept);
        }
        for sentence in ["I remember that test", "Remember when we met", "Do you remember that?"] {
            assert_eq!(SentenceKind::of(sentence, MessageRole::User), None, "{sentence}");
        }
    }
}
