//! The rules that find secrets: the forms of tokens as a table (`tokens.tsv`), and expressions for
//! what shows itself by the text around it.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::word_list::{WordList, rows};

use SecretCheck::{Basic, Body, Entropy, Password, Quoted, Shape, Strong, Uncommon, Value};

/// A kind of secret.
pub(super) struct SecretRule {
    /// The name of the rule in a redacted text: lower case, words joined by hyphens.
    pub(super) name: &'static str,
    /// Every text that the pattern matches contains one of these, in any letter case.
    pub(super) keywords: Vec<&'static str>,
    /// The expression, in ASCII classes; its first group is the secret, or all of it.
    pub(super) pattern: String,
    /// The further condition on the secret.
    pub(super) check: SecretCheck,
}

/// A condition on a text that matches a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) enum SecretCheck {
    /// What follows the prefix of a token is random, and neither a placeholder nor words.
    Body {
        /// The bytes of the prefix.
        prefix: usize,
        /// Whether capitals and small letters both occur, as hyphens may stand between them.
        mixed: bool,
    },
    /// None: the shape suffices.
    Shape,
    /// At least this entropy in bits per byte, which a row of `x` does not have.
    Entropy(f64),
    /// Letters, digits and at least this entropy; neither a placeholder nor a name.
    Value(f64),
    /// No placeholder; a value in quotes is no code.
    Quoted,
    /// Neither a placeholder nor code.
    Password,
    /// Letters, and digits or signs, so that it is no ordinary word; neither a placeholder nor code.
    Uncommon,
    /// As `Uncommon`, with both a digit and a sign: nothing but a name says that it is one.
    Strong,
    /// A name and a password in base64, with a colon between them.
    Basic,
}

/// A rule that is an expression.
struct Expression {
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    check: SecretCheck,
}

const fn rule(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    check: SecretCheck,
) -> Expression {
    Expression { name, keywords, pattern, check }
}

/// Every rule, the most specific first.
pub(super) static RULES: LazyLock<Vec<SecretRule>> = LazyLock::new(|| {
    let armour = ARMOUR.iter().map(SecretRule::of_expression);
    let tokens = rows(include_str!("tokens.tsv")).map(SecretRule::of_token);
    armour.chain(tokens).chain(CONTEXTS.iter().map(SecretRule::of_expression)).collect()
});

impl SecretRule {
    fn of_expression(rule: &Expression) -> Self {
        let Expression { name, keywords, pattern, check } = *rule;
        Self { name, keywords: keywords.to_vec(), pattern: pattern.to_owned(), check }
    }

    /// Returns the rule of a row of `tokens.tsv`. A checksum is no condition: a token with a
    /// mistyped sign still tells most of a key.
    fn of_token([name, prefix, body]: [&'static str; 3]) -> Self {
        let mut pattern = format!(r"\b{}", regex::escape(prefix));
        let mut rest = body;
        while let Some((letters, after)) = rest.split_once('{') {
            let (form, after) = after.split_once('}').expect("the tests read every form");
            let (class, length) = form.split_once(':').expect("the tests read every form");
            let length = match length.split_once('-') {
                Some((least, most)) => format!("{least},{most}"),
                None => length.replace('+', ","),
            };
            let _ = write!(pattern, "{}[{}]{{{length}}}", regex::escape(letters), signs(class));
            rest = after;
        }
        pattern.push_str(&regex::escape(rest));
        // A token of a fixed length ends there.
        if !body.ends_with("+}") && !body.contains("{=") {
            pattern.push_str(r"\b");
        }
        let mixed = body.contains("{w:") || body.contains("{x:");
        Self { name, keywords: vec![prefix], pattern, check: Body { prefix: prefix.len(), mixed } }
    }
}

/// The signs of a class of `tokens.tsv`, as within the brackets of an expression.
fn signs(class: &str) -> &str {
    match class {
        "an" => "A-Za-z0-9",
        "AN" => "A-Z0-9",
        "al" => "a-z0-9",
        "lo" => "a-z",
        "dig" => "0-9",
        "hex" => "0-9a-f",
        "Hex" => "0-9A-Fa-f",
        "B" => "A-Z2-7",
        "b" => "A-Za-z0-9+/",
        "w" => r"\w-",
        "x" => r"\w.=-",
        "p" => r"\w%-",
        "s" => r"\w+/=-",
        other => other,
    }
}

/// Keys in armour. The first letters of the key must follow, so that a sentence about the armour is
/// left alone.
#[rustfmt::skip]
const ARMOUR: &[Expression] = &[
    rule("private-key", &["private key"], r#"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s"',+>|]|\\[nr])*(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{3,30}: )(?su:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)"#, Shape),
    rule("private-key", &["putty-user-key-file-"], r"PuTTY-User-Key-File-\d:(?su:.*?)(?:Private-MAC: [0-9a-fA-F]+|\z)", Shape),
];

/// What shows itself by the text around it or within it. There is no upper bound where a longer
/// secret would otherwise be removed only in part.
#[rustfmt::skip]
const CONTEXTS: &[Expression] = &[
    // Our own is secret whatever its signs are.
    rule("commonbook-token", &["cbk_"], r"\bcbk_[0-9a-z]{26}_[0-9a-f]{40,}", Shape),
    rule("aws-secret-key", &["secret"], r#"(?i)aws_?\w{0,12}?secret[\w.-]{0,20}(?:\\?["'`])?\s{0,3}(?:=>|:=|=|:|,)\s{0,3}(?:\\?["'`])?([a-z0-9/+]{40})(?:(?u-i:[^A-Za-z0-9_/+=])|$)"#, Entropy(3.5)),
    rule("aws-secret-key", &["secretaccesskey", "secret_access_key", "secret access key"], r#"(?i)secret[_ ]?access[_ ]?key(?:\\?["'`])?\s{0,3}(?:=>|:=|=|:|,|is)\s{0,3}(?:\\?["'`])?([a-z0-9/+]{40})(?:(?u-i:[^A-Za-z0-9_/+=])|$)"#, Entropy(3.5)),
    rule("azure-client-secret", &["q~"], r"(?:^|(?u:[^A-Za-z0-9_~.-]))([\w~.]{3}\dQ~[\w~.-]{31,34})", Entropy(3.0)),
    rule("azure-storage-key", &["accountkey", "sharedaccesskey"], r"(?i)(?:account|sharedaccess)key\s?=\s?([a-z0-9+/]{40,}={0,2})", Entropy(3.0)),
    rule("azure-sas-signature", &["sig="], r"[?&]sig=([\w%+/-]{40,}={0,2})", Entropy(3.0)),
    rule("terraform-token", &[".atlasv1."], r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", Entropy(3.5)),
    rule("npm-token", &["_auth", "_password"], r#"(?:^|[\s/:])_(?:auth|authToken|password)\s?=\s?["']?([\w.+/=-]{8,})"#, Password),
    rule("slack-webhook", &["hooks.slack.com"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,})", Shape),
    rule("discord-webhook", &["/api/webhooks/"], r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([\w-]{30,})", Shape),
    rule("discord-token", &["discord"], r"\b[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}", Entropy(3.5)),
    rule("teams-webhook", &["webhook.office.com"], r"webhook\.office\.com/webhookb2/([\w@/-]{60,})", Shape),
    rule("telegram-token", &[":aa"], r"\b\d{8,10}:AA[\w-]{32,33}", Entropy(3.0)),
    rule("mailchimp-key", &["-us"], r"\b[a-f0-9]{32}-us\d{1,2}\b", Entropy(3.0)),
    rule("newrelic-key", &["nral"], r"\b[a-f0-9]{36}NRAL\b", Entropy(3.0)),
    rule("convex-key", &["prod:", "dev:", "preview:", "project:"], r"\b(?:prod|dev|preview|project):[\w:-]{1,80}\|([A-Za-z0-9+/_-]{40,}={0,2})", Entropy(3.5)),
    rule("cookie", &["cookie"], r#"(?i)\bcookie["'`]?\s{0,3}:(?u:[^\n]{0,300}?)\b[\w.-]{0,40}(?:sess|sid|auth|token|jwt|remember)[\w.-]{0,40}=([\w.%~+/-]{16,}={0,2})"#, Value(3.0)),
    rule("password", &[":5432:"], r"(?:^|\s)[\w.*-]{1,253}:5432:[\w*-]{1,63}:[\w*-]{1,63}:(?u:([^ \t\r\n:]{6,128}))", Uncommon),
    rule("jwt", &["eyj"], r"\beyJ[\w-]{12,}={0,2}\.eyJ[\w-]{12,}={0,2}\.[\w-]{10,}", Shape),
    rule("jwt", &["eyj"], r"\beyJ[\w-]{12,}\.[\w-]{0,400}\.[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}", Shape),
    rule("bearer-token", &["bearer"], r#"(?i)\bbearer[ \t]{1,3}["'`]?([\w.~+/-]{16,}={0,2})"#, Value(3.0)),
    rule("authorization", &["authorization"], r#"(?i)\bauthorization["'`]?\s{0,3}[:=]\s{0,3}["'`]?(?:basic|token|bot|apikey|digest|bearer)[ \t]{1,3}([\w.~+/-]{8,}={0,2})"#, Password),
    rule("url-password", &["://"], r#"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?u-i:[^ \t\r\n/:@"'`<>\[\]]{0,64}):(?u-i:([^ \t\r\n/@"'`<>\[\]]{3,128}))@"#, Password),
    rule("curl-user", &["curl"], r#"\bcurl\b(?u:[^\n]{0,200}?)\s(?:-u|--user)[ =]{0,2}["']?[\w.@+-]{1,64}:(?u:([^ \t\r\n"'`/@]{3,128}))"#, Password),
    rule("authorization", &["basic "], r"(?i)\bbasic[ \t]{1,3}([a-z0-9+/]{12,}={0,2})", Basic),
    rule("recovery-codes", &["codes"], r"(?i)\b(?:backup|recovery|one-time|emergency) codes?\s{0,2}(?:\([\w ]{1,20}\))?[:=]\s{0,3}((?:[a-z0-9]{4,8}-[a-z0-9]{4,8}(?:[ ,;\n]{1,3}|$)){1,16})", Shape),
    rule("one-time-seed", &["otp", "2fa", "mfa"], r"(?i)\b(?:t?otp|2fa|mfa)[ _-]?(?:seed|secret|key)[\w ]{0,12}[:=]\s{0,3}([a-z2-7]{16,})\b", Entropy(2.5)),
    rule("seed-phrase", &["mnemonic", "phrase", "seed words"], r"(?i)\b(?:mnemonic|(?:seed|recovery|wallet) phrase|seed words)(?: \([\w ]{1,20}\))?(?:[:=]| is)\s{0,3}((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b", Shape),
    rule("password", &["sshpass"], r#"\bsshpass\s{1,3}-p\s{0,2}["']?(?u:([^ \t\r\n"'`]{4,128}))"#, Password),
    rule("password", &["mysql", "mariadb"], r#"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b(?u:[^\n|;]{0,120}?) -p["']?(?u:([^ \t\r\n"'`]{4,128}))"#, Password),
    rule("password", &["redis-cli"], r#"\bredis-cli\b(?u:[^\n|;]{0,120}?) -a\s{1,2}["']?(?u:([^ \t\r\n"'`]{6,128}))"#, Password),
    rule("password", &["pass:"], r#"-pass(?:in|out)?\s{1,2}pass:(?u:([^ \t\r\n"'`]{4,128}))"#, Password),
    rule("password", &["securestring"], r#"(?i)convertto-securestring(?: -string)?\s{1,3}["'](?u-i:([^"'\n]{4,128}))["']"#, Quoted),
    rule("password", &["--from-literal"], r#"--from-literal=[\w.-]{0,40}(?:pass|pwd|secret|token|key)[\w.-]{0,20}=["']?(?u:([^ \t\r\n"'`]{6,200}))"#, Uncommon),

    // Values with a name that says that they are secret.
    rule("password", &["pin"], r"\b(?:PIN|Pin|passcode)(?: (?:code|for|of|to|the|[A-Za-z]{2,12})){0,4}(?:\s{0,2}[:=]\s{0,2}|\s(?:is|ist|lautet)\s{1,2})([0-9][0-9A-Za-z -]{2,18}[0-9A-Za-z])\b", Shape),
    // The name, and what says that its value follows, in many languages.
    rule("password", &["passwor", "passcode", "passphrase", " pass", " pw", "pw:", "pw ", "mdp", "kennwort", "mot de passe", "contrase", "clave de acceso", "senha", "wachtwoord", "has\u{142}", "haslo", "\u{430}\u{440}\u{43e}\u{43b}", "\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}", "\u{5bc6}\u{7801}", "\u{5bc6}\u{78bc}", "\u{c554}\u{d638}", "\u{be44}\u{bc00}\u{bc88}\u{d638}", "parola", "\u{15f}ifre", "\u{15e}ifre", "sifre", "t kh\u{1ea9}u", "senord", "adgangskode", "passord", "salasana", "jelsz", "heslo", "hesla", "\u{3c9}\u{3b4}\u{3b9}\u{3ba}\u{3cc}\u{3c2}", "kata sandi", "\u{e23}\u{e2b}\u{e31}\u{e2a}\u{e1c}\u{e48}\u{e32}\u{e19}", "\u{92a}\u{93e}\u{938}\u{935}\u{930}\u{94d}\u{921}", "\u{5e1}\u{5d9}\u{5e1}\u{5de}", "\u{643}\u{644}\u{645}\u{629} "], r#"(?i:(?u:\b(?:passwor[dt]|passcode|passphrase|kennwort|mot de passe|mdp|pw|contrase[ñn]a|clave de acceso|senha|wachtwoord|has[łl](?:o|em|a)|парол[ьяюе]м?|parola(?:s[ıi])?|[şs]ifre(?:si|niz|m)?|mật khẩu|lösenord(?:et)?|adgangskoden?|passord(?:et)?|salasana|jelszó|hesl[oa]|κωδικός|kata sandi)\b|パスワード|密[码碼]|암호|비밀번호|รหัสผ่าน|पासवर्ड|סיסמ[הת]|كلمة (?:ال)?(?:مرور|سر)))(?u:[ \t]+[^\s:=,.;：]{1,16}){0,5}?(?u:\s{0,3}(?:[:=：＝→]|->)\s{0,3}|\s[—–]\s{1,3}|\s(?:is|ist|lautet|est|es|sigue siendo|c'est|é|è|to|это|är|er|je|là|adalah|είναι|है|هي|هو)\s{1,2})(?u:["'`«„“‘「『]?)(?u:([^ \t\r\n"'`;,<>|\\。，、；「」『』»”’]{6,128}))"#, Uncommon),
    // Languages that put no blanks between words.
    rule("password", &["\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}", "\u{5bc6}\u{7801}", "\u{5bc6}\u{78bc}", "\u{c554}\u{d638}", "\u{be44}\u{bc00}\u{bc88}\u{d638}", "\u{e23}\u{e2b}\u{e31}\u{e2a}\u{e1c}\u{e48}\u{e32}\u{e19}"], r#"(?u:(?:パスワード|密[码碼]|암호|비밀번호|รหัสผ่าน)(?:[是为為はがも는은이가]|คือ))(?:\s{1,2}(?u:["'`«„“‘「『]?)(?u:([^ \t\r\n"'`;,<>|\\。，、；「」『』»”’]{6,128}))|(?u:["'`«“‘「『])(?u:([^ \t\r\n"'`;,<>|\\。，、；「」『』»”’]{6,128}))|([!#-&(-+.-:=?-\[\]-_a-{}~-]{6,128})(?u:$|[\s。，、；」]))"#, Uncommon),
    // A name and its value, with nothing between them.
    rule("password", &["\u{430}\u{440}\u{43e}\u{43b}", "parola", "\u{15f}ifre", "\u{15e}ifre", "sifre", "has\u{142}o", "heslo", "contrase", "mot de passe", "kennwort", "senha"], r#"(?i:(?u:\b(?:парол[ьяе]|parola(?:s[ıi])?|[şs]ifre(?:si)?|hasło|heslo|contraseña|mot de passe|kennwort|senha)))\s{1,2}(?u:["'`«„“‘「『]?)(?u:([^ \t\r\n"'`;,<>|\\。，、；「」『』»”’]{6,128}))"#, Strong),
    rule("password", &[" pass", " pw", "pw:"], r#"(?i)(?:^|[\s(,;])(?:pass|pw)(?:\s{0,2}[:=]\s{1,2}|:|\s(?:is|ist)\s)["'`]?(?u-i:([^ \t\r\n"'`;,<>|\\]{6,128}))"#, Uncommon),
    rule("password", &[" pass"], r#"(?i)\b(?:user|login|admin|bot|account)\b(?u:[^\n]{0,40}?)\b(?:pass|password|passwd|pw)[ \t]{1,2}["'`]?(?u-i:([^ \t\r\n"'`;,<>|\\]{6,128}))"#, Uncommon),
    rule("password", &["passw", "passphrase", "pwd", "_pass", "passwort"], r#"(?i)(?:passw(?:or)?[dt]|passphrase|pwd|_pass)[\w.-]{0,20}(?:\\?["'`])?\s{0,3}(?:=>|:=|=|:|,)\s{0,3}\\?(?:"(?u-i:([^"\\ \t\r\n]{4,128}))\\?"|'(?u-i:([^'\\ \t\r\n]{4,128}))'|`(?u-i:([^` \t\r\n]{4,128}))`)"#, Quoted),
    rule("password", &["passw", "passphrase", "pwd", "_pass"], r#"(?i)(?:passw(?:or)?[dt]|passphrase|pwd|_pass)=(?u-i:([^ \t\r\n"'`;&,)<>|\\\]}=]{4,128}))"#, Password),
    rule("password", &["passw", "passphrase", "pwd", "_pass"], r#"(?i)(?:passw(?:or)?[dt]|passphrase|pwd|_pass)(?:\s?\([\w ]{1,20}\))?(?:\s{0,3}(?:=|:|:=|=>)\s{1,3}|:|\s{1,2}(?:is|was|lautet|ist)\s{1,2}["'`]?)(?u-i:([^ \t\r\n"'`;,<>|\\]{6,128}))"#, Uncommon),
    rule("password", &["--pass", "--token", "--secret", "--api-key", "--apikey"], r#"--(?:password|passwd|passphrase|pass|token|secret|api-?key)[ =]{1,2}["']?(?u:([^ \t\r\n"'`;,<>|\\]{6,128}))"#, Uncommon),
    rule("credential", &["api", "access", "auth", "secret", "token", "credential", "private", "signing", "encryption", "master"], r#"(?i)(?:api[_. -]?(?:key|token|secret)|access[_. -]?key|auth[_. -]?key|secret|token|credentials?|(?:private|signing|encryption|master)[_. -]?key)(?:[_.-]?(?:key|value|string|base|prod|dev|test|live|staging|v?\d{1,3}))?(?:\s?\([\w ]{1,20}\))?(?:\\?["'`])?\s{0,3}(?:=>|:=|=|:|,|\bis\b)\s{0,3}(?:\\?["'`])?([\w.+/~-]{10,200}={0,3})(?:[\s"'`;&#,)>\]}\\|]|$)"#, Value(3.2)),
    rule("credential", &["_key=", "_secret=", "_token="], r#"\b[A-Z][A-Z0-9_]{0,40}_(?:KEY|SECRET|TOKEN)=["']?([A-Za-z0-9+/_-]{20,200}={0,2})(?:[\s"'`;&#,)\]}\\|]|$)"#, Value(3.2)),
];

/// What documents put where a secret goes, or say of it; without hyphens and underscores.
pub(super) static STOCK_WORDS: WordList = WordList::new(include_str!("stock_words.txt"));
