// The bar that finds and replaces text; Control+F in the editor or the button opens it.

class Find {
  constructor(editor) {
    this.editor = editor;
    [this.bar, this.input, this.by, this.count] = ["find", "find-text", "find-by", "find-count"].map(byId);
    byId("find-open").addEventListener("click", () => this.open());
    editor.text.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "f") return;
      event.preventDefault();
      this.open();
    });
    editor.text.addEventListener("input", () => this.isOpen && later("find", () => this.search(), 120));
    this.input.addEventListener("input", () => this.search(true));
    this.bar.addEventListener("keydown", (event) => this.key(event));
    byId("find-next").addEventListener("click", () => this.step(1));
    byId("find-previous").addEventListener("click", () => this.step(-1));
    byId("find-replace").addEventListener("click", () => this.replace());
    byId("find-all").addEventListener("click", () => this.replaceAll());
    byId("find-close").addEventListener("click", () => this.close());
  }

  get isOpen() { return !this.bar.hidden; }

  open() {
    const { text } = this.editor;
    const chosen = text.value.slice(text.selectionStart, text.selectionEnd);
    this.bar.hidden = false;
    if (chosen && !chosen.includes("\n")) this.input.value = chosen;
    this.input.focus();
    this.input.select();
    this.search(true);
  }

  close() {
    this.bar.hidden = true;
    this.editor.showFound([]);
    this.editor.text.focus();
  }

  // Finds all occurrences, ignoring case; with `go`, moves to the first one at or after the caret.
  search(go = false) {
    const wanted = this.input.value.toLowerCase();
    this.found = [];
    this.editor.lines.forEach((text, line) => {
      const lower = text.toLowerCase();
      for (let column = wanted ? lower.indexOf(wanted) : -1; column >= 0; column = lower.indexOf(wanted, column + wanted.length)) {
        this.found.push({ line, column, length: wanted.length });
      }
    });
    const { text } = this.editor;
    const line = this.editor.line - 1;
    const column = text.selectionStart - this.editor.offset(line + 1);
    const at = this.found.findIndex((f) => f.line > line || (f.line === line && f.column >= column));
    this.at = Math.max(0, at);
    this.show(go);
  }

  step(by) {
    if (!this.found?.length) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.show(true);
  }

  show(go) {
    const place = this.found[this.at];
    this.count.textContent = place ? `${this.at + 1} of ${this.found.length}` : this.input.value ? "not found" : "";
    if (place && go) this.editor.go(place.line + 1, place.column, place.length, false);
    this.editor.showFound(this.found, place);
  }

  replace() {
    const place = this.found?.[this.at];
    if (!place) return;
    const start = this.editor.offset(place.line + 1) + place.column;
    this.editor.replace(this.by.value, start, start + place.length);
    this.search(true);
  }

  // Replaces all in a single edit, so that a single undo reverts it.
  replaceAll() {
    if (!this.found?.length) return;
    const { editor } = this;
    const places = Map.groupBy ? Map.groupBy(this.found, (f) => f.line) : this.found.reduce((map, f) => map.set(f.line, [...(map.get(f.line) ?? []), f]), new Map());
    const text = editor.lines.map((line, i) => (places.get(i) ?? []).reduceRight((l, f) => l.slice(0, f.column) + this.by.value + l.slice(f.column + f.length), line));
    editor.replace(text.join("\n"));
    this.search(true);
  }

  key(event) {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.input) this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Enter" && event.target === this.by) this.replace();
    else return;
    event.preventDefault();
  }
}
