//! A route whose client disconnects before the response.

use commonbook::model::agent::{AgentList, ListAgents};
use commonbook::store::sqlite::SqliteStore;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::http::connections;

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_request() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&home.path().join("commonbook.db")).unwrap();
    let (begin, mut begun) = unbounded_channel();
    let (end, mut ended) = unbounded_channel();
    // Like a search, it checks for cancellation; it ends for no other reason.
    let verb = move |_: &Commonbook, caller: &Caller, _: &ListAgents| -> Result<AgentList> {
        begin.send(()).unwrap();
        while !caller.cancellation.is_cancelled() {
            std::thread::yield_now();
        }
        end.send(()).unwrap();
        Ok(AgentList { items: Vec::new() })
    };
    let door = RestDoor {
        book: Commonbook::new(store),
        config: Arc::default(),
        rates: Arc::default(),
        bodies: BodyBudget::default(),
    };
    let call = JsonVerb::of("list_agents", verb);
    let router = RestRoute::new("list_agents", Method::GET, "/v1/agents", call);
    let router = router.into_router().with_state(door);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(connections::serve(listener, router, 8, CancellationToken::new()));
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"GET /v1/agents HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    begun.recv().await.unwrap();
    drop(client);
    ended.recv().await.unwrap();
}
