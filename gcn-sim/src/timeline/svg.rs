//! Draws the still picture: the whole run at one scale.

use std::fmt::Write as _;

use super::chart::Chart;
use super::escape;
use super::page::CHART_STYLE;
use super::rows::{Bar, Class, Row};

/// Sizes are in pixels.
const LEFT: f64 = 176.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 56.0;
const PIPE: f64 = 18.0;
const WAVE: f64 = 24.0;
const GROUP: f64 = 10.0;
/// The height of a line of the legend.
const LINE: f64 = 24.0;
/// The minimum and maximum width of the axis.
const WIDTH: (f64, f64) = (800.0, 12_000.0);
/// Pixels per cycle, if the width permits.
const SCALE: f64 = 2.0;
/// Bars narrower than this are joined; a joined bar is at most [`JOINED`] wide.
const THIN: f64 = 0.8;
const JOINED: f64 = 3.0;
/// The maximum number of bars for which each is a separate element with a description.
const EACH: usize = 2_000;
/// The width of a character in a label.
const CHARACTER: f64 = 6.6;

pub(super) fn draw(chart: &Chart<'_>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = Picture::of(chart).write(&mut out);
    out
}

struct Picture<'c> {
    chart: &'c Chart<'c>,
    /// Pixels per cycle.
    scale: f64,
    width: f64,
    height: f64,
    /// The y coordinate of the top of each row.
    tops: Vec<f64>,
}

/// One or more bars that are drawn as one bar.
struct Run<'r> {
    class: Class,
    x: f64,
    width: f64,
    first: &'r Bar,
    count: usize,
}

impl Run<'_> {
    /// The y coordinate and the height of a bar in a row. Bars of waits are lower than bars of work.
    fn extent(&self, top: f64, tall: f64) -> (f64, f64) {
        match self.class {
            Class::Waits(_) => (top + tall * 0.28, tall * 0.44),
            Class::Works(_) => (top, tall),
        }
    }
}

impl<'c> Picture<'c> {
    fn of(chart: &'c Chart<'c>) -> Picture<'c> {
        let cycles = (chart.place(chart.end) - chart.place(chart.start)).max(1.0);
        let asked = chart.timeline.width.map(|width| f64::from(width) - LEFT - RIGHT);
        let axis = asked.unwrap_or_else(|| (cycles * SCALE).clamp(WIDTH.0, WIDTH.1));
        let mut y = TOP;
        let mut tops = Vec::new();
        for (i, row) in chart.rows.iter().enumerate() {
            if i > 0 && row.wave != chart.rows[i - 1].wave {
                y += GROUP;
            }
            tops.push(y);
            y += tall(row);
        }
        let width = LEFT + axis + RIGHT;
        let lines = marks(chart, width).last().map_or(1, |mark| mark.line + 1) + chart.remarks.len();
        Picture { chart, scale: axis / cycles, width, height: y + LINE * lines as f64 + 8.0, tops }
    }

    fn x(&self, cycle: u64) -> f64 {
        let chart = self.chart;
        LEFT + (chart.place(cycle.clamp(chart.start, chart.end)) - chart.place(chart.start)) * self.scale
    }

    /// The y coordinate of the bottom of the last row.
    fn bottom(&self) -> f64 {
        self.tops.last().zip(self.chart.rows.last()).map_or(TOP, |(top, row)| top + tall(row))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (width, height) = (self.width, self.height);
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"system-ui, sans-serif\">\n<style>\n{CHART_STYLE}</style>\n\
             <rect class=\"ground\" width=\"100%\" height=\"100%\"/>"
        )?;
        let timeline = self.chart.timeline;
        let (title, cycles) = (escape(&timeline.title), timeline.report.cycles);
        let target = timeline.report.target;
        writeln!(
            out,
            "<text class=\"label\" x=\"8\" y=\"20\">{title} on {target}: {cycles} cycles<title>{}</title></text>",
            escape(&self.chart.summary())
        )?;
        self.axis(out)?;
        self.rows(out)?;
        self.folds(out)?;
        self.barriers(out)?;
        self.legend(out)?;
        out.push_str("</svg>\n");
        Ok(())
    }

    fn axis(&self, out: &mut String) -> std::fmt::Result {
        let step = step(90.0 / self.scale);
        let mut from = self.chart.start.next_multiple_of(step);
        let ends = self.chart.folds.iter().map(|f| (f.from, f.to)).chain([(self.chart.end, u64::MAX)]);
        for (end, next) in ends {
            for cycle in (from..=end).step_by(step as usize) {
                let (x, bottom) = (self.x(cycle), self.bottom());
                let number = cycle.to_string();
                let anchor = if x + CHARACTER * number.len() as f64 > self.width { "end" } else { "start" };
                writeln!(
                    out,
                    "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{bottom}\"/>\
                     <text class=\"tick\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{number}</text>",
                    TOP - 8.0,
                    TOP - 12.0
                )?;
            }
            from = next.div_ceil(step).saturating_mul(step);
        }
        Ok(())
    }

    fn rows(&self, out: &mut String) -> std::fmt::Result {
        let runs: Vec<Vec<Run<'_>>> = self.chart.rows.iter().map(|row| self.runs(row)).collect();
        let few = runs.iter().map(Vec::len).sum::<usize>() <= EACH;
        for ((row, top), runs) in self.chart.rows.iter().zip(&self.tops).zip(&runs) {
            let tall = tall(row) - 4.0;
            let name = escape(&row.name);
            writeln!(out, "<text class=\"label\" x=\"8\" y=\"{:.1}\">{name}</text>", top + tall / 2.0 + 4.0)?;
            if few {
                self.each(out, runs, *top, tall)?;
            } else {
                self.together(out, runs, *top, tall)?;
            }
            self.texts(out, runs, *top, tall)?;
        }
        Ok(())
    }

    /// The bars of a row. Adjacent bars that are too thin to see are joined to one bar, whose class is the one that takes most of the time.
    fn runs<'r>(&self, row: &'r Row) -> Vec<Run<'r>> {
        let mut runs = Vec::new();
        let mut rest = &row.bars[..];
        while let [first, ..] = rest {
            let (group, others) = rest.split_at(self.thin(rest).max(1));
            let end = group.last().map_or(first.start, |bar| bar.start + bar.cycles);
            let mut classes: Vec<(Class, u64)> = Vec::new();
            for bar in group {
                match classes.iter_mut().find(|(class, _)| *class == bar.class) {
                    Some((_, cycles)) => *cycles += bar.cycles,
                    None => classes.push((bar.class, bar.cycles)),
                }
            }
            let class =
                classes.iter().max_by_key(|(_, cycles)| *cycles).map_or(first.class, |(class, _)| *class);
            let (x, to) = (self.x(first.start), self.x(end));
            runs.push(Run { class, x, width: (to - x).max(0.4), first, count: group.len() });
            rest = others;
        }
        runs
    }

    /// Draws each bar as an element with its description.
    fn each(&self, out: &mut String, runs: &[Run<'_>], top: f64, tall: f64) -> std::fmt::Result {
        for run in runs {
            let (y, height) = run.extent(top, tall);
            writeln!(
                out,
                "<rect class=\"{}\" x=\"{:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{height:.1}\"><title>{}</title></rect>",
                run.class.style(),
                run.x,
                run.width,
                self.hover(run.first, run.count)
            )?;
        }
        Ok(())
    }

    /// Draws all bars of a class as one element, because a browser needs a minute for ten thousand elements with texts.
    fn together(&self, out: &mut String, runs: &[Run<'_>], top: f64, tall: f64) -> std::fmt::Result {
        for class in self.chart.classes() {
            let mut of_class = runs.iter().filter(|run| run.class == class).peekable();
            if of_class.peek().is_none() {
                continue;
            }
            write!(out, "<path class=\"{}\" shape-rendering=\"crispEdges\" d=\"", class.style())?;
            for run in of_class {
                let (y, height) = run.extent(top, tall);
                write!(out, "M{:.2} {y:.1}h{:.2}v{height:.1}h-{:.2}z", run.x, run.width, run.width)?;
            }
            writeln!(out, "\"><title>{}</title></path>", escape(class.name()))?;
        }
        Ok(())
    }

    /// Draws the text of instructions in bars that are wide enough for it.
    fn texts(&self, out: &mut String, runs: &[Run<'_>], top: f64, tall: f64) -> std::fmt::Result {
        for run in runs.iter().filter(|run| run.count == 1 && matches!(run.class, Class::Works(_))) {
            let room = ((run.width - 6.0) / CHARACTER) as usize;
            let text = self.chart.text(run.first.at);
            if text.len() <= room {
                let (x, y) = (run.x + 3.0, top + tall / 2.0 + 4.0);
                writeln!(out, "<text class=\"text\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text))?;
            }
        }
        Ok(())
    }

    /// The number of bars, from the first on, that are drawn as one: all are thin and adjacent, and together they are not too wide.
    fn thin(&self, bars: &[Bar]) -> usize {
        let Some(first) = bars.first() else { return 0 };
        let pixels = |cycles: u64| cycles as f64 * self.scale;
        let mut end = first.start;
        let joined = bars.iter().take_while(|bar| pixels(bar.cycles) < THIN).take_while(|bar| {
            let near = pixels(bar.start.saturating_sub(end)) < THIN;
            end = bar.start + bar.cycles;
            near && pixels(end - first.start) <= JOINED
        });
        joined.count()
    }

    fn hover(&self, bar: &Bar, count: usize) -> String {
        let chart = self.chart;
        let mut text = format!("{}: {}", bar.class.name(), chart.text(bar.at));
        if let Some(by) = bar.by {
            text += &format!("\nthe last to be done: {}", chart.text(by));
        }
        if let Some(note) = chart.note(bar.at) {
            text += &format!("\n{note}");
        }
        let end = bar.start + bar.cycles;
        text += &format!("\ncycle {} to {end}, workgroup {}, wave {}", bar.start, bar.workgroup, bar.wave);
        if count > 1 {
            text += &format!("; the first of {count}");
        }
        escape(&text)
    }

    fn folds(&self, out: &mut String) -> std::fmt::Result {
        for fold in &self.chart.folds {
            let (x, end) = (self.x(fold.from), self.x(fold.to));
            let (middle, centre) = (x / 2.0 + end / 2.0 + 4.0, (TOP + self.bottom()) / 2.0);
            writeln!(
                out,
                "<g><title>{}</title><rect class=\"fold\" x=\"{x:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/>\
                 <text class=\"fold-text\" text-anchor=\"middle\" transform=\"translate({middle:.1} {centre:.1}) rotate(-90)\">{} trips</text></g>",
                escape(&self.chart.fold_text(fold)),
                end - x,
                self.bottom() - TOP,
                fold.trips
            )?;
        }
        Ok(())
    }

    fn barriers(&self, out: &mut String) -> std::fmt::Result {
        for line in &self.chart.lines {
            let (x, end) = (self.x(line.cycle), self.tops[line.rows.1] + WAVE - 4.0);
            writeln!(
                out,
                "<line class=\"barrier\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{end}\"><title>barrier of workgroup {}, cycle {}</title></line>",
                self.tops[line.rows.0], line.workgroup, line.cycle
            )?;
        }
        Ok(())
    }

    fn legend(&self, out: &mut String) -> std::fmt::Result {
        let mut y = self.bottom() + 20.0;
        for Mark { class, line, x } in marks(self.chart, self.width) {
            y = self.bottom() + 20.0 + LINE * line as f64;
            let (style, name) = (class.style(), class.name());
            writeln!(
                out,
                "<g><title>{}</title><rect class=\"{style}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{y:.1}\">{name}</text></g>",
                escape(&class.rule(self.chart.timeline)),
                y - 9.0,
                x + 14.0
            )?;
        }
        for remark in &self.chart.remarks {
            y += LINE;
            writeln!(out, "<text class=\"tick\" x=\"8\" y=\"{y:.1}\">{}</text>", escape(remark))?;
        }
        Ok(())
    }
}

/// A class in the legend, with its line and its position in the line.
struct Mark {
    class: Class,
    line: usize,
    x: f64,
}

/// Arranges the legend in lines of the picture's width.
fn marks(chart: &Chart<'_>, width: f64) -> Vec<Mark> {
    let (mut line, mut x) = (0, 8.0);
    let classes = chart.classes().into_iter();
    let mark = |class: Class| {
        let wide = 28.0 + CHARACTER * 1.1 * class.name().len() as f64;
        if x > 8.0 && x + wide > width {
            (line, x) = (line + 1, 8.0);
        }
        x += wide;
        Mark { class, line, x: x - wide }
    };
    classes.map(mark).collect()
}

fn tall(row: &Row) -> f64 {
    if row.wave { WAVE } else { PIPE }
}

/// A round number of cycles that is at least `least`.
fn step(least: f64) -> u64 {
    let mut power = 1;
    loop {
        if let Some(n) = [1, 2, 5].into_iter().find(|n| (n * power) as f64 >= least) {
            return n * power;
        }
        power *= 10;
    }
}
