// Tests of what a person would see: whether an element is in view, not covered, and has enough contrast with its background; whether a page
// looks like its approved picture.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Runs in the page: for each selector, why its first element cannot be read; empty if all can be read.
function hindrances(selectors, least) {
  const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const parsed = (text) => {
    const numbers = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    const scale = text.startsWith("color(") ? 1 : 255;
    return [...numbers.slice(0, 3).map((n) => n / scale), numbers[3] ?? 1];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  // WCAG 2, relative luminance and contrast ratio.
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parsed(getComputedStyle(e).backgroundColor));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reverse().reduce((below, layer) => over(layer, below), dark ? [0.07, 0.07, 0.07, 1] : [1, 1, 1, 1]);
  };
  const of = (selector) => {
    const element = document.querySelector(selector);
    if (!element) return ["is missing"];
    const box = element.getBoundingClientRect();
    const found = [];
    if (!box.width || !box.height) return ["takes no room"];
    const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
    const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
    if (right - left < Math.min(box.width, 40) * 0.95 || bottom - top < Math.min(box.height, 12) * 0.95) {
      return [`is at ${Math.round(box.left)}, ${Math.round(box.top)} (${Math.round(box.width)} × ${Math.round(box.height)}) of ${innerWidth} × ${innerHeight}`];
    }
    const [x, y] = [left + Math.min((right - left) / 2, 30), (top + bottom) / 2];
    const hit = document.elementFromPoint(x, y);
    // The transparent text area lies over its coloured copy.
    const clear = hit && [getComputedStyle(hit).color, getComputedStyle(hit).backgroundColor].every((c) => parsed(c)[3] === 0);
    if (!clear && (!hit || !(element.contains(hit) || hit.contains(element)))) found.push(`is covered by ${hit?.outerHTML.slice(0, 60)}`);
    if (element.namespaceURI.endsWith("svg")) return found;
    const text = [...element.querySelectorAll("*"), element].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
    for (const e of text) {
      if (!e.getClientRects().length || e.disabled) continue;
      const colour = parsed(getComputedStyle(e).color);
      // The text area is transparent over its coloured copy.
      if (colour[3] === 0) continue;
      const back = behind(e);
      const ratio = contrast(over(colour, back), back);
      if (ratio < least) found.push(`“${e.textContent.trim().slice(0, 30)}” has a contrast of ${ratio.toFixed(2)}`);
    }
    return found;
  };
  return selectors.flatMap((selector) => of(selector).map((what) => `${selector} ${what}`));
}

// The contrast that WCAG 2, level AA, requires for text.
const CONTRAST = 4.5;

// Why the elements cannot be seen; `place` is a page or a frame.
export const unseen = (place, selectors) => place.evaluate(`(${hindrances})(${JSON.stringify(selectors)}, ${CONTRAST})`);

// Pictures are stored and compared as squares of this size in pixels: fonts differ between machines, but positions and colours do not.
const SQUARE = 16;
// How far the colour of a square may be from the approved one (of 255), and the share of squares that may be further away.
const NEAR = 40;
const OTHERS = 0.02;

// Runs in a page: scales the picture to one pixel for each square.
async function small(png, square) {
  const bitmap = await createImageBitmap(await (await fetch(png)).blob());
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(bitmap.width / square), Math.ceil(bitmap.height / square)];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return { png: canvas.toDataURL("image/png"), size: [canvas.width, canvas.height], pixels: [...context.getImageData(0, 0, canvas.width, canvas.height).data] };
}

// The differences between the page and its approved picture in `folder`; empty if they agree. GCN_BLESS=1 writes the picture, after
// somebody has looked at it.
export async function changed(page, folder, name) {
  const helper = await page.context().newPage();
  const shrink = (bytes, square) => helper.evaluate(`(${small})("data:image/png;base64,${bytes.toString("base64")}", ${square})`);
  try {
    const now = await shrink(await page.screenshot(), SQUARE);
    const path = join(folder, `${name}.png`);
    if (process.env.GCN_BLESS) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, Buffer.from(now.png.split(",")[1], "base64"));
      return [];
    }
    if (!existsSync(path)) return [`nobody has approved the picture ${name}`];
    const approved = await shrink(readFileSync(path), 1);
    if (String(now.size) !== String(approved.size)) return [`${name} has ${now.size} squares, the approved picture ${approved.size}`];
    const far = now.pixels.flatMap((value, i) => (i % 4 < 3 && Math.abs(value - approved.pixels[i]) > NEAR ? [i >> 2] : []));
    const squares = [...new Set(far)];
    if (squares.length <= OTHERS * now.pixels.length / 4) return [];
    const [x, y] = [squares[0] % now.size[0] * SQUARE, Math.floor(squares[0] / now.size[0]) * SQUARE];
    return [`${name}: ${squares.length} of ${now.pixels.length / 4} squares have another colour than in the approved picture, the first at ${x}, ${y}`];
  } finally {
    await helper.close();
  }
}
