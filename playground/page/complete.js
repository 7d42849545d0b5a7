// The list of completions at the caret: it opens while the user types, or on Control+Space.

const LISTED = 60;

class Completion {
  // `ask` returns the candidates for the caret's line up to the caret; `text` is the text area.
  constructor(editor, ask) {
    [this.editor, this.ask, this.list] = [editor, ask, byId("words")];
    const { text } = editor;
    text.addEventListener("input", (event) => (event.isTrusted && !editor.replacing ? later("complete", () => this.open(2), 60) : this.close()));
    text.addEventListener("keydown", (event) => this.key(event), { capture: true });
    text.addEventListener("blur", () => this.close());
    text.addEventListener("click", () => this.close());
    text.addEventListener("scroll", () => this.close());
    this.list.addEventListener("mousedown", (event) => {
      // Keeps the focus in the text area.
      event.preventDefault();
      const row = event.target.closest("[role=option]");
      if (row) this.take([...this.list.children].indexOf(row));
    });
    this.close();
  }

  get isOpen() { return !this.list.hidden; }

  // The caret's line up to the caret.
  get before() { return this.editor.value.slice(0, this.editor.text.selectionStart).split("\n").pop(); }

  // Asks for candidates; if fewer than `least` characters of a word have been typed, closes the list instead.
  async open(least) {
    const { text } = this.editor;
    const word = /[\w.$]*$/.exec(this.before)[0];
    if (text.selectionStart !== text.selectionEnd || word.length < least) return this.close();
    const [value, at] = [text.value, text.selectionStart];
    const { typed, candidates } = await this.ask(this.before);
    if (text.value !== value || text.selectionStart !== at || document.activeElement !== text) return;
    if (!candidates?.length) return this.close();
    this.start = at - typed.length;
    const shown = candidates.slice(0, LISTED);
    // If the candidates have not changed, keeps the selection.
    if (this.isOpen && shown.length === this.words.length && shown.every((c, i) => c.label === this.words[i])) return;
    this.show(shown);
  }

  show(candidates) {
    this.words = candidates.map((c) => c.label);
    this.list.replaceChildren(...candidates.map(({ label, what, detail }, i) => {
      const row = make("li", what, make("b", "", label), make("span", "", detail || what));
      row.id = `word-${i}`;
      row.setAttribute("role", "option");
      return row;
    }));
    this.list.hidden = false;
    this.choose(-1);
    this.place();
  }

  // Puts the list below the caret, or above it if there is no room below.
  place() {
    const { left, top, bottom } = this.editor.caretBox(this.editor.text.selectionStart - this.start);
    const { width, height } = this.list.getBoundingClientRect();
    this.list.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 8))}px`;
    this.list.style.top = `${bottom + height > innerHeight ? Math.max(4, top - height) : bottom}px`;
  }

  // Selects a row; -1 selects none, so that Enter starts a new line.
  choose(index) {
    this.chosen = index;
    [...this.list.children].forEach((row, i) => row.setAttribute("aria-selected", i === index));
    const row = this.list.children[index];
    row?.scrollIntoView({ block: "nearest" });
    const { text } = this.editor;
    text.setAttribute("aria-expanded", this.isOpen);
    if (row) text.setAttribute("aria-activedescendant", row.id);
    else text.removeAttribute("aria-activedescendant");
  }

  take(index) {
    const { text } = this.editor;
    const word = this.words[index];
    // The user may have typed more since the list was made.
    if (/^[\w.$]*$/.test(text.value.slice(this.start, text.selectionEnd))) {
      this.editor.replace(word, this.start, text.selectionEnd);
    }
    this.close();
  }

  close() {
    this.list.hidden = true;
    this.list.replaceChildren();
    this.words = [];
    this.choose(-1);
  }

  // Tab inserts the selected word, or the first one if none is selected; Enter inserts only a selected word.
  key(event) {
    if (event.key === " " && event.ctrlKey) {
      // Replaces the request that is pending since the last character.
      later("complete", () => this.open(0), 0);
    } else if (!this.isOpen) {
      return;
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const count = this.words.length;
      const from = this.chosen < 0 && event.key === "ArrowUp" ? 0 : this.chosen;
      this.choose((from + (event.key === "ArrowDown" ? 1 : -1) + count) % count);
    } else if (event.key === "Tab" && !event.shiftKey) {
      this.take(Math.max(0, this.chosen));
    } else if (event.key === "Enter" && this.chosen >= 0) {
      this.take(this.chosen);
    } else if (event.key === "Escape") {
      this.close();
    } else {
      if (["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown", "Enter"].includes(event.key)) this.close();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
