//! The tools of agents, by the Model Context Protocol.
//!
//! A tool that did not work is a result that says so, in the same words as on the
//! command line; an error of the protocol is kept for what is not a tool call at all.

mod arguments;
mod digest;
mod follow;
mod stdio;
pub mod tools;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use legation_core::Code;
use legation_core::call::Call;
use legation_core::ids::DelegationId;
use legation_core::returns::harmless;
use legation_engine::protocol::{Refused, Reply, Wish};
use legation_engine::read::Sight;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, from_value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use self::arguments::{Batch, Cancel, Delegate, Explain, Nothing, Wait, read};
use self::follow::{Follow, Outcome};
use self::stdio::Stdio;
use crate::http::Admitted;
use crate::office::{Caller, Closing, Office};

/// What a client is told about the tools, once.
const INSTRUCTIONS: &str = "Hand work to other agents with `delegate` or `delegate_batch`. Each \
    works in its own copy of the project under fixed bounds; answers carry `remaining`. If your \
    client ends long calls, use wait=false and `delegate_wait`.";

/// How long an answer waits for what it could do without.
const SOON: Duration = Duration::from_secs(5);

/// The versions of the protocol that are spoken.
pub const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The tools of a project.
pub struct Mcp<O> {
    office: Arc<O>,
    version: &'static str,
    closing: Closing,
    /// When the one client there is hung up, once it has.
    gone: watch::Sender<Option<Instant>>,
}

impl<O> Clone for Mcp<O> {
    fn clone(&self) -> Self {
        let (office, closing) = (self.office.clone(), self.closing.clone());
        Self { office, version: self.version, closing, gone: self.gone.clone() }
    }
}

impl<O: Office> Mcp<O> {
    /// The tools, as a program of this version offers them.
    pub fn new(office: Arc<O>, version: &'static str) -> Self {
        let (closing, gone) = (Closing::default(), watch::Sender::new(None));
        Self { office, version, closing, gone }
    }

    /// The same, as long as the server that offers them is there.
    #[must_use]
    pub fn until(mut self, closing: Closing) -> Self {
        self.closing = closing;
        self
    }

    /// Serves standard input and output until the client hangs up.
    pub async fn serve_stdio(self) -> Result<(), String> {
        let transport = Stdio::new(self.gone.clone());
        let running = self.serve(transport).await;
        let running = running.map_err(|problem| problem.to_string())?;
        running.waiting().await.map(|_| ()).map_err(|problem| problem.to_string())
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Box<Refused>> {
        let (name, given) = (request.name.as_ref(), request.arguments);
        match name {
            "delegate" => {
                let asked: Delegate = read(name, given)?;
                self.delegate(asked.call()?, context).await
            }
            "delegate_batch" => {
                let asked: Batch = read(name, given)?;
                self.delegate(asked.call()?, context).await
            }
            "delegate_wait" => {
                let asked: Wait = read(name, given)?;
                let limit = asked.limit_ms()?.map(Duration::from_millis);
                let id = asked.delegation_id;
                let follow = self.following(context)?.of(id.clone());
                let outcome = follow.run(Wish::Wait { delegation: id }, limit).await?;
                self.answer(outcome, context).await
            }
            "delegate_status" => {
                let asked: Wait = read(name, given)?;
                Ok(digest::answer(&self.look(asked.delegation_id, context).await?))
            }
            "delegate_cancel" => {
                let asked: Cancel = read(name, given)?;
                let id = asked.delegation_id.clone();
                self.done(Wish::Steer(asked.steer()), context).await?;
                let view = self.look(id, context).await?;
                Ok(digest::plain(json!({
                    "delegationId": view.get("delegationId"), "status": view.get("status"),
                    "remaining": view.get("remaining"),
                })))
            }
            "delegate_list" => {
                let Nothing {} = read(name, given)?;
                Ok(digest::plain(self.done(Wish::List, context).await?))
            }
            "list_agents" => {
                let Nothing {} = read(name, given)?;
                Ok(digest::plain(self.done(Wish::Agents, context).await?))
            }
            "explain_permissions" => {
                let Explain { child, parent } = read(name, given)?;
                Ok(digest::plain(self.done(Wish::Explain { parent, child }, context).await?))
            }
            "submit_result" => {
                let returned = Value::Object(given.unwrap_or_default());
                let caller = caller(context)?;
                Ok(digest::plain(self.office.submit(&caller, &returned).await?))
            }
            unknown => Err(unknown_tool(unknown)),
        }
    }

    async fn delegate(
        &self,
        mut call: Call,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Box<Refused>> {
        // Made anew for each call: an engine that is asked again after a crash knows the
        // call by it, and nothing else ever does.
        call.idempotency_key.get_or_insert_with(|| format!("mcp-{}", Uuid::new_v4()));
        let wish = Wish::Delegate(Box::new(call));
        let outcome = self.following(context)?.run(wish, None).await?;
        self.answer(outcome, context).await
    }

    fn following<'a>(
        &'a self,
        context: &'a RequestContext<RoleServer>,
    ) -> Result<Follow<'a, O>, Box<Refused>> {
        let ends = (&self.closing, self.gone.subscribe());
        Ok(Follow::new(&*self.office, context, (caller(context)?, ends)))
    }

    async fn answer(
        &self,
        outcome: Outcome,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Box<Refused>> {
        match outcome {
            Outcome::Answer(view) => Ok(digest::answer(&view)),
            Outcome::Accepted(id) | Outcome::Later(id) => {
                Ok(digest::answer(&self.look(id, context).await?))
            }
        }
    }

    async fn look(
        &self,
        delegation: DelegationId,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, Box<Refused>> {
        self.done(Wish::Look { delegation, sight: Sight::Status }, context).await
    }

    /// What the caller may still ask for, if the engine says so soon.
    async fn remaining(&self, context: &RequestContext<RoleServer>) -> Option<Value> {
        let caller = caller(context).ok()?;
        let asked = async {
            let mut talk = self.office.ask(&caller, Wish::Remaining).await.ok()?;
            match talk.next().await.ok()? {
                Reply::Done(mut told) => told.get_mut("remaining").map(Value::take),
                Reply::Accepted { .. }
                | Reply::News(_)
                | Reply::Note(_)
                | Reply::Answer { .. }
                | Reply::Refused(_) => None,
            }
        };
        timeout(SOON, asked).await.ok().flatten().filter(Value::is_object)
    }

    /// Asks for something that is answered at once.
    async fn done(
        &self,
        wish: Wish,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, Box<Refused>> {
        match self.following(context)?.run(wish, None).await? {
            Outcome::Answer(value) => Ok(value),
            Outcome::Accepted(id) | Outcome::Later(id) => Ok(json!({"delegationId": id})),
        }
    }
}

impl<O: Office> ServerHandler for Mcp<O> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let server = Implementation::new("legation", self.version);
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            let message = unknown_tool(&request.name).message;
            return Err(ErrorData::invalid_params(message, None));
        }
        let result = self.call(request, &context).await;
        let mut result = result.unwrap_or_else(|refused| digest::refused(&refused));
        if digest::lacks_remaining(&result)
            && !context.ct.is_cancelled()
            && let Some(remaining) = self.remaining(&context).await
        {
            digest::add_remaining(&mut result, remaining);
        }
        Ok(result.into())
    }

    /// A request that the library cannot read, whether or not it knows the method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let params = params.unwrap_or_else(|| json!({}));
        let problem = match method.as_str() {
            "tools/call" => from_value::<CallToolRequestParams>(params).err(),
            "tools/list" => from_value::<PaginatedRequestParams>(params).err(),
            "resources/read" => from_value::<ReadResourceRequestParams>(params).err(),
            _ => None,
        };
        let Some(problem) = problem else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        };
        let message = format!("The parameters of `{method}` cannot be read: {problem}.");
        Err(ErrorData::invalid_params(message, None))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let missing = || {
            let message = format!("There is no resource `{}`.", request.uri);
            ErrorData::resource_not_found(message, Some(json!({"uri": request.uri})))
        };
        let id = digest::at(&request.uri).ok_or_else(missing)?;
        let view = self.look(DelegationId::new(id), &context).await.map_err(|_| missing())?;
        let text = ResourceContents::text(harmless(view).to_string(), &request.uri);
        Ok(ReadResourceResult::new(vec![text.with_mime_type("application/json")]).into())
    }
}

/// In whose name a request is made. Over HTTP it was let in, or it has no business here.
fn caller(context: &RequestContext<RoleServer>) -> Result<Caller, Box<Refused>> {
    let client = context.client_info().map(|info| info.name);
    let Some(parts) = context.extensions.get::<Parts>() else {
        return Ok(Caller { client, token: None });
    };
    match parts.extensions.get::<Admitted>() {
        Some(Admitted::Owner) => Ok(Caller { client, token: None }),
        Some(Admitted::Attempt(token)) => Ok(Caller { client, token: Some(token.clone()) }),
        None => Err(Box::new(Refused {
            code: Code::PermissionDenied.to_string(),
            message: "Nobody knows who sent this request.".to_owned(),
            ..Refused::default()
        })),
    }
}

fn unknown_tool(name: &str) -> Box<Refused> {
    Box::new(Refused { message: format!("There is no tool `{name}`."), ..Refused::default() })
}
