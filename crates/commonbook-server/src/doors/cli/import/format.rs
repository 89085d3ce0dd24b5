//! The formats of an import, as the command line names them.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use commonbook::base::error::Error;
use commonbook_formats::SourceFormat;

/// The name of the format of archives.
pub(super) const ARCHIVE_NAME: &str = "archive";

/// The format of a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ImportFormat {
    /// What the path looks like.
    #[default]
    Auto,
    /// One JSON object a line.
    Jsonl,
    /// An archive of an export.
    Archive,
    /// A format of another program.
    Program(SourceFormat),
}

impl ValueEnum for ImportFormat {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [ImportFormat; SourceFormat::ALL.len() + 3] = {
            let mut all = [ImportFormat::Auto; SourceFormat::ALL.len() + 3];
            all[1] = ImportFormat::Jsonl;
            all[2] = ImportFormat::Archive;
            let mut index = 0;
            while index < SourceFormat::ALL.len() {
                all[index + 3] = ImportFormat::Program(SourceFormat::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Auto => PossibleValue::new("auto").help("what the path looks like"),
            Self::Jsonl => PossibleValue::new("jsonl").help("one JSON object a line"),
            Self::Archive => PossibleValue::new(ARCHIVE_NAME).help("an archive of an export"),
            Self::Program(format) => PossibleValue::new(format.name()).help(format.description()),
        })
    }
}

/// The error of a path that cannot be read.
pub(super) fn read_error(path: &Path, error: std::io::Error) -> Error {
    Error::invalid("PATH", format!("cannot read {}: {error}", path.display())).with_cause(error)
}
