//! The setting that chooses an embedder, and its construction.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use super::bundled::BundledEmbedder;
use super::directory::DirectoryEmbedder;
use super::endpoint::{EmbeddingAddress, EndpointEmbedder};
use super::{Embedder, SharedEmbedder};
use crate::error::{EmbedError, EmbedResult};
use crate::word_hash::WordHashEmbedder;

/// The setting `COMMONBOOK_EMBEDDER`: `off`, `bundled`, `word-hash`, the path of a directory, or
/// `http(s)://HOST[:PORT][/PATH]#MODEL[&dimensions=N]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderSettings {
    /// No embedder: searches use words alone.
    Off,
    /// The model inside the program.
    Bundled,
    /// Vectors from the words without a model, for benches: very fast.
    WordHash,
    /// A model in a local directory.
    Directory(PathBuf),
    /// A model behind an OpenAI-compatible endpoint.
    Endpoint(EmbeddingAddress),
}

impl EmbedderSettings {
    /// Sets the key of an endpoint; has no effect on other settings. A blank key removes the key.
    ///
    /// # Errors
    /// `invalid` if the key has characters that a header cannot contain.
    pub fn with_key(self, key: Option<&str>) -> EmbedResult<Self> {
        Ok(match self {
            Self::Endpoint(EmbeddingAddress { at, dimensions }) => {
                Self::Endpoint(EmbeddingAddress { at: at.with_key(key)?, dimensions })
            }
            settings => settings,
        })
    }
}

impl FromStr for EmbedderSettings {
    type Err = EmbedError;

    fn from_str(text: &str) -> EmbedResult<Self> {
        let text = text.trim();
        let is_url = text.split_once("://").is_some();
        match text {
            "off" => Ok(Self::Off),
            "bundled" => Ok(Self::Bundled),
            "word-hash" => Ok(Self::WordHash),
            url if is_url => url.parse().map(Self::Endpoint),
            path if path.contains(['/', '\\']) => Ok(Self::Directory(PathBuf::from(path))),
            // The error does not repeat the text: it may be a key in the wrong place.
            _ => Err(unknown_embedder()),
        }
    }
}

fn unknown_embedder() -> EmbedError {
    EmbedError::invalid("embedder", "unknown value; expected off, bundled, a path or a URL").hint(
        "Set COMMONBOOK_EMBEDDER to off, bundled, a path with a slash in it (./model), or \
         http://HOST:PORT#MODEL.",
    )
}

/// Creates the embedder of the settings; `None` if the setting is `off`.
///
/// Bundled: costs nothing. Directory: reads about 200 KB. Endpoint: sends one request for the
/// dimension, unless the settings contain it. The first text loads a model.
///
/// # Errors
/// `invalid` if the directory has no usable model; `unavailable` if the endpoint does not respond:
/// a later call may succeed.
pub fn open(settings: &EmbedderSettings) -> EmbedResult<Option<SharedEmbedder>> {
    let embedder: Arc<dyn Embedder> = match settings {
        EmbedderSettings::Off => return Ok(None),
        EmbedderSettings::Bundled => Arc::new(BundledEmbedder::new()),
        EmbedderSettings::WordHash => Arc::new(WordHashEmbedder::new()),
        EmbedderSettings::Directory(folder) => Arc::new(DirectoryEmbedder::open(folder)?),
        EmbedderSettings::Endpoint(address) => {
            Arc::new(EndpointEmbedder::connect(address.clone())?)
        }
    };
    Ok(Some(embedder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EmbedErrorKind;

    #[test]
    fn settings_are_read() {
        let url = |text: &str| match text.parse().unwrap() {
            EmbedderSettings::Endpoint(EmbeddingAddress { at, dimensions }) => {
                (at.url().to_owned(), at.model, dimensions)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!("off".parse::<EmbedderSettings>().unwrap(), EmbedderSettings::Off);
        assert_eq!(" bundled ".parse::<EmbedderSettings>().unwrap(), EmbedderSettings::Bundled);
        assert_eq!("word-hash".parse::<EmbedderSettings>().unwrap(), EmbedderSettings::WordHash);
        for path in ["./model", "/opt/minilm", "C:\\models\\minilm"] {
            assert_eq!(
                path.parse::<EmbedderSettings>().unwrap(),
                EmbedderSettings::Directory(path.into())
            );
        }
        for (text, address, model, dimensions) in [
            ("http://h:1#m", "http://h:1/v1/embeddings", "m", None),
            ("http://h:1/#m", "http://h:1/v1/embeddings", "m", None),
            ("https://h/v1#org/m:latest", "https://h/v1/embeddings", "org/m:latest", None),
            ("https://h/api/v3/#m", "https://h/api/v3/embeddings", "m", None),
            ("http://h/x/embeddings#m", "http://h/x/embeddings", "m", None),
            ("http://[::1]:9#m&dimensions=256", "http://[::1]:9/v1/embeddings", "m", Some(256)),
        ] {
            assert_eq!(url(text), (address.to_owned(), model.to_owned(), dimensions), "{text}");
        }
    }

    #[test]
    fn invalid_settings_are_refused_and_not_repeated() {
        for text in [
            "",
            "bundeld",
            "sk-secret",
            "http://h:1",
            "http://h:1#",
            "http://#m",
            "ftp://h#m",
            "http://me:secret@h#m",
            "http://h?key=secret#m",
            "http://h#m&dimensions=0",
            "http://h#m&dimensions=many",
            "http://h:port#m",
        ] {
            let error = text.parse::<EmbedderSettings>().unwrap_err();
            assert_eq!(error.kind, EmbedErrorKind::Invalid, "{text}");
            assert!(error.hint.is_some() && !format!("{error:?}").contains("secret"), "{text}");
        }
    }

    #[test]
    fn a_key_goes_with_endpoints_only() {
        let endpoint: EmbedderSettings = "http://h#m".parse().unwrap();
        let with = endpoint.clone().with_key(Some(" sk-secret\n")).unwrap();
        assert_ne!(with, endpoint);
        assert!(!format!("{with:?}").contains("secret"));
        assert_eq!(endpoint.clone().with_key(Some(" ")).unwrap(), endpoint);
        assert_eq!(endpoint.clone().with_key(None).unwrap(), endpoint);
        assert_eq!(
            EmbedderSettings::Off.with_key(Some("sk-secret")).unwrap(),
            EmbedderSettings::Off
        );
        let error = endpoint.with_key(Some("sk secret")).unwrap_err();
        assert!(error.kind == EmbedErrorKind::Invalid && !format!("{error:?}").contains("secret"));
    }

    #[test]
    fn opening() {
        assert!(open(&EmbedderSettings::Off).unwrap().is_none());
        let bundled = open(&EmbedderSettings::Bundled).unwrap().unwrap();
        assert_eq!(bundled.spec().dimension, 384);
        let missing = open(&EmbedderSettings::Directory("/no/such/model".into())).err().unwrap();
        assert_eq!(missing.kind, EmbedErrorKind::Invalid);
    }
}
