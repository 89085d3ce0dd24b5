//! `GET /metrics`: the metrics of the server as text for Prometheus.

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::EntryPoint;

use super::route::RestDoor;
use crate::calls::call::run_blocking;
use crate::calls::metrics::{METRICS_TYPE, server_metrics};
use crate::http::caller::{HttpCallerSource, resolve_http_caller};
use crate::http::http_error::RequestId;
use crate::http::http_error::error_response;

/// Answers a scrape.
pub(super) async fn serve(
    State(door): State<RestDoor>,
    id: RequestId,
    request: Request,
) -> Response {
    match metrics_text(door, request).await {
        Ok(text) => {
            let headers =
                [(header::CONTENT_TYPE, METRICS_TYPE), (header::CACHE_CONTROL, "no-store")];
            (headers, text).into_response()
        }
        Err(error) => error_response(&error, &id),
    }
}

async fn metrics_text(door: RestDoor, request: Request) -> Result<String> {
    let (parts, _) = request.into_parts();
    let http = HttpCallerSource { parts: &parts, client: None, door: EntryPoint::Rest };
    let (caller, _) = resolve_http_caller(http, &door.config)?;
    door.rates.admit(&caller, false)?;
    run_blocking(move || {
        let figures = door.book.get_home_figures(&caller)?;
        let metrics = server_metrics()
            .ok_or_else(|| Error::new(ErrorKind::Unavailable, "this server records no metrics"))?;
        metrics.render(&door.book, &figures)
    })
    .await
}
