// Uses the page like a person: types, clicks, reads. node page.mjs [FOLDER FOR SCREENSHOTS]
// The variable CHROMIUM names the browser if it is not in one of the usual places.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { changed, unseen } from "./look.mjs";

const dist = process.env.PLAYGROUND ?? fileURLToPath(new URL("../dist/index.html", import.meta.url));
const shots = process.argv[2];
const approved = fileURLToPath(new URL("approved", import.meta.url));
const browsers = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const browser = await chromium.launch({
  executablePath: browsers.find((path) => path && existsSync(path)),
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
});
let passed = 0;
let failed = 0;

// Opens a page with a text; at the end there must be no message in its console.
async function test(name, work, { hash = "", viewport = { width: 1280, height: 800 } } = {}) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("request", (request) => /^(?:file|blob|data):/.test(request.url()) || messages.push(`asked for ${request.url()}`));
  try {
    await page.goto(`${pathToFileURL(dist)}${hash}`);
    await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 30000 });
    await work(page);
    assert.deepEqual(messages, []);
    console.log(`ok   ${name}`);
    passed += 1;
  } catch (error) {
    console.log(`FAIL ${name}\n${error.stack}`);
    if (shots) await page.screenshot({ path: `${shots}/failed-${passed + failed}.png` });
    failed += 1;
  }
  await context.close();
}

const text = (page, selector) => page.locator(selector).innerText();
const example = async (page, title) => {
  const label = await page.locator("#example option").evaluateAll((all, t) => all.find((o) => o.text.includes(t)).text, title);
  await page.selectOption("#example", { label });
};
const see = (page, selector, what) => page.waitForFunction(
  ([s, w]) => new RegExp(w, "s").test(document.querySelector(s)?.innerText ?? ""), [selector, what], { timeout: 30000 });

await test("the first example has one finding, and a click leads to its line", async (page) => {
  const finding = page.locator(".finding");
  assert.equal(await finding.count(), 1);
  // CDNA3 ISA, table 37: 11 wait states after 8 passes.
  assert.match(await finding.innerText(), /needs 11 wait states, has 0/);
  await finding.click();
  assert.equal(await page.evaluate(() => document.getElementById("text").value.slice(document.getElementById("text").selectionStart).trimStart().split("\n")[0]), "v_add_f32 v20, v0, v1");
  console.log(`     ready after ${await page.evaluate(() => document.documentElement.dataset.ready)} ms`);
});

await test("typing a wait removes the finding; a wrong word is an error in its line", async (page) => {
  const editor = page.locator("#text");
  await editor.fill((await editor.inputValue()).replace("    v_add_f32", "    s_nop 10\n    v_add_f32"));
  await see(page, "#findings", "every rule is kept");
  await editor.press("Control+End");
  await editor.pressSequentially("v_frobnicate v0, v1\n");
  await see(page, "#findings", "line 10: .*v_frobnicate");
  assert.equal(await page.locator("#gutter .error").innerText(), "10");
});

await test("the waits are listed with their reasons, and can be taken over", async (page) => {
  await page.click("#tab-waits");
  await see(page, "#listing", "s_nop 10.*cdna3\\.106");
  await page.click("#adopt");
  await page.click("#tab-findings");
  await see(page, "#findings", "every rule is kept");
});

await test("one button inserts the missing waits", async (page) => {
  await example(page, "Loads that nobody waits for");
  await see(page, "#findings", "2 ?|vmcnt\\(1\\)");
  await page.click("#insert");
  await see(page, "#findings", "every rule is kept");
  assert.match(await page.locator("#text").inputValue(), /s_waitcnt vmcnt\(1\)\n.*v_add_f32 v4, v2, v2/);
});

await test("an instruction is explained by hovering and at the caret", async (page) => {
  const box = await page.locator("#text").boundingBox();
  await page.mouse.move(box.x + 60, box.y + 8 + 20 * 5.5);
  await see(page, "#tip", "v_mfma_f32_32x32x8_f16");
  // The bytes are those of llvm-mc 22.
  await see(page, "#tip", "00 00 cc d3 10 25 02 04");
  await page.locator(".finding").click();
  await page.click("#tab-instruction");
  await see(page, "#instruction", "v_add_f32.*VOP2");
});

await test("words are completed by what the target has, and Enter stays a new line", async (page) => {
  const editor = page.locator("#text");
  const words = () => page.locator("#words b").allInnerTexts();
  await editor.fill("    ");
  await editor.press("End");
  // This instruction is new in gfx940 (CDNA3 ISA, chapter 7); gfx90a does not have it.
  await page.selectOption("#target", "gfx942");
  await editor.focus();
  await editor.pressSequentially("v_mfma_f32_32x32x16_fp8");
  await see(page, "#words", "v_mfma_f32_32x32x16_fp8_bf8.*v_mfma_f32_32x32x16_fp8_fp8");
  assert.equal(await editor.getAttribute("aria-expanded"), "true");
  await editor.press("ArrowDown");
  await editor.press("ArrowDown");
  assert.equal(await editor.getAttribute("aria-activedescendant"), "word-1");
  if (shots) await page.screenshot({ path: `${shots}/words.png` });
  await editor.press("Enter");
  assert.equal(await editor.inputValue(), "    v_mfma_f32_32x32x16_fp8_fp8");
  assert.ok(await page.locator("#words").isHidden());
  await editor.pressSequentially(" a[0:15], v[0:1], v[2:3], a[0:15] cbs");
  await see(page, "#words", "^cbsz");
  await editor.press("Tab");
  assert.match(await editor.inputValue(), / cbsz$/);
  // Nothing is selected: Enter starts a new line, and Escape leaves the word as it is.
  await editor.pressSequentially(":1\nglobal_load_dw");
  await see(page, "#words", "global_load_dwordx4");
  await editor.press("Escape");
  assert.ok(await page.locator("#words").isHidden());
  await editor.pressSequentially("o");
  await see(page, "#words", "global_load_dwordx3");
  await editor.press("Enter");
  assert.match(await editor.inputValue(), /cbsz:1\nglobal_load_dwo\n$/);
  // If the text names a target, its completions are for that target; there are none in comments.
  await editor.fill('.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n');
  await editor.press("Control+End");
  await editor.pressSequentially("v_mfma_f32_32x32x16_f");
  await page.waitForTimeout(400);
  assert.deepEqual(await words(), []);
  await editor.pressSequentially(" ; v_mfma");
  await page.waitForTimeout(400);
  assert.deepEqual(await words(), []);
  await editor.press("Enter");
  await editor.press("Control+Space");
  await page.locator("#words li").first().waitFor();
  await editor.pressSequentially("buffer_atomic_a");
  await page.locator("#words li", { hasText: "buffer_atomic_and_x2" }).click();
  assert.match(await editor.inputValue(), /\nbuffer_atomic_and_x2$/);
});

await test("a kernel runs, and its buffers are shown", async (page) => {
  await example(page, "saxpy");
  await see(page, "#kernel", "");
  await page.click("#tab-kernel");
  await see(page, "#kernel", "occupancy\\s+8 waves on a SIMD");
  await page.click("#tab-run");
  await page.click("#start");
  await see(page, "#results", "y: f32 \\[256\\]\\s+100 102 104");
  await page.click("#template");
  await page.waitForFunction(() => document.getElementById("spec").value.includes('"kernel": "saxpy"'));
});

await test("faithful mode shows a wrong sum, and the right one with waits", async (page) => {
  await example(page, "sum over the lanes");
  await page.click("#tab-run");
  await page.selectOption("#mode", "faithful");
  await page.click("#start");
  await see(page, "#results", "Read too early.*cdna3\\.12");
  assert.doesNotMatch(await text(page, "#results"), / 2016$/);
  await page.click("#insert");
  await page.waitForFunction(() => document.getElementById("text").value.includes("s_nop"));
  await page.click("#start");
  await see(page, "#results", " 2016$");
});

await test("a Radeon's example is wrong until its wait is inserted", async (page) => {
  await example(page, "RDNA 4");
  await page.click("#tab-run");
  await page.selectOption("#mode", "faithful");
  await page.click("#start");
  await see(page, "#results", "Read too early.*waitcnt\\.raw");
  await page.click("#insert");
  await page.waitForFunction(() => document.getElementById("text").value.includes("s_wait_loadcnt"));
  await page.click("#start");
  await see(page, "#results", "0 2 4 6 8.*126$");
});

await test("sanitizers name the race", async (page) => {
  await example(page, "A barrier that is missing");
  await page.click("#tab-run");
  await page.check("#sanitize");
  await page.click("#start");
  await see(page, "#results", "data race in LDS");
});

await test("a timeline is drawn", async (page) => {
  await example(page, "product of matrices");
  await page.click("#tab-timeline");
  await page.click("#draw");
  const frame = page.frameLocator("#drawn iframe");
  await frame.locator("body").getByText(/Matrix \d+%/).first().waitFor({ timeout: 60000 });
  assert.match(await page.locator("#drawn details").textContent(), /v_mfma_f32_32x32x8_f16/);
  if (shots) await page.screenshot({ path: `${shots}/timeline.png` });
});

await test("undo takes back what buttons and examples did", async (page) => {
  const editor = page.locator("#text");
  const first = await editor.inputValue();
  const undo = async () => { await editor.press("Control+z"); };
  await page.click("#insert");
  await see(page, "#findings", "every rule is kept");
  const waited = await editor.inputValue();
  assert.match(waited, /s_nop 10/);
  // Also when the text does not have the focus.
  await page.keyboard.press("Control+z");
  assert.equal(await editor.inputValue(), first);
  await editor.press("Control+Shift+z");
  assert.equal(await editor.inputValue(), waited);
  await undo();
  await see(page, "#findings", "needs 11 wait states");
  await page.click("#tab-waits");
  await see(page, "#listing", "s_nop 10");
  await page.click("#adopt");
  assert.equal(await editor.inputValue(), waited);
  await undo();
  assert.equal(await editor.inputValue(), first);
  await editor.press("Control+End");
  await editor.pressSequentially("; typed");
  await page.keyboard.press("Tab");
  await example(page, "saxpy");
  assert.match(await page.locator("#spec").inputValue(), /"iota"/);
  await undo();
  assert.equal(await editor.inputValue(), `${first}; typed    `);
  await undo();
  assert.equal(await editor.inputValue(), `${first}; typed`);
  await undo();
  assert.equal(await editor.inputValue(), first);
  await undo();
  assert.equal(await editor.inputValue(), first);
  await page.click("#tab-run");
  await page.locator("#spec").press("Control+z");
  assert.equal(await page.locator("#spec").inputValue(), "");
});

await test("text is found and replaced", async (page) => {
  const editor = page.locator("#text");
  const first = await editor.inputValue();
  await editor.press("Control+f");
  await page.keyboard.type("V0");
  // `v[0:15]` does not contain `v0`, and neither do the comments.
  const count = first.toLowerCase().split("v0").length - 1;
  await see(page, "#find-count", `1 of ${count}`);
  assert.equal(await page.locator(".found").count(), count);
  assert.deepEqual(await unseen(page, [".found.current", "#find-text", "#find-all"]), []);
  await page.fill("#find-by", "v99");
  await page.click("#find-all");
  assert.equal(await editor.inputValue(), first.replace(/v0/gi, "v99"));
  await page.keyboard.press("Escape");
  await editor.press("Control+z");
  assert.equal(await editor.inputValue(), first);
});

await test("a file is opened, and text and code object are saved", async (page) => {
  const folder = mkdtempSync(join(tmpdir(), "playground-"));
  const text = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\nk: v_mov_b32 v0, 1\ns_endpgm\n';
  writeFileSync(join(folder, "mine.s"), text.replaceAll("\n", "\r\n"));
  writeFileSync(join(folder, "binary.s"), Uint8Array.of(0x7f, 0x45, 0xff, 0xfe));
  const saved = async (button) => {
    await page.click("#file summary");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  await page.setInputFiles("#opened", join(folder, "mine.s"));
  await page.waitForFunction((t) => document.getElementById("text").value === t, text);
  const [name, bytes] = await saved("#save");
  assert.deepEqual([name, bytes.toString()], ["mine.s", text]);
  const [objectName, object] = await saved("#object");
  assert.equal(objectName, "mine.hsaco");
  // An ELF file for a GPU, with the code that llvm-mc 22 makes: v_mov_b32 v0, 1; s_endpgm.
  assert.equal(object.subarray(0, 4).toString("latin1"), "\x7fELF");
  assert.equal(object.readUInt16LE(18), 224);
  assert.ok(object.includes(Buffer.from("8102007e000081bf", "hex")));
  await page.setInputFiles("#opened", join(folder, "binary.s"));
  await see(page, "#status", "binary.s is not text");
  assert.equal(await page.locator("#text").inputValue(), text);
});

await test("what the waits change is shown as a difference", async (page) => {
  await page.click("#tab-waits");
  await page.check("#difference");
  await see(page, "#listing", "s_nop 10");
  assert.equal((await page.locator("#listing .added").allInnerTexts()).length, 1);
  assert.equal(await page.locator("#listing .removed").count(), 0);
  assert.match(await page.locator("#listing .added").innerText(), /\+\s+s_nop 10.*cdna3\.106/s);
});

await test("an embedded page shows the text and leads to the whole one", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("#file summary");
  await page.click("#embed");
  await see(page, "#status", "copied");
  const html = await page.evaluate(() => navigator.clipboard.readText());
  const address = /src="([^"]+)"/.exec(html)[1];
  const other = await page.context().newPage();
  await other.goto(address);
  await other.waitForFunction(() => document.documentElement.dataset.ready);
  assert.deepEqual(await unseen(other, ["#whole", "#insert", ".finding"]), []);
  assert.ok(await other.locator("#example").isHidden());
  await other.goto(await other.locator("#whole").getAttribute("href"));
  await other.waitForFunction(() => !document.body.classList.contains("embedded"));
  assert.equal(await other.locator("#text").inputValue(), await page.locator("#text").inputValue());
});

await test("only labels are coloured as labels", async (page) => {
  await page.locator("#text").fill("here: v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:1\n.Lthere:\n");
  const labels = await page.locator("#coloured .d").allInnerTexts();
  assert.deepEqual(labels, ["here", ".Lthere"]);
  assert.deepEqual(await page.locator("#coloured .r").allInnerTexts(), ["a", "v", "v", "a"]);
});

await test("five thousand lines are typed in without delay", async (page) => {
  const lines = Array.from({ length: 5000 }, (_, i) => `    v_add_f32 v${i % 200}, v1, v2 ; line ${i + 1}`);
  const whole = `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n${lines.join("\n")}\ns_endpgm\n`;
  const start = Date.now();
  await page.setInputFiles("#opened", { name: "long.s", mimeType: "text/plain", buffer: Buffer.from(whole) });
  await page.waitForFunction((t) => document.getElementById("text").value === t, whole);
  console.log(`     opened in ${Date.now() - start} ms`);
  const drawn = await page.locator("#coloured .rows > span").count();
  assert.ok(drawn < 200, `${drawn} lines are drawn`);
  // The time of the page's own code for a keystroke: the median of twenty.
  const spent = await page.evaluate(() => {
    const area = document.getElementById("text");
    area.setSelectionRange(90000, 90000);
    const times = Array.from({ length: 21 }, () => {
      area.setRangeText("x", area.selectionStart, area.selectionEnd, "end");
      document.body.getBoundingClientRect();
      const start = performance.now();
      area.dispatchEvent(new InputEvent("input", { inputType: "insertText" }));
      return performance.now() - start;
    });
    return times.sort((a, b) => a - b)[10];
  });
  console.log(`     ${spent.toFixed(1)} ms a key`);
  // A person perceives a tenth of a second as instantaneous.
  assert.ok(spent < 100, `${spent} ms`);
  await page.evaluate(() => { document.getElementById("text").scrollTop = 50000; });
  await page.waitForFunction(() => document.getElementById("coloured").innerText.includes("line 2500"));
  const number = await page.locator("#gutter .rows span").first().innerText();
  assert.ok(Number(number) > 2400, number);
});

await test("an endless kernel can be stopped, and the page goes on", async (page) => {
  await example(page, "saxpy");
  const editor = page.locator("#text");
  await editor.fill((await editor.inputValue()).replace("    s_endpgm", ".Lagain:\n    s_branch .Lagain\n    s_endpgm"));
  await page.click("#tab-run");
  await page.click("#start");
  await page.locator("#run .stop").click();
  await see(page, "#results", "stopped");
  await editor.fill((await editor.inputValue()).replace("    s_branch .Lagain\n", ""));
  await page.click("#start");
  await see(page, "#results", "100 102 104");
});

await test("the address holds the state, and bad input is told and survived", async (page) => {
  await page.locator("#text").fill(".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\nx: s_endpgm\n");
  await page.click("#tab-waits");
  await see(page, "#status", "gfx950");
  await page.click("#share");
  const hash = await page.evaluate(() => location.hash);
  const other = await page.context().newPage();
  await other.goto(`${pathToFileURL(dist)}${hash}`);
  await other.waitForFunction(() => document.documentElement.dataset.ready);
  assert.match(await other.locator("#text").inputValue(), /^x: s_endpgm$/m);
  assert.equal(await other.locator("#tab-waits").getAttribute("aria-selected"), "true");
  await other.goto(`${pathToFileURL(dist)}#nonsense`);
  await page.click("#tab-run");
  await page.locator("#spec").fill("{");
  await page.click("#start");
  await see(page, "#results", "JSON|kernel");
  for (const wrong of ["", "\u0000\uffff", ".rept 100000000\nv_nop\n.endr\n", ".macro m\nm\n.endm\nm\n"]) {
    await page.locator("#text").fill(wrong);
    await page.waitForTimeout(600);
  }
  await page.locator("#text").fill(".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\nv_nop\ns_endpgm\n");
  await page.click("#tab-findings");
  await see(page, "#findings", "2 instructions: every rule is kept");
});

await test("the keyboard reaches everything", async (page) => {
  await page.locator("#tab-findings").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-waits");
  assert.ok(await page.locator("#waits").isVisible());
  await page.locator("#text").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  assert.notEqual(await page.evaluate(() => document.activeElement.id), "text");
});

// The essential parts of each tab, at each width and in both colour schemes, must be in view, not covered, and have enough contrast.
const TABS = {
  findings: ["#findings .finding, #findings .clean"],
  waits: ["#strip", "#adopt", "#listing .why"],
  instruction: ["#instruction h2", "#instruction pre"],
  kernel: ["#kernel h2", "#kernel td"],
  run: ["#mode", "#start", "#template", "#spec"],
  timeline: ["#draw"],
};
for (const [name, viewport] of [["wide", { width: 1280, height: 800 }], ["narrow", { width: 390, height: 844 }]]) {
  for (const scheme of ["light", "dark"]) {
    await test(`everything that matters is seen, ${name}, ${scheme}`, async (page) => {
      await page.emulateMedia({ colorScheme: scheme });
      await example(page, "product of matrices");
      await see(page, "#status", "VGPRs");
      const faults = await unseen(page, ["h1", "#example", "#target", "#find-open", "#file summary", "#insert", "#share", "#coloured .m", "#coloured .c", "#gutter span", "#status"]);
      await page.evaluate(() => editor.go(1 + editor.lines.findIndex((line) => line.includes("v_mfma"))));
      for (const [tab, wanted] of Object.entries(TABS)) {
        await page.click(`#tab-${tab}`);
        await page.locator(wanted.at(-1)).first().waitFor();
        await page.locator("#right").evaluate((e) => e.scrollIntoView());
        faults.push(...await unseen(page, wanted));
        const [scroll, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        if (scroll > width) faults.push(`${tab}: ${scroll} pixels of ${width}`);
        if (shots) await page.screenshot({ path: `${shots}/${tab}-${name}-${scheme}.png` });
        // The other tabs change with the timing model and the tables, so they have no approved pictures.
        if (tab === "findings" || tab === "waits") faults.push(...await changed(page, approved, `${tab}-${name}-${scheme}`));
      }
      // The reason for a wait is next to it, or under it if there is no room, and always within the panel.
      await page.click("#tab-waits");
      const outside = await page.locator("#listing .why").evaluateAll((all) => all.filter((e) => e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().width < 100).length);
      if (outside) faults.push(`${outside} reasons are outside`);
      await page.click("#tab-timeline");
      await page.click("#draw");
      const frame = await (await page.waitForSelector("#drawn iframe", { timeout: 60000 })).contentFrame();
      await frame.waitForSelector(".bar");
      await page.locator("#drawn iframe").evaluate((e) => e.scrollIntoView());
      faults.push(...await unseen(frame, ["h1", "#fit", "#chart .bar", "#chart .label", "#panel"]));
      const bars = await frame.evaluate(() => [...document.querySelectorAll("#chart .bar")]
        .filter((bar) => { const { top, bottom } = bar.getBoundingClientRect(); return top >= 0 && bottom <= document.getElementById("panel").getBoundingClientRect().top; }).length);
      if (bars < 20) faults.push(`${bars} bars of the timeline are in view`);
      if (shots) await page.screenshot({ path: `${shots}/drawn-${name}-${scheme}.png` });
      assert.deepEqual(faults, []);
    }, { viewport });
  }
}

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
