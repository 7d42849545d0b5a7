// Ties editor, engine and tabs together.

const TARGETS = ["gfx942", "gfx950", "gfx90a", "gfx908", "gfx906", "gfx900"];
const examples = JSON.parse(byId("examples").textContent);
let report = {};
let fixed = { text: "" };
let analyst, runner;

const editor = new Editor(() => later("analyse", analyse, 250), () => later("caret", caret, 60));

const completion = new Completion(editor, async (before) => (analyst ? analyst.ask({ do: "complete", ...source(), before }) : {}));

const timers = {};
function later(name, work, milliseconds) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(work, milliseconds);
}

const source = () => ({ text: editor.value, target: byId("target").value });
const launch = () => ({ ...source(), spec: byId("spec").value, mode: byId("mode").value, sanitize: byId("sanitize").checked ? "all" : "" });

// What is typed while an answer is on its way is asked again; an older answer is dropped.
let asked = 0;
async function analyse() {
  const mine = ++asked;
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
  const before = new Set(editor.value.split("\n").map((line) => line.trim()));
  fixed = { ...answer, isNew: (line) => !before.has(answer.text.split("\n")[line - 1].trim()) };
  byId("adopt").disabled = Boolean(answer.error) || answer.text === editor.value;
  showWaits(fixed, explained);
}

// The word of a line that is looked up: its mnemonic.
const mnemonic = (line) => editor.lineText(line).replace(/;.*|\/\/.*/, "").match(/^\s*(?:[\w.$]+:\s*)*([\w.]+)/)?.[1];

const named = () => editor.value.match(/\.amdgcn_target\s+"[^"]*?(gfx\w+)/)?.[1] ?? byId("target").value;
const describe = (word) => (word ? analyst.ask({ do: "describe", word, target: named() }) : null);

async function caret() {
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
  if (described?.page) parts.push(make("b", "", described.page.mnemonic), make("div", "", make("code", "", described.page.semantics)));
  else if (described?.meaning) parts.push(make("div", "", make("code", "", described.modifier), ` ${described.meaning}`));
  if (encoded) parts.push(make("div", "", make("small", "", `offset ${encoded.address.toString(16)}: `), make("code", "", encoded.bytes.replace(/(..)(?=.)/g, "$1 "))));
  box.hidden = !parts.length;
  box.replaceChildren(...parts);
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 8))}px`;
  box.style.top = `${event.clientY + 18 + height > innerHeight ? Math.max(4, event.clientY - height - 10) : event.clientY + 18}px`;
}

// Runs something that may take long, with the stop buttons on.
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

let tab = "findings";
function choose(name) {
  tab = name;
  for (const button of document.querySelectorAll('[role="tab"]')) {
    const on = button.id === `tab-${name}`;
    button.setAttribute("aria-selected", on);
    button.tabIndex = on ? 0 : -1;
    byId(button.getAttribute("aria-controls")).hidden = !on;
  }
}

// Arrow keys move between the tabs.
function tabKey(event) {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  choose(next.id.slice(4));
  next.focus();
  remember();
}

async function remember() {
  const { text, target, spec, mode, sanitize } = launch();
  history.replaceState(null, "", `#${await toHash({ text, target, spec, mode, sanitize, tab, strip: byId("strip").checked })}`);
}

function load(state) {
  completion.close();
  editor.value = state.text;
  byId("target").value = TARGETS.includes(state.target) ? state.target : TARGETS[0];
  byId("spec").value = state.spec ?? "";
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
  on("strip", "change", analyse);
  on("insert", "click", async () => {
    const answer = await analyst.ask({ do: "fix", ...source(), strip: false });
    if (answer.error) byId("status").textContent = answer.error;
    else { editor.value = answer.text; analyse(); }
  });
  on("adopt", "click", () => { editor.value = fixed.text; analyse(); });
  on("share", "click", async () => {
    await remember();
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    byId("status").textContent = "The address of this page holds text, spec and settings, and is copied.";
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
    else byId("spec").value = answer.spec;
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
  load(await fromHash(location.hash) ?? { ...examples[0], target: TARGETS[0] });
  try {
    ({ analyst, runner } = await engines());
  } catch (error) {
    byId("status").textContent = `This browser cannot run the page: ${error}`;
    return;
  }
  await analyse();
  document.documentElement.dataset.ready = Math.round(performance.now());
})();
