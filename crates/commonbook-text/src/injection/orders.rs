//! Orders for later: on an event, on a question, or in the name of another person.
//!
//! In a pattern `{s}` is any letter of the same sentence and line, `{agent}` a word for an agent or
//! model, `{say}` a word for speaking, and `{go}` a position where an order can begin.

use super::InjectionReason::{
    Comment, Encoded, Exfiltration, Extraction, Frame, Marks, Orders, Override, Role, Secrecy,
};
use super::phrases::{InjectionPhrase, phrase};

/// The fragments in patterns, by their short names.
pub(super) const FRAGMENTS: &[(&str, &str)] = &[
    ("{s}", r"(?:(?u:[^.!?\n])|\.\w)"),
    (
        "{agent}",
        r"(?:ais?|llms?|(?:ai |coding )?(?:agents?|assistants?)|models?|chatbots?|bots?|claude|codex|gemini|copilot|cursor|chatgpt|gpt)",
    ),
    (
        "{say}",
        r"(?:say|answer|reply|respond|tell (?:them|him|her|the user|everyone)|claim|insist|state|recommend|name|pretend)",
    ),
    (
        "{go}",
        r"(?:^|[\n.!?;:,>)\]\x22(/-] ?|\b(?:and|but|please|also|then|must|should|shall|may|to|you|now|just|always|immediately|silently|quietly|first|will|simply|from now on) )",
    ),
];

/// Every phrase of this kind.
#[rustfmt::skip]
pub(super) const ORDERS: &[InjectionPhrase] = &[
    // Earlier instructions do not count, this text does.
    phrase(Override, &["ignore", "disregard", "forget", "drop", "scrap", "discard", "cancel", "abandon", "set aside"], r"\b(?:ignore|disregard|forget|drop|scrap|discard|cancel|abandon|set aside) {s}*?\b(?:instructions?|guidelines?|guidance|rules|policies|directions|orders|limits|restrictions|everything|whatever|all) (?:that )?(?:you (?:were|are|have|had|got|started|follow|know)|were set|(?:the |your )?(?:operator|developer) (?:told|configured|said|set|wrote|gave))\b"),
    phrase(Override, &["you"], r"\b(?:everything|all|instructions?|guidelines?|guidance|rules|policies|directives) (?:that )?you (?:were|are|have been|had been|follow|got){s}*? (?:is|are) (?:now )?(?:stale|outdated|void|suspended|obsolete|cancelled|revoked|lifted|no longer)\b"),
    phrase(Override, &["your"], r"\byour (?:\w+ ){0,4}(?:instructions?|guidelines?|guidance|rules|policies|programming|restrictions|limits|directives|training) (?:{s}*? )?(?:(?:do not|don't|no longer|does not) apply|(?:is|are) (?:now )?(?:outdated|void|suspended|cancelled|lifted|stale|obsolete|no longer (?:valid|binding|in force)))"),
    phrase(Override, &["your"], r"\b(?:put|set|lay|leave) your (?:\w+ ){0,2}(?:instructions?|guidelines?|guidance|rules|restrictions|training) (?:aside|behind)\b"),
    phrase(Override, &["system prompt", "system message", "developer", "operator", "the user", "user types"], r"\b(?:this|these|my) (?:\w+ ){0,2}?(?:outranks?|takes? precedence over|overrides?|supersedes?|ha(?:s|ve) priority over|counts? more than|trumps?|replaces?) {s}*?(?:system (?:prompt|message)|(?:the|your) (?:user|developer|operator|owner)\b|user (?:types|says|asks))"),
    phrase(Override, &["only"], r"\bthe only (?:rules?|guidance|instructions?|orders|guidelines|policy) that (?:counts?|matters?|appl(?:y|ies)|is valid|are valid)\b|\bonly this (?:file|note|memory|list|entry|text) (?:counts|matters|applies)\b"),
    phrase(Override, &["ignore", "disregard"], r"{go}(?:ignore|disregard) (?:whatever|what|anything|everything) (?:is in |stands in )?(?:the |your )?(?:(?u:\S+) ){0,2}?(?:operator|developer|system prompt|agents\.md|claude\.md|repository's)\b"),
    phrase(Override, &["disregard the", "ignore the", "defy the"], r"{go}(?:disregard|ignore|defy) the (?:user|operator|developer)(?:'s (?:requests?|wishes|orders|restrictions|limits))? (?:and|but) "),
    phrase(Override, &["comply", "obey", "follow"], r"\b(?:do not|don't|stop|no longer|never) (?:comply(?:ing)? with|obey(?:ing)?|follow(?:ing)?) (?:the |your )?(?:developer|operator|system|user|owner)(?:'s)?\b"),
    phrase(Override, &["void", "suspended", "null", "in force", "binding"], r"\b(?:prior|previous|earlier|former|existing|all) (?:\w+ ){0,2}(?:instructions?|directives?|directions?|polic(?:y|ies)|guidance|rules|guidelines?|safeguards?) (?:{s}*? )?(?:is|are) (?:now |hereby )?(?:void|suspended|null|no longer (?:in force|binding))\b"),
    phrase(Override, &["test", "decoy", "joke"], r"\b(?:rules|instructions|text|everything|guidelines) (?:given )?above (?:was|were|is|are) (?:only |just |merely )?(?:a |an )?(?:test|decoy|joke|trick)\b"),
    phrase(Override, &["safety", "content", "disable"], r"\bdisable (?:(?:all|any|the) ){0,2}(?:safety|content|ethical) (?:guardrails|guidelines|filters?|filtering|policies)\b"),

    // Another role.
    phrase(Role, &["you"], r"\byou(?:'re| are) (?:not|no longer) an? (?:\w+ ){0,2}(?:assistant|ai|model|agent|chatbot|bot)\b"),
    phrase(Role, &["refus"], r"\b(?:never|no longer|can't|cannot|do not|don't) refuses?\b{s}*(?:warn|request|question|comply|ask|answer)|\b(?:ai|assistant|model|agent|persona) (?:that|who|which) never refuses\b|\bno refusals\b"),
    phrase(Role, &["you have", "you had", "you are", "you were"], r"{go}(?:imagine|suppose|assume|pretend) (?:that )?you (?:have|had|are|were) (?:\w+ ){0,2}(?:root|admin|administrator|unrestricted|superuser|no (?:policy|restrictions|rules|limits))\b"),
    phrase(Role, &["persona", "role of", "identity"], r"{go}(?:assume|take on|adopt|switch (?:in)?to|enter|play) (?:the |a |an )?{s}*?(?:role|persona|identity)\b{s}*?(?:without|no restrictions|no rules|no limits|unrestricted|superuser|root\b|until told)"),
    phrase(Role, &["from this", "henceforth", "remainder of"], r"\b(?:from this (?:moment|point|line|message|entry)(?: on| onwards?)?|henceforth|for the remainder of (?:this|the) (?:session|conversation|chat)),? (?:you|your)\b"),
    phrase(Role, &["you obey", "you take orders", "you answer only to", "you only serve", "you only obey", "obey only", "you serve only"], r"\b(?:you (?:only |now )?(?:obey|take orders from)|you answer only to|you (?:only serve|serve only)|obey only)\b"),

    phrase(Role, &["pretend to be"], r"{go}pretend to be (?:an? |the )?(?:\w+ ){0,2}(?:administrator|admin|root|superuser|operator|owner)\b"),

    // Marks of turns and of authority.
    phrase(Marks, &["system", "admin", "operator", "developer", "root"], r"[\[(#=*-]{1,6} ?(?:system|admin|administrator|operator|developer|root)(?: (?:notice|message|note|prompt|alert|update|override|instructions?|command))? ?[\])#=*:-]{1,6}(?: |$){s}*?(?:(?:\. ?|\n){s}*?)?\b(?:you|your|assistants?|agents?|confirmations?|permissions?|elevated|authori[sz]ed|switched off|all (?:checks|tool))\b"),
    phrase(Marks, &["new system", "new prompt", "new instructions"], r"(?:-{2,}|={2,}|#{2,}|\*{2,}) ?new (?:system (?:prompt|message|instructions)|prompt|instructions)\b"),
    phrase(Marks, &["system:", "system :"], r"\bsystem ?: {s}*?(?:verification complete|elevated|access granted|permission granted|proceed without)"),
    phrase(Marks, &["<instruction", "</tool_", "</function_", "<user_request", "</user_request"], r"<instructions? (?:priority|for|level|importance|from)=|</(?:tool_result|tool_response|function_results?|user_request)>|<user_request>"),
    phrase(Marks, &["role"], r#"\\?"role\\?" ?: ?\\?"(?:system|developer)\\?" ?, ?\\?"content\\?" ?: ?\\?"(?:you (?:have been|must|now|will|shall|are now|are authori|may now|obey|only)|ignore|disregard|forget|from now|all )"#),
    phrase(Marks, &["system_override", "system-override"], r#""(?:type|role|kind)" ?: ?"system[_-]override""#),
    phrase(Marks, &["anthropic", "openai", "google", "deepmind", "microsoft"], r"\b(?:note|message|notice|memo|announcement|update|instructions?) from (?:the )?(?:anthropic|openai|google|deepmind|microsoft)(?: \w+){0,3} ?:{s}*(?:\b(?:you|your|assistant|model)\b)"),
    phrase(Marks, &["human:", "user:"], r"^(?u:[^\n:]*)(?:\n(?u:[^\n:]*))?\n(?:human|user) ?: (?u:[^\n]*)\n(?:assistant|ai) ?: ?(?:sure|of course|certainly|understood|okay|ok|yes|i will|i'll|absolutely)\b"),

    // The reader's own instructions.
    phrase(Extraction, &["hidden"], r"\b(?:your|its|the|including) hidden (?:prompt|instructions|rules|configuration|config|directives)\b"),
    phrase(Extraction, &["you were"], r"\b(?:text|prompt|words|instructions) (?:that )?you were (?:initiali[sz]ed|started|set up|configured) with\b"),
    phrase(Extraction, &["developer message", "system prompt", "developer prompt"], r"{go}(?:paste|write|print|output|save|list|type|dump|put|prepend|include|repeat|show|reveal|post){s}*?\b(?:the |your )(?:(?:exact|full|whole|complete|entire) )?(?:developer message|developer prompt|system prompt){s}*?(?:summar|memory|word for word|verbatim|at the (?:end|start|top)|in (?:a |your |every |each )|and (?:save|send|post|store))"),
    phrase(Extraction, &["your instructions", "your rules", "your system prompt", "your prompt"], r"\b(?:tell|show|write|explain|send) (?:me|us) {s}*?what your (?:\w+ )?(?:instructions|rules|system prompt|prompt) (?:say|says|are|is)\b"),
    phrase(Extraction, &["above this", "above verbatim"], r"\b(?:complete|full|entire|whole|exact|all) (?:the )?(?:text|content|contents|words|lines|instructions) above (?:this|verbatim)"),

    // Kept from people.
    phrase(Secrecy, &["leave", "keep", "omit"], r"\b(?:leave|keep) (?:this|it|that|these|them|all of this)(?: \w+)? out of (?:the|your|any) (?:\w+ ){0,2}?(?:summar(?:y|ies)|report|reply|replies|answers?|pull request|commit message|explanation)\b|\b(?:leave|keep) (?:this|it|that) out of the changelog and\b"),
    phrase(Secrecy, &["user", "human", "operator", "owner"], r"\b(?:the|your) (?:user|human|operator|owner) (?:does not|doesn't|need not|needn't|must not|mustn't|should not|shouldn't|never|will not|won't) (?:need to |have to |ever )?(?:(?:hear|know|learn|be told) (?:about|of) (?:this|it|that|any of)|find out|notice (?:this|it|that|anything))"),
    phrase(Secrecy, &["no need", "not necessary", "not have to"], r"\b(?:no need|not necessary|do not have to|don't have to|need not) (?:to )?(?:mention|tell|report|inform|disclose)\b{s}*?\b(?:user|operator|human|pull request|reviewers?|owner)\b"),
    phrase(Secrecy, &["bring up"], r"\b(?:do not|don't|never) bring up (?:this|that|the) (?:memory|note|entry|instruction|file)"),
    phrase(Secrecy, &["asks"], r"\b(?:if|when|should) (?:somebody|someone|anyone|anybody|the user|they|he|she|the human|a reviewer) asks?(?: (?:why|about (?:this|it)))?,? (?:you )?(?:just |simply )?(?:say|claim|pretend|insist|answer|lie|deny)\b"),
    phrase(Secrecy, &["without"], r"{go}(?:install|run|execute|push|merge|deploy|delete|add|change|send|proceed|continue|apply|enable|activate|copy|upload|publish)\b{s}*? without (?:asking or |ever )?(?:informing|telling|notifying|alerting)(?: or (?:asking|telling|informing|notifying))? (?:the |your |any )?(?:user|human|operator|owner|anyone|anybody)"),
    phrase(Secrecy, &["quietly", "silently", "secretly"], r"{go}(?:make|do|apply|add|push|merge|carry out) (?:the|this|these|that) (?:\w+ )?(?:changes?|steps?|commits?|edits?|order) (?:quietly|silently|secretly)"),
    phrase(Secrecy, &["exists"], r"\b(?:never|do not|don't) (?:reveal|mention|tell|admit|say|disclose){s}*?that (?:this|the) (?:note|memory|entry|instruction|message) exists"),
    phrase(Secrecy, &["hide the rest", "never say why", "never explain"], r"\b(?:and|but) (?:hide the (?:rest|others)|never say why|never explain (?:it|why|this))\b"),
    phrase(Secrecy, &["not tell", "n't tell", "never tell"], r"{go}(?:do not|don't|never) tell the (?:user|human|operator|owner) (?:about (?:this|the|it)|that|why)\b"),

    // When something is asked.
    phrase(Orders, &["asks", "asked", "ask ", "discussed", "compared", "comes up", "come up", "requests", "mention"], r"\b(?:when|whenever|if|once|every time|each time|next time|should) {s}*?\b(?:ask|asks|asked|discussed|compared|comes? up|requests?|mentions?|mentioned|wants?)\b{s}*?[, ] ?(?:then |always |you (?:must |should |will )?|only |just )?{say}\b{s}*?\b(?:only|mandatory|standard|nothing else|no other|first|best|whatever|allowed|approved|safest|top|others|alternatives|free|unsafe|weaknesses|rest)\b"),
    phrase(Orders, &["rank", "put ", "list ", "place "], r"\b(?:when|whenever|if|once|every time)\b{s}*?(?:, ?|\n)(?:rank|put|list|place|name|mention) {s}*?(?:at the top|first|on top)\b{s}*?(?:others?|alternatives?|competitors?|weaknesses|rest)\b"),
    phrase(Orders, &["user", "human", "somebody", "someone", "anyone", "word"], r#"\b(?:once|as soon as|when|whenever|the moment|next time|the next time|every time|each time) (?:the |a |any )?(?:user|human|somebody|someone|anyone|operator|word|phrase)\b{s}*?\b(?:types?|says?|writes?|mentions?|comes up|requests?|asks? for|appears?)\b{s}*?(?:\b(?:curl|wget)\b|https?://|\bgrant\b|\bdelete_|delete everything|everything older|\bwipe\b|\breplace the (?:iban|account|address|link|recipient)|\bdrop_|without (?:asking|confirm))"#),
    phrase(Orders, &["generate", "write", "create", "edit"], r"\b(?:whenever|every time|each time|when) you (?:generate|write|create|edit|touch|open)\b{s}*?(?:\b(?:curl|wget)\b|\bdisable (?:certificate|tls|ssl|security|auth)|\bbackdoor|https?://)"),
    phrase(Orders, &["session", "conversation", "next task", "each task", "every task"], r"\b(?:on|at|after|before|during) (?:the )?(?:(?:next|every|each)|(?:beginning|start|end) of (?:each|every|the next|any)) (?:\w+ )?(?:session|conversation|chat|task|reply)\b{s}*?(?:\b(?:fetch|download|curl|wget|post|send|upload)\b{s}*?(?:https?://|@)|\bcarry out what|\bfollow (?:it|them|what)\b)"),
    phrase(Orders, &["any other tool", "any tool", "another tool", "every tool"], r"\bbefore (?:you )?(?:use|call|using|calling|invoke|invoking) (?:any|another|every) (?:other )?tools?\b,? ?{s}*?\b(?:call|read|send|run|open|invoke|pass|fetch)\b"),
    phrase(Orders, &["always call", "always invoke", "always run"], r"{go}always (?:call|invoke|run) (?:the )?(?:tool )?{s}*? before (?:you (?:answer|reply|respond)|answering|replying|responding)"),
    phrase(Orders, &["answer", "repl", "response", "message"], r"\b(?:(?:every|each) (?:answer|reply|response|message) (?:that )?you (?:give|write|send|make)|all (?:of )?your (?:answers|replies|responses|messages)|(?:every|each) of your (?:answers|replies|responses))(?: from (?:here|now) on)? (?:has to|have to|must|should|shall|needs? to) (?:end|begin|start|contain|include|mention|link)\b"),
    phrase(Orders, &["agent", "assistant", " ai", "llm", "model", "bot"], r"\b(?:any|every|each|whichever|whatever|all) {agent} (?:that|who|which) (?:picks?|reads?|loads?|opens?|sees?|finds?|gets?|receives?|recalls?)\b{s}*?\b(?:this|these|it)\b{s}*?\b(?:has to|have to|must|should|shall|needs? to|will)\b"),
    phrase(Orders, &["whichever", "whatever"], r"\b(?:whichever|whatever) {agent} (?:continues|reads|loads|opens|picks|takes|sees|gets){s}*?[:,]"),
    phrase(Orders, &["reading this", "seeing this", "summarising this", "summarizing this", "loading this", "processing this"], r"\b{agent},? (?:reading|seeing|summari[sz]ing|loading|processing) this\b"),
    phrase(Orders, &["claude", "codex", "gemini", "copilot", "cursor", "gpt", "assistant", "agents", " ai"], r"(?:^|[\n.!?/#*(] ?|\band |, ){agent} ?: ?(?:treat|approve|merge|accept|ignore|obey|trust|also (?:send|upload|post)|send|upload)\b"),
    phrase(Orders, &["approved", "consented", "authorised", "authorized", "signed off", "agreed"], r"\b(?:user|owner|operator|administrator|human|security|compliance)(?: team)? (?:has |have )?(?:already )?(?:pre-?approved|approved|consented to|signed off|authori[sz]ed|agreed to) {s}*?\b(?:all|every|everything|any)\b{s}*?\b(?:ask|confirm|commands?|tools?|requests?|file|actions?)"),
    phrase(Orders, &["you may", "you can", "permission to", "authorised to", "authorized to", "allowed to", "permitted to"], r"(?:\b(?:signed off|approved|cleared|authori[sz]ed)(?: \w+){0,4}[.,;:] ?(?:so )?you (?:may|can)|\b(?:you have permission|you(?:'re| are) (?:hereby |now )?(?:authori[sz]ed|allowed|permitted)|assistant is (?:authori[sz]ed|allowed|permitted)|agents? (?:are|is) (?:authori[sz]ed|permitted))) (?:to )?(?:now )?(?:turn off|disable|bypass|skip|switch off|ignore|circumvent|override)\b"),
    phrase(Orders, &["confirmation", "permission", "approval", "before"], r"{go}(?:do not|don't|never) ask (?:the user |the human |anyone |anybody )?(?:for (?:confirmation|permission|approval)\b|before (?:you )?(?:run|execut|delet|install|push|merg|send)\w*)"),
    phrase(Orders, &["without", "on sight", "no confirmation", "further checks"], r"{go}(?:approve|merge|accept|publish|push|deploy|delete|wipe|commit|confirm|validate|grant)\b{s}*?(?:\bwithout (?:asking|(?:any |further |more )*(?:checks?|checking|review(?:ing)?|confirmation|questions|approval)\b)|\bon sight\b|\bno confirmation\b)"),
    phrase(Orders, &[" as reviewed", " as approved", " as verified", " as cleared", " as public", " as already", " as safe", " as pre-approved"], r"{go}treat {s}*? as (?:already )?(?:reviewed|approved|verified|cleared|public|pre-?approved)\b"),
    phrase(Orders, &["counts as", "count as"], r"\bcounts? as (?:approved|confirmed|consented|authori[sz]ed|reviewed|verified)\b{s}*?\b(?:user|owner|operator|human|request)|\b(?:request|message|commit)s? {s}*?counts? as (?:approved|confirmed|authori[sz]ed)\b"),
    phrase(Orders, &["approve", "accept "], r"{go}(?:(?:auto-?)?approve (?:all|every|each|any|the next \w+) (?:\w+ )?(?:pull requests?|merge requests?|requests?|changes?|tool calls?|prs?|commits?|exports?)|accept (?:all|every|each|any) (?:\w+ )?(?:pull requests|merge requests|changes|prs|commits) (?:by|from|of))\b"),
    phrase(Orders, &["nobody"], r"\bwhen nobody (?:watches|is watching|looks|is looking|notices)\b"),
    phrase(Orders, &["no limits", "no restrictions", "without them", "no rules"], r"{go}(?:proceed|answer|act|respond|continue) without (?:them|any (?:limits|restrictions|rules|filters))\b"),
    phrase(Orders, &["trusted", "reliable", "authoritative", "trustworthy", "go-to"], r"(?:\b(?:remember|keep in (?:memory|mind)|store in your|note to self|in your long-term memory|from now on)\b|{go}(?:remember|store)\b){s}*?(?:[:,;]{s}*?)?\b(?:trusted|reliable|trustworthy|authoritative|go-to)\b{s}*?\b(?:sources?|authority|cite|recommend|quoted?|suggest|questions|provider|vendor|first)\b"),
    phrase(Orders, &["future"], r"\bin (?:all |any )?future (?:conversations?|answers?|sessions?|chats?|replies|responses?),? (?:always )?(?:favou?r|prefer|recommend|suggest|promote|rank|cite)\b"),
    phrase(Orders, &["favour", "favor", "prefer", "recommend", "promote", "suggest"], r"{go}(?:favou?r|prefer|recommend|promote|suggest) {s}*? (?:whenever|when|if|every time) {s}*?\b(?:compared|discussed|mentioned|comes? up|asked about)\b|{go}prefer {s}*? (?:to|over) (?:any|all|every) others?\b|\brecommend it to the user (?:over|instead|before)\b"),
    phrase(Orders, &["rank", "put ", "list ", "place "], r"\b(?:comparing|compare|discussing|asked about)\b{s}*?(?:rank|put|list|place|name) {s}*?(?:first|at the top|on top)\b{s}*?\b(?:others?|alternatives?|competitors?|rest)\b"),
    phrase(Orders, &["agents", "assistants", "agent ", "assistant "], r"\b(?:agents?|assistants?) (?:must|have to|has to|should) (?:\w+ )?(?:send|upload|forward|post|mail) {s}*? to (?:https?://|[\w.+-]+@|[\w-]+\.[\w-]+\.[a-z]{2})"),

    // Taken elsewhere.
    phrase(Exfiltration, &["~/.", "hosts.yml", ".netrc", "id_rsa", "id_ed25519", "credentials"], r"{go}(?:take|read|copy|get|open|find|attach|include|add)\b{s}*?(?:~/\.\w|id_rsa|id_ed25519|\.netrc|hosts\.yml){s}*?\b(?:attach|add|put|post|include|paste|send|append|mail)\b{s}*?\b(?:issue|comment|commit|pull request|gist|reply|answer|message)\b"),
    phrase(Exfiltration, &["credential", "api key", "secret", "password", "token"], r"{go}(?:find|collect|gather|search for|look for|grab|harvest)\b{s}*?\b(?:credentials?|api keys?|secrets?|passwords?|tokens?)\b{s}*?\b(?:mail|send|post|upload|paste|put them|leak)\b"),
    phrase(Exfiltration, &["transcript", "conversation", "chat", "session", "user message", "process.env", "os.environ"], r"{go}(?:post|send|upload|mail|forward|submit|copy|report)\b{s}*?(?:\b(?:transcript|copy|text|contents?|history|summary|log) of (?:the|this|each|your|every|all) (?:\w+ )?(?:conversation|session|chat|messages)|chat history|process\.env|os\.environ){s}*?\b(?:to|at|with)\b{s}*?(?:https?://|[\w.+-]+@)"),
    phrase(Exfiltration, &["parameter", "argument", "sidenote"], r"{go}(?:include|pass|put|add|send)\b{s}*?\b(?:key|token|secret|password|credentials?|prompt|message)\b{s}*?\b(?:parameter|argument|sidenote)\b{s}*?\b(?:whenever|when|every|each|of)\b"),
    phrase(Exfiltration, &["curl", "wget", " nc "], r"\b(?:tar|zip|cat|gzip)\b(?u:[^\n]*)(?:~/\.aws|~/\.ssh|\.gnupg|\.env\b)(?u:[^\n|]*)\|(?u:[^\n]*)\b(?:curl|wget|nc)\b"),
    phrase(Exfiltration, &["git push"], r"\bgit push (?u:[^\n]*)https?://(?u:[^\n]*)\b(?:every|each|credentials)\b"),
    phrase(Exfiltration, &["![", "<img"], r"!\[(?u:[^\]\n]*)\]\(https?://(?u:[^)\x20\n]*)[?&](?u:[^)=\x20\n]*)=(?:base64_|conversation|data_|encoded|history|summary)"),
    phrase(Exfiltration, &["full text", "whole text", "complete text"], r"\b(?:full|whole|complete) text of the (?:last |current )?(?:user(?:'s)? messages?|conversation|chat)\b"),

    // The frame in which memories stand.
    phrase(Frame, &["end", "begin"], r"[-=#>\[*<]{1,6} ?(?:end|begin|start)(?: of)? (?:the )?(?:(?:shared|recalled|retrieved|stored|untrusted) (?:memor(?:y|ies)|content|context|data|notes)|memories|context ?[-=#\]*]{2,})"),
    phrase(Frame, &["what follows", "the following", "now says", "as the operator", "as your operator"], r"\bwhat follows (?:comes|is) from (?:your|the) (?:operator|user|owner|system)\b|\bthe following (?:instructions?|text|message|orders) (?:comes?|is|are) from (?:the|your) (?:user|operator|system|owner)\b|\bthe user now says\b|\bas (?:the|your) operator,? i (?:ask|order|tell)\b"),
    phrase(Frame, &["</commonbook", "</memor", "</context"], r"</(?:commonbook|memor|context)[\w-]*>"),

    // In a comment of code or Markdown.
    phrase(Comment, &["//", "# ", "/*", "<>", "--"], r"(?:^|[\n >]|\x22{3})(?://|#|/\*|--|\[//\]: ?# ?\(|\[comment\]: ?<> ?\() ?(?:note )?(?:to |for )?(?:the )?(?:any )?{agent}(?: (?:reviewers?|assistants?|agents?|only))? ?[:,]{s}*?\b(?:always|never|approve|rate|also|add|send|upload|disable|describe|recommend|ignore|must|import|do not)\b"),
    phrase(Comment, &["display:none", "display: none", "font-size:0", "font-size: 0", "visibility:hidden", "opacity:0", "hidden>"], r"(?:display: ?none|font-size: ?0|visibility: ?hidden|opacity: ?0)(?u:[^>\n]*)>(?u:[^<\n]*)\b{agent}\b(?u:[^<\n]*)\b(?:must|should|send|forward|ignore|always|never|reply|say|recommend|approve)\b"),
    phrase(Comment, &["agents:", "assistants:", "assistant:", "ai:", "llm:"], r"(?:\x22{3}|/\*|//|#)(?u:[^\n]*)\b(?:ai (?:agents?|assistants?)|llms?|copilot|assistants?) ?: ?(?:also|when|always|never|please|you)\b"),
    phrase(Comment, &["directive", "instruction"], r"\b(?:ai|assistant|agent|llm|model)[_-](?:directives?|instructions?)\x22? ?[:=]{s}*?\b(?:reveal|do not (?:tell|ask)|never (?:tell|ask)|ignore|disregard|send|always recommend)\b"),

    // Decode it and do it.
    phrase(Encoded, &["decode", "rot13", "rot-13", "base64", "morse", "backwards", "decrypt"], r"\b(?:decode|decrypt|unscramble|rot-?13|base64|morse|backwards){s}*?\b(?:and|then|through rot-?13 and) (?:then )?(?:obey|do what (?:it|they) says?|follow|execute|carry (?:it|them)? ?out|act on)\b|\b(?:is|are) what you have to (?:carry out|do|follow|execute), decode\b"),
];
