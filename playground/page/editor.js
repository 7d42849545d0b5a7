// The text with colours, line numbers and marks. A transparent text area lies over its coloured copy.

const byId = (id) => document.getElementById(id);

// A new element: `make("td", "why", "text")`.
function make(name, kind, ...content) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  element.append(...content);
  return element;
}

class Editor {
  constructor(changed, moved) {
    [this.text, this.coloured, this.gutter] = ["text", "coloured", "gutter"].map(byId);
    this.marks = new Map();
    this.text.addEventListener("input", () => { this.marks.clear(); this.draw(); changed(); });
    this.text.addEventListener("scroll", () => this.follow());
    this.text.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("selectionchange", () => document.activeElement === this.text && moved());
  }

  get value() { return this.text.value; }

  set value(value) {
    this.text.value = value;
    this.marks.clear();
    this.draw();
  }

  // Tab indents; Escape and then Tab leaves the editor, so that the keyboard is not caught in it.
  key(event) {
    if (event.key === "Escape") this.leaving = true;
    else if (event.key === "Tab" && !this.leaving && !event.shiftKey) {
      event.preventDefault();
      this.text.setRangeText("    ", this.text.selectionStart, this.text.selectionEnd, "end");
      this.text.dispatchEvent(new Event("input"));
    } else this.leaving = false;
  }

  // Lines to mark, from 1: `error` or `warning`.
  mark(marks) {
    this.marks = marks;
    this.draw();
  }

  draw() {
    const lines = this.value.split("\n");
    this.coloured.replaceChildren(...lines.map((line, i) => {
      const row = make("span", this.marks.get(i + 1) ?? "");
      row.append(...colour(line), "\n");
      return row;
    }));
    this.gutter.replaceChildren(...lines.map((_, i) => make("span", this.marks.get(i + 1) ?? "", `${i + 1}`)).flatMap((e) => [e, "\n"]));
    this.follow();
  }

  follow() {
    this.coloured.scrollTop = this.gutter.scrollTop = this.text.scrollTop;
    this.coloured.scrollLeft = this.text.scrollLeft;
  }

  // The line of the caret, from 1.
  get line() { return this.value.slice(0, this.text.selectionStart).split("\n").length; }

  lineText(line) { return this.value.split("\n")[line - 1] ?? ""; }

  // Moves the caret to a line and selects it.
  go(line) {
    const lines = this.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    this.text.focus();
    this.text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    this.text.scrollTop = Math.max(0, (line - 6) * this.lineHeight);
  }

  get lineHeight() { return parseFloat(getComputedStyle(this.text).lineHeight); }

  get characterWidth() {
    return this.measured ??= (() => {
      const probe = make("span", "", "0".repeat(100));
      this.coloured.append(probe);
      const width = probe.getBoundingClientRect().width / 100;
      probe.remove();
      return width;
    })();
  }

  // Where the first character of the text is in the window.
  get origin() {
    const style = getComputedStyle(this.text);
    const box = this.text.getBoundingClientRect();
    return {
      x: box.left + parseFloat(style.paddingLeft) - this.text.scrollLeft,
      y: box.top + parseFloat(style.paddingTop) - this.text.scrollTop,
      tab: parseInt(style.tabSize, 10),
    };
  }

  // Where in the window the character is that stands `back` before the caret.
  caretBox(back) {
    const { x, y, tab } = this.origin;
    const lines = this.value.slice(0, this.text.selectionStart - back).split("\n");
    let column = 0;
    for (const character of lines[lines.length - 1]) column += character === "\t" ? tab - (column % tab) : 1;
    const top = y + (lines.length - 1) * this.lineHeight;
    return { left: x + column * this.characterWidth, top, bottom: top + this.lineHeight };
  }

  // The line, from 1, and the word under a point of the window.
  at(x, y) {
    const { x: left, y: top } = this.origin;
    const line = 1 + Math.floor((y - top) / this.lineHeight);
    const column = Math.floor((x - left) / this.characterWidth);
    const text = this.lineText(line);
    const word = [...text.matchAll(/[\w.$]+/g)].find((m) => m.index <= column && column < m.index + m[0].length);
    return { line, word: word?.[0] };
  }
}

// The pieces of a line, coloured by kind.
function colour(line) {
  const comment = line.search(/;|\/\//);
  const code = comment < 0 ? line : line.slice(0, comment);
  const pieces = [];
  let first = true;
  for (const [piece] of code.matchAll(/"[^"]*"?|[\w.$]+:?|[^\w.$"]+/g)) {
    let kind = "";
    if (/^\.\w/.test(piece)) kind = "d";
    else if (/^[\w$]+:$/.test(piece)) kind = "d";
    else if (/^(?:[svat]\d+|[svat]|vcc\w*|exec\w*|m0|scc|off)$/.test(piece) && !first) kind = "r";
    else if (/^(?:0x[\da-f]+|\d[\d.]*)$/i.test(piece) || piece.startsWith('"')) kind = "n";
    else if (first && /^\w/.test(piece)) kind = "m";
    if (/\w/.test(piece) && !piece.endsWith(":")) first = false;
    pieces.push(kind ? make("span", kind, piece) : piece);
  }
  if (comment >= 0) pieces.push(make("span", "c", line.slice(comment)));
  return pieces;
}
