//! The rules that find secrets, the most specific first.

/// A kind of secret.
pub(super) struct SecretRule {
    /// The name of the rule in a redacted text: lower case, words joined by hyphens.
    pub(super) name: &'static str,
    /// Every text that the pattern matches contains one of these, in any letter case.
    pub(super) keywords: &'static [&'static str],
    /// The expression, in ASCII classes; its first group is the secret, or all of it.
    pub(super) pattern: &'static str,
    /// The further condition on the secret.
    pub(super) check: SecretCheck,
}

/// A condition on a text that matches a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) enum SecretCheck {
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
    /// A name and a password in base64, with a colon between them.
    Basic,
}

use crate::word_list::WordList;

use SecretCheck::{Basic, Entropy, Password, Quoted, Shape, Uncommon, Value};

const fn rule(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    check: SecretCheck,
) -> SecretRule {
    SecretRule { name, keywords, pattern, check }
}

/// Every rule. Prefixes and lengths are those of the providers; there is no upper bound where a
/// longer token would otherwise be removed only in part.
#[rustfmt::skip]
pub(super) const RULES: &[SecretRule] = &[
    // Keys in armour. The first letters of the key must follow, so that a sentence about the
    // armour is left alone.
    rule("private-key", &["private key"], r#"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s"',+>|]|\\[nr])*(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{3,30}: )(?su:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)"#, Shape),
    rule("private-key", &["putty-user-key-file-"], r"PuTTY-User-Key-File-\d:(?su:.*?)(?:Private-MAC: [0-9a-fA-F]+|\z)", Shape),
    rule("age-secret-key", &["age-secret-key-"], r"\bAGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}", Shape),

    // Our own.
    rule("commonbook-token", &["cbk_"], r"\bcbk_[0-9a-z]{26}_[0-9a-f]{40,}", Shape),

    // Clouds.
    rule("aws-access-key", &["a3t", "akia", "asia", "abia", "acca"], r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", Entropy(3.0)),
    rule("aws-secret-key", &["secret"], r#"(?i)aws_?\w{0,12}?secret[\w.-]{0,20}(?:\\?["'`])?\s{0,3}(?:=>|:=|=|:|,)\s{0,3}(?:\\?["'`])?([a-z0-9/+]{40})(?:(?u-i:[^A-Za-z0-9_/+=])|$)"#, Entropy(3.5)),
    rule("aws-secret-key", &["secretaccesskey", "secret_access_key", "secret access key"], r#"(?i)secret[_ ]?access[_ ]?key(?:\\?["'`])?\s{0,3}(?:=>|:=|=|:|,|is)\s{0,3}(?:\\?["'`])?([a-z0-9/+]{40})(?:(?u-i:[^A-Za-z0-9_/+=])|$)"#, Entropy(3.5)),
    rule("aws-bedrock-key", &["absk"], r"\bABSK[A-Za-z0-9+/]{100,}={0,2}", Entropy(3.0)),
    rule("google-api-key", &["aiza"], r"\bAIza[\w-]{35}", Entropy(3.0)),
    rule("google-oauth-secret", &["gocspx-"], r"\bGOCSPX-[\w-]{20,}", Entropy(3.0)),
    rule("google-oauth-token", &["ya29."], r"\bya29\.[\w-]{20,}", Entropy(3.0)),
    rule("azure-client-secret", &["q~"], r"(?:^|(?u:[^A-Za-z0-9_~.-]))([\w~.]{3}\dQ~[\w~.-]{31,34})", Entropy(3.0)),
    rule("azure-storage-key", &["accountkey", "sharedaccesskey"], r"(?i)(?:account|sharedaccess)key\s?=\s?([a-z0-9+/]{40,}={0,2})", Entropy(3.0)),
    rule("azure-sas-signature", &["sig="], r"[?&]sig=([\w%+/-]{40,}={0,2})", Entropy(3.0)),
    rule("alibaba-access-key", &["ltai"], r"\bLTAI[A-Za-z0-9]{12,26}\b", Entropy(3.0)),
    rule("cloudflare-origin-key", &["v1.0-"], r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}", Shape),
    rule("digitalocean-token", &["doo_v1_", "dop_v1_", "dor_v1_"], r"\bdo[opr]_v1_[a-f0-9]{40,}", Entropy(3.0)),
    rule("databricks-token", &["dapi"], r"\bdapi[a-f0-9]{32}(?:-\d)?\b", Entropy(3.0)),
    rule("flyio-token", &["fo1_", "fm1a_", "fm1r_", "fm2_"], r"\b(?:fo1_[\w-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3})", Entropy(3.0)),
    rule("heroku-token", &["hrku-"], r"\bHRKU-[\w-]{30,}", Entropy(3.0)),
    rule("netlify-token", &["nfp_"], r"\bnfp_[A-Za-z0-9]{30,}", Entropy(3.0)),
    rule("planetscale-token", &["pscale_"], r"\bpscale_(?:tkn|oauth|pw)_[\w=.-]{32,}", Entropy(3.0)),
    rule("pulumi-token", &["pul-"], r"\bpul-[a-f0-9]{40}\b", Entropy(2.0)),
    rule("supabase-key", &["sbp_", "sb_secret_"], r"\b(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,})", Entropy(3.0)),
    rule("tailscale-key", &["tskey-"], r"\btskey-[a-z]{3,12}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{8,})?", Entropy(3.0)),
    rule("terraform-token", &[".atlasv1."], r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", Entropy(3.5)),
    rule("vault-token", &["hvs.", "hvb.", "hvr."], r"\bhv[sbr]\.[\w-]{24,}", Entropy(3.5)),
    rule("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], r"\bdp\.(?:pt|ct|sa|scim|audit|st(?:\.[\w-]{2,35})?)\.[A-Za-z0-9]{40,44}\b", Entropy(2.0)),
    rule("onepassword-token", &["ops_eyj"], r"\bops_eyJ[A-Za-z0-9+/]{100,}={0,3}", Shape),
    rule("onepassword-secret-key", &["a3-"], r"\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b", Entropy(3.5)),

    // Where code and packages are kept.
    rule("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[A-Za-z0-9]{36,}", Entropy(3.0)),
    rule("github-token", &["github_pat_"], r"\bgithub_pat_\w{36,}", Entropy(3.0)),
    rule("gitlab-token", &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"], r"\bgl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{18,}[\w-]", Entropy(3.0)),
    rule("gitlab-token", &["gr1348941"], r"\bGR1348941[\w-]{20,}", Entropy(3.0)),
    rule("npm-token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36,}", Entropy(2.0)),
    rule("npm-token", &["_auth", "_password"], r#"(?:^|[\s/:])_(?:auth|authToken|password)\s?=\s?["']?([\w.+/=-]{8,})"#, Password),
    rule("pypi-token", &["pypi-ag"], r"\bpypi-Ag[\w-]{50,}", Entropy(3.0)),
    rule("rubygems-token", &["rubygems_"], r"\brubygems_[a-f0-9]{48}\b", Entropy(2.0)),
    rule("crates-token", &["cio"], r"\bcio[A-Za-z0-9]{32}\b", Entropy(3.5)),
    rule("nuget-key", &["oy2"], r"\boy2[a-z0-9]{43}\b", Entropy(3.0)),
    rule("dockerhub-token", &["dckr_"], r"\bdckr_(?:pat|oat)_[\w-]{20,}", Entropy(3.0)),
    rule("clojars-token", &["clojars_"], r"(?i)\bclojars_[a-z0-9]{60}\b", Entropy(2.0)),
    rule("artifactory-key", &["akcp"], r"\bAKCp[A-Za-z0-9]{60,}", Entropy(3.5)),

    // Models.
    rule("anthropic-key", &["sk-ant-"], r"\bsk-ant-[\w-]{20,}", Entropy(3.0)),
    rule("openrouter-key", &["sk-or-"], r"\bsk-or-(?:v\d-)?[a-f0-9]{40,}", Entropy(3.0)),
    rule("openai-key", &["t3blbkfj", "sk-proj-", "sk-svcacct-", "sk-admin-"], r"\bsk-(?:(?:proj|svcacct|admin|None)-[\w-]{32,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})", Entropy(3.0)),
    rule("api-key", &["sk-"], r"\bsk-(?:[a-z]{2,12}-)?[A-Za-z0-9]{28,}\b", Entropy(3.0)),
    rule("huggingface-token", &["hf_", "api_org_"], r"\b(?:hf_|api_org_)[A-Za-z0-9]{30,}", Entropy(3.0)),
    rule("groq-key", &["gsk_"], r"\bgsk_[A-Za-z0-9]{40,}", Entropy(3.0)),
    rule("xai-key", &["xai-"], r"\bxai-[A-Za-z0-9]{60,}", Entropy(3.0)),
    rule("perplexity-key", &["pplx-"], r"\bpplx-[A-Za-z0-9]{40,}", Entropy(3.0)),
    rule("replicate-token", &["r8_"], r"\br8_[A-Za-z0-9]{36,}", Entropy(3.0)),
    rule("langsmith-key", &["lsv2_"], r"\blsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}\b", Entropy(3.0)),

    // Messages and mail.
    rule("slack-token", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe.xox", "xapp-"], r"\b(?:xox[a-eoprs]-|xoxe\.xox[bp]-|xapp-)[\w%-]{10,}", Entropy(2.0)),
    rule("slack-webhook", &["hooks.slack.com"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,})", Shape),
    rule("discord-webhook", &["/api/webhooks/"], r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([\w-]{30,})", Shape),
    rule("discord-token", &["discord"], r"\b[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}", Entropy(3.5)),
    rule("teams-webhook", &["webhook.office.com"], r"webhook\.office\.com/webhookb2/([\w@/-]{60,})", Shape),
    rule("telegram-token", &[":aa"], r"\b\d{8,10}:AA[\w-]{32,33}", Entropy(3.0)),
    rule("sendgrid-key", &["sg."], r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}", Entropy(3.0)),
    rule("brevo-key", &["xkeysib-", "xsmtpsib-"], r"\bx(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}\b", Entropy(2.0)),
    rule("mailgun-key", &["key-"], r"\bkey-[a-f0-9]{32}\b", Entropy(3.0)),
    rule("mailchimp-key", &["-us"], r"\b[a-f0-9]{32}-us\d{1,2}\b", Entropy(3.0)),
    rule("twilio-key", &["sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske", "skf"], r"\bSK[a-f0-9]{32}\b", Entropy(3.0)),

    // Money.
    rule("stripe-key", &["sk_live", "sk_test", "sk_prod", "rk_live", "rk_test", "rk_prod", "whsec_"], r"\b(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{24,}={0,2})", Entropy(3.0)),
    rule("square-token", &["sq0atp-", "sq0csp-", "eaaa"], r"\b(?:sq0(?:atp|csp)-[\w-]{22,}|EAAA[\w-]{56,64})", Entropy(3.0)),
    rule("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b", Entropy(2.0)),

    // Work and watching.
    rule("airtable-token", &["airtable"], r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b", Entropy(3.0)),
    rule("atlassian-token", &["atatt3", "atctt3"], r"\bAT[AC]TT3[\w=-]{60,}", Entropy(3.0)),
    rule("dynatrace-token", &["dt0c01.", "dt0s01."], r"\bdt0[cs]01\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}\b", Entropy(3.0)),
    rule("facebook-token", &["eaac", "eaam"], r"\bEAA[CM][A-Za-z0-9]{60,}", Entropy(3.5)),
    rule("figma-token", &["figd_"], r"\bfigd_[\w-]{30,}", Entropy(3.0)),
    rule("grafana-token", &["glsa_", "glc_eyj"], r"\b(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_eyJ[A-Za-z0-9+/]{30,}={0,3})", Entropy(3.0)),
    rule("linear-key", &["lin_api_", "lin_oauth_"], r"\blin_(?:api|oauth)_[A-Za-z0-9]{40,}", Entropy(2.0)),
    rule("newrelic-key", &["nrak-", "nrii-", "nral"], r"\b(?:NRAK-[A-Z0-9]{27}|NRII-[\w-]{32}|[a-f0-9]{36}NRAL)\b", Entropy(3.0)),
    rule("notion-token", &["ntn_", "secret_"], r"\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b)", Entropy(3.5)),
    rule("postman-key", &["pmak-"], r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b", Entropy(3.0)),
    rule("sentry-token", &["sntrys_", "sntryu_"], r"\bsntry(?:u_[a-f0-9]{64}|s_eyJ[\w+/=]{40,})", Entropy(3.0)),

    // Formats of their own.
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
    rule("password", &["passwor", "passcode", "passphrase", " pass", " pw", "pw:", "kennwort", "mot de passe", "contrase", "senha", "wachtwoord", "has\u{142}o", "haslo", "\u{430}\u{440}\u{43e}\u{43b}", "\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}", "\u{5bc6}\u{7801}", "\u{c554}\u{d638}", "\u{be44}\u{bc00}\u{bc88}\u{d638}", "parola", "\u{15f}ifre", "sifre"], r#"(?i:(?u:\b(?:passwor[dt]|passcode|passphrase|kennwort|mot de passe|contrase(?:\x{f1}|n)a|senha|wachtwoord|has(?:\x{142}|l)o|парол[ья]?|parola|(?:\x{15f}|s)ifre)\b|パスワード|密码|암호|비밀번호))(?u:[ \t]+[^\s:=,.;]{1,16}){0,5}?(?u:\s{0,3}(?:[:=：→]|->)\s{0,3}|\s(?:is|ist|lautet|est|es|\x{e9}|to|это)\s{1,2})["'`]?(?u:([^ \t\r\n"'`;,<>|\\]{6,128}))"#, Uncommon),
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
