//! What the protocol's own test suite expects of a server, served through the same HTTP
//! as the product's tools. Nothing of it is in the product: who wants it builds this.
//!
//! It prints its address and serves until its standard input is closed. The suite sends
//! no token, so that this gate, unlike the product's, stands open.

mod fixture;
mod prompts;
mod resources;
mod tools;

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};

use legation_server::Closing;
use legation_server::http::{Admitted, Denied, Gate, House, Names, PATH, Peer, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use self::fixture::Fixture;

struct Open;

impl Gate for Open {
    async fn admit(&self, _token: Option<&str>, _peer: &Peer) -> Result<Admitted, Denied> {
        Ok(Admitted::Owner)
    }
}

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(any).await?;
        let address = listener.local_addr()?;
        writeln!(std::io::stdout(), "http://{address}{PATH}")?;
        let (closed, stop) = oneshot::channel();
        std::thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            let _ = closed.send(());
        });
        let closing = Closing::default();
        let house = House { gate: Open, names: Names::loopback(), handler: Fixture, closing };
        serve(listener, house, async { drop(stop.await) }).await
    })
}
