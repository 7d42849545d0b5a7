//! Answers the requests of the playground's page: findings, explanations, encodings, runs.
//!
//! The page sends a request as JSON and gets JSON back ([`answer`]). Everything runs in the browser; there is no server. `boundary` has the
//! three functions that JavaScript calls.
//!
//! ```
//! let text = ".amdgcn_target \\\"amdgcn-amd-amdhsa--gfx942\\\"\\nglobal_load_dword v0, v[2:3], off\\nv_mov_b32 v1, v0\\ns_endpgm";
//! let answer = gcn_playground::answer(&format!(r#"{{"do":"analyse","text":"{text}"}}"#));
//! assert!(answer.contains("waitcnt.raw"), "{answer}");
//! ```

mod analyse;
mod boundary;
mod complete;
mod describe;
mod run;

use gcn_emit::asm;
use gcn_emit::target_id::TargetId;
use gcn_isa::WaveSize;
use gcn_report::container::Choice;
use serde::Deserialize;
use serde_json::{Value, json};

/// The file name for the text, used in messages.
const NAME: &str = "kernel.s";

/// A request of the page.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Request {
    /// Errors of the assembler, findings, the reason for each wait, machine code, and what each kernel needs.
    Analyse(Source),
    /// Insert the missing waits; with `strip` also remove the waits that nothing needs.
    Fix {
        #[serde(flatten)]
        source: Source,
        #[serde(default)]
        strip: bool,
    },
    /// Assemble the text: the code object, its bytes in hexadecimal.
    Object(Source),
    /// Explain an instruction or a modifier.
    Describe { word: String, target: Option<String> },
    /// Words that may complete `before`, the caret's line up to the caret.
    Complete {
        #[serde(flatten)]
        source: Source,
        before: String,
    },
    /// A spec for the kernel, to be filled in.
    Template(Source),
    /// Run a launch, with buffers as input and output.
    Run(run::Launch),
    /// Run a launch in the timed mode and draw it.
    Timeline(run::Launch),
}

/// A text in assembly, with defaults for what it leaves open.
#[derive(Deserialize)]
struct Source {
    text: String,
    /// The target, if the text names none.
    target: Option<String>,
    /// Lanes of a wave, if the text does not say.
    wave: Option<u32>,
}

impl Source {
    fn wave(&self) -> Result<Option<WaveSize>, String> {
        let known =
            |lanes| WaveSize::of_lanes(lanes).ok_or(format!("a wave has 32 or 64 lanes, not {lanes}"));
        self.wave.map(known).transpose()
    }

    fn choice(&self) -> Result<Choice, String> {
        Ok(Choice { target: self.target()?, wave: self.wave()?, ..Choice::default() })
    }

    fn target(&self) -> Result<Option<TargetId>, String> {
        target(self.target.as_deref().filter(|_| asm::named_target(&self.text).is_none()))
    }
}

fn target(name: Option<&str>) -> Result<Option<TargetId>, String> {
    let parse =
        |name: &str| name.parse().map_err(|_| format!("`{name}` is not a target; write for example gfx942"));
    name.filter(|name| !name.is_empty()).map(parse).transpose()
}

/// Answers a request; both are JSON. Errors are in the answer's `error`.
pub fn answer(request: &str) -> String {
    let answer = match serde_json::from_str(request) {
        Ok(request) => respond(request),
        Err(error) => Err(format!("the page sent what this module does not understand: {error}")),
    };
    answer.unwrap_or_else(|error| json!({ "error": error })).to_string()
}

fn respond(request: Request) -> Result<Value, String> {
    match request {
        Request::Analyse(source) => analyse::analyse(&source),
        Request::Fix { source, strip } => analyse::fix(&source, strip),
        Request::Object(source) => analyse::code_object(&source),
        Request::Describe { word, target: name } => Ok(describe::word(&word, target(name.as_deref())?)),
        Request::Complete { source, before } => complete::complete(&source, &before),
        Request::Template(source) => run::template(&source),
        Request::Run(launch) => run::run(&launch),
        Request::Timeline(launch) => run::timeline(&launch),
    }
}
