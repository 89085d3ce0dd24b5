//! The audiences of the home: finds those of a caller without reading others.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::index::facts::interner::NameInterner;
use crate::model::access::{Audience, Sight};
use crate::model::memory::{Sharing, Trust};

/// Length of an audience's key, in bytes.
pub(in crate::index) const KEY_BYTES: usize = 11;

/// The alphabet of audience keys: six bits per letter.
const KEY_LETTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// The prefix of an audience's terms in the index: 64 bits of its SHA-256. Two audiences with the
/// same key would leak nothing: each hit is also checked by its class.
pub(in crate::index) fn audience_key(audience: &Audience) -> String {
    let text = serde_json::to_string(audience).unwrap_or_default();
    let digest = Sha256::digest(text.as_bytes());
    let bits = digest.iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let letter =
        |place| char::from(KEY_LETTERS[(bits >> (6 * place)) as usize % KEY_LETTERS.len()]);
    (0..KEY_BYTES).map(letter).collect()
}

/// The audiences by number.
#[derive(Debug, Default)]
pub(super) struct AudienceTable {
    all: Vec<AudienceEntry>,
    numbers: HashMap<Audience, u32>,
    /// Those of each workspace, by the workspace's number in the catalog.
    workspaces: HashMap<u32, WorkspaceAudiences>,
}

/// The classes of one audience.
#[derive(Debug)]
struct AudienceEntry {
    audience: Audience,
    key: String,
    classes: Vec<u32>,
    /// Number of memories in its classes.
    memories: u64,
}

/// The audiences of a workspace, by the widest caller that each admits.
#[derive(Debug, Default)]
struct WorkspaceAudiences {
    everybody: Vec<u32>,
    owners: HashMap<Box<str>, Vec<u32>>,
    users: HashMap<Box<str>, Vec<u32>>,
    reviewers: Vec<u32>,
}

impl AudienceTable {
    /// The number of the audience of a new class.
    pub(super) fn enrol(&mut self, audience: Audience, workspace: u32, class: u32) -> u32 {
        let number = match self.numbers.get(&audience) {
            Some(number) => *number,
            None => self.add_audience(audience, workspace),
        };
        self.all[number as usize].classes.push(class);
        number
    }

    /// Adds an audience.
    fn add_audience(&mut self, audience: Audience, workspace: u32) -> u32 {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let members = self.workspaces.entry(workspace).or_default();
        match &audience {
            Audience::Workspace(_) => members.everybody.push(number),
            Audience::Visibility(visibility) => {
                members.owners.entry(visibility.owner.as_str().into()).or_default().push(number);
                match (visibility.sharing, visibility.trust, &visibility.user_id) {
                    (Sharing::Private, ..) => {}
                    (Sharing::Shared, Trust::Quarantined, _) => members.reviewers.push(number),
                    (Sharing::Shared, _, Some(user)) => {
                        members.users.entry(user.as_str().into()).or_default().push(number);
                    }
                    // Every caller of the workspace is in this audience.
                    (Sharing::Shared, _, None) => members.everybody.push(number),
                }
            }
        }
        self.numbers.insert(audience.clone(), number);
        let (key, classes) = (audience_key(&audience), Vec::new());
        self.all.push(AudienceEntry { audience, key, classes, memories: 0 });
        number
    }

    /// Adjusts the number of memories of an audience.
    pub(super) fn count(&mut self, number: u32, sign: i64) {
        let memories = &mut self.all[number as usize].memories;
        *memories = memories.wrapping_add_signed(sign);
    }

    /// The prefix of the audience's terms in the index.
    pub(super) fn key(&self, number: u32) -> &str {
        &self.all[number as usize].key
    }

    /// The classes of an audience.
    pub(super) fn classes(&self, number: u32) -> &[u32] {
        &self.all[number as usize].classes
    }

    /// The caller's audiences that have memories, with the numbers of their workspaces, sorted.
    pub(super) fn admitted(&self, sight: &Sight, workspaces: &NameInterner) -> Vec<(u32, u32)> {
        let mut admitted = Vec::new();
        for workspace in &sight.workspaces {
            let Some(workspace) = workspaces.find(workspace.as_str()) else { continue };
            let Some(members) = self.workspaces.get(&workspace) else { continue };
            let of_user = sight.user.as_ref().and_then(|user| members.users.get(user.as_str()));
            let reviewed = sight.reviews.then_some(&members.reviewers);
            let own = members.owners.get(sight.agent.as_str());
            let at_most = [Some(&members.everybody), own, of_user, reviewed];
            let belongs = |number: &u32| {
                let group = &self.all[*number as usize];
                group.memories > 0 && sight.belongs_to(&group.audience)
            };
            let found = at_most.into_iter().flatten().flatten().copied().filter(belongs);
            admitted.extend(found.map(|number| (workspace, number)));
        }
        admitted.sort_unstable();
        admitted.dedup();
        admitted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::access::Visibility;
    use crate::model::agent::Agent;
    use crate::model::workspace::Workspace;

    const AGENTS: [&str; 4] = ["ann", "bob", "ann/child", "cleo"];
    const USERS: [Option<&str>; 3] = [None, Some("u1"), Some("U1")];
    const WORKSPACES: [&str; 3] = ["x", "global", "y"];
    const TRUSTS: [Trust; 2] = [Trust::Normal, Trust::Quarantined];

    fn visibility(drawn: [usize; 5]) -> Visibility {
        let [workspace, owner, user, sharing, trust] = drawn;
        Visibility {
            workspace: WORKSPACES[workspace % 3].parse().unwrap(),
            owner: Agent::with_any_name(AGENTS[owner % 4]).unwrap(),
            user_id: USERS[user % 3].map(str::to_owned),
            sharing: if sharing % 2 == 0 { Sharing::Private } else { Sharing::Shared },
            trust: TRUSTS[trust % 2],
            opaque: sharing % 4 == 0,
        }
    }

    proptest! {
        #[test]
        fn a_caller_is_admitted_to_exactly_the_audiences_that_it_belongs_to(
            reaches in prop::collection::vec(prop::array::uniform5(0..12_usize), 1..40),
            (agent, user, count) in (0..4_usize, 0..3_usize, 1..4_usize),
            (reviews, opaque) in any::<(bool, bool)>(),
        ) {
            let (mut names, mut audiences) = (NameInterner::default(), AudienceTable::default());
            let mut meant = Vec::new();
            let workspaces: Vec<Workspace> =
                WORKSPACES[..count].iter().map(|name| name.parse().unwrap()).collect();
            let user = USERS[user].map(str::to_owned);
            let sight = Sight {
                agent: Agent::with_any_name(AGENTS[agent]).unwrap(), user, workspaces, reviews,
                is_person: false,
                opaque,
            };
            for (class, visibility) in (0..).zip(reaches.into_iter().map(visibility)) {
                let workspace = names.intern(visibility.workspace.as_str());
                let number = audiences.enrol(Audience::of(&visibility), workspace, class);
                audiences.count(number, 1);
                if sight.can_see(&visibility) {
                    meant.push((workspace, number));
                }
            }
            meant.sort_unstable();
            meant.dedup();
            prop_assert_eq!(audiences.admitted(&sight, &names), meant);
        }
    }

    #[test]
    fn keys_have_one_length_and_differ_by_audience() {
        let all = (0..240).map(|n| Audience::of(&visibility([n, n / 3, n / 12, n / 36, n / 72])));
        let audiences: std::collections::HashSet<Audience> = all.collect();
        let keys: std::collections::HashSet<String> = audiences.iter().map(audience_key).collect();
        assert!(keys.len() > 20 && keys.len() == audiences.len());
        assert!(keys.iter().all(|key| key.len() == KEY_BYTES && key.is_ascii()));
    }
}
