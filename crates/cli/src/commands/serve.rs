//! `legation serve`: the tools of agents, over HTTP.

mod attend;
mod gate;
mod peer;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use legation_core::Code;
use legation_core::tree::rejection::Refusal;
use legation_engine::client::{self, Paths, prepare};
use legation_runners::supervise::is_kept;
use legation_server::Closing;
use legation_server::http::{self, House, Names, PATH, Token};
use legation_server::mcp::Mcp;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use self::gate::Tokens;
use crate::error::CommandError;
use crate::office::Door;
use crate::output::Output;
use crate::reach::{Reach, block_on};

/// The file in the project's state folder that holds the owner's token.
const TOKEN_FILE: &str = "serve-token";

/// Serves the tools of agents (MCP) over HTTP, on this machine.
///
/// Who calls needs a token: yours, which is made at the first start, or that of an attempt,
/// which then speaks in its own name. While it runs, so does the project's engine, and what
/// a crash left is taken up however old it is. It stops on Ctrl-C; what it was asked for
/// goes on.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Listen on this port; 0 takes one that is free. `serve.port` is used otherwise.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen on this address.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Let other machines in, if the address is one that they reach. The token is all that
    /// keeps them out, and nothing is encrypted.
    #[arg(long)]
    allow_remote: bool,
    /// Another name that requests may use for this machine; may be given several times.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Print your token, say where it is kept, and serve nothing.
    #[arg(long)]
    print_token: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    if reach.is_attempt() || is_kept(std::process::id()) {
        return Err((&inside()).into());
    }
    if !args.listen.is_loopback() && !args.allow_remote {
        let message = format!("other machines can reach {}", args.listen);
        return Err(CommandError::usage(message)
            .hint("give --allow-remote if they shall; the token then crosses the network"));
    }
    let (token, file) = token(&reach.paths)?;
    if args.print_token {
        let value = json!({"token": token.reveal(), "tokenFile": file});
        output.answer(&value, || token.reveal().to_owned());
        if !output.wants_json() {
            output.note(&format!("It is kept in {}", file.display()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let port = match args.port {
        Some(port) => port,
        None => reach.project.config(output)?.config.serve.port,
    };
    let address = SocketAddr::new(args.listen, port);
    block_on(async {
        let listener = listen(address).await?;
        let bound = listener.local_addr().unwrap_or(address);
        let names = Names::loopback().and(names(args, bound));
        let url = format!("http://{bound}{PATH}");
        let value = json!({"url": url, "address": bound, "tokenFile": file});
        output.line(&value, || format!("Listening on {url}"));
        if !output.wants_json() {
            output.note(&format!("The token is in {}", file.display()));
        }
        // Held until the end: an engine that starts meanwhile takes up everything.
        let attendance = client::attend(&reach.paths);
        let _attendance = attendance.map_err(|problem| unusable(problem.to_string()))?;
        let door = Arc::new(Door(reach.clone()));
        let closing = Closing::default();
        let handler = Mcp::new(door.clone(), env!("CARGO_PKG_VERSION")).until(closing.clone());
        let gate = Tokens { owner: token, door, port: bound.port() };
        let house = House { gate, names, handler, closing };
        let attending = attend::attend(&reach, |problem| output.note(&problem.to_text()));
        let served = tokio::select! {
            served = http::serve(listener, house, stop()?) => served,
            () = attending => Ok(()),
        };
        served.map_err(|problem| {
            CommandError::failed(Code::UnknownError, format!("cannot serve {bound}: {problem}"))
                .hint("start it again")
        })
    })?;
    Ok(ExitCode::SUCCESS)
}

fn unusable(problem: String) -> CommandError {
    CommandError::failed(Code::UnknownError, problem)
        .hint("make room and give this user the right to write there")
}

/// The owner's token and its file.
fn token(paths: &Paths) -> Result<(Token, PathBuf), CommandError> {
    prepare(paths).map_err(|problem| unusable(problem.to_string()))?;
    let file = paths.state.join(TOKEN_FILE);
    let token = Token::at(&file)
        .map_err(|problem| unusable(format!("the token file {} {problem}", file.display())))?;
    Ok((token, file))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).await.map_err(|problem| {
        CommandError::failed(Code::Conflict, format!("cannot listen on {address}: {problem}"))
            .hint("give another --port, or 0 for one that is free")
    })
}

/// What else this machine is called in requests. An address that stands for all of them
/// is no name.
fn names(args: &Args, bound: SocketAddr) -> Vec<String> {
    let own = Some(bound.ip()).filter(|address| !address.is_unspecified());
    args.hosts.iter().cloned().chain(own.map(|address| address.to_string())).collect()
}

/// Ends when somebody wants the server to end.
fn stop() -> Result<impl Future<Output = ()> + Send + 'static, CommandError> {
    let heard = |kind| {
        signal(kind).map_err(|problem| {
            let message = format!("cannot listen for signals: {problem}");
            CommandError::failed(Code::UnknownError, message)
        })
    };
    let (mut interrupt, mut terminate) =
        (heard(SignalKind::interrupt())?, heard(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

fn inside() -> Refusal {
    Refusal::new(
        Code::PermissionDenied,
        "An attempt cannot serve: whoever called it would be taken for its user.",
        "Use `legation mcp`, which speaks in the attempt's own name.",
    )
}
