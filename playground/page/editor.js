// The editor: text with colours, line numbers and marks. A transparent text area lies over a coloured copy of the text, which has only the
// lines in view, so that the time for a keystroke does not grow with the text.

const byId = (id) => document.getElementById(id);

// Creates an element, for example `make("td", "why", "text")`.
function make(name, kind, ...content) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  element.append(...content);
  return element;
}

// The number of lines that are drawn above and below the view, so that scrolling by a little needs no drawing.
const MARGIN = 20;

class Editor {
  constructor(changed, moved) {
    this.history = new History(byId("text"));
    [this.text, this.coloured, this.gutter] = ["text", "coloured", "gutter"].map(byId);
    this.marks = new Map();
    this.found = [];
    this.read();
    this.text.addEventListener("input", () => { this.marks.clear(); this.found = []; this.read(); this.draw(); changed(); });
    this.text.addEventListener("scroll", () => this.follow());
    this.text.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("selectionchange", () => document.activeElement === this.text && moved());
    new ResizeObserver(() => this.draw()).observe(this.text);
  }

  read() {
    this.value = this.text.value;
    this.lines = this.value.split("\n");
  }

  // Replaces the text, as a step that can be undone. `replacing` tells listeners that the user did not type.
  replace(text, from, to) {
    this.replacing = true;
    this.history.replace(text, from, to);
    this.replacing = false;
  }

  // Tab indents; Tab after Escape leaves the editor, so that keyboard users are not trapped in it.
  key(event) {
    if (event.key === "Escape") this.leaving = true;
    else if (event.key === "Tab" && !this.leaving && !event.shiftKey) {
      event.preventDefault();
      this.replace("    ", this.text.selectionStart, this.text.selectionEnd);
    } else this.leaving = false;
  }

  // Marks lines: a map from line number (from 1) to `error` or `warning`.
  mark(marks) {
    this.marks = marks;
    this.draw();
  }

  // Marks search results, each with line (from 0), column and length; `current` is one of them.
  showFound(found, current) {
    [this.found, this.current] = [found, current];
    this.draw();
  }

  draw() {
    const { lineHeight, text } = this;
    this.first = Math.max(0, Math.floor(text.scrollTop / lineHeight) - MARGIN);
    this.last = Math.min(this.lines.length, Math.ceil((text.scrollTop + text.clientHeight) / lineHeight) + MARGIN);
    const numbers = make("div", "rows");
    const rows = make("div", "rows");
    for (let i = this.first; i < this.last; i += 1) {
      const kind = this.marks.get(i + 1) ?? "";
      const row = make("span", kind, ...colour(this.lines[i]));
      rows.append(row, "\n");
      numbers.append(make("span", kind, `${i + 1}`), "\n");
    }
    for (const place of this.found) {
      if (place.line < this.first || place.line >= this.last) continue;
      const line = this.lines[place.line];
      const [from, to] = [this.width(line.slice(0, place.column)), this.width(line.slice(0, place.column + place.length))];
      const box = make("i", place === this.current ? "found current" : "found");
      Object.assign(box.style, {
        left: `${from * this.characterWidth}px`, width: `${(to - from) * this.characterWidth}px`,
        top: `${(place.line - this.first) * lineHeight}px`, height: `${lineHeight}px`,
      });
      rows.append(box);
    }
    this.gutter.style.width = `calc(${Math.max(2, `${this.lines.length}`.length)}ch + 1.2rem)`;
    this.coloured.replaceChildren(rows);
    this.gutter.replaceChildren(numbers);
    this.place();
  }

  // Moves the coloured rows to where the text area shows the same lines.
  place() {
    const { scrollTop, scrollLeft } = this.text;
    const top = this.first * this.lineHeight - scrollTop;
    this.coloured.firstChild.style.transform = `translate(${-scrollLeft}px, ${top}px)`;
    this.gutter.firstChild.style.transform = `translateY(${top}px)`;
  }

  follow() {
    const { scrollTop, clientHeight } = this.text;
    const [from, to] = [Math.floor(scrollTop / this.lineHeight), Math.ceil((scrollTop + clientHeight) / this.lineHeight)];
    if (from < this.first || Math.min(to, this.lines.length) > this.last) this.draw();
    else this.place();
  }

  // The line of the caret, from 1.
  get line() { return this.value.slice(0, this.text.selectionStart).split("\n").length; }

  lineText(line) { return this.lines[line - 1] ?? ""; }

  // Offset of a line's start in the text; lines are numbered from 1.
  offset(line) { return this.lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0); }

  // Moves the caret to a line and selects it, or selects `length` characters from `column` on.
  go(line, column = 0, length = this.lineText(line).length, focus = true) {
    const start = this.offset(line) + column;
    if (focus) this.text.focus();
    this.text.setSelectionRange(start, start + length);
    this.text.scrollTop = Math.max(0, (line - 6) * this.lineHeight);
    const end = this.width(this.lineText(line).slice(0, column + length)) * this.characterWidth;
    // For a whole line, its start must be in view.
    this.text.scrollLeft = length < this.lineText(line).length ? Math.max(0, end + 40 - this.text.clientWidth) : 0;
  }

  get lineHeight() { return this.measuredLine ??= parseFloat(getComputedStyle(this.text).lineHeight); }

  get characterWidth() {
    return this.measured ??= (() => {
      const probe = make("span", "", "0".repeat(100));
      this.coloured.append(probe);
      const width = probe.getBoundingClientRect().width / 100;
      probe.remove();
      return width;
    })();
  }

  // Width in columns of a text that starts at the start of a line.
  width(text) {
    const tab = this.tab ??= parseInt(getComputedStyle(this.text).tabSize, 10);
    let column = 0;
    for (const character of text) column += character === "\t" ? tab - (column % tab) : 1;
    return column;
  }

  // Position of the text's first character, in window coordinates.
  get origin() {
    const style = getComputedStyle(this.text);
    const box = this.text.getBoundingClientRect();
    return {
      x: box.left + parseFloat(style.paddingLeft) - this.text.scrollLeft,
      y: box.top + parseFloat(style.paddingTop) - this.text.scrollTop,
    };
  }

  // Position, in window coordinates, of the character that is `back` characters before the caret.
  caretBox(back) {
    const { x, y } = this.origin;
    const lines = this.value.slice(0, this.text.selectionStart - back).split("\n");
    const column = this.width(lines[lines.length - 1]);
    const top = y + (lines.length - 1) * this.lineHeight;
    return { left: x + column * this.characterWidth, top, bottom: top + this.lineHeight };
  }

  // The line (from 1) and the word at a point in window coordinates.
  at(x, y) {
    const { x: left, y: top } = this.origin;
    const line = 1 + Math.floor((y - top) / this.lineHeight);
    const column = Math.floor((x - left) / this.characterWidth);
    const text = this.lineText(line);
    const word = [...text.matchAll(/[\w.$]+/g)].find((m) => m.index <= column && column < m.index + m[0].length);
    return { line, word: word?.[0] };
  }
}

// Splits a line into pieces, coloured by kind. A colon ends a label only before the mnemonic, unlike in `v[0:15]` and `cbsz:1`.
function colour(line) {
  const comment = line.search(/;|\/\//);
  const code = comment < 0 ? line : line.slice(0, comment);
  const pieces = [];
  let first = true;
  for (const [piece, next] of code.matchAll(/"[^"]*"?|[\w.$]+(?=(:?))|[^\w.$"]+/g)) {
    const label = first && next === ":";
    let kind = "";
    if (label || /^\.\w/.test(piece)) kind = "d";
    else if (/^(?:[svat]\d+|[svat]|vcc\w*|exec\w*|m0|scc|off)$/.test(piece) && !first) kind = "r";
    else if (/^(?:0x[\da-f]+|\d[\d.]*)$/i.test(piece) || piece.startsWith('"')) kind = "n";
    else if (first && /^\w/.test(piece)) kind = "m";
    if (/\w/.test(piece) && !label) first = false;
    pieces.push(kind ? make("span", kind, piece) : piece);
  }
  if (comment >= 0) pieces.push(make("span", "c", line.slice(comment)));
  return pieces;
}
