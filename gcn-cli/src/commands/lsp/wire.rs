//! The protocol's messages on standard input and output. Malformed input is answered with an error, and the server continues.

use std::io::{BufRead, Read as _, Write as _};
use std::thread::{Builder, JoinHandle};

use lsp_server::{Connection, ErrorCode, Message, Notification};
use lsp_types::notification::{Exit, Notification as _};
use serde_json::{Value, json};

/// The longest message that is accepted, in bytes.
const MOST: u64 = 256 << 20;

/// The connection to the editor over standard input and output.
pub struct Wire {
    writer: JoinHandle<std::io::Result<()>>,
}

impl Wire {
    /// Starts the connection. Of the two ends that it returns, the first is the server's and the second the editor's, into which other
    /// threads can send messages to the server.
    pub fn open() -> std::io::Result<(Wire, Connection, Connection)> {
        let (server, editor) = Connection::memory();
        let said = editor.sender.clone();
        // This thread is never joined, since it may be blocked in a read while the editor sends nothing more.
        Builder::new().name("reader".to_owned()).spawn(move || {
            let mut input = std::io::stdin().lock();
            loop {
                let message = match next(&mut input) {
                    Ok(Some(Read::Message(message))) => message,
                    Ok(Some(Read::Wrong(code, what))) => {
                        // If the write fails, standard output is closed, and the writer thread reports that.
                        let _ = refuse(code, &what);
                        continue;
                    }
                    // The editor has closed its end, with or without `exit`.
                    Ok(None) => exit(),
                    Err(error) => {
                        let _ = refuse(ErrorCode::ParseError, &error.to_string());
                        exit()
                    }
                };
                let is_last = matches!(&message, Message::Notification(note) if note.method == Exit::METHOD);
                if said.send(message).is_err() || is_last {
                    break;
                }
            }
        })?;
        let answers = editor.receiver.clone();
        let writer = Builder::new().name("writer".to_owned()).spawn(move || {
            answers.into_iter().try_for_each(|message| message.write(&mut std::io::stdout().lock()))
        })?;
        Ok((Wire { writer }, server, editor))
    }

    /// Waits until all messages are written. The server's end of the connection must have been dropped before.
    pub fn close(self) -> std::io::Result<()> {
        self.writer
            .join()
            .unwrap_or_else(|_| Err(std::io::Error::other("the thread that writes has panicked")))
    }
}

fn exit() -> Message {
    Message::Notification(Notification::new(Exit::METHOD.to_owned(), Value::Null))
}

/// A message, or the error for malformed input.
enum Read {
    Message(Message),
    Wrong(ErrorCode, String),
}

/// Reads the next message; `None` at the end of the input. Fails if the position of the next message is unknown.
fn next(input: &mut impl BufRead) -> std::io::Result<Option<Read>> {
    let mut size = None;
    loop {
        let mut line = Vec::new();
        // Header lines are short; the limit protects against input without line ends.
        if input.by_ref().take(1 << 12).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let Some((name, value)) = line.trim_end().split_once(':') else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            size = value.trim().parse::<u64>().ok();
        }
    }
    let wrong = |code, what: String| Ok(Some(Read::Wrong(code, what)));
    let Some(size) = size else {
        return wrong(
            ErrorCode::ParseError,
            "a message begins with `Content-Length: ` and its bytes".to_owned(),
        );
    };
    if size > MOST {
        let what = format!(
            "a message has at most {} MiB, this one claims {size} bytes; the server ends",
            MOST >> 20
        );
        return Err(std::io::Error::other(what));
    }
    // The buffer grows with the received bytes, because the announced size may be wrong.
    let mut body = Vec::new();
    input.take(size).read_to_end(&mut body)?;
    if (body.len() as u64) < size {
        return Ok(None);
    }
    match serde_json::from_slice(&body) {
        Ok(message) => Ok(Some(Read::Message(message))),
        Err(error) => match serde_json::from_slice::<Value>(&body) {
            Ok(Value::Array(_)) => wrong(
                ErrorCode::InvalidRequest,
                "the protocol has no batches: send each message alone".to_owned(),
            ),
            Ok(_) => wrong(ErrorCode::InvalidRequest, format!("not a message: {error}")),
            Err(error) => wrong(ErrorCode::ParseError, format!("not JSON: {error}")),
        },
    }
}

/// Sends an error response with the id `null`, for input whose id is not known.
fn refuse(code: ErrorCode, what: &str) -> std::io::Result<()> {
    let answer = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code as i32, "message": what } })
        .to_string();
    let mut out = std::io::stdout().lock();
    write!(out, "Content-Length: {}\r\n\r\n{answer}", answer.len())?;
    out.flush()
}
