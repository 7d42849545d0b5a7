// The difference of two texts, line by line.

// Returns rows `[" " | "-" | "+", line before or null, line after or null]`; lines are numbered from 1. The algorithm is that of Myers,
// "An O(ND) difference algorithm and its variations" (1986): it keeps the furthest point on each diagonal for a growing number of changes.
function difference(before, after) {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const [a, b] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const same = (from, count, shift) => Array.from({ length: count }, (_, i) => [" ", from + i + 1, from + i + 1 + shift]);
  return [...same(0, head, 0), ...changes(a, b, head), ...same(before.length - tail, tail, after.length - before.length)];
}

// If there are more changes, all lines that differ are shown as one change.
const CHANGES = 2000;

function changes(a, b, head) {
  const [n, m] = [a.length, b.length];
  const removed = (x) => ["-", head + x + 1, null];
  const added = (y) => ["+", null, head + y + 1];
  const history = [];
  let furthest = new Map([[1, 0]]);
  for (let d = 0; d <= n + m; d += 1) {
    if (d > CHANGES) return [...a.map((_, x) => removed(x)), ...b.map((_, y) => added(y))];
    history.push(furthest);
    const next = new Map();
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? furthest.get(k + 1) : furthest.get(k - 1) + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) x += 1;
      next.set(k, x);
      if (x >= n && x - k >= m) return path(history, d, n, m, { head, removed, added });
    }
    furthest = next;
  }
  return [];
}

// Reconstructs the path, from its end to its start.
function path(history, d, n, m, { head, removed, added }) {
  const rows = [];
  let [x, y] = [n, m];
  for (; d >= 0; d -= 1) {
    const furthest = history[d];
    const k = x - y;
    const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const [fromX, fromY] = [furthest.get(from) ?? 0, (furthest.get(from) ?? 0) - from];
    const [stopX, stopY] = d ? [down ? fromX : fromX + 1, down ? fromY + 1 : fromY] : [0, 0];
    while (x > stopX && y > stopY) { x -= 1; y -= 1; rows.push([" ", head + x + 1, head + y + 1]); }
    if (d) rows.push(down ? added(fromY) : removed(fromX));
    [x, y] = [fromX, fromY];
  }
  return rows.reverse();
}

// The rows close to those for which `matters` is true; each gap is replaced by the number of its rows.
const NEAR = 3;
function folded(rows, matters) {
  const keep = new Set();
  rows.forEach((row, i) => { if (matters(row)) for (let j = i - NEAR; j <= i + NEAR; j += 1) keep.add(j); });
  const out = [];
  for (let i = 0; i < rows.length; i += 1) {
    let end = i;
    while (end < rows.length && !keep.has(end)) end += 1;
    if (end - i > 2 * NEAR) { out.push(end - i); i = end - 1; } else out.push(rows[i]);
  }
  return out;
}
