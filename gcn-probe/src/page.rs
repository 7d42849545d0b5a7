//! Renders a report as one self-contained HTML page.

use std::fmt::{Arguments, Write as _};

use crate::clock::result::Curve;
use crate::clock::table::{Clock, Fit};
use crate::report::{FormResult, Kernels, Report, Status, Values, Verdict, Waits};

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:80em;margin:2em auto;padding:0 1em}\
.wide{overflow-x:auto;margin:1em 0}table{border-collapse:collapse}\
td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}\
code{font-family:monospace}.bars{width:18em}.bar{height:.8em;background:#36c}\
svg{vertical-align:middle;max-width:100%}td svg{max-width:none}.asked{stroke:#999}.seen{fill:#36c}.more{fill:#c33}\
.curve{fill:none;stroke:#36c;stroke-width:2}.differs{color:#c33}";

/// The report as HTML.
pub fn page(report: &Report) -> String {
    let header = &report.header;
    let mut out = Page(String::new());
    let gpu = escape(&header.gpu.name);
    out.add(format_args!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{gpu}: probed</title>"
    ));
    out.add(format_args!("<style>{STYLE}</style>\n<h1>{gpu}</h1>\n"));
    out.add(format_args!(
        "<p>{}, {} compute units{}. HIP {}. {} gcn-tools {}, seed {}, {} form.</p>\n",
        escape(&header.gpu.target_id),
        header.gpu.compute_units,
        if header.gpu.simulated { ", simulated" } else { "" },
        escape(&header.gpu.driver.hip),
        escape(&report.date),
        escape(&header.tools),
        header.seed,
        if header.quick { "short" } else { "long" }
    ));
    for (name, values) in report.computed() {
        out.values(name, values);
    }
    if let Some(waits) = &report.waits {
        out.waits(waits);
    }
    if let Some(kernels) = &report.kernels {
        out.kernels(kernels);
    }
    if let Some(clock) = &report.clock {
        out.clock(clock);
    }
    out.add(format_args!("</html>\n"));
    out.0
}

/// The HTML written so far.
struct Page(String);

impl Page {
    fn add(&mut self, what: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(what);
    }

    /// The number of results of each status, as bars.
    fn totals(&mut self, title: &str, totals: impl Iterator<Item = (&'static str, usize)>) {
        let totals: Vec<_> = totals.collect();
        let most = totals.iter().map(|(_, count)| *count).sum::<usize>().max(1);
        self.add(format_args!("<h2>{title}</h2>\n<div class=\"wide\"><table>"));
        for (name, count) in totals {
            let width = count * 100 / most;
            self.add(format_args!(
                "<tr><td>{name}</td><td>{count}</td><td class=\"bars\"><div class=\"bar\" style=\"width:{width}%\"></div></td></tr>"
            ));
        }
        self.add(format_args!("</table></div>\n"));
    }

    fn values(&mut self, name: &str, values: &Values) {
        self.totals(
            &format!("Suite {name}"),
            values.totals.iter().map(|(status, count)| (status.name(), *count)),
        );
        let others: Vec<_> = values.forms.iter().filter(|form| form.status != Status::Equal).collect();
        if !others.is_empty() {
            self.forms(&others);
        }
        if values.left_out.is_empty() {
            return;
        }
        self.add(format_args!("<h3>Left out</h3>\n<div class=\"wide\"><table><tr><th>rule<th>forms</tr>\n"));
        for (rule, forms) in &values.left_out {
            let names = escape(&forms.join(", "));
            self.add(format_args!(
                "<tr><td>{}<td><details><summary>{}</summary>{names}</details></tr>\n",
                escape(rule),
                forms.len()
            ));
        }
        self.add(format_args!("</table></div>\n"));
    }

    /// Forms whose results differ, or that gave none.
    fn forms(&mut self, others: &[&FormResult]) {
        self.add(format_args!(
            "<h3>Forms that are not equal</h3>\n<div class=\"wide\"><table><tr><th>form<th>status<th>programs<th>differ"
        ));
        self.add(format_args!("<th>instruction<th>MODE<th>place<th>simulator<th>GPU</tr>\n"));
        for form in others {
            let (name, status) = (escape(&form.form), form.status.name());
            self.add(format_args!(
                "<tr><td><code>{name}</code><td>{status}<td>{}<td>{}",
                form.cases, form.differing
            ));
            match &form.first {
                Some(first) => self.add(format_args!(
                    "<td><code>{}</code><td>{:#04x}<td>{}<td>{}<td>{}</tr>\n",
                    escape(&first.instruction),
                    first.mode,
                    escape(&first.place),
                    escape(&first.simulated),
                    escape(&first.gpu)
                )),
                None => self.add(format_args!("<td colspan=\"5\">{}</tr>\n", escape(&form.message))),
            }
        }
        self.add(format_args!("</table></div>\n"));
    }

    /// The problem sizes of each kernel, drawn to scale: a line marks the GPU's time, a bar the model's, up to twice the GPU's.
    fn kernels(&mut self, kernels: &Kernels) {
        /// The width in pixels of the GPU's time.
        const WHOLE: f64 = 100.0;
        self.totals("Suite kernels", kernels.totals.iter().map(|(status, count)| (status.name(), *count)));
        self.add(format_args!(
            "<p>The line: the GPU's time. The bar: the model's.</p>\n<div class=\"wide\"><table><tr><th>kernel<th>status<th>size\
             <th>differ<th>largest error<th>allowed<th>GPU, µs<th>model, µs<th>error of the model<th></tr>\n"
        ));
        for kernel in &kernels.kernels {
            let (name, status) = (escape(&kernel.kernel), kernel.status.name());
            self.add(format_args!(
                "<tr><td rowspan=\"{}\"><code>{name}</code><td rowspan=\"{0}\">{status}",
                kernel.sizes.len().max(1)
            ));
            if kernel.sizes.is_empty() {
                self.add(format_args!("<td colspan=\"8\">{}</tr>\n", escape(&kernel.message)));
            }
            for (i, size) in kernel.sizes.iter().enumerate() {
                let us =
                    |ns: Option<u64>| ns.map_or_else(String::new, |ns| format!("{:.1}", ns as f64 / 1e3));
                let error = size.model_error();
                let bar = error.map_or(0.0, |error| (1.0 + error).min(2.0) * WHOLE);
                self.add(format_args!(
                    "{}<td>{}<td>{} of {}<td>{}<td>{:e}<td>{}<td>{}<td>{}<td><svg width=\"210\" height=\"14\"><rect class=\"seen\" \
                     y=\"3\" height=\"8\" width=\"{bar:.0}\"/><line class=\"asked\" x1=\"{WHOLE}\" x2=\"{WHOLE}\" y1=\"0\" y2=\"14\"/>\
                     </svg></tr>\n",
                    if i > 0 { "<tr>" } else { "" },
                    escape(&size.size),
                    size.different,
                    size.elements,
                    size.max_error.map_or_else(|| "not finite".to_owned(), |error| format!("{error:e}")),
                    size.tolerance,
                    us(size.gpu_ns),
                    us(size.model_ns),
                    error.map_or_else(String::new, |error| format!("{:+.1}%", 100.0 * error)),
                ));
            }
        }
        self.add(format_args!("</table></div>\n"));
    }

    /// A chart of each instruction pair: a line marks the wait states that the rules require, a bar the measured ones.
    fn waits(&mut self, waits: &Waits) {
        /// The width of a wait state in pixels.
        const STATE: u32 = 8;
        self.totals("Wait states", waits.totals.iter().map(|(verdict, count)| (verdict.name(), *count)));
        self.add(format_args!(
            "<p>The bar: the least number of wait states with which no program ever failed. The line: what rules ask for.</p>\n\
             <div class=\"wide\"><table><tr><th>rule<th>grade<th>verdict<th>instructions<th>asked<th>measured<th></tr>\n"
        ));
        for rule in &waits.rules {
            let (name, title) = (escape(&rule.rule), escape(&rule.title));
            let (grade, verdict) = (escape(&rule.grade), rule.verdict.name());
            self.add(format_args!(
                "<tr><td rowspan=\"{}\" title=\"{title}\"><code>{name}</code><td rowspan=\"{0}\">{grade}<td rowspan=\"{0}\">{verdict}",
                rule.pairs.len().max(1)
            ));
            if rule.pairs.is_empty() {
                self.add(format_args!("<td colspan=\"4\">{}</tr>\n", escape(&rule.message)));
            }
            for (i, pair) in rule.pairs.iter().enumerate() {
                let (asked, by) = (pair.needed, escape(&pair.needed_by));
                let measured =
                    pair.measured.map_or_else(|| "not seen".to_owned(), |n| escape(&pair.in_words(n)));
                let more = if pair.verdict() == Verdict::More { "more" } else { "seen" };
                let (long, line) = (u32::from(pair.measured.unwrap_or(0)) * STATE, u32::from(asked) * STATE);
                self.add(format_args!(
                    "{}<td><code>{}</code><td title=\"{by}\">{}<td>{measured}<td>\
                     <svg width=\"240\" height=\"14\"><rect class=\"{more}\" y=\"3\" height=\"8\" width=\"{long}\"/>\
                     <line class=\"asked\" x1=\"{line}\" x2=\"{line}\" y1=\"0\" y2=\"14\"/></svg></tr>\n",
                    if i > 0 { "<tr>" } else { "" },
                    escape(&pair.instructions),
                    escape(&pair.in_words(asked)),
                ));
            }
        }
        self.add(format_args!("</table></div>\n"));
    }

    /// Each parameter next to its value in the table, and the curves from which it was read.
    fn clock(&mut self, clock: &Clock) {
        self.totals("Times", clock.totals.iter().map(|(fit, count)| (fit.name(), *count)));
        self.add(format_args!(
            "<div class=\"wide\"><table><tr><th>parameter<th>measured<th>table<th>unit<th>grade<th>range<th></tr>\n"
        ));
        for parameter in &clock.parameters {
            let class = if parameter.fit == Fit::Differs { " class=\"differs\"" } else { "" };
            let range = parameter.range.as_ref().map(|[low, high]| format!("{low} to {high}"));
            let message =
                if parameter.message.is_empty() { String::new() } else { format!(": {}", parameter.message) };
            self.add(format_args!(
                "<tr{class}><td><code>{}</code><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}{}</tr>\n",
                escape(&parameter.name),
                escape(parameter.measured.as_deref().unwrap_or("")),
                escape(&parameter.table),
                escape(&parameter.unit),
                escape(&parameter.grade),
                escape(&range.unwrap_or_default()),
                parameter.fit.name(),
                escape(&message),
            ));
        }
        self.add(format_args!("</table></div>\n"));
        for curve in &clock.curves {
            self.curve(curve);
        }
    }

    /// A plot. The x axis begins at the smallest x value, the y axis at 0.
    fn curve(&mut self, curve: &Curve) {
        const WIDTH: f64 = 560.0;
        const HEIGHT: f64 = 160.0;
        let of = |axis: fn(&(f64, f64)) -> f64, pick: fn(f64, f64) -> f64| {
            curve.points.iter().map(axis).reduce(pick).unwrap_or_default()
        };
        let (left, right, top) = (of(|p| p.0, f64::min), of(|p| p.0, f64::max), of(|p| p.1, f64::max));
        let point = |(x, y): &(f64, f64)| {
            let across = (x - left) / (right - left).max(1e-9) * WIDTH;
            format!("{across:.1},{:.1}", HEIGHT - y / top.max(1e-9) * (HEIGHT - 10.0))
        };
        let line: Vec<String> = curve.points.iter().map(point).collect();
        self.add(format_args!(
            "<h3>{}</h3>\n<p>Across: {}, {left} to {right}. Up: {}, 0 to {top:.1}.</p>\n\
             <svg width=\"{WIDTH}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0}\">\
             <line class=\"asked\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{HEIGHT}\" y2=\"{HEIGHT}\"/>\
             <polyline class=\"curve\" points=\"{}\"/></svg>\n",
            escape(&curve.title),
            escape(&curve.x),
            escape(&curve.y),
            line.join(" "),
        ));
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
