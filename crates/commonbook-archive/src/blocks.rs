//! The bytes of the lines, in blocks that are the same in the second reading as in the first.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};

use crate::encryption::Payload;

/// Bytes that are read, and compared, at once.
const BLOCK_BYTES: u64 = 1 << 20;

/// The tar file inside an archive.
pub(crate) type ArchiveStream<R> = GzDecoder<BufReader<Payload<R>>>;

/// The SHA-256 of all bytes up to the end of each block.
pub(crate) type BlockDigests = Vec<[u8; 32]>;

/// A stream of known length, read block by block.
pub(crate) struct DigestReader<S> {
    stream: S,
    /// Bytes that are not read yet.
    remaining: u64,
    block: Vec<u8>,
    /// Bytes of the block that the reader has taken.
    position: usize,
    hash: Sha256,
    digests: BlockDigests,
    /// The digests of the first reading.
    expected: Option<BlockDigests>,
}

impl<S: Read> DigestReader<S> {
    /// Reads for the first time.
    pub(crate) fn new(stream: S, bytes: u64) -> Self {
        Self {
            stream,
            remaining: bytes,
            block: Vec::new(),
            position: 0,
            hash: Sha256::new(),
            digests: Vec::new(),
            expected: None,
        }
    }

    /// Reads again, and fails at the first block that is another one.
    pub(crate) fn again(stream: S, bytes: u64, expected: BlockDigests) -> Self {
        Self { expected: Some(expected), ..Self::new(stream, bytes) }
    }

    /// The digests of the blocks that were read, and that of all bytes.
    pub(crate) fn into_digests(self) -> (BlockDigests, [u8; 32]) {
        let whole = self.hash.finalize().into();
        (self.digests, whole)
    }

    fn read_block(&mut self) -> io::Result<()> {
        let length = self.remaining.min(BLOCK_BYTES);
        self.position = 0;
        self.block.resize(usize::try_from(length).unwrap_or(0), 0);
        let read = self.stream.read_exact(&mut self.block).and_then(|()| {
            self.hash.update(&self.block);
            let digest: [u8; 32] = self.hash.clone().finalize().into();
            let expected = self.expected.as_ref();
            if expected.is_some_and(|expected| expected.get(self.digests.len()) != Some(&digest)) {
                return Err(io::Error::other("the archive changed while it was read"));
            }
            self.digests.push(digest);
            self.remaining -= length;
            Ok(())
        });
        if read.is_err() {
            self.block.clear();
        }
        read
    }
}

impl<S: Read> BufRead for DigestReader<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position == self.block.len() && self.remaining > 0 {
            self.read_block()?;
        }
        Ok(&self.block[self.position..])
    }

    fn consume(&mut self, bytes: usize) {
        self.position += bytes;
    }
}

impl<S: Read> Read for DigestReader<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

/// The lines of an archive that was compared with its manifest.
///
/// A read fails if the file has changed since.
pub struct ArchiveLines<R>(pub(crate) DigestReader<ArchiveStream<R>>)
where
    R: Read + io::Seek;

impl<R: Read + io::Seek> Read for ArchiveLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read + io::Seek> BufRead for ArchiveLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.0.consume(bytes);
    }
}
