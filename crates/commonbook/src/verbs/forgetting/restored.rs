//! What was forgotten stays forgotten in a restored store, and what another home let in ends.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::{CertificateId, MemoryId};
use crate::model::access::StoredMemory;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::forgetting::{
    ForgetCertificate, ForgetReach, ForgottenPhrases, PhraseKey, Tombstone, is_derived,
    is_empty_now, redacted_memory,
};
use crate::model::workspace::Workspace;
use crate::store::{Store, Tx};
use crate::verbs::Commonbook;

use super::{remove_forgotten, write_redacted};

/// What was forgotten in one workspace.
struct ForgottenRecords {
    workspace: Workspace,
    certificates: Vec<ForgetCertificate>,
    tombstones: Vec<Tombstone>,
}

impl Commonbook {
    /// Revokes every token and removes every webhook of a store, such as one of another home.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or written.
    pub fn end_outside_access(&self) -> Result<()> {
        let now = self.clock.now();
        self.store.write(move |tx| {
            for token in tx.tokens()? {
                if let Some(mut kept) = tx.token(token.id)?.filter(|_| token.revoked_at.is_none()) {
                    kept.token.revoked_at = Some(now);
                    tx.put_token(&kept)?;
                }
            }
            for webhook in tx.webhooks()? {
                tx.remove_webhook(webhook.id)?;
            }
            Ok(())
        })
    }

    /// Takes over what was forgotten in another store, such as the one that this store replaces.
    ///
    /// # Errors
    /// `unavailable` if a store cannot be read or written.
    pub fn take_over_forgotten(&self, from: &dyn Store) -> Result<()> {
        let (keys, records) = from.read(|tx| {
            let mut records = Vec::new();
            for workspace in tx.workspaces()? {
                let certificates = tx.certificates(&workspace, u32::MAX)?;
                let tombstones = tx.tombstones(&workspace, None)?;
                records.push(ForgottenRecords { workspace, certificates, tombstones });
            }
            Ok((tx.stored_phrase_keys()?, records))
        })?;
        self.store.write(move |tx| {
            for key in &keys {
                tx.add_phrase_key(key)?;
            }
            for ForgottenRecords { workspace, certificates, tombstones } in &records {
                for certificate in certificates {
                    // What was allowed there since is allowed here.
                    if certificate.allowed_at.is_some() {
                        tx.drop_tombstones(workspace, certificate.id)?;
                    }
                    let unfinished = ForgetCertificate { finished_at: None, ..certificate.clone() };
                    tx.put_certificate(&unfinished)?;
                }
                for tombstone in tombstones {
                    tx.put_tombstone(tombstone)?;
                }
            }
            Ok(())
        })
    }

    /// Removes what the tombstones of this store name from its rows, as after a restore. Returns the
    /// number of memories that went. [`Self::finish_forgetting`] cleans the files of the home.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or written.
    pub fn forget_again(&self) -> Result<u64> {
        let now = self.clock.now();
        let mut removed = 0;
        for workspace in self.store.read(|tx| tx.workspaces())? {
            removed += self.store.write(move |tx| forget_in(tx, &workspace, now))?;
        }
        Ok(removed)
    }
}

fn forget_in(tx: &mut Tx<'_>, workspace: &Workspace, now: Timestamp) -> Result<u64> {
    let tombstones = tx.tombstones(workspace, None)?;
    if tombstones.is_empty() {
        return Ok(0);
    }
    let keys = tx.phrase_keys()?;
    let phrases = of_tombstones(&keys, tombstones.iter());
    let name = AgentName { agent: Agent::system(), device: None };
    let system = Caller::new(Some(name), workspace.clone(), EntryPoint::Import);
    let mut ids: Vec<MemoryId> = Vec::new();
    let certificates = tx.certificates(workspace, u32::MAX)?;
    let certificates: BTreeMap<CertificateId, ForgetCertificate> =
        certificates.into_iter().map(|certificate| (certificate.id, certificate)).collect();
    for certificate in certificates.values() {
        ids.extend(certificate.memories.iter().filter(|_| certificate.allowed_at.is_none()));
    }
    let mut gone = tx.memories_with_ids(workspace, &ids)?;
    for before in tx.quoting_memories(workspace, &phrases)? {
        if gone.iter().any(|memory| memory.id == before.id) {
            continue;
        }
        let own = of_tombstones(
            &keys,
            tombstones.iter().filter(|tombstone| {
                let certificate = certificates.get(&tombstone.certificate);
                let is_of_owner = tombstone.owner.is_some() && tombstone.holds_for(&before.owner);
                is_of_owner
                    || certificate.is_some_and(|certificate| {
                        let is_copy = ForgetReach::of(certificate).includes_digest(&before);
                        let may_cut =
                            (is_derived(&before) && is_copy) || tombstone.holds_for(&before.owner);
                        (before.owner == Agent::system() && is_copy)
                            || (certificate.also_quotes && may_cut)
                            || certificate.redacted.contains(&before.id)
                    })
            }),
        );
        let own = &own;
        match redacted_memory(&before, own) {
            Some(after) if is_empty_now(&after) && before.case.is_none() => gone.push(before),
            Some(after) => {
                write_redacted(tx, &system, &before, StoredMemory::of(after), now)?;
                tx.redact_revisions(workspace, before.id, own)?;
            }
            None => drop(tx.redact_revisions(workspace, before.id, own)?),
        }
    }
    for memory in &gone {
        remove_forgotten(tx, &system, memory, now)?;
    }
    for (reach, phrases) in reaches_of(&keys, &tombstones, &certificates) {
        let rows = tx.quoting_rows(workspace, &phrases, &reach)?;
        tx.redact_rows(workspace, &rows, &phrases, &reach)?;
    }
    Ok(gone.len() as u64)
}

/// What persons and each agent forgot, with the reach of it.
fn reaches_of(
    keys: &[PhraseKey],
    tombstones: &[Tombstone],
    certificates: &BTreeMap<CertificateId, ForgetCertificate>,
) -> Vec<(ForgetReach, ForgottenPhrases)> {
    let mut reaches: Vec<(ForgetReach, Vec<&Tombstone>)> = Vec::new();
    for (id, certificate) in certificates {
        let reach = ForgetReach::of(certificate);
        let own = tombstones.iter().filter(|tombstone| tombstone.certificate == *id);
        match reaches.iter_mut().find(|(known, _)| *known == reach) {
            Some((_, all)) => all.extend(own),
            None => reaches.push((reach, own.collect())),
        }
    }
    let phrases = |tombstones: Vec<&Tombstone>| of_tombstones(keys, tombstones.into_iter());
    reaches.into_iter().map(|(reach, tombstones)| (reach, phrases(tombstones))).collect()
}

fn of_tombstones<'t>(
    keys: &[PhraseKey],
    tombstones: impl Iterator<Item = &'t Tombstone>,
) -> ForgottenPhrases {
    ForgottenPhrases::new(keys.to_vec(), tombstones.map(|tombstone| tombstone.phrase))
}
