//! What every line over HTTP has in common: nothing is followed elsewhere, and what is on
//! this machine is never asked for through a proxy.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, NoProxy, Proxy, Response};

/// Connections to one address that wait for the next question.
const MAX_IDLE: usize = 32;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);

/// Why nothing can be reached where the network is denied.
pub(super) const OFFLINE: &str = "`sandbox.network` denies it";

/// The clients of many conversations: those that reach out in the same manner share one.
/// All clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Clients(Arc<Mutex<HashMap<Manner, Client>>>);

/// How an address is reached, as far as the environment says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Manner {
    /// Whether nobody has to be trusted.
    is_plain: bool,
    /// Through whom: for plain addresses, for others, for any.
    proxies: [Option<String>; 3],
    /// What is reached without any of them.
    direct: Option<String>,
    /// The file that says whom to trust.
    trusted: Option<String>,
}

impl Clients {
    /// A client for one address.
    pub(super) fn to(&self, url: &str, env: &BTreeMap<String, String>) -> Result<Client, String> {
        let manner = Manner::of(url, env);
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&manner) {
            return Ok(client.clone());
        }
        let client = manner.client()?;
        clients.insert(manner, client.clone());
        Ok(client)
    }
}

impl Manner {
    fn of(url: &str, env: &BTreeMap<String, String>) -> Self {
        let said = |name: &str| {
            let value = env.get(name).or_else(|| env.get(&name.to_uppercase()))?;
            Some(value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let is_local = is_local(url);
        let proxy = |name: &str| said(name).filter(|_| !is_local);
        Self {
            is_plain: url.starts_with("http://"),
            proxies: [proxy("http_proxy"), proxy("https_proxy"), proxy("all_proxy")],
            direct: proxy("no_proxy"),
            trusted: said("SSL_CERT_FILE"),
        }
    }

    fn client(&self) -> Result<Client, String> {
        let in_words = |problem: reqwest::Error| reason(&problem);
        // One that was installed before is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // What this process sees itself is nobody's.
        let mut builder = Client::builder()
            .no_proxy()
            .http1_only()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(MAX_IDLE)
            .user_agent(concat!("legation/", env!("CARGO_PKG_VERSION")));
        let kinds: [fn(&str) -> reqwest::Result<Proxy>; 3] =
            [|url| Proxy::http(url), |url| Proxy::https(url), |url| Proxy::all(url)];
        for (kind, url) in kinds.into_iter().zip(&self.proxies) {
            let Some(url) = url else { continue };
            let direct = self.direct.as_deref().and_then(NoProxy::from_string);
            builder = builder.proxy(kind(url).map_err(in_words)?.no_proxy(direct));
        }
        if self.is_plain {
            // The list of whom to trust stays on the disk.
            builder = builder.tls_certs_only([]);
        } else if let Some(file) = &self.trusted {
            let text = std::fs::read(file).map_err(|problem| format!("{file}: {problem}"))?;
            let trusted = Certificate::from_pem_bundle(&text).map_err(in_words)?;
            builder = builder.tls_certs_only(trusted);
        }
        builder.build().map_err(in_words)
    }
}

/// Whether an address is on this machine.
pub(super) fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or("");
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

/// The start of what is answered: so many bytes, and whatever came with them.
pub(super) async fn read(mut response: Response, max_bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        text.extend_from_slice(&chunk);
        if text.len() >= max_bytes {
            break;
        }
    }
    text
}

/// The innermost reason: the outer ones only say that it failed.
pub(super) fn reason(problem: &dyn Error) -> String {
    let mut inner = problem;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
