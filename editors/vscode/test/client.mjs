// The extension as it is packaged, with its real client and the real server; only the editor is a script.
// node test/client.mjs [PATH OF gcn]
import assert from "node:assert/strict";
import Module, { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(import.meta.url);
const vscode = require("./vscode.cjs");
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const { seen, set, open } = vscode.test;
const gcn = resolve(process.argv[2] ?? `${import.meta.dirname}/../../../target/debug/gcn`);

async function until(what, holds) {
  for (let tries = 0; tries < 300; tries++) {
    if (holds()) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`${what} did not happen within 30 s; the client's output: ${seen.output.join("")}`);
}

const unwaited = `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	s_load_dword s0, s[4:5], 0x0
	s_add_u32 s1, s0, s0
	s_endpgm
`;
const broken = unwaited.replace("s_add_u32", "s_ad_u32");

await set("gcn.path", "/nowhere/gcn");
const extension = require("../dist/extension.js");
await extension.activate({ subscriptions: [] });
// The library has a message of its own, which does not say what to do.
const ours = seen.errors.filter((text) => text.includes("gcn.path"));
assert.equal(ours.length, 1);
assert.match(ours[0], /`\/nowhere\/gcn lsp` does not start: .*ENOENT/);
seen.errors.length = 0;

await set("gcn.path", gcn);
assert.deepEqual(seen.errors, []);
await open("/unwaited.s", unwaited);
const found = () => seen.diagnostics.get("file:///unwaited.s") ?? [];
await until("the finding", () => found().length > 0);
assert.equal(found()[0].range.start.line, 2, "the finding stands at the instruction that reads too early");
assert.match(found()[0].message, /lgkmcnt/);

// What is open is looked at again by the server that starts with another setting.
const before = found();
await set("gcn.level", "certain");
await until("the finding of the second server", () => found() !== before && found().length > 0);
await open("/broken.s", broken);
await until("the assembler's error", () => (seen.diagnostics.get("file:///broken.s") ?? []).some((d) => /s_ad_u32/.test(d.message)));

await seen.commands.get("gcn.restart")();
assert.deepEqual(seen.errors, []);
await extension.deactivate();
console.log("the extension starts, recovers, shows findings and stops");
// A server that still ran would keep this process alive.
setTimeout(() => assert.fail("a server is left"), 10_000).unref();
