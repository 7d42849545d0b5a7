//! The report as one page that needs nothing else.

use std::fmt::Write as _;

use crate::report::{Report, Status};

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}\
code{font-family:monospace}.bar{display:inline-block;height:.8em;background:#36c}";

/// The page.
pub fn page(report: &Report) -> String {
    let (header, values) = (&report.header, &report.values);
    let mut out = String::new();
    let gpu = escape(&header.gpu.name);
    // Writing to a string does not fail.
    let mut add = |what: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(what);
    };
    add(format_args!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{gpu}: probed</title>"
    ));
    add(format_args!("<style>{STYLE}</style>\n<h1>{gpu}</h1>\n"));
    add(format_args!(
        "<p>{}, {} compute units. gcn-tools {}, seed {}, {} programs of each form.</p>\n<h2>Values</h2>\n<table>",
        escape(&header.gpu.target_id),
        header.gpu.compute_units,
        escape(&header.tools),
        header.seed,
        header.variants
    ));
    let most = values.forms.len().max(1);
    for (status, count) in &values.totals {
        let width = count * 300 / most;
        add(format_args!(
            "<tr><td>{}</td><td>{count}</td><td><span class=\"bar\" style=\"width:{width}px\"></span></td></tr>",
            status.name()
        ));
    }
    add(format_args!(
        "</table>\n<h3>Forms that are not equal</h3>\n<table><tr><th>form<th>status<th>programs<th>differ"
    ));
    add(format_args!("<th>instruction<th>MODE<th>place<th>simulator<th>GPU</tr>\n"));
    for form in values.forms.iter().filter(|form| form.status != Status::Equal) {
        let (name, status) = (escape(&form.form), form.status.name());
        add(format_args!("<tr><td><code>{name}</code><td>{status}<td>{}<td>{}", form.cases, form.differing));
        match &form.first {
            Some(first) => add(format_args!(
                "<td><code>{}</code><td>{:#04x}<td>{}<td>{}<td>{}</tr>\n",
                escape(&first.instruction),
                first.mode,
                escape(&first.place),
                escape(&first.simulated),
                escape(&first.gpu)
            )),
            None => add(format_args!("<td colspan=\"5\">{}</tr>\n", escape(&form.message))),
        }
    }
    add(format_args!("</table>\n<h3>Left out</h3>\n<table><tr><th>rule<th>forms</tr>\n"));
    for (rule, forms) in &values.left_out {
        let names = escape(&forms.join(", "));
        add(format_args!(
            "<tr><td>{}<td><details><summary>{}</summary>{names}</details></tr>\n",
            escape(rule),
            forms.len()
        ));
    }
    add(format_args!("</table>\n</html>\n"));
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
