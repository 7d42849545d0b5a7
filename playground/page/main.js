// Connects editor, engine and tabs.

// The first one is the default. A test of the crate compares this list with gcn-isa's.
const TARGETS = [
  "gfx942", "gfx950", "gfx90a", "gfx908", "gfx906", "gfx900", "gfx9-generic", "gfx902", "gfx904", "gfx909",
  "gfx90c", "gfx9-4-generic", "gfx10-1-generic", "gfx1010", "gfx1011", "gfx1012", "gfx1013",
  "gfx10-3-generic", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
  "gfx11-generic", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
  "gfx12-generic", "gfx1200", "gfx1201", "gfx1250", "gfx1251",
];
const examples = JSON.parse(byId("examples").textContent);
let report = {};
let fixed = { text: "" };
let analyst, runner;
let tab = "findings";

const editor = new Editor(() => later("analyse", analyse, 250), () => later("caret", caret, 60));

const spec = new History(byId("spec"));
const find = new Find(editor);
const completion = new Completion(editor, async (before) => (analyst ? analyst.ask({ do: "complete", ...source(), before }) : {}));

const timers = {};
function later(name, work, milliseconds) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(work, milliseconds);
}

const source = () => ({ text: editor.value, target: byId("target").value, wave: Number(byId("wave").value) || undefined });
const launch = () => ({ ...source(), spec: byId("spec").value, mode: byId("mode").value, sanitize: byId("sanitize").checked ? "all" : "" });

// Every change sends a request; an answer that is older than the last request is dropped.
let asked = 0;
async function analyse() {
  if (!analyst) return;
  const mine = ++asked;
  toShow = null;
  const answer = await analyst.ask({ do: "analyse", ...source() });
  if (mine !== asked) return;
  report = answer.error ? { errors: [{ line: 0, severity: "error", message: answer.error }] } : answer;
  const list = problems(report);
  const marks = new Map();
  list.forEach(({ line, kind }) => line && marks.get(line) !== "error" && marks.set(line, kind));
  editor.mark(marks);
  showFindings(list, report, (line) => { editor.go(line); caret(); });
  showKernel(report.kernels);
  const wrong = list.filter((p) => p.kind === "error").length;
  byId("tab-findings").textContent = list.length ? `Findings (${list.length})` : "Findings";
  byId("insert").disabled = !(report.findings ?? []).length;
  status(list, wrong);
  caret();
  await waits(mine);
  await remember();
}

function status(list, wrong) {
  const target = report.target_id ? `${report.target_id}: ` : "";
  const kernel = report.kernels?.[0];
  const use = kernel ? ` ${kernel.vgprs} VGPRs, ${kernel.sgprs} SGPRs, ${plural(kernel.occupancy.waves_per_simd, "wave")} on a SIMD.` : "";
  const found = list.length ? `${plural(wrong, "error")}, ${plural(list.length - wrong, "warning")}.` : "no finding.";
  byId("status").textContent = `${target}${found}${use}`;
}

async function waits(mine) {
  const strip = byId("strip").checked;
  const answer = await analyst.ask({ do: "fix", ...source(), strip });
  if (mine !== asked) return;
  const explained = answer.error ? {} : await analyst.ask({ do: "analyse", ...source(), text: answer.text });
  if (mine !== asked) return;
  fixed = answer;
  byId("adopt").disabled = Boolean(answer.error) || answer.text === editor.value;
  toShow = { before: editor.value, fixed, report: explained };
  listWaits();
}

// The list of waits may be long, so it is only made when its tab is open.
let toShow = null;
function listWaits() {
  if (tab !== "waits" || !toShow) return;
  showWaits({ ...toShow, asDifference: byId("difference").checked });
}

// The mnemonic of a line, which is looked up in the reference.
const mnemonic = (line) => editor.lineText(line).replace(/;.*|\/\/.*/, "").match(/^\s*(?:[\w.$]+:\s*)*([\w.]+)/)?.[1];

const named = () => editor.value.match(/\.amdgcn_target\s+"[^"]*?(gfx[\w-]+)/)?.[1] ?? byId("target").value;
const describe = (word) => (word ? analyst.ask({ do: "describe", word, target: named() }) : null);

async function caret() {
  if (!analyst) return;
  const line = editor.line;
  showInstruction(line, report.lines?.[line], await describe(mnemonic(line)));
}

async function tip(event) {
  const { line, word } = editor.at(event.clientX, event.clientY);
  const encoded = report.lines?.[line]?.[0];
  const problem = problems(report).filter((p) => p.line === line);
  const described = await describe(word);
  const box = byId("tip");
  const parts = problem.map((p) => make("div", "wrong", `${p.title}. ${p.text}`));
  if (described?.page) parts.push(make("b", "", described.page.mnemonic), make("div", "", make("code", "", described.page.semantics || described.page.forms[0].printed)));
  else if (described?.meaning) parts.push(make("div", "", make("code", "", described.modifier), ` ${described.meaning}`));
  if (encoded) parts.push(make("div", "", make("small", "", `offset ${encoded.address.toString(16)}: `), make("code", "", encoded.bytes.replace(/(..)(?=.)/g, "$1 "))));
  box.hidden = !parts.length;
  box.replaceChildren(...parts);
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 8))}px`;
  box.style.top = `${event.clientY + 18 + height > innerHeight ? Math.max(4, event.clientY - height - 10) : event.clientY + 18}px`;
}

// Sends a request that may take long, and meanwhile enables the stop buttons.
async function running(place, request, show) {
  byId(place).replaceChildren(make("p", "", "Running …"));
  const buttons = [...document.querySelectorAll(".stop")];
  buttons.forEach((b) => { b.disabled = false; });
  const answer = await runner.ask(request);
  buttons.forEach((b) => { b.disabled = true; });
  show(answer);
  remember();
}

function drawTimeline(answer) {
  const drawn = byId("drawn");
  if (answer.error) return drawn.replaceChildren(make("p", "wrong", answer.error));
  const frame = make("iframe");
  frame.title = "Timeline";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.srcdoc = answer.page;
  const listing = make("details", "", make("summary", "", "Cycles by instruction"), make("pre", "page", answer.listing));
  drawn.replaceChildren(frame, listing);
}

function choose(name) {
  tab = name;
  for (const button of document.querySelectorAll('[role="tab"]')) {
    const on = button.id === `tab-${name}`;
    button.setAttribute("aria-selected", on);
    button.tabIndex = on ? 0 : -1;
    byId(button.getAttribute("aria-controls")).hidden = !on;
  }
  listWaits();
}

// Moves between tabs with the arrow keys.
function tabKey(event) {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  choose(next.id.slice(4));
  next.focus();
  remember();
}

const say = (text) => { byId("status").textContent = text; };
const stateNow = () => {
  const { text, target, wave, spec, mode, sanitize } = launch();
  return { text, target, wave, spec, mode, sanitize, tab, strip: byId("strip").checked, embed: document.body.classList.contains("embedded") };
};

async function remember() {
  const state = stateNow();
  history.replaceState(null, "", `#${await toHash(state)}`);
  if (state.embed) byId("whole").href = await address({ ...state, embed: false });
}

// The page's URL for a state.
const address = async (state) => `${location.href.replace(/#.*/s, "")}#${await toHash(state)}`;

async function copy(text, told) {
  await navigator.clipboard?.writeText(text).catch(() => {});
  say(told);
}

function load(state) {
  completion.close();
  document.body.classList.toggle("embedded", Boolean(state.embed));
  byId("whole").hidden = !state.embed;
  spec.replace(state.spec ?? "");
  editor.replace(state.text);
  byId("target").value = TARGETS.includes(state.target) ? state.target : TARGETS[0];
  byId("wave").value = state.wave ?? "";
  byId("mode").value = state.mode || "functional";
  byId("sanitize").checked = Boolean(state.sanitize);
  byId("strip").checked = Boolean(state.strip);
  byId("results").replaceChildren();
  byId("drawn").replaceChildren();
  choose(byId(`tab-${state.tab}`) ? state.tab : "findings");
}

function wire() {
  const on = (id, event, work) => byId(id).addEventListener(event, work);
  byId("target").append(...TARGETS.map((t) => new Option(t, t)));
  byId("example").append(...examples.map((e, i) => new Option(e.title, i)));
  on("example", "change", (event) => {
    const example = examples[event.target.value];
    if (!example) return;
    load({ tab: "findings", mode: "functional", target: byId("target").value, ...example });
    analyse();
  });
  on("target", "change", analyse);
  on("wave", "change", analyse);
  on("strip", "change", analyse);
  on("insert", "click", async () => {
    const answer = await analyst.ask({ do: "fix", ...source(), strip: false });
    if (answer.error) say(answer.error);
    else { editor.replace(answer.text); analyse(); }
  });
  on("adopt", "click", () => { editor.replace(fixed.text); analyse(); });
  on("difference", "change", listWaits);
  on("share", "click", async () => {
    await remember();
    await copy(location.href, "The address of this page holds text, spec and settings, and is copied.");
  });
  on("embed", "click", async () => copy(embedding(await address({ ...stateNow(), embed: true })), "The HTML that shows this text in another page is copied."));
  on("open", "click", () => byId("opened").click());
  on("opened", "change", async (event) => {
    const [file] = event.target.files;
    await openFile(editor, file, say);
    // Without this, opening the same file again would not be a change.
    event.target.value = "";
  });
  on("save", "click", () => save(fileName, editor.value));
  on("object", "click", async () => saveCodeObject(await analyst.ask({ do: "object", ...source() }), say));
  // The menu closes after a choice, on a click elsewhere and on Escape.
  const menu = byId("file");
  document.addEventListener("click", (event) => { if (event.target.closest("#file button") || !menu.contains(event.target)) menu.open = false; });
  on("file", "keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.querySelector("summary").focus(); } });
  byId("left").addEventListener("dragover", (event) => event.preventDefault());
  byId("left").addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    openFile(editor, event.dataTransfer.files[0], say);
  });
  // Undo also works when the focus is not in a text field: after a click on a button, it reverts what that did to the text.
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("textarea, input:not([type=checkbox])")) return;
    event.preventDefault();
    if (event.shiftKey) editor.history.redo();
    else editor.history.undo();
  });
  on("theme", "click", () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  on("start", "click", () => running("results", { do: "run", ...launch() }, showRun));
  on("draw", "click", () => running("drawn", { do: "timeline", ...launch() }, drawTimeline));
  on("template", "click", async () => {
    const answer = await analyst.ask({ do: "template", ...source() });
    if (answer.error) showRun(answer);
    else spec.replace(answer.spec);
  });
  document.querySelectorAll(".stop").forEach((b) => b.addEventListener("click", () => runner.restart()));
  document.querySelectorAll('[role="tab"]').forEach((b) => {
    b.addEventListener("click", () => { choose(b.id.slice(4)); remember(); });
    b.addEventListener("keydown", tabKey);
  });
  byId("text").addEventListener("mousemove", (event) => { byId("tip").hidden = true; later("tip", () => tip(event), 180); });
  byId("text").addEventListener("mouseleave", () => { clearTimeout(timers.tip); byId("tip").hidden = true; });
  addEventListener("hashchange", async () => { const state = await fromHash(location.hash); if (state) { load(state); analyse(); } });
}

(async () => {
  wire();
  // The initial text is not a step that can be undone.
  load(await fromHash(location.hash) ?? { ...examples[0], target: TARGETS[0] });
  [editor.history, spec].forEach((history) => history.begin());
  try {
    ({ analyst, runner } = await engines());
  } catch (error) {
    say(`This browser cannot run the page: ${error}`);
    return;
  }
  await analyse();
  document.documentElement.dataset.ready = Math.round(performance.now());
})();
