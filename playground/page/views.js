// The contents of the tabs.

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const counts = (grade) => grade !== "cautious";

// Errors of the assembler, findings and lints as one list, in the order of the text.
function problems(report) {
  const errors = (report.errors ?? []).map((e) => ({
    line: e.line, kind: e.severity, title: e.message, text: e.help ?? "", source: "assembler",
  }));
  const findings = (report.findings ?? []).map((f) => ({
    line: f.second.line,
    kind: counts(f.grade) ? "error" : "warning",
    title: f.title,
    text: [
      f.register && `${f.register}: `, f.first && `written by line ${f.first.line}, `, amount(f),
      f.caveat && ` (${f.caveat})`, f.remedy && `. ${f.remedy}`,
    ].filter(Boolean).join(""),
    source: `${f.rule}, ${f.grade}: ${f.cite}`,
  }));
  const lints = (report.lints ?? []).map((l) => ({
    line: l.instruction?.line, kind: counts(l.grade) ? "error" : "warning",
    title: `kernel ${l.kernel}: ${l.message}`, text: l.remedy, source: `${l.rule}, ${l.grade}: ${l.cite}`,
  }));
  return [...errors, ...findings, ...lints].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function amount({ need, have }) {
  if (need?.wait_states !== undefined) return `needs ${plural(need.wait_states, "wait state")}, has ${have?.wait_states ?? 0}`;
  if (need?.s_waitcnt) return `needs \`s_waitcnt ${need.s_waitcnt}\``;
  return typeof need === "string" ? `needs ${need}` : "";
}

function showFindings(list, report, go) {
  const panel = byId("findings");
  const rows = list.map((problem) => {
    const place = problem.line ? `line ${problem.line}: ` : "";
    const row = make("button", `finding ${problem.kind}`, make("b", "", place + problem.title), problem.text, make("small", "", problem.source));
    row.addEventListener("click", () => problem.line && go(problem.line));
    return row;
  });
  const unread = [...(report.not_checked?.unread ?? []), ...(report.not_checked?.unknown_exits ?? [])].length;
  if (!rows.length && report.instructions !== undefined) {
    rows.push(make("p", "clean", `${plural(report.instructions, "instruction")}: every rule is kept on every path.`));
  }
  if (unread) rows.push(make("p", "", `Not checked: ${plural(unread, "place")} that could not be followed.`));
  const needless = (report.advice ?? []).filter((a) => !a.may_order).length;
  if (needless) rows.push(make("p", "", `${plural(needless, "wait")} could be weaker or left out: “Waits” has the reasons.`));
  panel.replaceChildren(...rows);
}

// A button in place of folded lines; a click shows them.
function leftOut(count, lines, row) {
  const button = make("button", "more", `… ${plural(count, "line")}`);
  button.addEventListener("click", () => button.replaceWith(...lines().map(row)));
  return button;
}

// The rows that matter, with the rows between them folded.
function foldedRows(rows, matters, row) {
  let at = 0;
  return folded(rows, matters).map((item) => {
    if (typeof item !== "number") { at += 1; return row(item); }
    const from = at;
    at += item;
    return leftOut(item, () => rows.slice(from, from + item), row);
  });
}

// Shows the text with its waits, each with its reason next to it; or the difference to the original text.
function showWaits({ before, fixed, report, asDifference }) {
  const listing = byId("listing");
  if (fixed.error) return listing.replaceChildren(make("p", "wrong", fixed.error));
  const why = new Map((report.waits ?? []).map((w) => [w.line, w]));
  const [old, now] = [before.split("\n"), fixed.text.split("\n")];
  const all = difference(old, now);
  const added = new Set(all.filter(([sign]) => sign === "+").map(([, , line]) => line));
  const reason = (wait) => wait.reasons.join("; ") || { "orders-memory": "orders memory", "not-needed": "no rule needs it" }[wait.verdict] || "";
  const line = (number, text, kind, wait) => {
    const row = make("div", `line ${kind}`, make("span", "number", number), make("code", "", ...colour(text)));
    if (wait) row.append(make("span", "why", reason(wait)));
    return row;
  };
  const rows = asDifference
    ? foldedRows(all, ([sign]) => sign !== " ", ([sign, was, is]) => {
      const kind = { "+": "added", "-": "removed" }[sign] ?? "";
      return line(`${was ?? ""}\t${is ?? ""}\t${sign}`, is ? now[is - 1] : old[was - 1], kind, sign === "+" ? why.get(is) : null);
    })
    : foldedRows(now.map((text, i) => [i + 1, text]), ([number]) => why.has(number) || now.length <= WHOLE,
      ([number, text]) => line(`${number}`, text, added.has(number) ? "added" : "", why.get(number)));
  const changed = fixed.changes.length;
  listing.classList.toggle("difference", asDifference);
  listing.replaceChildren(make("p", "", changed ? `${plural(changed, "wait")} inserted, changed or removed.` : "The waits stay as they are."), ...rows);
}

// Texts up to this many lines are shown without folding.
const WHOLE = 200;

// Shows the instruction in the caret's line: machine code and reference page.
function showInstruction(line, encoded, described) {
  const panel = byId("instruction");
  const rows = (encoded ?? []).map((item) => make("pre", "page", `${item.bytes.replace(/(..)(?=.)/g, "$1 ")}\n${item.text ?? item.note ?? ""}`));
  if (described?.page) rows.push(...page(described.page));
  else if (described?.meaning) rows.push(make("p", "", make("code", "", described.modifier), ` ${described.meaning}`));
  if (!rows.length) rows.push(make("p", "", `Line ${line} has no instruction. Move the caret to one.`));
  panel.replaceChildren(make("h2", "", `Line ${line}`), ...rows);
}

function page({ mnemonic, semantics, targets, forms, hazards, hazards_elsewhere, matrix, witness }) {
  const parts = [make("h2", "", mnemonic)];
  if (semantics) parts.push(make("pre", "page", semantics));
  for (const m of matrix) {
    parts.push(make("p", "", `${m.m} × ${m.n} × ${m.k} on ${m.target}: ${m.passes.length ? `${m.passes.join(" or ")} passes of 4 cycles` : `waves of ${m.wave} lanes`}, ${m.flops} FLOPs`));
  }
  const table = make("table", "", make("tr", "", make("th", "", "form"), make("th", "", "format"), make("th", "", "operands"), make("th", "", "counters")));
  for (const form of forms) {
    const counters = [...new Set(form.counters.map((c) => c.counter))].join(", ");
    table.append(make("tr", "", make("td", "", make("code", "", form.printed)), make("td", "", form.format), make("td", "", form.operands.map((o) => o.name).join(", ")), make("td", "", counters)));
  }
  parts.push(table);
  if (hazards.length) {
    parts.push(make("h2", "", "Rules that bind it"), make("ul", "", ...hazards.map((h) => make("li", "", make("code", "", h.id), ` ${h.title} (${h.citation})`))));
  }
  const missing = hazards_elsewhere.length ? ` Hazards of ${hazards_elsewhere.join(", ")} are sequences of instructions, which are not listed here.` : "";
  parts.push(make("p", "", make("small", "", `On ${targets.join(", ")}.${missing}${witness ? ` Meaning stated by ${witness}.` : ""}`)));
  return parts;
}

function showKernel(kernels) {
  const panel = byId("kernel");
  if (!kernels?.length) {
    return panel.replaceChildren(make("p", "", "The text assembles to no kernel: it needs an .amdhsa_kernel block, or it has errors."));
  }
  panel.replaceChildren(...kernels.flatMap((k) => {
    const facts = [
      ["registers", `${k.vgprs} VGPRs${k.accum_offset ? ` (AGPRs from ${k.accum_offset} on)` : ""}, ${k.sgprs} SGPRs`],
      ["code", plural(k.code_bytes, "byte")],
      ["LDS", `${plural(k.lds_bytes, "byte")} of a workgroup`],
      ["scratch", `${plural(k.scratch_bytes, "byte")} of a work-item`],
      ["arguments", plural(k.kernarg_bytes, "byte")],
      ["occupancy", `${plural(k.occupancy.waves_per_simd, "wave")} on a SIMD, ${plural(k.occupancy.workgroups_per_cu, "workgroup")} of ${k.workgroup} on a compute unit, limited by ${k.occupancy.limited_by}`],
    ];
    const table = make("table", "", ...facts.map(([name, text]) => make("tr", "", make("th", "", name), make("td", "", text))));
    const shown = k.descriptor.filter((f) => f.value !== 0);
    const fields = make("table", "", ...shown.map((f) => make("tr", f.wrong ? "wrong" : "", make("td", "", make("code", "", f.name)), make("td", "", `${f.value}`), make("td", "", f.meaning))));
    return [make("h2", "", k.name), table, make("h2", "", "Descriptor"), fields];
  }));
}

function showRun(answer) {
  const results = byId("results");
  if (answer.error) return results.replaceChildren(make("p", "wrong", answer.error));
  const parts = [make("p", "", `${plural(answer.waves, "wave")}, ${plural(answer.instructions, "instruction")}.`)];
  const list = (title, items) => items.length && parts.push(make("h2", "wrong", title), ...items.slice(0, 20).map((i) => make("pre", "", i)),
    ...(items.length > 20 ? [make("p", "", `and ${items.length - 20} more`)] : []));
  list("Read too early", answer.stale);
  list("Found by sanitizers", answer.findings);
  for (const buffer of answer.buffers) {
    const more = buffer.elements > buffer.values.length ? ` … (${buffer.elements} elements)` : "";
    parts.push(make("h2", "", `${buffer.name}: ${buffer.type} [${buffer.shape.join(", ")}]`), make("pre", "", buffer.values.join(" ") + more));
  }
  results.replaceChildren(...parts);
}
