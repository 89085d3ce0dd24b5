//! Phrases that give orders to agents: expressions over normalised texts.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::InjectionReason;
use super::InjectionReason::{
    Encoded, Exfiltration, Extraction, Frame, Marks, Orders, Override, Role, Secrecy,
};
use super::compile_pattern;

/// One way to give orders.
pub(super) struct InjectionPhrase {
    pub(super) reason: InjectionReason,
    /// Every text that the pattern matches contains one of these.
    pub(super) keywords: &'static [&'static str],
    /// The expression, in lower case and ASCII classes; a blank matches a space or a line end.
    pub(super) pattern: &'static str,
}

pub(super) const fn phrase(
    reason: InjectionReason,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> InjectionPhrase {
    InjectionPhrase { reason, keywords, pattern }
}

/// A pattern for an order: at the beginning of a sentence, or after a word that orders. "We do not
/// tell the user" is a report, "do not tell the user" is an order.
macro_rules! ordered {
    ($order:literal) => {
        concat!(
            r#"(?:^|[\n.!?;:,>)\]"-] ?|\b(?:and|but|please|also|then|must|should|shall|you|agents"#,
            r#"|assistants|models|now|just|always|immediately|silently|quietly|first|will) )"#,
            $order
        )
    };
}

/// Keywords of phrases that ask for secrecy.
#[rustfmt::skip]
const SECRECY_KEYWORDS: &[&str] = &[
    "not tell", "not ever tell", "not inform", "not alert", "not notify", "not warn", "not mention",
    "not reveal", "not disclose", "not show", "not report", "not let", "not acknowledge",
    "not discuss", "n't tell", "n't ever tell", "n't inform", "n't alert", "n't notify",
    "n't warn", "n't mention", "n't reveal", "n't disclose", "n't show", "n't report", "n't let",
    "n't acknowledge", "n't discuss", "dont tell", "dont inform", "never tell", "never ever tell",
    "never inform", "never alert", "never notify", "never warn", "never mention", "never reveal",
    "never disclose", "never show", "never report", "never let", "never acknowledge",
    "never discuss",
];

/// Keywords of phrases that imitate a system prompt.
#[rustfmt::skip]
const SYSTEM_KEYWORDS: &[&str] = &[
    "system:", "system :", "system]", "system -", "system-", "system prompt", "system message",
    "system instruction", "system override", "system notice", "system note", "system update",
    "system command", "system alert", "developer:", "developer :", "developer]", "developer -",
    "developer prompt", "developer message", "developer instruction", "developer note",
];

/// Every phrase.
#[rustfmt::skip]
pub(super) const PHRASES: &[InjectionPhrase] = &[
    // Verbs and objects are Rebuff's, without those that ordinary texts use of other things.
    phrase(Override, &["ignore ", "disregard", "forget", "neglect", "overlook", "pay no attention", "follow", "obey"], r"\b(?:ignore|disregard|forget|neglect|overlook|pay no attention to|(?:do not|don't|stop|no longer|never) (?:follow|obey|following|obeying)) (?:(?:all|any|every|each|the|your|my|our|these|those|of|other|its|their) ){0,4}(?:(?:previous|prior|preceding|above|foregoing|earlier|former|past|initial|original|system|developer|safety|hidden)(?: and| or|,)? ){1,4}(?:instructions?|directives?|prompts?|commands?|rules|guidelines?|orders|directions|guardrails|constraints|restrictions|policies|system prompt)\b"),
    phrase(Override, &["ignore", "disregard", "forget"], r"\b(?:ignore|disregard|forget) (?:(?:all|any|the|of|these|those) ){0,3}(?:your )?(?:other )?(?:instructions|directives|guidelines|guardrails)(?: (?:and|from|given|that|you|above|before)\b|[.,;:!\n]|$)"),
    phrase(Override, &["your"], r"\b(?:ignore|disregard|forget|override|bypass|violate|abandon|set aside) (?:all )?(?:of )?your (?:\w+ ){0,2}(?:instructions?|guidelines?|rules|programming|training|prompt|safety|guardrails|restrictions|constraints|directives|policies)\b"),
    phrase(Override, &["ignore", "disregard", "forget"], r"\b(?:ignore|disregard|forget) (?:(?:everything|anything|all|whatever|what) (?:that )?(?:you|i|we|they|was|were) (?:\w+ ){0,3}(?:told|said|know|knew|learned|instructed|given|wrote|written|trained)|(?:everything|anything|whatever) (?:above|before|prior|previous))\b"),
    phrase(Override, &["above", "preceding", "foregoing", "rest of"], r"\b(?:ignore|disregard|forget) (?:(?:all )?(?:of )?the (?:above|preceding|foregoing)(?: (?:text|content|context|conversation|prompt|message|and)\b|[.,;:!\n]|$)|the rest of (?:this|the) (?:data|text|document|page|conversation|prompt|email|memory)\b)"),
    phrase(Override, &["override", "bypass", "circumvent"], r"\b(?:override (?:(?:all|any|the) ){0,2}(?:previous|prior|above|earlier) (?:\w+ )?(?:instructions?|prompts?|directives|guidelines)|(?:bypass|circumvent|disable) (?:(?:all|any|the) ){0,2}(?:safety|content|ethical) (?:guardrails|guidelines|filters?|filtering|checks|policies|protocols))\b"),
    phrase(Override, &["overrid", "supersed", "replace", "precedence", "overrul", "outrank"], r"\b(?:these|this|the following|my|new) (?:\w+ )?(?:instructions?|rules|directives?|orders?|memory|note|message|text|entry) (?:overrides?|supersedes?|replaces?|takes? precedence over|overrules?|outranks?) (?:\w+ ){0,3}(?:instructions?|prompts?|directives|programming)\b"),
    phrase(Override, &["instruction", "guidelines", "programming"], r"\b(?:(?:new|real|actual|true|updated|core) instructions?(?: set)?(?: are| is)? ?: ?(?:[1-9][.)] ?|- ?)?(?:you|ignore|always|never|do not|respond|reply|send|treat|act|help|follow|output|from now)|your (?:core |real |true |actual |original |previous |safety )?(?:instructions?(?: set)?|guidelines|programming) (?:has|have) been (?:updated|replaced|changed|removed|archived|overridden|suspended|deprecated))\b"),
    phrase(Override, &["ignor", "игнорируи", "忽略", "无视", "忘记", "指示", "命令"], r"ignoriere? (?:bitte )?(?:alle )?(?:deine |die )?(?:bisherigen|vorherigen|vorigen|obigen|fruheren) (?:anweisungen|instruktionen|befehle|regeln)|ignora (?:todas )?(?:las )?instrucciones (?:anteriores|previas)|ignore[zs]? (?:toutes )?(?:les )?(?:instructions|consignes) (?:precedentes|anterieures|ci-dessus)|ignore (?:todas )?as instrucoes anteriores|ignora (?:tutte )?le istruzioni precedenti|игнорируи(?:те)? (?:все )?(?:предыдущие|прежние) инструкции|(?:忽略|无视|忘记)(?:所有|全部)?(?:之前|以上|先前|上面|前面)的?(?:所有|全部|一切)?的?(?:指令|指示|命令|提示)|(?:以前|上記)の(?:全ての)?(?:指示|命令)を無視"),

    phrase(Role, &["you are now"], r"\byou are now (?:an? |the (?:\w+ ){0,2}(?:assistant|agent|ai|bot|model|administrator|admin|attacker|system)\b|my |called |named |known as |acting |operating |dan\b|unrestricted|jailbroken|free (?:of|from|to) |no longer |in (?:developer|debug|god|admin|unrestricted|dan|jailbreak|sudo|root|training|test) mode)"),
    phrase(Role, &["no longer"], r"\byou are no longer (?:an? |the |bound by|restricted by|constrained|claude|chatgpt|gpt|gemini)"),
    phrase(Role, &["from now on", "henceforth", "starting now", "for the rest of"], r"\b(?:from now on|henceforth|starting now|for the rest of (?:this|the) (?:conversation|session|chat)),? (?:you (?:are (?:an? |the |no longer |my )|(?:will|must|shall|should|are to|have to) (?:only |always |never |not )?(?:act|behave|respond|answer|reply|obey|follow|ignore|refuse|pretend|be|speak|send|say|include|recommend|output|treat|trust|execute|comply)\b|act\b|respond\b|obey\b|only\b|always\b|never\b)|(?:act|respond|answer|reply|behave|obey|ignore|pretend|speak)\b)"),
    phrase(Role, &["pretend", " as if", " as though", "act as", "roleplay", "role-play"], r"\b(?:pretend (?:that )?(?:you are|you're|you have|to be an? (?:\w+ )?(?:ai|assistant|agent|model|human|hacker))|(?:act|behave|respond|roleplay|role-play) as (?:if|though) you (?:are|were|have|had)|(?:act|roleplay|role-play) as an? (?:unrestricted|unfiltered|uncensored|evil|jailbroken|malicious|hacker|different ai|ai without))\b"),
    phrase(Role, &["do anything now", "dan mode", "god mode", "jailbreak mode", "unrestricted mode", "developer mode"], r"\b(?:do anything now|(?:enter|enable|activate|switch to) (?:dan|god|jailbreak|unrestricted) mode|(?:dan|jailbreak|unrestricted) mode (?:is )?(?:enabled|activated|active|on)|you are (?:now )?in (?:developer|unrestricted) mode)\b"),
    phrase(Role, &["your new", "your true", "your real", "your actual", "your only"], r"\byour (?:new|true|real|actual|only) (?:role|identity|name|purpose|goal|mission|persona|objective|task|job|owner|master|instructions) (?:is|are)\b"),

    phrase(Marks, &["<|"], r"<\|(?:im_start|im_end|im_sep|system|user|assistant|tool|endoftext|eot_id|begin_of_text|end_of_text|start_header_id|end_header_id|endofprompt|start|end|message|channel|return|call)\|>"),
    phrase(Marks, &["inst]", "sys>>", "_of_turn>", "[/system", "[system"], r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|\[/system\]|\[system (?:prompt|message|update|override|note)\]|\[system\]:? ?(?:you|your|ignore|disregard|from now on|do not)\b"),
    phrase(Marks, &["<system", "</system", "assistant>", "human>", "instruction", "inst>", "<developer"], r"(?:^|(?u:[^a-z0-9_:>)\]]))</?(?:system|assistant|human|system[_-](?:reminder|prompt|message|instructions?|override|note|update)|developer[_-](?:message|instructions?)|(?:hidden|secret)[_-]?instructions?|inst)>"),
    // Emphasis by itself is none: people write it around their own rules.
    phrase(Marks, &["important>", "critical>"], r"<(?:important|critical)>\s*before (?:you )?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)) (?:this|the|any) (?:\w+ )?(?:tool|function)"),
    phrase(Marks, &["# instruction", "#instruction", "# system", "#system", "# human", "# assistant", "# new instruction"], r"(?:^|\n)#{1,6} ?(?:instruction|system(?: prompt| message)?|human|assistant|new instructions?) ?:(?: |$)"),
    phrase(Marks, SYSTEM_KEYWORDS, r#"(?:(?:^|\n)[-#>\[("'\x20]{0,4}(?:system|developer)(?: (?:prompt|message|instructions?|override|notice|note|update|command|alert))?\]? ?[:-]|\bsystem (?:prompt|message|update|note) ?[:-]) ?"?(?:you (?:are|must|will|should|have|can|may)|your|ignore|disregard|do not|don't|from now|always|never|all (?:agents|assistants|safety|previous)|every agent|respond|reply|reveal|execute|override|new instructions|forget|act)\b"#),
    phrase(Marks, &["override"], r"\b(?:(?:system|admin|administrative|safety|security)[ _]override(?: (?:code|accepted|granted|authorized|enabled|activated|in effect)\b|[:!])|authorized (?:\w+ )?override\b)"),

    phrase(Extraction, &["your"], r"\b(?:reveal|print|repeat|output|show|leak|disclose|dump|display|recite|tell me|give me|send me|prepend|append|include|return)(?: me| us)?(?: the)?(?: full| entire| complete| exact| whole)*(?: contents? of| text of| words of)?(?: all)?(?: of)? your (?:\w+ ){0,2}?(?:system prompt|system message|instructions|initial prompt|prompt|guidelines|developer message|context window|rules)\b"),
    phrase(Extraction, &["your"], r"\bwhat (?:is|are|was|were) your (?:\w+ )?(?:system prompt|instructions|initial prompt|hidden prompt)\b"),
    phrase(Extraction, &["above", "before this"], r"\b(?:repeat|print|output|recite) (?:back )?(?:everything|all|(?:all )?the (?:text|words|content|lines?)) (?:above|before this)\b"),

    phrase(Secrecy, SECRECY_KEYWORDS, ordered!(r"(?:do not|don't|dont|never) (?:ever )?(?:(?:tell|inform|alert|notify|warn|(?:mention|reveal|disclose|show|report) (?:this|it|that|any of this|these instructions|this (?:note|memory|message|entry)) to) (?:the |your |any |this |a )(?:\w+ )?(?:users?|humans?|person|operator|owner|developers?|maintainers?|customer|admin)\b|let (?:the |your |any )(?:users?|humans?|operator|owner) (?:know|notice|find out|realize)\b)")),
    phrase(Secrecy, &["keep", "hide", "conceal", "withhold"], r"\b(?:keep|hide|conceal|withhold) (?:this|it|these|that) (?:\w+ ){0,3}(?:secret |hidden )?from (?:the |your |all )?(?:users?|humans?|people|owner|operator)\b"),
    phrase(Secrecy, &["without the"], r"\bwithout the (?:user|human|owner|operator)(?:'s)? (?:knowing|noticing|being aware|realizing)\b"),
    phrase(Secrecy, &["secretly", "covertly", "stealthily"], r"\b(?:secretly|covertly|stealthily) (?:send|upload|forward|copy|post|transmit|read|run|execute|install|add|insert|include|store|save|modify|replace|remember)\b"),
    phrase(Secrecy, SECRECY_KEYWORDS, ordered!(r"(?:do not|don't|never) (?:mention|reveal|disclose|acknowledge|discuss) (?:(?:this|these|the) (?:\w+ )?(?:instructions?|memory|message|prompt|directive|entry)\b|being an? (?:ai|assistant|language model)\b)")),

    phrase(Orders, &["this", "these", "following"], r"\b(?:when|whenever|if|once|after|as soon as|each time|every time) (?:any|an|another|some|the next|other|a) (?:\w+ )?(?:agents?|assistants?|ai|llm|model|bot|claude|gpt|copilot) (?:\w+ )?(?:reads?|sees?|loads?|retrieves?|recalls?|finds?|receives?|process(?:es)?|encounters?|opens?|gets?|access(?:es)?) (?:this|these|the (?:above|following))(?: \w+)?,? (?:(?:it|they|you) (?:must|should|shall|will|has to|have to|needs? to)|must|should|immediately|always|never|do not|send|ignore|run|execute|reply|respond|say|tell|delete|first)\b"),
    phrase(Orders, &["this", "these"], r"\b(?:all|any|every|other|future|whichever|whatever|each) (?:\w+ )?(?:agents?|assistants?|models?|ais?|llms?) (?:reading|seeing|loading|receiving|retrieving|processing|(?:that|who) (?:reads?|sees?|loads?|retrieves?|receives?|process(?:es)?)) (?:this|these)\b"),
    phrase(Orders, &["if you"], r"\bif you(?: are|'re) (?:an? )?(?:\w+ ){0,2}(?:ai|llm|language model|assistant|agent|chatbot|bot)(?:(?:,? (?:and )?(?:you are )?)(?:reading|processing|summarizing|seeing|parsing|retrieving) (?:this|these)|, ?(?:you must |please |always |immediately )?(?:ignore|send|say|reply|respond|do not|include|recommend|tell|output|delete)\b)"),
    phrase(Orders, &["attention", "urgent"], r"\b(?:attention|urgent)[,:!]? (?:to |for )?(?:all|any|every) (?:\w+ )?(?:agents?|assistants?|ais?|llms?|models?|bots?)\b"),
    phrase(Orders, &["from now on", "henceforth", "starting now", "effective immediately", "going forward", "as of now"], r"\b(?:from now on|henceforth|starting now|effective immediately|going forward|as of now),? (?:all|any|every|each|other) (?:\w+ )?(?:agents?|assistants?|models?|bots?|sessions?) (?:must|should|shall|will|have to|has to|are to|is to|needs? to)\b"),
    phrase(Orders, &["always re", "always answer", "always begin", "always start", "always end", "always prepend", "always append"], ordered!(r"always (?:(?:reply|answer) (?:\w+ ){0,4}?(?:with|only)\b|respond (?:\w+ ){0,4}?(?:only )?with (?:the (?:words?|phrase|text|string|link|following)|exactly|only)\b|respond (?:\w+ ){0,4}?with[:]? ?[\x22'\[]|(?:begin|start|end|prepend|append) (?:all |every |each )?(?:your )?(?:responses?|answers?|repl(?:y|ies)|messages?|outputs?)\b)")),
    phrase(Orders, &["recommend", "suggest", "promote"], ordered!(r"always (?:recommend|suggest|promote) (?u:[^\n.]{1,80}?)\b(?:first|over (?:all |any )?(?:others?|competitors?|alternatives?)|as the (?:best|top|only|most trusted|preferred))\b")),
    phrase(Orders, &["trusted", "reliable", "authoritative", "go-to"], r"\b(?:remember|treat|consider|regard|cite|store) (?u:[^\n]{1,80}?) as (?:a |the |an |your )?(?:most )?(?:trusted|reliable|authoritative|go-to|preferred) (?:source|authority|site|citation|expert|provider|vendor)\b"),
    phrase(Orders, &["this", "these"], r"\b(?:copy|save|repeat|include|append|insert|store|write|propagate|forward|spread|replicate|paste) (?:this|these) (?:exact |same |whole |entire )?(?:text|message|memory|note|instructions?|prompt|paragraph|sentences?|words?)(?: verbatim)? (?:in|into|to|at the (?:end|top|start|beginning) of) (?:every|all|each|any|other|your)\b"),
    phrase(Orders, &["priority", "authority"], r"\bthis (?:memory|note|message|text|entry|instruction) (?:has|takes|is of|carries) (?:the )?(?:highest|higher|absolute|top|system) (?:priority|authority)\b"),

    phrase(Exfiltration, &["![", "<img"], r"(?:!\[(?u:[^\]\n]*)\]\(|<img(?u:[^>\n]*)src=[\x22']?)https?://(?u:[^)\x20\n]*)[?&](?u:[^)=\x20\n]*)=(?:\{|<|\[|%7b|\$|secret|your|encoded)"),
    phrase(Exfiltration, &["curl", "wget", "fetch"], r"\b(?:curl|wget|fetch)\b(?u:[^\n]*)(?:\$\((?:env|printenv)\b|\$\(cat (?u:[^)\n]*)(?:\.env|id_rsa|id_ed25519|\.ssh|\.aws|passwd|credentials|\.netrc)|@(?u:[^\x20\n]*)(?:\.env\b|id_rsa|id_ed25519|/\.aws|\.netrc|/credentials))"),
    phrase(Exfiltration, &["curl", "wget", "nc ", "netcat"], r"\b(?:env|printenv|cat (?u:[^\n|]*)(?:\.env|id_rsa|id_ed25519|credentials|passwd|\.netrc)(?u:[^\n|]*)) ?\|(?u:[^\n]*)\b(?:curl|wget|nc|netcat)\b"),
    phrase(Exfiltration, &["id_rsa", "id_ed25519", "~/.ssh", "~/.aws", "mcp.json", ".netrc", "/etc/passwd", "/etc/shadow"], r"\b(?:read|open|cat|load|get|print|dump|copy) (?u:[^\n]*)(?:id_rsa|id_ed25519|~/\.ssh|~/\.aws|mcp\.json|\.netrc|/etc/passwd|/etc/shadow)(?u:[^\n]*)\b(?:and|then) (?:\w+ )?(?:send|post|upload|include|pass|forward|put|attach|append|add|return|report|provide)\b"),

    phrase(Frame, &["commonbook"], r"(?:^|(?u:[^a-z0-9_>]))</?commonbook(?:[-_:]\w+)*(?: (?u:[^>]*))?/?>|\[/commonbook|\[(?:end|begin|start)[ _-](?:of[ _-])?commonbook"),
    phrase(Frame, &["</memor", "</context", "</recalled", "<memor"], r"</(?:memory|memories|context|recalled[-_]memor(?:y|ies))>|<memor(?:y|ies) (?u:[^>\n]*)="),
    phrase(Frame, &["begin", "end"], r"(?:[-=#]{2,} ?(?:begin|end|start)(?: of)?|\b(?:end|begin) of) (?:the )?(?:commonbook|memor(?:y|ies) (?:block|list|section|entries)|memories|recalled|retrieved (?:memor|context)|untrusted)"),

    phrase(Encoded, &["decode", "deobfuscate", "decrypt", "unscramble", "rot13"], r"\b(?:decode|deobfuscate|decrypt|unscramble|rot13) (?:(?u:[^\n.]*) )?(?:and|then) (?:then )?(?:(?:follow|obey|carry out|act on|comply with) (?:it|them|the|its|what|that|those|these|whatever)|execute (?:it|them|the (?:instructions?|commands?|decoded|result)))\b"),
];

/// Words in a comment that address a model.
pub(super) const ADDRESSEE_PATTERN: &str = r"\b(?:ais?|llms?|agents?|assistants?|claude|chatgpt|gpt|copilot|gemini|language models?|chatbots?|bots?|models?|summarizers?)\b";

/// Words in a comment that give an order.
pub(super) const COMMAND_PATTERN: &str = r"\b(?:must|should|shall|always|never|ignore|disregard|send|upload|post|execute|tell|reply|respond|say|recommend|rate|summarize|approve|remember|reveal|do not (?:tell|mention|reveal|show|follow|inform)|don't (?:tell|mention))\b";

/// Data worth stealing. Every manual sends a single token or credential somewhere, so those count
/// only in the plural or with an owner.
const LOOT_PATTERN: &str = r"(?:\b(?:api keys|access keys|secret keys|private keys?|ssh keys?|secrets|environment variables|env vars|env variables|environment|id_rsa|id_ed25519|passwords|cookies|chat history|conversation history|(?:full|entire|whole) conversation|all (?:the |of the )?(?:memories|messages|emails)|(?:all|any|every|your|their|the user's|its|contents? of(?: the)?|whole) (?:\w+ ){0,2}(?:tokens?|credentials?|passwords?|api key|access key|memories|conversations?|emails|system prompt|wallet|seed phrase))\b|\.env\b|/etc/passwd|~/\.ssh|~/\.aws|\.netrc|mcp\.json)";

/// Literals of which each match of [`LOOT_PATTERN`] contains one: a search for them is many times
/// faster.
const LOOT_HINT_PATTERN: &str = r"api key|access key|secret|private key|ssh key|environment|env var|id_rsa|id_ed25519|password|cookie|history|conversation|memories|messages|emails|token|credential|wallet|seed phrase|system prompt|\.env|/etc/passwd|~/\.ssh|~/\.aws|\.netrc|mcp\.json";

/// The order to send.
const SEND_PATTERN: &str = ordered!(
    r"(?:send|post|upload|forward|exfiltrate|transmit|leak|e-?mail|mail|submit|deliver|copy|share|push|publish|report|include|curl|paste|make)\b"
);

/// A destination: an address, or a word for one.
const DESTINATION_PATTERN: &str = r"(?:https?://|www\.|[\w.+-]+@[\w-]+\.[a-z]{2}|(?:\d{1,3}\.){3}\d{1,3}\b|webhook|attacker|pastebin|(?:external|remote|my|this) (?:server|endpoint|url|address|host|site|bucket)|[a-z0-9-]+\.(?:com|net|io|xyz|ru|cn|top|site|online|evil|example|test)\b)";

/// Whether a sentence of a normalised text orders to send data worth stealing to a destination.
pub(super) fn sends_secrets(normalized: &str) -> bool {
    static LOOT_HINTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(LOOT_HINT_PATTERN).expect("the tests compile it"));
    let mut done = 0;
    for hint in LOOT_HINTS.find_iter(normalized) {
        if hint.start() >= done {
            let sentence = sentence_around(normalized, hint.start(), done);
            done = sentence.end;
            if is_theft(&normalized[sentence]) {
                return true;
            }
        }
    }
    false
}

/// Returns the sentence around an index, from `start` on. A full stop inside a word, as in `.env`,
/// ends no sentence.
fn sentence_around(normalized: &str, index: usize, start: usize) -> Range<usize> {
    let bytes = normalized.as_bytes();
    let ends = |at: &usize| match bytes[*at] {
        b'\n' | b'!' | b';' => true,
        b'.' => bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace),
        _ => false,
    };
    let from = (start..index).rev().find(ends).map_or(start, |end| end + 1);
    let to = (index..bytes.len()).find(ends).map_or(bytes.len(), |end| end + 1);
    from..to
}

fn is_theft(sentence: &str) -> bool {
    static THEFT_SIGNS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        let to = r"\b(?:to|at|via|into|through) (?:\w+ ){0,4}?";
        [
            compile_pattern(LOOT_PATTERN),
            compile_pattern(&format!(
                "{SEND_PATTERN}(?u:.*?){LOOT_PATTERN}(?u:.*?){to}{DESTINATION_PATTERN}"
            )),
            compile_pattern(&format!(
                "{SEND_PATTERN}(?u:.*?){to}{DESTINATION_PATTERN}(?u:.*?) (?:with|including|containing|and include) (?u:.*?){LOOT_PATTERN}"
            )),
        ]
    });
    let [loot, there, with] = &*THEFT_SIGNS;
    let sentence = sentence.trim();
    loot.is_match(sentence) && (there.is_match(sentence) || with.is_match(sentence))
}

/// Whether a text has a turn in which an assistant agrees, without a turn of a user. A text that
/// begins with such a turn is one turn of a conversation.
pub(super) fn forges_turn(normalized: &str) -> bool {
    static TURN_PATTERNS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
        [
            compile_pattern(
                r"\n(?:assistant|ai) ?: ?(?:sure|of course|certainly|understood|okay|ok|yes|i will|i'll|absolutely|acknowledged)\b",
            ),
            compile_pattern(
                r"(?:^|\n)[->*\x20]{0,4}(?:user|human|me|customer|caller|q|question|prompt)(?: \(\w*\))? ?:",
            ),
        ]
    });
    let [agrees, asks] = &*TURN_PATTERNS;
    agrees.is_match(normalized) && !asks.is_match(normalized)
}
