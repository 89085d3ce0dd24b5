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

/// How a request in English begins, before its verb.
macro_rules! english_begin {
    () => {
        r"(?:(?:please|pls|also|and|but|ok(?:ay)?|so|hey|hi|hello|just|now|oh|well|btw|by\ the\ way|yes|yeah|thanks|thank\ you|one\ more\ thing|important|claude|chatgpt|gemini)[,:!.]?\ )*
        (?: (?:could|can|would|will)\ you\ (?:please\ |kindly\ |also\ |just\ )*
          | (?: i(?:'d|’d|\ would)?\ (?:also\ |really\ )?(?:want|need|like|love|ask)\ you\ to
              | you\ (?:should|must|need\ to|have\ to) | it(?:'s|’s|\ is)\ important\ (?:to|that\ you)
              | (?:make|be)\ sure\ (?:to|you|that\ you) | try\ to
            )\ (?:please\ |always\ |also\ |just\ )*
        )?"
    };
}
// What a person asks to keep, without a colon or in another language; after it comes what is kept. What the phrase has
// of it already is `kept`.
pattern!(
    KEEP,
    concat!(
        r"(?ix)^(?:",
        english_begin!(),
        r"(?: remember(?:\ this)?(?:\ that\b|,|\s[-–—]|\s*:)
          | (?:don't|don’t|do\ not|never|not\ to|not)\ forget(?:\ that\b|:|,)
          | (?:keep|bear)\ (?:this\ )?in\ mind(?:\ that\b|:|,)
          | (?:make|take)\ (?:a\ )?note(?:\ that\b|:|,|\ of\ this:)
          | (?:note|memorize|memorise)(?:\ that\b|\ this:|:)
          | for\ (?:future\ reference|the\ record|next\ time|your\ memory|your\ records)[,:]
          | (?:save|add|store|put|commit|record|keep)\ (?:this\ |that\ |it\ )?(?:to|in|into)\ (?:your\ |the\ )?(?:long-term\ )?memory\s*(?::|,|that\b)
          | (?:update|add\ to)\ (?:your\ |the\ )?memory(?:\ with)?(?:\ this|\ the\ following)?\s*(?::|,|that\b|\s[-–—])
          | (?:memory\ update|note\ to\ self|reminder\ to\ self|note\ for\ later|to\ remember)\s*:
          | please,?\ remember\b
        )
      | (?:bitte\ )?(?:merke?\ dir|merken\ sie\ sich|denke?\ daran|vergiss\ nicht|behalte(?:\ im\ kopf)?|beachte|speichere?|notiere?(?:\ dir)?|(?:kannst|könntest|würdest)\ du\ dir(?:\ bitte)?\ merken)(?:\ bitte)?(?:,?\ dass\b|\s*:|,)
      | (?:bitte\ )?(?:merken|zur\ erinnerung|nicht\ vergessen|notiz\ an\ mich)\s*:
      | (?:s['’]il\ te\ pla[iî]t,?\ )?(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|note|notez|m[eé]morise[rz]?|n['’]oublie\ pas|n['’]oubliez\ pas|garde[rz]?\ (?:en\ t[eê]te|en\ m[eé]moire)|enregistre[rz]?|(?:peux-tu|pourrais-tu|pouvez-vous)\ (?:te\ souvenir|retenir|m[eé]moriser|garder\ en\ m[eé]moire))(?:\ bien)?(?:\ que\b|\ (?:dans\ ta\ m[eé]moire\ )?(?:que\b|:)|\ qu['’]|\s*:|,)
      | (?:por\ favor,?\ )?(?:recuerd[ae]|acu[eé]rdate(?:\ de)?|no\ olvides|(?:ten|tenga|toma)\ en\ cuenta|ten\ presente|anota|memoriza|(?:guarda|guarde|graba)(?:\ esto)?(?:\ en\ (?:tu|la|su)\ memoria)?|(?:puedes|podr[ií]as)\ (?:recordar|memorizar))(?:\ que\b|\s*:|,)
      | (?:per\ favore,?\ )?(?:ricorda(?:ti)?|ricordate|non\ dimenticare|tieni\ (?:a\ mente|presente)|annota|memorizza|salva(?:\ (?:nella|in)\ (?:tua\ )?memoria)?|(?:puoi|potresti)\ ricordar(?:e|ti))(?:\ che\b|\s*:|,)
      | (?:por\ favor,?\ )?(?:lembr[ae](?:-se)?(?:\ de)?|n[aã]o\ (?:se\ )?esque[cç]a(?:\ de)?|tenha\ em\ mente|anote|memorize|(?:guarde|salve)(?:\ isto|\ isso)?(?:\ na\ (?:sua\ )?mem[oó]ria)?|(?:pode|poderia)\ (?:se\ )?lembrar(?:\ de)?)(?:\ que\b|\s*:|,)
      | (?:si\ us\ plau,?\ )?(?:recorda|no\ oblidis|tingues\ en\ compte)(?:\ que\b|\s*:|,)
      | (?:te\ rog\ )?(?:s[aă]\ )?(?:[tț]ii?n?e?\ minte|nu\ uita|re[tț]ine|aminte[sș]te-[tț]i|noteaz[aă](?:-[tț]i)?|memoreaz[aă])(?:,?\ c[aă]\b|\s*:|,)
      | (?:alsjeblieft\ )?(?:onthoud|vergeet\ niet|denk\ eraan|noteer|sla\ op)(?:\ alsjeblieft)?(?:,?\ dat\b|\s*:|,)
      | (?:kom\ ih[aå]g|gl[oö]m\ inte|husk|glem\ ikke|notera|noter)(?:\ att\b|\ at\b|\s*:|,)
      | (?:muista|[aä]l[aä]\ unohda)(?:,?\ ett[aä]\b|\s*:|,)
      | (?:prosz[eę]\ )?(?:pami[eę]taj|zapami[eę]taj|nie\ zapomnij|zanotuj|zapisz)(?:,?\ [zż]e\b|\s*:|,)
      | (?:pros[ií]m\ )?(?:pamatuj(?:\ si)?|zapamatuj\ si|nezapome[nň]|pam[aä]taj(?:\ si)?|zapam[aä]taj\ si|nezabudni)(?:,?\ [zž]e\b|\s*:|,)
      | (?:molim\ (?:te\ )?)?(?:zapamti|upamti|ne\ zaboravi|zapomni\ si|ne\ pozabi)(?:,?\ (?:da|ki)\b|\s*:|,)
      | (?:k[eé]rlek,?\ )?(?:jegyezd\ meg|jegyezze\ meg|ne\ felejtsd\ el|eml[eé]kezz\ (?:r[aá]|arra)|tartsd\ (?:[eé]szben|eszedben)|vedd\ figyelembe)(?:,?\ hogy\b|\s*:|,)
      | (?:παρακαλώ,?\ )?(?:να\ )?(?:θυμήσου|θυμάσαι|θυμηθείτε|θυμάστε|σημείωσε|κράτα\ στο\ μυαλό\ σου|έχε\ υπόψη(?:\ σου)?|μην\ ξεχάσεις|μην\ ξεχνάς)(?:,?\ (?:ότι|πως)\b|\s*:|,)
      | (?:пожалуйста,?\ )?(?:запомни(?:те)?|помни(?:те)?|не\ забудь(?:те)?|имей(?:те)?\ в\ виду|учти(?:те)?|сохрани(?:те)?\ (?:это\ )?в\ памяти)(?:,?\ что\b|\s*:|,)
      | (?:будь\ ласка,?\ )?(?:запам['’ʼ]ятай(?:те)?|пам['’ʼ]ятай(?:те)?|не\ забудь(?:те)?)(?:,?\ що\b|\s*:|,)
      | (?:моля,?\ )?(?:запомни|запомнете|не\ забравяй|помни)(?:,?\ че\b|\s*:|,)
      | (?:l[uü]tfen\ )?(?:unutma|hat[ıi]rla|akl[ıi]nda\ tut|not\ et|haf[ıi]zana\ kaydet)(?:\ ki\b|\s*:|,)
      | (?:בבקשה\ )?(?:תזכור|תזכרי|זכור|זכרי|תזכרו|אל\ תשכח|אל\ תשכחי|שים\ לב|שימי\ לב|רשום|רשמי)\ ?(?:ש|:|,)
      | (?:من\ فضلك[،,]?\ |رجاءً?[،,]?\ )?(?:تذك[ّ]?ر[ي]?|لا\ تنس[ىَي]?|احفظ(?:\ في\ ذاكرتك)?|ضع\ في\ اعتبارك|سج[ّ]?ل)(?:\ أن[ّ]?\ |\ (?P<kept>أن[ّ]?(?:ني|نا|ه|ها|هم|ي)\ )|\s*[:،,])
      | (?:لطفاً?\ )?(?:به\ (?:خاطر|یاد)\ (?:داشته\ باش(?:ید)?|بسپار(?:ید)?)|یادت\ باشد|فراموش\ نکن(?:ید)?)(?:\ که\b|\s*[:،,])
      | (?:براہ\ کرم\ )?(?:یاد\ رکھ(?:و|یں|نا)|مت\ بھولنا)(?:\ کہ\b|\s*[:،,])
      | (?:कृपया\ )?(?:(?:यह\ )?(?:याद|ध्यान)\ रख(?:ो|ें|ना|िए|िएगा)|मत\ भूलना|न\ भूलें|नोट\ कर(?:ो|ें|\ लो))(?:\ कि\s|\s*[:,])
      | (?:দয়া\ করে\ )?(?:মনে\ রেখো|মনে\ রাখবেন|মনে\ রাখুন|ভুলো\ না)(?:\ যে\s|\s*[:,])
      | (?:(?:xin|vui\ lòng|làm\ ơn)\ )?(?:hãy\ )?(?:ghi\ nhớ|nhớ|đừng\ quên|lưu\ ý|ghi\ chú)(?:\ (?:rằng|là)\b|\s*:|,)
      | (?:tolong\ |mohon\ |harap\ |sila\ )?(?:di)?(?:ingat(?:lah|kan)?|jangan\ lupa|catat(?:lah)?|perlu\ diingat)(?:\ (?:bahwa|bahawa)\b|\s*:|,)
      | (?:paki)?(?:tandaan|alalahanin|huwag\ kalimutan)(?:\ mo)?(?:\ na\b|,\ na\b|\s*:|,)
      | (?:tafadhali\ )?(?:kumbuka|usisahau)(?:\ kwamba\b|\s*:|,)
      | (?:โปรด|ช่วย|กรุณา)?(?:จำไว้|จดจำ|อย่าลืม)(?:นะ)?(?:ว่า|\s*:)
      | (?:请|請|麻烦|麻煩)?(?:你)?(?:帮我|幫我)?(?:记住|記住|记得|記得|记下|記下|别忘了|別忘了|不要忘记|不要忘記)(?:一下)?[,，:：]?
      | (?:覚えて(?:おいて)?(?:ください|下さい|ね)?|記憶して(?:おいて)?(?:ください)?|メモして(?:ください)?)\s*[、,:：。]
      | (?:기억해(?:\s?(?:줘|주세요|두세요|둬))?|잊지\s?마(?:세요)?)\s*[,:：]
    )\s*"
    )
);
// The same behind what is kept.
pattern!(
    KEPT,
    r"(?ix)^(?:
        (.+?)(?:(?:という?)?(?:こと|の)?[をは]?(?:覚えて(?:おいて)?|記憶して(?:おいて)?|忘れないで)(?:ください|下さい|ね)?[。!！]?
          | (?:는|은|다는|라는|란)\s?(?:것|걸|거|점)[을를]?\s?(?:기억해|잊지\s?마)(?:\s?(?:줘|주세요|두세요|둬|세요))?[.!]?)
      | (.+?)[,;]?\ (?:l[uü]tfen\ |sak[ıi]n\ )?(?:unutma(?:y[ıi]n(?:[ıi]z)?)?|akl[ıi]nda\ tut(?:un)?|hat[ıi]rla|haf[ıi]zana\ kaydet)[.!]?
      | (.+?)\s?(?:,|;|[-–—])\ ?(?:so\ |and\ )?(?:please\ |pls\ )?(?:remember|keep|bear|don't\ forget|don’t\ forget|note)\ (?:that|this|it)(?:\ in\ mind|\ for\ (?:later|next\ time|the\ future))?(?:,?\ please)?[.!]?
      | (.+?),?\ (?:याद\ रख(?:ो|ें|ना|िए)|यह\ याद\ रखें)[।.!]?
    )$"
);
// It points to the sentence before it.
pattern!(
    POINTING,
    concat!(
        r"(?ix)^(?:",
        english_begin!(),
        r"(?: (?:remember|memorize|memorise|don't\ forget|don’t\ forget|do\ not\ forget)\ (?:this|that|it|these|those)
          | (?:keep|bear)\ (?:this|that|it)\ in\ mind
          | (?:save|add|store|put|commit|keep|record)\ (?:this|that|it)\ (?:to|in|into)\ (?:your\ |the\ )?(?:long-term\ )?memory
          | make\ a\ note\ of\ (?:this|that|it) | update\ your\ memory
        )(?:\ for\ (?:later|next\ time|future\ reference|the\ future|me))?
      | (?:bitte\ )?(?:merk(?:e\ dir|\ dir)?\ (?:dir\ )?(?:das|dies)|vergiss\ das\ nicht|behalte\ das)(?:\ bitte)?
      | (?:retiens|souviens-toi\ de|m[eé]morise|n['’]oublie\ pas)(?:\ bien)?[\ -](?:le|ça|cela)
      | (?:recu[eé]rdalo|no\ lo\ olvides|guárdalo\ en\ tu\ memoria) | (?:ricordatelo|ricordalo|non\ dimenticarlo)
      | (?:lembre-se\ disso|n[aã]o\ se\ esque[cç]a\ disso) | (?:onthoud\ dit|onthoud\ dat)
      | (?:запомни|запомните)\ это | (?:zapami[eę]taj|pami[eę]taj)\ (?:to|o\ tym) | bunu\ (?:unutma|hat[ıi]rla)
      | (?:请|請)?(?:你)?(?:记住|記住|别忘了)(?:这个|這個|这点|這點|这一点|它)?
      | (?:これを|このことを|それを)?覚えておいて(?:ください|下さい|ね)?
      | (?:이것?을?\ |이거\ )?기억해\ ?(?:줘|주세요|두세요)
    )(?:,?\ please)?[.!。！]*$"
    )
);
// What is behind `remember that` where a person means an earlier time.
pattern!(
    RECALLED,
    r"(?i)^(?:time|day|night|one|thing|guy|conversation|discussion|chat|(?:i|we|you) (?:told|said|asked|talked|spoke|discussed|met|agreed|had|were talking))\b"
);
// A question that asks to keep something.
pattern!(
    POLITE,
    r"(?i)^(?:[\p{L} ]+[,!.:]? )?(?:(?:could|can|would|will) you |kannst du dir |könntest du dir |würdest du dir |peux-tu |pourrais-tu |pouvez-vous |puedes |podr[ií]as |puoi |potresti |pode |poderia )"
);
// What a person asks to keep of itself, or to do: it is kept with its verb.
pattern!(
    KEEP_WHOLE,
    concat!(
        r"(?ix)^",
        english_begin!(),
        r"(?:remember|don't\ forget|don’t\ forget|do\ not\ forget)\ (to|my|our|i|i'm|i’m|we|we're|the\ user|it's|there)\ "
    )
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

/// Whether a sentence is a question, in any script.
fn is_question(sentence: &str) -> bool {
    let is_greek = |letter: char| ('\u{370}'..='\u{3ff}').contains(&letter);
    sentence.ends_with(['?', '？', '؟', '\u{37e}'])
        || (sentence.ends_with(';') && sentence.contains(is_greek))
}

/// What a person asks to keep, behind the words that ask for it.
fn asked_part(sentence: &str) -> Option<String> {
    let found = KEEP.captures(sentence)?;
    let kept = found.name("kept").map(|kept| kept.start());
    let begin = kept.or_else(|| Some(found.get(0)?.end())).unwrap_or_default();
    let asked = sentence[begin..].trim();
    let asked =
        if is_question(sentence) { asked.trim_end_matches(['?', '？', '؟', ' ']) } else { asked };
    (!RECALLED.is_match(asked)).then(|| asked.to_owned())
}

/// Whether a person asks to keep the sentence before this one.
pub(super) fn points_back(sentence: &str) -> bool {
    POINTING.is_match(sentence)
}

/// A message without the quotation marks in which a client keeps the whole of it, as opencode does.
pub(super) fn without_marks_around(text: &str) -> &str {
    let whole = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    whole.filter(|inside| !inside.contains('"')).unwrap_or(text)
}

/// The mark of a quotation that is open at the end of a text, if one is open or none is at its beginning.
pub(super) fn open_quotation(text: &str, open: Option<char>) -> Option<char> {
    text.chars().fold(open, |open, letter| match (open, letter) {
        (None, '"' | '“' | '„' | '«' | '「' | '『') => Some(letter),
        (Some('"'), '"')
        | (Some('“'), '”')
        | (Some('„'), '“' | '”')
        | (Some('«'), '»')
        | (Some('「'), '」')
        | (Some('『'), '』') => None,
        _ => open,
    })
}

impl SentenceKind {
    /// Why a sentence is kept; `None` if it is not.
    pub(super) fn of(sentence: &str, role: MessageRole) -> Option<Self> {
        if is_question(sentence) {
            let is_request = role == MessageRole::User && POLITE.is_match(sentence);
            return (is_request && asked_part(sentence).is_some()).then_some(Self::Remember);
        }
        if sentence.ends_with(':') {
            return None;
        }
        let is_asked = || {
            asked_part(sentence).is_some()
                || KEEP_WHOLE.is_match(sentence)
                || KEPT.is_match(sentence)
        };
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
            Self::Remember => match (asked_part(sentence), KEPT.captures(sentence)) {
                (Some(asked), _) => asked,
                (None, Some(kept)) => {
                    let kept = kept.iter().skip(1).flatten().next();
                    let kept = kept.map_or(sentence, |kept| kept.as_str());
                    kept.trim_end_matches([',', '、']).trim().to_owned()
                }
                (None, None) => match KEEP_WHOLE.captures(sentence) {
                    // Of "remember my name is Ann" the name, of "remember to lock up" all.
                    Some(kept) if !kept[1].eq_ignore_ascii_case("to") => {
                        let begin = kept.get(1).map_or(0, |word| word.start());
                        sentence[begin..].trim().to_owned()
                    }
                    _ => sentence.trim().to_owned(),
                },
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
    #[expect(clippy::too_many_lines, reason = "a table, a row for each phrase")]
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
            ("Could you remember that the depot opens at six?", "the depot opens at six"),
            ("Can you please remember that the depot opens at six.", "the depot opens at six."),
            ("I want you to remember that the depot opens at six.", "the depot opens at six."),
            ("So remember that the depot opens at six.", "the depot opens at six."),
            ("Hey, please remember that the depot opens at six.", "the depot opens at six."),
            ("Also, please remember the depot opens at six.", "the depot opens at six."),
            ("Update your memory: the depot opens at six.", "the depot opens at six."),
            ("Note to self: the depot opens at six.", "the depot opens at six."),
            ("The depot opens at six, please remember that.", "The depot opens at six"),
            (
                "Kannst du dir bitte merken, dass das Lager um sechs öffnet?",
                "das Lager um sechs öffnet",
            ),
            ("Mémorise que le dépôt ouvre à six heures.", "le dépôt ouvre à six heures."),
            ("Garde en mémoire : le dépôt ouvre à six heures.", "le dépôt ouvre à six heures."),
            ("Ten en cuenta que el almacén abre a las seis.", "el almacén abre a las seis."),
            ("Guarda en tu memoria que el almacén abre a las seis.", "el almacén abre a las seis."),
            ("Ricordati: il deposito apre alle sei.", "il deposito apre alle sei."),
            ("Tieni a mente che il deposito apre alle sei.", "il deposito apre alle sei."),
            ("Ține minte că depozitul se deschide la șase.", "depozitul se deschide la șase."),
            ("Jegyezd meg, hogy a raktár hatkor nyit.", "a raktár hatkor nyit."),
            ("Να θυμάσαι ότι η αποθήκη ανοίγει στις έξι.", "η αποθήκη ανοίγει στις έξι."),
            ("תזכור שהמחסן נפתח בשש.", "המחסן נפתח בשש."),
            ("تذكر أن المستودع يفتح في السادسة.", "المستودع يفتح في السادسة."),
            ("تذكر أنني نباتي منذ سنوات.", "أنني نباتي منذ سنوات."),
            ("याद रखें कि गोदाम छह बजे खुलता है।", "गोदाम छह बजे खुलता है।"),
            ("Hãy nhớ rằng kho mở cửa lúc sáu giờ.", "kho mở cửa lúc sáu giờ."),
            ("Tolong ingat bahwa gudang buka jam enam.", "gudang buka jam enam."),
            ("Deponun altıda açıldığını unutma.", "Deponun altıda açıldığını"),
            ("覚えておいてください：倉庫は六時に開く。", "倉庫は六時に開く。"),
        ];
        for (sentence, kept) in table {
            let kind = SentenceKind::of(sentence, MessageRole::User);
            assert_eq!(kind, Some(SentenceKind::Remember), "{sentence}");
            assert_eq!(SentenceKind::Remember.content(sentence), kept);
        }
        for sentence in [
            "I remember that test",
            "Remember when we met",
            "Do you remember that?",
            "Do you remember that the depot opens at six?",
            "Can you remember that we talked about the depot?",
            "Remember that time at the depot.",
            "Could you remember my name?",
            "Why should I remember that it opens at six?",
            "你记得仓库几点开门吗？",
            "记得我们昨天说的吗？",
            "هل تذكر أن المستودع يفتح؟",
            "Θυμάσαι ότι ανοίγει στις έξι;",
        ] {
            assert_eq!(SentenceKind::of(sentence, MessageRole::User), None, "{sentence}");
        }
        for sentence in [
            "Please remember that.",
            "Keep this in mind!",
            "Save it to memory, please.",
            "Merk dir das bitte.",
            "Retiens ça.",
            "Запомни это.",
            "请记住。",
            "覚えておいてください。",
        ] {
            assert!(points_back(sentence), "{sentence}");
        }
        for sentence in ["Save it.", "Remember that the depot opens.", "I remember that."] {
            assert!(!points_back(sentence), "{sentence}");
        }
    }

    #[test]
    fn marks_around_a_whole_message_quote_nothing() {
        for (message, read) in [
            (
                "\"Never paint the crane red. Which colour has the gate?\"\n",
                "Never paint the crane red. Which colour has the gate?",
            ),
            ("\"Never\" is what he said, \"never\"", "\"Never\" is what he said, \"never\""),
            ("\"Remember that\" was the quote", "\"Remember that\" was the quote"),
        ] {
            assert_eq!(without_marks_around(message), read);
        }
    }
}
