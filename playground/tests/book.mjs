// Opens each page of the rendered book in wide and narrow windows: node book.mjs [FOLDER OF THE BOOK]
// There must be no error in the console, and nothing may be cut off at the side.

import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const book = resolve(process.argv[2] ?? fileURLToPath(new URL("../../target/book", import.meta.url)));
const browsers = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = browsers.find((path) => path && existsSync(path));
const WIDTHS = [1280, 390];

// The page for printing and the table of contents are no pages that readers open; the links in 404.html only work on a server.
const NOT_READ = ["print.html", "toc.html", "404.html"];
const pages = (folder) => readdirSync(folder).flatMap((name) => {
  const path = join(folder, name);
  if (statSync(path).isDirectory()) return pages(path);
  return name.endsWith(".html") && !NOT_READ.includes(name) ? [path] : [];
});

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--no-first-run"] });
const faults = [];
const all = pages(book);
for (const width of WIDTHS) {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const page = await context.newPage();
  let messages = [];
  page.on("console", (message) => message.type() === "error" && messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("requestfailed", (request) => {
    // The browser cancels the request for a page's icon when the next page is opened.
    if (!request.url().includes("favicon")) messages.push(`cannot load ${request.url()}`);
  });
  for (const path of all) {
    messages = [];
    await page.goto(pathToFileURL(path).href);
    const seen = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - innerWidth,
      text: document.querySelector("main")?.innerText.trim().length ?? 0,
      broken: [...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src),
    }));
    if (seen.wide > 0) messages.push(`${seen.wide} pixels are cut off`);
    if (seen.text < 100) messages.push("there is no text");
    messages.push(...seen.broken.map((source) => `a picture is broken: ${source}`));
    if (messages.length) faults.push(`${path}, ${width} pixels wide: ${messages.join("; ")}`);
  }
  await context.close();
}
await browser.close();
assert.ok(all.length >= 30, `${all.length} pages in ${book}`);
console.log(`${all.length} pages, each ${WIDTHS.join(" and ")} pixels wide: ${faults.length ? `\n${faults.join("\n")}` : "nothing wrong"}`);
process.exit(faults.length ? 1 : 0);
