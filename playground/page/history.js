// Undo and redo of a text area, both for the user's edits and for those of the page. The browser's history is lost when a script sets the
// text; its edit command would keep that history, but takes minutes for some thousand lines.

// The number of steps that can be undone.
const STEPS = 1000;
// Characters that are typed at most this many milliseconds apart, on one line, are one step.
const PAUSE = 1500;

class History {
  constructor(area) {
    this.area = area;
    this.begin();
    area.addEventListener("input", (event) => this.note(event));
    // Undo and redo from the browser's menu, or by a gesture.
    area.addEventListener("beforeinput", (event) => {
      const step = { historyUndo: () => this.undo(), historyRedo: () => this.redo() }[event.inputType];
      if (!step) return;
      event.preventDefault();
      step();
    });
    area.addEventListener("keydown", (event) => this.key(event));
    // The browser would paste line by line.
    area.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain");
      if (!text) return;
      event.preventDefault();
      this.replace(text.replace(/\r\n?/g, "\n"), area.selectionStart, area.selectionEnd);
      // Focusing scrolls the caret into view.
      area.blur();
      area.focus();
    });
  }

  // Clears the history; the current text becomes its start.
  begin() {
    [this.value, this.done, this.undone] = [this.area.value, [], []];
  }

  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) this.undo();
    else if (key === "z" || key === "y") this.redo();
    else return;
    event.preventDefault();
  }

  note({ inputType }) {
    const [old, now] = [this.value, this.area.value];
    if (this.stepping || old === now) return;
    const { head, removed, inserted } = changed(old, now);
    const step = { at: head, removed, inserted, time: Date.now(), typed: inputType === "insertText" || inputType?.startsWith("deleteContent") };
    [this.value, this.undone] = [now, []];
    const last = this.done.at(-1);
    if (last && step.typed && last.typed && step.time - last.time < PAUSE && this.join(last, step)) return;
    this.done.push(step);
    if (this.done.length > STEPS) this.done.shift();
  }

  // Merges a step into the last one if both are typing at the same place and in the same direction.
  join(last, step) {
    if (step.inserted.includes("\n") || step.removed.includes("\n")) return false;
    if (!step.removed && !last.removed && step.at === last.at + last.inserted.length) last.inserted += step.inserted;
    else if (!step.inserted && !last.inserted && step.at + step.removed.length === last.at) Object.assign(last, { at: step.at, removed: step.removed + last.removed });
    else return false;
    last.time = step.time;
    return true;
  }

  undo() { this.step(this.done, this.undone, "inserted", "removed"); }

  redo() { this.step(this.undone, this.done, "removed", "inserted"); }

  step(from, to, gone, back) {
    const step = from.pop();
    if (!step) return;
    to.push(step);
    this.stepping = true;
    this.put(step[back], step.at, step.at + step[gone].length);
    this.stepping = false;
    this.value = this.area.value;
  }

  // Replaces a part of the text, as a separate step. Common text at both ends is not touched, which also keeps the view.
  replace(text, from = 0, to = this.area.value.length) {
    const { head, removed, inserted } = changed(this.area.value.slice(from, to), text);
    if (!removed && !inserted) return;
    this.put(inserted, from + head, from + head + removed.length);
  }

  put(text, from, to) {
    const { area } = this;
    const { scrollTop, scrollLeft } = area;
    area.setRangeText(text, from, to, "end");
    Object.assign(area, { scrollTop, scrollLeft });
    area.dispatchEvent(new Event("input"));
  }
}

// The smallest range that contains all differences between two texts.
function changed(old, now) {
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old.charCodeAt(head) === now.charCodeAt(head)) head += 1;
  let tail = 0;
  while (tail < most - head && old.charCodeAt(old.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail)) tail += 1;
  return { head, removed: old.slice(head, old.length - tail), inserted: now.slice(head, now.length - tail) };
}
