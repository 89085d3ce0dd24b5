//! The style and the scripts of the pages, inside the binary.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use commonbook::base::hash::sha256;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "src/doors/dashboard/assets"]
struct Assets;

/// A version of all files together: a browser keeps them until it changes.
static ASSETS_VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut names: Vec<_> = Assets::iter().collect();
    names.sort();
    let files = names.iter().filter_map(|name| Assets::get(name));
    let hashes = files.map(|file| sha256(&String::from_utf8_lossy(&file.data)));
    sha256(&hashes.collect::<String>())[..12].to_owned()
});

/// The path of a file. Its folder is the version, so that the files which a script imports have it too.
pub(super) fn path(name: &str) -> String {
    format!("/dashboard/assets/{}/{name}", *ASSETS_VERSION)
}

/// Serves a file. A page of an older version of the program receives the files of this one, which its browser does not keep.
pub(super) async fn serve(Path((version, name)): Path<(String, String)>) -> Response {
    let Some(file) = Assets::get(&name) else {
        return (StatusCode::NOT_FOUND, "no such file").into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let mut response = ([(header::CONTENT_TYPE, kind)], file.data).into_response();
    super::response::add_page_headers(response.headers_mut());
    // The version in the path changes with the file.
    let unchanging = match version == *ASSETS_VERSION {
        true => "public, max-age=31536000, immutable",
        false => "no-store",
    };
    let unchanging = header::HeaderValue::from_static(unchanging);
    response.headers_mut().insert(header::CACHE_CONTROL, unchanging);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of all files together, uncompressed, at most.
    const ASSETS_BYTES_MAX: usize = 100_000;

    #[test]
    fn all_files_together_are_small() {
        let sizes = Assets::iter().filter_map(|name| Some(Assets::get(&name)?.data.len()));
        let bytes: usize = sizes.sum();
        assert!(bytes <= ASSETS_BYTES_MAX, "{bytes} bytes");
    }
}
