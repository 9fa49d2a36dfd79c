//! Who gets in, and what happens to what is no call at all.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use expect_test::expect;
use serde_json::{Value, json};

use super::client::{Client, STATELESS, Server};
use super::wire::Ask;
use crate::session::Session;

/// A request that is answered if it gets in.
fn list() -> Ask {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {}}}});
    Ask::message(message.to_string())
        .with("MCP-Protocol-Version", STATELESS)
        .with("Mcp-Method", "tools/list")
}

#[test]
fn nobody_gets_in_without_a_token() {
    let session = Session::new();
    let server = Server::start(&session);
    let mut shorter = server.token.clone();
    let other = if shorter.pop() == Some('0') { '1' } else { '0' };
    let wrong = format!("{shorter}{other}");
    let sent = |value: &str| list().with("Authorization", value);
    let cases = [
        ("none", list()),
        ("empty", sent("Bearer ")),
        ("another scheme", sent(&format!("Basic {}", server.token))),
        ("no scheme", sent(&server.token)),
        ("one digit wrong", list().bearer(&wrong)),
        ("one digit more", list().bearer(&format!("{}0", server.token))),
        ("one digit less", list().bearer(&shorter)),
        ("in the address", Ask::new("GET", &format!("/mcp?token={}", server.token))),
        ("very long", list().bearer(&"x".repeat(10_000))),
    ];
    for (what, ask) in cases {
        let answer = ask.send(server.address);
        assert_eq!(answer.status, 401, "{what}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"legation\""), "{what}");
        let body: Value = serde_json::from_str(&answer.text()).unwrap();
        assert_eq!(body["error"]["code"], "PERMISSION_DENIED", "{what}");
    }
    for right in ["Bearer", "bearer", "BEARER"] {
        let answer = sent(&format!("{right} {}", server.token)).send(server.address);
        assert_eq!(answer.status, 200, "{right}");
    }
    // What could be an attempt's is looked up, as soon as the engine is there.
    let looked_up = list().bearer("del-1.exec-1.0123456789abcdef");
    let mut answer = looked_up.send(server.address);
    while answer.status == 503 {
        assert_eq!(answer.header("retry-after"), Some("1"));
        std::thread::yield_now();
        answer = looked_up.send(server.address);
    }
    assert_eq!(answer.status, 401);
}

#[test]
fn only_requests_for_this_machine_from_this_machine_are_heard() {
    let session = Session::new();
    let server = Server::start(&session);
    let port = server.address.port();
    let host = |name: &str| list().bearer(&server.token).with("Host", name);
    let origin = |name: &str| list().bearer(&server.token).with("Origin", name);
    let cases = [
        (host("localhost"), 200),
        (host(&format!("localhost:{port}")), 200),
        (host("LOCALHOST."), 200),
        (host(&format!("127.0.0.1:{port}")), 200),
        (host("127.9.9.9"), 200),
        (host(&format!("[::1]:{port}")), 200),
        (host("evil.example"), 403),
        (host(&format!("evil.example:{port}")), 403),
        (host("localhost.evil.example"), 403),
        (host("127.0.0.1.evil.example"), 403),
        (host("localhost@evil.example"), 403),
        (host("192.168.1.1"), 403),
        (host("0.0.0.0"), 403),
        (host(""), 403),
        (origin(&format!("http://localhost:{port}")), 200),
        (origin("http://127.0.0.1:9"), 200),
        (origin("https://[::1]"), 200),
        (origin("https://evil.example"), 403),
        (origin("http://localhost.evil.example"), 403),
        (origin("null"), 403),
        (origin("file://localhost/x"), 403),
        (origin("localhost"), 403),
        (origin("chrome-extension://abc"), 403),
    ];
    for (at, (ask, status)) in cases.into_iter().enumerate() {
        assert_eq!(ask.send(server.address).status, status, "case {at}");
    }
    // The names are looked at first, so that no page learns whether a token is right.
    assert_eq!(list().with("Host", "evil.example").send(server.address).status, 403);
}

#[test]
fn health_is_told_to_everybody_on_this_machine() {
    let session = Session::new();
    let server = Server::start(&session);
    let answer = Ask::new("GET", "/healthz").send(server.address);
    assert_eq!((answer.status, answer.text().as_str()), (200, "ok\n"));
    let answer = Ask::new("GET", "/healthz").with("Host", "evil.example").send(server.address);
    assert_eq!(answer.status, 403);
    let answer = Ask::new("GET", "/").send(server.address);
    assert_eq!(answer.status, 404);
    expect![[r#"
        {"error":{"code":"FILE_NOT_FOUND","message":"There is nothing at this path.","hint":"The tools are at `/mcp`.","details":null}}
    "#]]
    .assert_eq(&answer.text());
}

#[test]
fn what_is_no_message_is_refused_and_the_next_one_answered() {
    let session = Session::new();
    let server = Server::start(&session);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let plain = |body: &[u8]| list().bearer(&server.token).body(body);
    let cases = [
        ("no JSON", plain(b"this is not JSON"), 400),
        ("nothing", plain(b""), 400),
        ("half", plain(br#"{"jsonrpc":"2.0","id":1"#), 400),
        ("no UTF-8", plain(b"{\"jsonrpc\":\"\xff\"}"), 400),
        ("deep", plain(deep.as_bytes()), 400),
        ("too large", plain(&vec![b' '; 17 * 1024 * 1024]), 413),
        ("another type", list().bearer(&server.token).with("Content-Type", "text/plain"), 415),
        ("no stream", list().bearer(&server.token).with("Accept", "application/json"), 406),
        ("another method", Ask::new("PUT", "/mcp").bearer(&server.token), 405),
    ];
    for (what, ask, status) in cases {
        assert_eq!(ask.send(server.address).status, status, "{what}");
        assert_eq!(list().bearer(&server.token).send(server.address).status, 200, "after {what}");
    }
}

#[test]
fn a_session_is_of_who_opened_it_and_ends_when_told_to() {
    let session = Session::new();
    let server = Server::start(&session);
    let mut client = Client::new(&server, "2025-11-25");
    let id = client.session().unwrap().to_owned();
    let ask = client.request("tools/list", json!({}));
    let unknown = ask.clone().with("Mcp-Session-Id", "no-such-session");
    assert_eq!(unknown.send(server.address).status, 404);
    let end = Ask::new("DELETE", "/mcp").bearer(&server.token).with("Mcp-Session-Id", &id);
    assert_eq!(end.clone().bearer("wrong").send(server.address).status, 401);
    assert_eq!(ask.send(server.address).status, 200);
    assert_eq!(end.send(server.address).status, 202);
    assert_eq!(ask.send(server.address).status, 404);
}

#[test]
fn there_are_never_too_many_sessions() {
    let session = Session::new();
    let server = Server::start(&session);
    let mut first = Client::new(&server, "2025-11-25");
    let mut second = Client::new(&server, "2025-11-25");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "many", "version": "1"}}});
    let hello = Ask::message(hello.to_string()).bearer(&server.token);
    let connection = TcpStream::connect(server.address).unwrap();
    for _ in 0..998 {
        let answer = hello.send_over(connection.try_clone().unwrap());
        assert_eq!(answer.status, 200);
        assert!(answer.text().contains("legation"));
    }
    // The first is used once more, so that the second is the one to go.
    assert!(first.ask("tools/list", json!({}))["result"].is_object());
    assert_eq!(hello.send(server.address).status, 200);
    assert_eq!(second.begin("tools/list", json!({})).status, 404);
    assert!(first.ask("tools/list", json!({}))["result"].is_object());
}

#[test]
fn the_token_is_made_once_and_readable_for_its_owner_alone() {
    let session = Session::new();
    let first = session.run(&["serve", "--print-token"]);
    let (token, note) = first.split_once('\n').unwrap();
    assert_eq!(token.len(), 64, "{first}");
    assert!(note.starts_with("! It is kept in $TMP/home/.local/state/legation/"), "{first}");
    assert_eq!(session.run(&["serve", "--print-token"]), first);
    let told: Value =
        serde_json::from_str(&session.run(&["serve", "--print-token", "--json"])).unwrap();
    assert_eq!(told["token"], token);
    let file = session.paths().state.join("serve-token");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let seen = session.run(&["serve", "--print-token"]);
    assert!(seen.contains("can be read by others; remove it"), "{seen}");
    std::fs::remove_file(&file).unwrap();
    assert_ne!(session.run(&["serve", "--print-token"]), first);
}

#[test]
fn it_is_said_where_it_listens_and_why_it_does_not() {
    let mut session = Session::new();
    let server = Server::start(&session);
    assert_eq!(server.said["url"], format!("http://{}/mcp", server.address));
    assert!(server.address.ip().is_loopback());
    let port = server.address.port().to_string();
    let seen = session.run(&["serve", "--port", &port]).replace(&port, "PORT");
    expect![[r#"
        ! ERROR: cannot listen on 127.0.0.1:PORT: Address already in use (os error 98)
        ! Suggestion: give another --port, or 0 for one that is free
        [exit 1]
    "#]]
    .assert_eq(&seen);
    expect![[r#"
        ! ERROR: other machines can reach 0.0.0.0
        ! Suggestion: give --allow-remote if they shall; the token then crosses the network
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["serve", "--listen", "0.0.0.0"]));
    session.write(".legation/config.toml", format!("[serve]\nport = {port}\n"));
    assert!(session.run(&["serve"]).contains(&format!("cannot listen on 127.0.0.1:{port}")));
    session.set("LEGATION_TOKEN", "del-1.exec-1.00");
    expect![[r#"
        ! ERROR: An attempt cannot serve: whoever called it would be taken for its user.
        ! Suggestion: Use `legation mcp`, which speaks in the attempt's own name.
        [exit 6]
    "#]]
    .assert_eq(&session.run_to(&["serve"], Stdio::piped()));
}
