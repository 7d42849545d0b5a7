// As much of the editor's API as the extension and its client library use. What is not here is a class without members, which the
// library may extend or make, but which nothing of the test asks.
"use strict";

class Emitter {
  listeners = new Set();
  event = (listener, self) => {
    const bound = self ? listener.bind(self) : listener;
    this.listeners.add(bound);
    return { dispose: () => this.listeners.delete(bound) };
  };
  fire = (value) => Promise.all([...this.listeners].map((listener) => listener(value)));
  dispose() {}
}

class Uri {
  constructor(path) {
    Object.assign(this, { scheme: "file", authority: "", path, query: "", fragment: "", fsPath: path });
  }
  toString() {
    return `file://${this.path}`;
  }
  static file = (path) => new Uri(path);
  static parse = (text) => new Uri(text.replace("file://", ""));
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(...at) {
    const [startLine, startCharacter, endLine, endCharacter] = at;
    const ends = at.length === 2 ? at : [new Position(startLine, startCharacter), new Position(endLine, endCharacter)];
    [this.start, this.end] = ends;
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class Disposable {
  constructor(dispose) {
    this.dispose = dispose;
  }
}

class CancellationTokenSource {
  token = { isCancellationRequested: false, onCancellationRequested: new Emitter().event };
  cancel() {}
  dispose() {}
}

class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
  static Empty = new CodeActionKind("");
}

/** What happened, for the test. */
const seen = { errors: [], diagnostics: new Map(), commands: new Map(), output: [] };
const settings = {};
const changed = new Emitter();
const opened = new Emitter();

const disposable = () => new Disposable(() => {});
const never = new Emitter().event;
// Anything else that begins with `on` is an event which does not happen, and a function otherwise registers something.
const others = (known) =>
  new Proxy(known, {
    get: (all, name) => (name in all ? all[name] : /^on[A-Z]/.test(String(name)) ? never : disposable),
  });

const channel = () => others({ append: (text) => seen.output.push(text), appendLine: (text) => seen.output.push(text), name: "gcn" });

const known = {
  version: "1.82.0",
  EventEmitter: Emitter,
  Uri,
  Position,
  Range,
  Diagnostic,
  Disposable,
  CancellationTokenSource,
  CodeActionKind,
  CancellationError: class extends Error {},
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
  StatusBarAlignment: {},
  env: others({ appName: "test", language: "en", clipboard: {} }),
  extensions: others({ getExtension: () => undefined, all: [] }),
  l10n: { t: (text) => text },
  commands: others({
    registerCommand: (name, run) => (seen.commands.set(name, run), disposable()),
    executeCommand: async () => {},
    getCommands: async () => [],
  }),
  languages: others({
    match: (selector, document) => [selector].flat().some((one) => one.language === document.languageId) ? 10 : 0,
    createDiagnosticCollection: () => others({
      set: (uri, list) => seen.diagnostics.set(uri.toString(), list),
      delete: (uri) => seen.diagnostics.delete(uri.toString()),
    }),
  }),
  window: others({
    createOutputChannel: channel,
    visibleTextEditors: [],
    tabGroups: others({ all: [] }),
    showErrorMessage: async (text) => void seen.errors.push(text),
    showWarningMessage: async () => undefined,
    showInformationMessage: async () => undefined,
  }),
  workspace: others({
    getConfiguration: (section) => ({ get: (name, otherwise) => settings[`${section}.${name}`] ?? otherwise, inspect: () => undefined }),
    onDidChangeConfiguration: changed.event,
    onDidOpenTextDocument: opened.event,
    textDocuments: [],
    workspaceFolders: undefined,
    fs: others({}),
  }),
};

module.exports = new Proxy(known, { get: (all, name) => (name in all ? all[name] : (all[name] = class {})) });
module.exports.test = {
  seen,
  /** Sets a setting as a person does. */
  set: (name, value) => {
    settings[name] = value;
    return changed.fire({ affectsConfiguration: (section) => name.startsWith(section) });
  },
  open: (path, text) => {
    const lines = text.split("\n");
    const document = {
      uri: Uri.file(path), fileName: path, languageId: "amdgcn", version: 1, isClosed: false, lineCount: lines.length,
      getText: () => text,
    };
    known.workspace.textDocuments.push(document);
    return opened.fire(document);
  },
};
