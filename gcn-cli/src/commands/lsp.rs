//! `gcn lsp`: a language server for assembly.
//!
//! The server keeps the text of each open file. A second thread analyses the text after every change, as `gcn check` does; meanwhile the
//! server answers requests from the text alone. Positions of the protocol count UTF-16 code units; `document` converts them.

mod actions;
mod analyst;
mod complete;
mod diagnose;
mod document;
mod hover;
mod symbols;
mod wire;

use std::collections::BTreeMap;

use gcn_emit::target_id::TargetId;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    HoverProviderCapability, InitializeParams, OneOf, PublishDiagnosticsParams, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use serde::de::DeserializeOwned;

use crate::commands;
use crate::commands::rule_set::Shown;
use crate::failure::Failure;
use crate::file;
use analyst::Analyst;
use diagnose::Settings;
use document::Document;
use wire::Wire;

/// Serves editors: a language server for assembly on standard input and output.
///
/// Errors of the assembler, findings of the checker and problems of descriptors appear while one types, with the missing wait as a quick
/// fix. Hover explains instructions and modifiers; completion knows both. Labels, symbols and macros lead to their definitions. The folder
/// `editors/vscode` of the repository has an extension for Visual Studio Code. In other editors, configure `gcn lsp` as the server for
/// files in AMD GPU assembly.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The target id of files without `.amdgcn_target`, such as gfx942. The editor's initialization option `target` takes precedence
    #[arg(long, value_name = "T")]
    target: Option<TargetId>,
    #[command(flatten)]
    wave: commands::Wave,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    includes: file::Includes,
}

const EXAMPLES: &str = "\
Examples:
  gcn lsp                          an editor starts this and talks to it
  gcn lsp --target gfx942          for files that do not name their target
  gcn lsp --level documented       without findings that rest on caution alone";

/// Serves until the editor sends `exit`.
pub fn run(args: &Args) -> Result<(), Failure> {
    let rules = args.shown.config()?;
    let settings = Settings {
        target: args.target,
        wave: args.wave.wave,
        level: args.shown.level.unwrap_or_default(),
        rules,
        xnack: args.shown.xnack,
        folders: args.includes.folders(),
    };
    let failed = |error| Failure::usage(format!("the connection to the editor failed: {error}"));
    let (wire, connection, editor) = Wire::open().map_err(failed)?;
    let served = serve(&connection, editor, settings);
    // The writer thread ends when all senders are dropped.
    drop(connection);
    wire.close().map_err(failed)?;
    served
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned()]),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

/// The method of the messages by which the analysis thread sends its results to the server.
const FOUND: &str = "$/gcn/found";

/// Handles the messages on `connection` until the editor ends it. `editor` is the other end of the connection; the analysis thread sends
/// its results through it, as if they were messages from the editor.
fn serve(connection: &Connection, editor: Connection, mut settings: Settings) -> Result<(), Failure> {
    let broken = |error: &dyn std::fmt::Display| Failure::usage(format!("the editor's greeting: {error}"));
    let (id, params) = connection.initialize_start().map_err(|e| broken(&e))?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|e| broken(&e))?;
    settings.take_options(params.initialization_options.as_ref());
    let greeting = serde_json::json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "gcn", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, greeting).map_err(|e| broken(&e))?;
    let tell = move |found| {
        // Sending fails only if the server has ended, and then nobody needs the result.
        let _ = editor.sender.send(Message::Notification(Notification::new(FOUND.to_owned(), found)));
    };
    let analyst = Analyst::start(settings.clone(), tell);
    let analyst = analyst.map_err(|error| Failure::usage(format!("cannot start a thread: {error}")))?;
    let mut server = Server { connection, settings, analyst, documents: BTreeMap::new() };
    while let Ok(message) = connection.receiver.recv() {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(|e| broken(&e))? {
                    return Ok(());
                }
                let response = server.answer(request);
                server.send(Message::Response(response))?;
            }
            Message::Notification(note) if note.method == notification::Exit::METHOD => return Ok(()),
            Message::Notification(note) => server.note(note)?,
            Message::Response(_) => {}
        }
    }
    Ok(())
}

struct Server<'c> {
    connection: &'c Connection,
    settings: Settings,
    analyst: Analyst,
    documents: BTreeMap<String, Document>,
}

impl Server<'_> {
    fn send(&self, message: Message) -> Result<(), Failure> {
        self.connection.sender.send(message).map_err(|_| Failure::closed_output())
    }

    fn answer(&self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answer = match method.as_str() {
            request::HoverRequest::METHOD => self.on(params, hover::hover),
            request::Completion::METHOD => self.on(params, complete::complete),
            request::GotoDefinition::METHOD => self.on(params, symbols::definition),
            request::References::METHOD => self.on(params, symbols::references),
            request::DocumentSymbolRequest::METHOD => self.on(params, symbols::outline),
            request::CodeActionRequest::METHOD => self.on(params, actions::actions),
            _ => {
                let message = format!("`{method}` is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        }
    }

    /// Calls `answer` with the document that the parameters name; the answer is `null` if that document is not open.
    fn on<P: DeserializeOwned + About, A: serde::Serialize>(
        &self,
        params: serde_json::Value,
        answer: impl FnOnce(&Document, &Settings, P) -> A,
    ) -> Result<serde_json::Value, serde_json::Error> {
        let params: P = serde_json::from_value(params)?;
        match self.documents.get(params.uri().as_str()) {
            Some(document) => serde_json::to_value(answer(document, &self.settings, params)),
            None => Ok(serde_json::Value::Null),
        }
    }

    fn note(&mut self, notification: Notification) -> Result<(), Failure> {
        let Notification { method, params } = notification;
        match method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                if let Ok(opened) = parsed::<notification::DidOpenTextDocument>(params) {
                    let item = opened.text_document;
                    let document = Document::new(item.uri, item.text, item.version);
                    self.analyst.ask(&document);
                    self.documents.insert(document.uri.as_str().to_owned(), document);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Ok(changed) = parsed::<notification::DidChangeTextDocument>(params)
                    && let Some(document) = self.documents.get_mut(changed.text_document.uri.as_str())
                {
                    document.change(changed.content_changes, changed.text_document.version);
                    self.analyst.ask(document);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Ok(closed) = parsed::<notification::DidCloseTextDocument>(params) {
                    self.documents.remove(closed.text_document.uri.as_str());
                    let uri = closed.text_document.uri;
                    self.show(PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None })?;
                }
            }
            // Results for an older version of the text are dropped.
            FOUND => {
                if let Ok(found) = serde_json::from_value::<PublishDiagnosticsParams>(params)
                    && let Some(document) = self.documents.get(found.uri.as_str())
                    && found.version == Some(document.version)
                {
                    self.show(found)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn show(&self, params: PublishDiagnosticsParams) -> Result<(), Failure> {
        let method = notification::PublishDiagnostics::METHOD.to_owned();
        self.send(Message::Notification(Notification::new(method, params)))
    }
}

fn parsed<N: notification::Notification>(params: serde_json::Value) -> Result<N::Params, serde_json::Error>
where
    N::Params: DeserializeOwned,
{
    serde_json::from_value(params)
}

/// Parameters of a request about a document.
trait About {
    fn uri(&self) -> &Uri;
}

macro_rules! about {
    ($($params:ident: $($field:ident).+;)*) => {
        $(impl About for lsp_types::$params {
            fn uri(&self) -> &Uri {
                &self.$($field).+.uri
            }
        })*
    };
}

about! {
    HoverParams: text_document_position_params.text_document;
    CompletionParams: text_document_position.text_document;
    GotoDefinitionParams: text_document_position_params.text_document;
    ReferenceParams: text_document_position.text_document;
    DocumentSymbolParams: text_document;
    CodeActionParams: text_document;
}
