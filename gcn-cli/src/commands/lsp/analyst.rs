//! The thread that analyses documents while the server answers requests. It takes the newest text of each document, so that of many changes
//! in quick succession only the last one is analysed.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;

use lsp_types::PublishDiagnosticsParams;

use super::diagnose::{self, Settings};
use super::document::Document;

/// A handle to the analysis thread. The thread ends some time after the handle is dropped.
pub struct Analyst {
    desk: Arc<Desk>,
}

#[derive(Default)]
struct Desk {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    documents: BTreeMap<String, Document>,
    is_over: bool,
}

impl Analyst {
    /// Starts the thread, which passes its results to `tell`.
    pub fn start(
        settings: Settings,
        tell: impl Fn(PublishDiagnosticsParams) + Send + 'static,
    ) -> std::io::Result<Analyst> {
        let desk = Arc::new(Desk::default());
        let theirs = Arc::clone(&desk);
        Builder::new().name("analyst".to_owned()).spawn(move || {
            while let Some(document) = theirs.next() {
                let diagnostics = diagnose::diagnose(&document, &settings);
                let version = Some(document.version);
                tell(PublishDiagnosticsParams { uri: document.uri, diagnostics, version });
            }
        })?;
        Ok(Analyst { desk })
    }

    /// Requests an analysis of a document. The request replaces an earlier request for the same document that has not been started.
    pub fn ask(&self, document: &Document) {
        let mut waiting = self.desk.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.documents.insert(document.uri.as_str().to_owned(), document.clone());
        self.desk.changed.notify_one();
    }
}

impl Desk {
    /// Waits for the next document; `None` when the thread is to end.
    fn next(&self) -> Option<Document> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |waiting: &mut Waiting| waiting.documents.is_empty() && !waiting.is_over;
        let mut waiting = self.changed.wait_while(waiting, idle).unwrap_or_else(PoisonError::into_inner);
        if waiting.is_over { None } else { waiting.documents.pop_first().map(|(_, document)| document) }
    }
}

impl Drop for Analyst {
    fn drop(&mut self) {
        self.desk.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.desk.changed.notify_one();
    }
}
