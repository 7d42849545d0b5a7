//! The still picture: the whole run at one scale.

use std::fmt::Write as _;

use super::chart::Chart;
use super::escape;
use super::page::CHART_STYLE;
use super::rows::{Bar, Class, Row};

/// Sizes in pixels.
const LEFT: f64 = 176.0;
const TOP: f64 = 56.0;
const PIPE: f64 = 18.0;
const WAVE: f64 = 24.0;
const GROUP: f64 = 10.0;
/// The narrowest and the widest axis.
const WIDTH: (f64, f64) = (800.0, 12_000.0);
/// Pixels for a cycle, where the width permits.
const SCALE: f64 = 2.0;
/// Bars that are narrower are drawn as one.
const THIN: f64 = 0.8;
/// Width of a character of a label.
const CHARACTER: f64 = 6.6;

pub(super) fn draw(chart: &Chart<'_>) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = Picture::of(chart).write(&mut out);
    out
}

struct Picture<'c> {
    chart: &'c Chart<'c>,
    /// Pixels for a cycle.
    scale: f64,
    width: f64,
    height: f64,
    /// The upper edge of each row.
    tops: Vec<f64>,
}

impl<'c> Picture<'c> {
    fn of(chart: &'c Chart<'c>) -> Picture<'c> {
        let cycles = chart.place(chart.end).max(1.0);
        let axis = (cycles * SCALE).clamp(WIDTH.0, WIDTH.1);
        let mut y = TOP;
        let mut tops = Vec::new();
        for (i, row) in chart.rows.iter().enumerate() {
            if i > 0 && row.wave != chart.rows[i - 1].wave {
                y += GROUP;
            }
            tops.push(y);
            y += tall(row);
        }
        let legend = 24.0 * (1 + chart.remarks.len()) as f64;
        Picture { chart, scale: axis / cycles, width: LEFT + axis + 8.0, height: y + legend + 8.0, tops }
    }

    fn x(&self, cycle: u64) -> f64 {
        LEFT + self.chart.place(cycle) * self.scale
    }

    /// The lower edge of the rows.
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
        for (row, top) in self.chart.rows.iter().zip(&self.tops) {
            self.row(out, row, *top)?;
        }
        self.folds(out)?;
        self.barriers(out)?;
        self.legend(out)?;
        out.push_str("</svg>\n");
        Ok(())
    }

    fn axis(&self, out: &mut String) -> std::fmt::Result {
        let step = step(90.0 / self.scale);
        let mut from = 0;
        let ends = self.chart.folds.iter().map(|f| (f.from, f.to)).chain([(self.chart.end, u64::MAX)]);
        for (end, next) in ends {
            for cycle in (from..=end).step_by(step as usize) {
                let (x, bottom) = (self.x(cycle), self.bottom());
                writeln!(
                    out,
                    "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{bottom}\"/>\
                     <text class=\"tick\" x=\"{x:.1}\" y=\"{}\">{cycle}</text>",
                    TOP - 8.0,
                    TOP - 12.0
                )?;
            }
            from = next.div_ceil(step).saturating_mul(step);
        }
        Ok(())
    }

    fn row(&self, out: &mut String, row: &Row, top: f64) -> std::fmt::Result {
        let tall = tall(row) - 4.0;
        let name = escape(&row.name);
        writeln!(out, "<text class=\"label\" x=\"8\" y=\"{:.1}\">{name}</text>", top + tall / 2.0 + 4.0)?;
        let mut rest = &row.bars[..];
        while let [first, ..] = rest {
            let many = self.thin(rest);
            let (group, others) = rest.split_at(many.max(1));
            let end = group.last().map_or(first.start, |bar| bar.start + bar.cycles);
            let (x, width) = (self.x(first.start), (self.x(end) - self.x(first.start)).max(0.4));
            let (y, height) = match first.class {
                Class::Waits(_) => (top + tall * 0.28, tall * 0.44),
                Class::Works(_) => (top, tall),
            };
            writeln!(
                out,
                "<rect class=\"{}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\"><title>{}</title></rect>",
                first.class.style(),
                self.hover(first, group.len())
            )?;
            let room = ((width - 6.0) / CHARACTER) as usize;
            let text = self.chart.text(first.at);
            if group.len() == 1 && matches!(first.class, Class::Works(_)) && text.len() <= room {
                let (x, y) = (x + 3.0, top + tall / 2.0 + 4.0);
                writeln!(out, "<text class=\"text\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text))?;
            }
            rest = others;
        }
        Ok(())
    }

    /// How many bars from the first on are drawn as one: of one class, thin, and next to each other.
    fn thin(&self, bars: &[Bar]) -> usize {
        let Some(first) = bars.first() else { return 0 };
        let narrow = |bar: &&Bar| bar.cycles as f64 * self.scale < THIN && bar.class == first.class;
        let mut end = first.start;
        let joined = bars.iter().take_while(narrow).take_while(|bar| {
            let near = (bar.start.saturating_sub(end)) as f64 * self.scale < THIN;
            end = bar.start + bar.cycles;
            near
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
        let (mut x, mut y) = (8.0, self.bottom() + 20.0);
        for class in self.chart.classes() {
            let (style, name) = (class.style(), class.name());
            writeln!(
                out,
                "<g><title>{}</title><rect class=\"{style}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{y:.1}\">{name}</text></g>",
                escape(&class.rule(self.chart.timeline)),
                y - 9.0,
                x + 14.0
            )?;
            x += 28.0 + CHARACTER * 1.1 * name.len() as f64;
        }
        for remark in &self.chart.remarks {
            y += 24.0;
            writeln!(out, "<text class=\"tick\" x=\"8\" y=\"{y:.1}\">{}</text>", escape(remark))?;
        }
        Ok(())
    }
}

fn tall(row: &Row) -> f64 {
    if row.wave { WAVE } else { PIPE }
}

/// A round number of cycles, at least `least`.
fn step(least: f64) -> u64 {
    let mut power = 1;
    loop {
        if let Some(n) = [1, 2, 5].into_iter().find(|n| (n * power) as f64 >= least) {
            return n * power;
        }
        power *= 10;
    }
}
