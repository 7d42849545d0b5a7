'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const find = id => document.getElementById(id);
const chart = find('chart'), axis = find('axis'), panel = find('panel');
const ROW = { pipe: 18, wave: 24 }, GROUP = 10, LEAST = 8;

// The bars of a row are a flat list of numbers, FIELDS for each bar: start relative to the start of the previous bar, cycles, class,
// instruction, wave, instruction that is waited for or -1, cycles from the start until the memory operation is done or -1.
const FIELDS = 7;
for (const row of data.rows) {
  const bars = [];
  let start = 0;
  for (let i = 0; i < row.bars.length; i += FIELDS) {
    const [after, cycles, kind, at, wave, by, done] = row.bars.slice(i, i + FIELDS);
    start += after;
    bars.push({ start, cycles, kind, at, wave, by, done, from: place(start), to: place(start + cycles) });
  }
  row.bars = bars;
}

// Position of a cycle on the axis, on which a fold takes only `gap` cycles.
function place(cycle) {
  let at = cycle;
  for (const fold of data.folds) {
    if (cycle <= fold.from) break;
    at -= (Math.min(cycle, fold.to) - fold.from) * (1 - data.gap / (fold.to - fold.from));
  }
  return at;
}

// The ranges of cycles between folds.
const parts = [];
data.folds.reduce((from, fold) => (parts.push([from, fold.from]), fold.to), 0);
parts.push([data.folds.length ? data.folds[data.folds.length - 1].to : 0, data.end]);

const base = place(data.start), total = place(data.end) - base;
let view = { from: base, to: base + total }, width = 0, left = 0, top_of = [], height = 0, selected = null;

const escape = text => String(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
const x = at => left + (at - view.from) / (view.to - view.from) * (width - left - 8);
const number = n => n.toLocaleString('en');

const LEAST_WIDTH = 240;

function layout() {
  width = Math.max(chart.parentElement.clientWidth, LEAST_WIDTH);
  left = width < 640 ? 52 : 168;
  top_of = [];
  let y = 4;
  data.rows.forEach((row, i) => {
    if (i && row.wave !== data.rows[i - 1].wave) y += GROUP;
    top_of.push(y);
    y += row.wave ? ROW.wave : ROW.pipe;
  });
  height = y + 6;
  for (const [svg, h] of [[chart, height], [axis, 24]]) {
    svg.setAttribute('viewBox', `0 0 ${width} ${h}`);
    svg.setAttribute('width', width);
    svg.setAttribute('height', h);
  }
}

// The number of cycles between ticks: a round number that is at least 90 pixels wide.
function step() {
  const least = 90 * (view.to - view.from) / (width - left);
  const power = 10 ** Math.floor(Math.log10(least));
  return Math.max([1, 2, 5, 10].map(n => n * power).find(n => n >= least), 1);
}

function ticks() {
  const by = step(), ticks = [];
  for (const [from, to] of parts) {
    // Only cycles in view, since a part may be long.
    const low = Math.max(from, from + view.from - place(from)), high = Math.min(to, from + view.to - place(from));
    for (let cycle = Math.ceil(low / by) * by; cycle <= high; cycle += by) ticks.push(cycle);
  }
  return ticks;
}

function drawRow(row, index, out) {
  const y = top_of[index], h = (row.wave ? ROW.wave : ROW.pipe) - 4;
  if (index % 2) out.push(`<rect class="stripe" x="${left}" y="${y - 2}" width="${width - left}" height="${h + 4}"/>`);
  let low = 0, high = row.bars.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (row.bars[mid].to <= view.from) low = mid + 1; else high = mid;
  }
  for (let i = low; i < row.bars.length && row.bars[i].from < view.to; i++) {
    const first = i;
    let bar = row.bars[i], x0 = x(bar.from), x1 = x(bar.to), kind = bar.kind;
    // Bars that are too thin to see are merged into one, with the colour of the class that takes most of its time.
    if (x1 - x0 < 1.2) {
      const time = {};
      let end = x1;
      for (; i < row.bars.length; i++) {
        bar = row.bars[i];
        const [a, b] = [x(bar.from), x(bar.to)];
        if (i > first && (a - end > 1 || b - a >= 1.2 || b - x0 > 3)) break;
        time[bar.kind] = (time[bar.kind] || 0) + bar.to - bar.from;
        end = b;
      }
      i--;
      x1 = Math.max(end, x0 + 0.8);
      kind = +Object.keys(time).reduce((a, b) => (time[a] >= time[b] ? a : b));
    }
    const from = Math.max(x0, left), to = Math.min(x1, width);
    if (to <= from) continue;
    const { style, wait } = data.classes[kind], top = wait ? y + h * 0.28 : y, tall = wait ? h * 0.44 : h;
    const merged = i > first ? ` data-count="${i - first + 1}"` : '';
    const on = selected && selected.row === index && selected.bar === first ? ' on' : '';
    out.push(`<rect class="bar ${style}${on}" data-row="${index}" data-bar="${first}"${merged} x="${from.toFixed(2)}" y="${top.toFixed(1)}" `
      + `width="${Math.max(to - from - (to - from > 4 ? 1 : 0), 0.6).toFixed(2)}" height="${tall.toFixed(1)}" rx="${to - from > 6 ? 2 : 0}"/>`);
    if (i === first && !wait && to - from > 62) {
      const text = data.insts[row.bars[first].at][1], room = Math.floor((to - from - 8) / 6.6);
      out.push(`<text class="text" x="${from + 4}" y="${y + h / 2 + 4}">${escape(text.length > room ? text.slice(0, room - 1) + '…' : text)}</text>`);
    }
  }
}

function draw() {
  const out = [], marks = [];
  for (const cycle of ticks()) {
    const at = x(place(cycle));
    if (at < left || at > width) continue;
    out.push(`<line class="grid" x1="${at}" x2="${at}" y1="0" y2="${height}"/>`);
    const anchor = at > width - 40 ? 'end' : at < left + 20 ? 'start' : 'middle';
    marks.push(`<text class="tick" x="${at}" y="16" text-anchor="${anchor}">${number(cycle)}</text>`);
  }
  data.rows.forEach((row, index) => drawRow(row, index, out));
  for (const fold of data.folds) {
    const from = Math.max(x(place(fold.from)), left), to = Math.min(x(place(fold.to)), width);
    if (to <= from) continue;
    const middle = (from + to) / 2, trips = `${number(fold.trips)} trips`;
    out.push(`<g><title>${escape(fold.text)}</title><rect class="fold" x="${from}" y="0" width="${to - from}" height="${height}"/>`
      + `<text class="fold-text" text-anchor="middle" transform="translate(${middle + 4} ${Math.min(height / 2, 120)}) rotate(-90)">`
      + `${to - from > 12 ? trips : ''}</text></g>`);
  }
  const seen = data.barriers.filter(([cycle]) => place(cycle) >= view.from && place(cycle) <= view.to).length;
  const dense = seen * 24 > width ? ' dense' : '';
  for (const [cycle, first, last, workgroup] of data.barriers) {
    const at = x(place(cycle));
    if (at < left || at > width) continue;
    const end = top_of[last] + ROW.wave - 4;
    out.push(`<line class="barrier${dense}" x1="${at.toFixed(2)}" x2="${at.toFixed(2)}" y1="${top_of[first]}" y2="${end}">`
      + `<title>barrier of workgroup ${workgroup}: the last wave arrives in cycle ${number(cycle)}</title></line>`);
  }
  out.push(`<rect class="ground" x="0" y="0" width="${left}" height="${height}"/>`);
  data.rows.forEach((row, i) => {
    const y = top_of[i] + (row.wave ? ROW.wave : ROW.pipe) / 2 + 2;
    out.push(`<text class="label" x="8" y="${y}">${escape(left < 100 ? row.short : row.name)}<title>${escape(row.name)}</title></text>`);
  });
  chart.innerHTML = out.join('');
  axis.innerHTML = marks.join('');
  find('span').textContent = `${number(Math.round(view.to - view.from))} of ${number(Math.round(total))} cycles`
    + (data.folds.length ? ', folds aside' : '');
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}

function show(from, to) {
  const span = Math.min(Math.max(to - from, LEAST), total);
  from = Math.min(Math.max(from, base), base + total - span);
  view = { from, to: from + span };
  redraw();
}

// Zooms around a position in pixels, by default the middle of the chart.
function zoom(factor, at = left + (width - left) / 2) {
  const share = Math.min(Math.max((at - left) / (width - left - 8), 0), 1);
  const middle = view.from + share * (view.to - view.from), span = (view.to - view.from) * factor;
  show(middle - share * span, middle + (1 - share) * span);
}

function move(pixels) {
  const by = pixels * (view.to - view.from) / (width - left);
  show(view.from + by, view.to + by);
}

// Explains a bar in the panel: the instruction or wait, and the reason for it.
function explain(row, index, count) {
  const bar = data.rows[row].bars[index], kind = data.classes[bar.kind];
  const [offset, text, line, note] = data.insts[bar.at] || ['', '(end of the code)', '', ''];
  const [workgroup, wave] = data.waves[bar.wave];
  const lines = [];
  lines.push(`<p><b>${escape(kind.wait ? 'waits: ' + kind.name : kind.name)}</b> <code>${escape(text)}</code></p>`);
  const by = bar.by >= 0 ? data.insts[bar.by] : null;
  if (kind.wait) lines.push(`<p class="why">${escape(kind.rule)}${by ? ` The last to be done: <code>${escape(by[1])}</code> at ${by[0]}.` : ''}</p>`);
  if (note) lines.push(`<p class="why">${escape(note)}</p>`);
  const done = bar.done >= 0 ? `; its memory operation is done in cycle ${number(bar.start + bar.done)}, ${number(bar.done)} later` : '';
  lines.push(`<p class="place">cycle ${number(bar.start)} to ${number(bar.start + bar.cycles)} (${number(bar.cycles)})${done}; `
    + `workgroup ${workgroup}, wave ${wave}, offset ${offset}${line ? ', ' + escape(line) : ''}`
    + `${count ? `; the first of ${count} bars, zoom in for the others` : ''}</p>`);
  panel.innerHTML = lines.join('');
}

function point(event) {
  const bar = event.target.closest && event.target.closest('.bar');
  if (!bar) return;
  chart.querySelectorAll('.on').forEach(old => old.classList.remove('on'));
  bar.classList.add('on');
  selected = { row: +bar.dataset.row, bar: +bar.dataset.bar };
  explain(selected.row, selected.bar, bar.dataset.count);
}

// One pointer drags the chart, two zoom it.
const pointers = new Map();
chart.addEventListener('pointerdown', event => {
  point(event);
  pointers.set(event.pointerId, event.clientX);
});
chart.addEventListener('pointermove', event => {
  const last = pointers.get(event.pointerId);
  if (last === undefined) { point(event); return; }
  if (pointers.size === 1) {
    chart.classList.add('moving');
    move(last - event.clientX);
  } else {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const [before, now] = [Math.abs(last - other), Math.abs(event.clientX - other)];
    if (before > 4 && now > 4) zoom(before / now, (event.clientX + other) / 2 - chart.getBoundingClientRect().left);
  }
  pointers.set(event.pointerId, event.clientX);
});
for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
  chart.addEventListener(end, event => { pointers.delete(event.pointerId); chart.classList.remove('moving'); });

chart.addEventListener('wheel', event => {
  const at = event.clientX - chart.getBoundingClientRect().left;
  // Over the names of rows, the wheel scrolls the page.
  if (at < left) return;
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) * unit);
  else zoom(Math.exp(event.deltaY * unit * 0.0015), at);
}, { passive: false });

const KEYS = {
  '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1 / 0.7), 'ArrowLeft': () => move(-width / 8),
  'ArrowRight': () => move(width / 8), '0': () => show(base, base + total), 'Home': () => show(base, base + view.to - view.from),
  'End': () => show(base + total, base + total + view.to - view.from),
};
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
find('in').onclick = KEYS['+'];
find('out').onclick = KEYS['-'];
find('fit').onclick = KEYS['0'];
// Also needed in the frame of another page, which gets its size after the script has run.
new ResizeObserver(() => {
  if (Math.max(chart.parentElement.clientWidth, LEAST_WIDTH) !== width) { layout(); redraw(); }
}).observe(chart.parentElement);

find('legend').innerHTML = data.classes.map(({ style, name, rule }) =>
  `<li title="${escape(rule)}"><svg viewBox="0 0 12 12" aria-hidden="true"><rect class="${style}" width="12" height="12" rx="2"/></svg>${escape(name)}</li>`).join('')
  + (data.barriers.length ? '<li><svg viewBox="0 0 12 12" aria-hidden="true"><line class="barrier" x1="6" x2="6" y1="0" y2="12"/></svg>barrier</li>' : '');
layout();
draw();
