//! The contract of a store for what was forgotten: certificates, tombstones, and the rows that quote.

use std::collections::BTreeSet;

use crate::base::error::Result;
use crate::base::id::{CertificateId, MemoryId};
use crate::model::access::StoredMemory;
use crate::model::forgetting::{ForgetCertificate, ForgottenPhrases, Phrase, PhraseKey, Tombstone};
use crate::model::workspace::Workspace;
use crate::store::sql::{SqlValue, quoting_places};

/// A kind of rows, and how many of them quote.
pub type QuoteCount = (&'static str, u64);

/// The rows of what was forgotten.
pub trait ForgettingRows {
    /// The keys of phrases, the own one first.
    fn phrase_keys(&self) -> Result<Vec<PhraseKey>>;

    /// Adds a key of another store, unless it is there.
    fn add_phrase_key(&mut self, key: &str) -> Result<()>;

    /// The keys as they are stored.
    fn stored_phrase_keys(&self) -> Result<Vec<String>>;

    /// The workspaces in which something was forgotten.
    fn forgetting_workspaces(&self) -> Result<Vec<Workspace>>;

    /// The lengths in words of the forgotten phrases of a workspace.
    fn tombstone_lengths(&self, workspace: &Workspace) -> Result<BTreeSet<usize>>;

    /// The tombstones of a workspace among these phrases.
    fn tombstones_among(
        &self,
        workspace: &Workspace,
        phrases: &BTreeSet<Phrase>,
    ) -> Result<Vec<Tombstone>>;

    /// The tombstones of a workspace, or of one certificate.
    fn tombstones(
        &self,
        workspace: &Workspace,
        certificate: Option<CertificateId>,
    ) -> Result<Vec<Tombstone>>;

    /// Stores a tombstone; an existing one stays.
    fn put_tombstone(&mut self, tombstone: &Tombstone) -> Result<()>;

    /// Removes the tombstones of a certificate.
    fn drop_tombstones(&mut self, workspace: &Workspace, certificate: CertificateId) -> Result<()>;

    /// Stores a certificate with the ids of its memories, replacing an earlier state of it.
    fn put_certificate(&mut self, certificate: &ForgetCertificate) -> Result<()>;

    /// The certificate with this id.
    fn certificate(
        &self,
        workspace: &Workspace,
        id: CertificateId,
    ) -> Result<Option<ForgetCertificate>>;

    /// At most `limit` certificates of a workspace, newest first.
    fn certificates(&self, workspace: &Workspace, limit: u32) -> Result<Vec<ForgetCertificate>>;

    /// The certificates of all workspaces that wait for the files to be clean.
    fn unfinished_certificates(&self) -> Result<Vec<ForgetCertificate>>;

    /// The certificate of a memory that was forgotten, while it holds.
    fn certificate_of(
        &self,
        workspace: &Workspace,
        memory: MemoryId,
    ) -> Result<Option<CertificateId>>;

    /// The memories of a workspace that quote these phrases, in sight or not, deleted ones too.
    fn quoting_memories(
        &self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<StoredMemory>>;

    /// The memories among these ids that quote these phrases now or did in an earlier revision, in sight or
    /// not.
    fn quoting_among(
        &self,
        workspace: &Workspace,
        ids: &[MemoryId],
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<StoredMemory>>;

    /// The memories that events of a journal after this position are about, in sight or not, each with the
    /// position: at most `limit`, oldest first.
    fn memory_subjects(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, MemoryId)>>;

    /// The memories among these ids, in sight or not.
    fn memories_with_ids(
        &self,
        workspace: &Workspace,
        ids: &[MemoryId],
    ) -> Result<Vec<StoredMemory>>;

    /// Takes the phrases out of the earlier revisions of a memory; returns their number.
    fn redact_revisions(
        &mut self,
        workspace: &Workspace,
        memory: MemoryId,
        phrases: &ForgottenPhrases,
    ) -> Result<u64>;

    /// Finds the other rows of a workspace that quote these phrases, and the versions of standing memory
    /// files. Reads every row: not for a transaction in which others wait.
    fn quoting_rows(
        &self,
        workspace: &Workspace,
        phrases: &ForgottenPhrases,
    ) -> Result<QuotingRows>;

    /// Takes the phrases out of those rows as they are now, and counts the rows that still quoted: every
    /// kind of rows, also where none did. Reads no other row.
    fn redact_rows(
        &mut self,
        workspace: &Workspace,
        rows: &QuotingRows,
        phrases: &ForgottenPhrases,
    ) -> Result<Vec<QuoteCount>>;
}

/// Rows that quote forgotten phrases, by their keys.
#[derive(Debug, Clone, Default)]
pub struct QuotingRows {
    pub(in crate::store) rows: Vec<QuotingRow>,
}

/// A row of a kind that may quote.
#[derive(Debug, Clone)]
pub(in crate::store) struct QuotingRow {
    /// The kind, by its place in the list of all.
    pub(in crate::store) kind: usize,
    /// The values of the columns of its key.
    pub(in crate::store) key: Vec<SqlValue>,
}

impl QuotingRows {
    /// Whether no row quotes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of rows of each kind, also of those without one.
    #[must_use]
    pub fn counts(&self) -> Vec<QuoteCount> {
        let count = |kind| self.rows.iter().filter(|row| row.kind == kind).count() as u64;
        quoting_places().enumerate().map(|(kind, place)| (place, count(kind))).collect()
    }
}
