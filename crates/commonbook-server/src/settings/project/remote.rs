//! The remote of a repository in one spelling, whatever form its URL has.

use super::remote_settings::RemoteSettings;

/// Other names of a host, by which its own documents let people reach the same repositories.
const HOST_NAMES: [(&str, &str); 6] = [
    ("ssh.github.com", "github.com"),
    ("altssh.gitlab.com", "gitlab.com"),
    ("altssh.bitbucket.org", "bitbucket.org"),
    ("ssh.dev.azure.com", "dev.azure.com"),
    ("vs-ssh.visualstudio.com", "dev.azure.com"),
    ("hf.co", "huggingface.co"),
];

/// Hosts that ignore the case of letters in a path.
const CASELESS_HOSTS: [&str; 8] = [
    "github.com",
    "gist.github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "dev.azure.com",
    "gitea.com",
    "gitee.com",
];

/// Parts of words in names of hosts that run the software of one of those: `gitlab01`, `mygithub`.
const CASELESS_PARTS: [&str; 8] =
    ["github", "gitlab", "bitbucket", "gitea", "forgejo", "codeberg", "gogs", "azuredevops"];
/// Words of the same, which mean something else within a longer word.
const CASELESS_WORDS: [&str; 5] = ["ghe", "ghes", "stash", "tfs", "ado"];

/// The port at which Bitbucket's own server listens for ssh.
const BITBUCKET_PORT: &str = "7999";
/// The part before a project's key in its URLs of HTTP.
const BITBUCKET_PART: &str = "scm";

/// Names of organisations at Azure stand before this host.
const VISUAL_STUDIO: &str = ".visualstudio.com";

/// A remote without what differs between its forms: `github.com/acme/api` for `git@github.com:Acme/api`
/// and `https://user@www.GitHub.com:443/acme/api.git/`. Returns `None` for a path on this machine.
///
/// Schemes, users, passwords and ports make no difference; aliases of the user's ssh configuration and the
/// rewritten URLs of git's are followed. Letters keep their case in a path unless the host ignores it: GitHub,
/// GitLab, Gitea, Forgejo, Bitbucket and Azure DevOps do, also on hosts of one's own, which are known by their
/// name or by the form of the path. A host of any other name may serve plain folders, whose case counts.
pub(super) fn canonical_remote(url: &str, settings: &RemoteSettings) -> Option<String> {
    let RemoteForm { is_ssh, host, port, path } = RemoteForm::parse(url)?;
    let host = match is_ssh {
        true => settings.ssh_host(&host).unwrap_or(host),
        false => host,
    };
    let host = host.trim_end_matches('.').to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let named = HOST_NAMES.iter().find(|(name, _)| *name == host);
    let host = named.map_or(host, |(_, host)| *host);
    let parts = path.split('/').map(decoded).filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.skip_while(|part| part == "~").collect();
    let mut parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    // Bitbucket's own server at a host of any name.
    let has_own_part = !is_ssh
        && !is_caseless(host)
        && parts.len() == 3
        && parts[0].eq_ignore_ascii_case(BITBUCKET_PART);
    if has_own_part {
        parts.remove(0);
    }
    let is_bitbucket = has_own_part || (is_ssh && port.as_deref() == Some(BITBUCKET_PORT));
    let (host, path) = match host.strip_suffix(VISUAL_STUDIO) {
        Some(organisation) => ("dev.azure.com", azure_path(Some(organisation), &parts)),
        None if host == "dev.azure.com" || is_azure_server(&parts) => {
            (host, azure_path(None, &parts))
        }
        None => (host, host_path(host, &parts).join("/")),
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    if host.is_empty() || path.is_empty() {
        return None;
    }
    let is_caseless = is_bitbucket || is_azure_server(&parts) || is_caseless(host);
    Some(format!("{host}/{}", if is_caseless { path.to_lowercase() } else { path.to_owned() }))
}

/// Whether a host ignores the case of letters in a path.
fn is_caseless(host: &str) -> bool {
    let mut words =
        host.split(['.', '-']).map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    CASELESS_HOSTS.contains(&host)
        || words.any(|word| {
            CASELESS_WORDS.contains(&word) || CASELESS_PARTS.iter().any(|part| word.contains(part))
        })
}

/// Whether a path is one of Azure DevOps, which all its servers write alike.
fn is_azure_server(parts: &[&str]) -> bool {
    parts.iter().rev().skip(1).any(|part| part.eq_ignore_ascii_case("_git"))
}

/// The same of a remote in the spelling of an earlier version: a host, and a path.
pub(super) fn respelled(remote: &str, settings: &RemoteSettings) -> Option<String> {
    let (host, path) = remote.split_once('/')?;
    let url = match host {
        "" => return None,
        address if address.contains(':') => format!("ssh://[{address}]/{path}"),
        host if path.starts_with("scm/") => format!("https://{host}/{path}"),
        host => format!("{host}:{path}"),
    };
    let rewritten = settings.rewritten(&url).unwrap_or(url);
    canonical_remote(&rewritten, settings)
}

/// A remote as versions before this one spelled it.
pub(super) fn older_spelling(url: &str) -> Option<String> {
    let RemoteForm { host, path, .. } = RemoteForm::parse(url)?;
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = parts.join("/");
    let path = path.strip_suffix(".git").unwrap_or(&path).trim_end_matches('/');
    let is_whole = !host.is_empty() && !path.is_empty();
    is_whole.then(|| format!("{}/{path}", host.trim_end_matches('.').to_lowercase()))
}

/// The parts of a URL that say which repository it is.
struct RemoteForm {
    is_ssh: bool,
    host: String,
    port: Option<String>,
    path: String,
}

impl RemoteForm {
    /// The parts of a URL; `None` of a path on this machine, and of what runs a program.
    fn parse(url: &str) -> Option<Self> {
        let url = match url.split_once("::") {
            Some(("ext" | "fd", _)) => return None,
            Some(("codecommit", rest)) => return Self::of_codecommit(rest),
            // A helper of git speaks with the same address.
            Some((helper, rest)) if is_word(helper) && rest.contains("://") => rest,
            _ => url,
        };
        let (is_ssh, authority, path) = match url.split_once("://") {
            Some((scheme, rest)) => {
                let scheme = scheme.to_lowercase();
                let (authority, path) = rest.split_once('/').filter(|_| scheme != "file")?;
                let path = path.split(['?', '#']).next().unwrap_or(path);
                (scheme.contains("ssh"), authority, path)
            }
            None => {
                let (authority, path) = scp_parts(url)?;
                (true, authority, path)
            }
        };
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, rest) = match host.strip_prefix('[') {
            Some(address) => address.split_once(']')?,
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let port = rest.strip_prefix(':').map(str::to_owned);
        Some(Self { is_ssh, host: host.to_owned(), port, path: path.to_owned() })
    }

    /// `REGION://[PROFILE@]NAME` is the repository that the region's host has under this name.
    fn of_codecommit(rest: &str) -> Option<Self> {
        let (region, name) = rest.split_once("://").filter(|(region, _)| is_word(region))?;
        let name = name.rsplit_once('@').map_or(name, |(_, name)| name);
        let host = format!("git-codecommit.{region}.amazonaws.com");
        Some(Self { is_ssh: false, host, port: None, path: format!("v1/repos/{name}") })
    }
}

/// The host and path of `[USER@]HOST:PATH`; `[USER@HOST:PORT]:PATH` names a port.
fn scp_parts(url: &str) -> Option<(&str, &str)> {
    let (host, path) = match url.find("]:") {
        Some(end) => {
            let inside = url[..end].strip_prefix('[');
            // Else the brackets are those of an address.
            let with_port = inside.filter(|inside| inside.matches(':').count() < 2);
            (with_port.unwrap_or(&url[..=end]), &url[end + 2..])
        }
        None => url.split_once(':')?,
    };
    // A colon after a slash, or after the letter of a drive, is part of a path.
    (host.len() > 1 && !host.contains(['/', '\\'])).then_some((host, path))
}

/// The path of a repository at Azure: organisation, project and name.
fn azure_path(organisation: Option<&str>, parts: &[&str]) -> String {
    const FILLERS: [&str; 4] = ["_git", "_optimized", "_full", "_ssh"];
    let is_filler = |part: &&&str| {
        FILLERS.iter().any(|filler| part.eq_ignore_ascii_case(filler))
            || (organisation.is_some() && part.eq_ignore_ascii_case("DefaultCollection"))
    };
    let parts = parts.strip_prefix(&["v3"]).unwrap_or(parts);
    let named = parts.iter().filter(|part| !is_filler(part)).copied();
    let mut names: Vec<&str> = organisation.into_iter().chain(named).collect();
    // The first repository of a project has its name.
    if names.len() == 2 {
        names.push(names[1]);
    }
    names.join("/")
}

/// The parts of a path without what one of a host's forms adds to it.
fn host_path<'p>(host: &str, parts: &'p [&'p str]) -> &'p [&'p str] {
    let first = host.split('.').next().unwrap_or_default();
    let prefix = match first {
        "bitbucket" | "stash" => "scm",
        "gerrit" | "review" => "a",
        _ if host.ends_with(".googlesource.com") => "a",
        // A gist has no owner in most of its forms.
        "gist" => return &parts[parts.len().saturating_sub(1)..],
        _ => return parts,
    };
    parts
        .split_first()
        .filter(|(part, rest)| **part == prefix && !rest.is_empty())
        .map_or(parts, |(_, rest)| rest)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// A part of a path, with `%20` as a space.
fn decoded(part: &str) -> String {
    let bytes = part.as_bytes();
    let hex = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut plain, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                plain.extend(u8::try_from(high * 16 + low));
                at += 3;
            }
            (byte, ..) => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| part.to_owned())
}

#[cfg(test)]
mod tests;
