//! Tests `gcn lsp` through the protocol: what an editor sends, and what it gets back.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use gcn_test_support::skipped;
use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};

const URI: &str = "file:///work/kernel.s";

/// An editor with one open file.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: i32,
}

impl Editor {
    fn start(arguments: &[&str], options: Value) -> Editor {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gcn"))
            .arg("lsp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("gcn starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut editor = Editor { child, input, output, requests: 0 };
        let greeting = editor.ask(
            "initialize",
            json!({ "processId": null, "rootUri": null, "capabilities": {}, "initializationOptions": options }),
        );
        assert_eq!(greeting["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&mut self, method: &str, params: Value) {
        let message = Message::Notification(Notification::new(method.to_owned(), params));
        message.write(&mut self.input).expect("the server listens");
    }

    fn hear(&mut self) -> Message {
        Message::read(&mut self.output).expect("a message").expect("no end")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        let request = Message::Request(Request { id: id.clone(), method: method.to_owned(), params });
        request.write(&mut self.input).expect("the server listens");
        loop {
            if let Message::Response(response) = self.hear() {
                assert_eq!(response.id, id);
                assert!(response.error.is_none(), "{method}: {:?}", response.error);
                return response.result.unwrap_or_default();
            }
        }
    }

    /// The next diagnostics that the server sends.
    fn diagnostics(&mut self) -> Vec<Value> {
        loop {
            if let Message::Notification(note) = self.hear() {
                assert_eq!(note.method, "textDocument/publishDiagnostics");
                return note.params["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    fn open(&mut self, text: &str) -> Vec<Value> {
        let item = json!({ "uri": URI, "languageId": "amdgcn", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": item }));
        self.diagnostics()
    }

    fn at(line: u32, character: u32) -> Value {
        json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
    }

    fn hover(&mut self, line: u32, character: u32) -> String {
        let found = self.ask("textDocument/hover", Editor::at(line, character));
        found["contents"]["value"].as_str().unwrap_or("").to_owned()
    }

    fn completions(&mut self, line: u32, character: u32) -> Vec<String> {
        let found = self.ask("textDocument/completion", Editor::at(line, character));
        let items = found["items"].as_array().cloned().unwrap_or_default();
        items.iter().map(|i| i["label"].as_str().expect("a label").to_owned()).collect()
    }

    fn actions(&mut self, diagnostics: &[Value], only: Option<&str>) -> Vec<Value> {
        let mut context = json!({ "diagnostics": diagnostics });
        if let Some(only) = only {
            context["only"] = json!([only]);
        }
        let everything =
            json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let params = json!({ "textDocument": { "uri": URI }, "range": everything, "context": context });
        self.ask("textDocument/codeAction", params).as_array().expect("a list").clone()
    }

    fn exit(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.child.wait().expect("it ends").success());
    }
}

/// The text after applying the edit of a code action.
fn edited(text: &str, action: &Value) -> String {
    let edits = action["edit"]["changes"][URI].as_array().expect("edits");
    let mut text = text.to_owned();
    let offset = |text: &str, at: &Value| {
        let line = at["line"].as_u64().expect("a number") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + at["character"].as_u64().expect("a number") as usize
    };
    for edit in edits {
        let (from, to) = (offset(&text, &edit["range"]["start"]), offset(&text, &edit["range"]["end"]));
        text.replace_range(from..to, edit["newText"].as_str().expect("a text"));
    }
    text
}

/// A load whose result is read without a wait, and a lane select immediately after the SALU wrote it (CDNA3 ISA 4.5 requires 4 wait states
/// between a VALU write of an SGPR and its use as the lane select of `v_readlane`).
const BROKEN: &str = "\
\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
start:
\tglobal_load_dword v2, v0, s[2:3]
\tv_add_u32_e32 v3, v2, v2
again:\tv_readfirstlane_b32 s4, v1
\tv_readlane_b32 s5, v3, s4
\ts_cbranch_scc1 start
\ts_endpgm
";

/// RDNA files get diagnostics and explanations for the wave size that the command line or the editor specifies.
#[test]
fn rdna_is_read_with_waves_of_the_wanted_size() {
    let text = "\tv_cmp_eq_u32_e32 vcc_lo, v0, v1\n\ts_endpgm\n";
    for (arguments, options, errors) in [
        (&["--target", "gfx1100"][..], Value::Null, 0),
        (&["--target", "gfx1100", "--wave", "64"], Value::Null, 1),
        (&["--target", "gfx1100"], json!({ "wave": 64 }), 1),
        (&["--wave", "64"], json!({ "target": "gfx1201", "wave": 32 }), 0),
    ] {
        let mut editor = Editor::start(arguments, options);
        let found = editor.open(text);
        assert_eq!(found.len(), errors, "{arguments:?}: {found:?}");
        let meaning = editor.hover(0, 3);
        assert!(meaning.contains("v_cmp_eq_u32"), "{meaning}");
        editor.exit();
    }
}

#[test]
fn findings_appear_and_quick_fixes_remove_them() {
    let mut editor = Editor::start(&[], Value::Null);
    let found = editor.open(BROKEN);
    let rules: Vec<&str> = found.iter().filter_map(|d| d["code"].as_str()).collect();
    assert!(rules.contains(&"waitcnt.use") || rules.iter().any(|r| r.starts_with("waitcnt")), "{rules:?}");
    assert_eq!(
        found.iter().find(|d| d["code"].as_str().unwrap().starts_with("waitcnt")).unwrap()["range"]["start"]
            ["line"],
        3
    );
    let lane = found.iter().find(|d| d["range"]["start"]["line"] == 5).expect("the lane select");
    assert!(lane["message"].as_str().unwrap().contains("needs 4 wait states, has 0"), "{lane}");
    assert_eq!(lane["relatedInformation"][0]["location"]["range"]["start"]["line"], 4);

    // Each finding has a separate fix.
    let mut text = BROKEN.to_owned();
    let mut left = found;
    while let Some(first) = left.first() {
        let actions = editor.actions(std::slice::from_ref(first), Some("quickfix"));
        assert_eq!(actions.len(), 1, "{first}");
        text = edited(&text, &actions[0]);
        editor.tell(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "text": text }] }),
        );
        let now = editor.diagnostics();
        assert!(now.len() < left.len(), "{text}\n{now:?}");
        left = now;
    }
    assert!(text.contains("\ts_waitcnt vmcnt(0)\n\tv_add_u32_e32"), "{text}");
    assert!(text.contains("\ts_nop 3\n\tv_readlane_b32"), "{text}");

    // One action inserts all waits, as `gcn fix` does.
    let mut other = Editor::start(&[], Value::Null);
    let found = other.open(BROKEN);
    let all = other.actions(&found, Some("source.fixAll"));
    assert_eq!(all.len(), 1);
    let fixed = edited(BROKEN, &all[0]);
    assert_eq!(fixed, crate::gcn_with(&["fix", "-"], BROKEN.as_bytes()).text());
    editor.exit();
    other.exit();
}

#[test]
fn a_wait_goes_between_a_label_and_its_instruction() {
    let text = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\tv_readfirstlane_b32 s4, v1\nl:\tv_readlane_b32 s5, v3, s4\n\ts_endpgm\n";
    let mut editor = Editor::start(&[], Value::Null);
    let found = editor.open(text);
    let actions = editor.actions(&found, Some("quickfix"));
    assert!(edited(text, &actions[0]).contains("l:\n\ts_nop 3\n\t"), "{actions:?}");
    editor.exit();
}

#[test]
fn errors_of_the_assembler_have_their_place_and_remedy() {
    let mut editor = Editor::start(&["--target", "gfx90a"], Value::Null);
    let found = editor.open("s_endpgm ; ü\n v_add_f32 v0, v1\n v_nonsens v1\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1]["range"]["start"], json!({ "line": 2, "character": 1 }));
    assert_eq!(found[1]["severity"], 1);
    // Typing the missing wait removes the finding.
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [
            { "range": { "start": { "line": 1, "character": 17 }, "end": { "line": 2, "character": 13 } }, "text": ", v2" }
        ] }),
    );
    assert_eq!(editor.diagnostics(), Vec::<Value>::new());
    // If the file specifies no target, the editor's option is used; a closed file has no findings.
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(editor.diagnostics(), Vec::<Value>::new());
    editor.exit();
    let mut editor = Editor::start(&[], json!({ "target": "gfx900" }));
    let found = editor.open("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\n");
    assert!(found[0]["message"].as_str().unwrap().contains("gfx900"), "{found:?}");
    editor.exit();
}

#[test]
fn words_are_explained_completed_and_found() {
    let text = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.set width, 4\nloop:\n\tglobal_load_dword v1, v0, s[2:3] offset:width sc0\n\ts_cbranch_scc1 loop\n\tv_mfma_\n\ts_endpgm\n\tbuffer_load_dword v1, off, s[0:3], 0 \n\t.amd\n";
    let mut editor = Editor::start(&[], Value::Null);
    editor.open(text);
    let load = editor.hover(3, 4);
    assert!(load.contains("**global_load_dword**") && load.contains("vmcnt"), "{load}");
    assert!(editor.hover(3, 36).contains("offset:<-4096..4095>"), "{}", editor.hover(3, 36));
    assert!(editor.hover(3, 48).contains("coherent"));
    assert!(editor.hover(4, 18).contains("label at line 3"));
    assert_eq!(editor.hover(3, 24), "");

    let mnemonics = editor.completions(5, 8);
    assert!(mnemonics.contains(&"v_mfma_f32_32x32x8_f16".to_owned()));
    assert!(!mnemonics.contains(&"v_mfma_f32_16x16x32_f16".to_owned()), "gfx950 alone has it");
    assert!(!mnemonics.iter().any(|m| m.starts_with("v_add")));
    let modifiers = editor.completions(7, 38);
    for word in ["offset", "offen", "sc0", "nt", "loop", "width", "m0"] {
        assert!(modifiers.contains(&word.to_owned()), "{word}: {modifiers:?}");
    }
    for word in ["glc", "op_sel", "noclamp", "clamp"] {
        assert!(!modifiers.contains(&word.to_owned()), "{word}");
    }
    assert!(editor.completions(8, 5).contains(&".amdhsa_kernel".to_owned()));

    let definition = editor.ask("textDocument/definition", Editor::at(4, 18));
    assert_eq!(definition[0]["range"]["start"], json!({ "line": 2, "character": 0 }));
    let mut params = Editor::at(1, 6);
    params["context"] = json!({ "includeDeclaration": false });
    let references = editor.ask("textDocument/references", params);
    assert_eq!(references.as_array().unwrap().len(), 1);
    assert_eq!(references[0]["range"]["start"]["line"], 3);
    let outline = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    let names: Vec<&str> = outline.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["width", "loop"]);
    editor.exit();
}

#[test]
fn what_the_server_does_not_know_is_answered_with_an_error() {
    let mut editor = Editor::start(&[], Value::Null);
    for (method, params) in [("textDocument/rename", json!({})), ("textDocument/hover", json!({ "x": 1 }))] {
        let request =
            Message::Request(Request { id: RequestId::from(77), method: method.to_owned(), params });
        request.write(&mut editor.input).unwrap();
        let Message::Response(response) = editor.hear() else { panic!("no response") };
        assert!(response.error.is_some());
    }
    // Requests about a file that is not open get `null`.
    assert_eq!(editor.ask("textDocument/hover", Editor::at(0, 0)), Value::Null);
    editor.exit();
}

/// The next message exactly as it is in the output.
fn raw(editor: &mut Editor) -> Value {
    let mut line = String::new();
    editor.output.read_line(&mut line).expect("a header");
    let size: usize =
        line.trim().strip_prefix("Content-Length: ").expect("its length").parse().expect("a number");
    let mut rest = vec![0; 2 + size];
    editor.output.read_exact(&mut rest).expect("a body");
    serde_json::from_slice(&rest[2..]).expect("JSON")
}

#[test]
fn what_is_not_a_message_is_answered_with_an_error_and_the_server_goes_on() {
    let mut editor = Editor::start(&[], Value::Null);
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"shutdown"}"#;
    // Codes of JSON-RPC 2.0, section 5.1.
    for (text, code, word) in [
        ("Content-Length: 5\r\n\r\n{\"a\":".to_owned(), -32700, "JSON"),
        ("Content-Length: 2\r\n\r\n\u{7f}\u{1}".to_owned(), -32700, "JSON"),
        (format!("Content-Length: {}\r\n\r\n[{request}]", request.len() + 2), -32600, "batches"),
        ("Content-Length: 9\r\n\r\n{\"id\":[]}".to_owned(), -32600, "message"),
        ("Content-Length: many\r\n\r\n".to_owned(), -32700, "Content-Length"),
        ("hello\r\n\r\n".to_owned(), -32700, "Content-Length"),
    ] {
        editor.input.write_all(text.as_bytes()).expect("the server listens");
        let answer = raw(&mut editor);
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(code)),
            "{text}: {answer}"
        );
        assert!(answer["error"]["message"].as_str().is_some_and(|said| said.contains(word)), "{answer}");
    }
    assert_eq!(editor.ask("textDocument/hover", Editor::at(0, 0)), Value::Null);
    editor.exit();

    let mut editor = Editor::start(&[], Value::Null);
    editor.input.write_all(b"Content-Length: 9223372036854775807\r\n\r\n{").expect("the server listens");
    let answer = raw(&mut editor);
    assert!(answer["error"]["message"].as_str().is_some_and(|said| said.contains("256 MiB")), "{answer}");
    assert!(editor.child.wait().expect("it ends").success());
}

#[test]
fn an_editor_that_is_gone_ends_the_server() {
    let Editor { mut child, input, .. } = Editor::start(&[], Value::Null);
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn requests_are_answered_while_a_long_file_is_analysed() {
    let head = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\tv_mov_b32 v0, 0\n";
    let text = head.to_owned() + &"\tv_mov_b32_e32 v1, v0\n".repeat(20_000) + "\ts_endpgm\n";
    let mut editor = Editor::start(&[], Value::Null);
    let item = json!({ "uri": URI, "languageId": "amdgcn", "version": 0, "text": text });
    editor.tell("textDocument/didOpen", json!({ "textDocument": item }));
    const CHANGES: i32 = 30;
    for version in 1..=CHANGES {
        let at = json!({ "line": 1, "character": 17 });
        let change = json!({ "range": { "start": at, "end": at }, "text": "0" });
        let document = json!({ "uri": URI, "version": version });
        editor
            .tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }
    let request = Message::Request(Request {
        id: 1000.into(),
        method: "textDocument/completion".to_owned(),
        params: Editor::at(2, 6),
    });
    request.write(&mut editor.input).expect("the server listens");
    // Diagnostics that arrive before the answer may be for texts before the last change.
    let mut versions = Vec::new();
    let mut answered = None;
    while versions.last() != Some(&i64::from(CHANGES)) {
        match editor.hear() {
            Message::Notification(note) => versions.push(note.params["version"].as_i64().expect("a number")),
            Message::Response(response) => {
                assert!(response.error.is_none());
                answered = Some(versions.len());
            }
            Message::Request(request) => panic!("{request:?}"),
        }
    }
    assert!(answered.is_some_and(|before| before < versions.len()), "{answered:?} of {versions:?}");
    assert!(versions.len() <= 10, "{versions:?}: changes are taken together");
    editor.exit();
}

#[test]
fn a_wait_is_explained_where_it_stands() {
    let text = "\
\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
\tglobal_load_dword v2, v0, s[2:3]
\ts_waitcnt vmcnt(0)
\tv_add_u32_e32 v3, v2, v2
\ts_nop 2
\tv_readfirstlane_b32 s4, v1
\ts_nop 3
\tv_readlane_b32 s5, v3, s4
\ts_endpgm
";
    let mut editor = Editor::start(&[], Value::Null);
    editor.open(text);
    let wait = editor.hover(2, 4);
    assert!(wait.contains("Here: waitcnt.raw: v2 of global_load_dword (line 2)"), "{wait}");
    let states = editor.hover(6, 3);
    assert!(states.contains("v_readfirstlane_b32 (line 6)"), "{states}");
    let idle = editor.hover(4, 3);
    assert!(idle.contains("Here: not needed by any rule"), "{idle}");
    // CDNA3 ISA, table 11: 4 wait states between a VALU write of an SGPR and a lane select by it.
    let lane = editor.hover(7, 4);
    assert!(lane.lines().any(|line| line.starts_with("- [") && line.contains(": 4 wait states")), "{lane}");
    editor.exit();
}

/// Tests with a third-party client library, if Python has one installed.
#[test]
fn a_client_library_understands_the_server() {
    let python = std::env::var("GCN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python).args(["-c", "import pygls.lsp.client"]).output();
    if !has.is_ok_and(|o| o.status.success()) {
        skipped(
            &format!("`{python}` does not have the package `pygls`"),
            "install Python and its package `pygls`",
        );
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lsp_client.py");
    let run = Command::new(python).args([script, env!("CARGO_BIN_EXE_gcn")]).output().expect("Python starts");
    assert!(
        run.status.success(),
        "{}{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
}
