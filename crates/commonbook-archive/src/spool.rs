//! A spool: bytes in a temporary file, under a key that only this process has and that ends with it.

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use age::stream::{StreamReader, StreamWriter};
use age::{Decryptor, Encryptor, x25519};

/// The bytes of a spool, to read in any order.
pub struct Spool<F>(StreamReader<BufReader<F>>);

/// A spool that is being written.
pub(crate) struct SpoolWriter<F: Write> {
    key: x25519::Identity,
    out: StreamWriter<BufWriter<F>>,
}

/// Writes all that a stream has into a file, which should have no name. The blocks that it leaves on the disk are
/// encrypted.
///
/// # Errors
/// If the stream cannot be read or the file cannot be written.
pub fn spool<F: Read + Write + Seek>(input: &mut impl Read, file: F) -> io::Result<Spool<F>> {
    let mut writer = SpoolWriter::new(file)?;
    io::copy(input, &mut writer)?;
    writer.finish()
}

impl<F: Read + Write + Seek> SpoolWriter<F> {
    pub(crate) fn new(file: F) -> io::Result<Self> {
        let key = x25519::Identity::generate();
        let recipient = key.to_public();
        let encryptor = Encryptor::with_recipients(std::iter::once(&recipient as _));
        let out = encryptor.map_err(io::Error::other)?.wrap_output(BufWriter::new(file))?;
        Ok(Self { key, out })
    }

    /// The bytes, from the first one on.
    pub(crate) fn finish(self) -> io::Result<Spool<F>> {
        let Self { key, out } = self;
        let mut file = out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let decryptor = Decryptor::new_buffered(BufReader::new(file)).map_err(io::Error::other)?;
        let stream = decryptor.decrypt(std::iter::once(&key as _)).map_err(io::Error::other)?;
        Ok(Spool(stream))
    }
}

impl<F: Write> Write for SpoolWriter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<F: Read> Read for Spool<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<F: Read + Seek> Seek for Spool<F> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.0.seek(position)
    }
}
