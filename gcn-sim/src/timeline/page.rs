//! Writes the HTML page from a template, a style sheet and a script in this folder, and the chart as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chart::Chart;
use super::escape;
use super::rows::{Class, Row};

/// The style of bars, which the still picture also uses.
pub(super) const CHART_STYLE: &str = include_str!("chart.css");

pub(super) fn html(chart: &Chart<'_>) -> String {
    let remarks = chart.remarks.iter().map(|r| format!("<p class=\"remark\">{}</p>\n", escape(r)));
    let style = format!("{CHART_STYLE}{}", include_str!("page.css"));
    // Without any `<`, the data cannot end the script element.
    let data = data(chart).to_string().replace('<', "\\u003c");
    let parts = [
        ("title", escape(&chart.timeline.title)),
        ("style", style),
        ("summary", escape(chart.summary().trim_end())),
        ("remarks", remarks.collect()),
        ("data", data),
        ("script", include_str!("page.js").to_owned()),
    ];
    fill(include_str!("page.html"), &parts)
}

/// The template with each `{{name}}` replaced. Replaced text is not searched again.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, after)) = after.split_once("}}") else { break };
        out.extend(parts.iter().filter(|(part, _)| *part == name).map(|(_, text)| text.as_str()));
        rest = after;
    }
    out + rest
}

fn data(chart: &Chart<'_>) -> Value {
    let timeline = chart.timeline;
    let classes = chart.classes();
    let mut waves: BTreeMap<(u64, u32), usize> = BTreeMap::new();
    waves.extend(chart.rows.iter().flat_map(|row| &row.bars).map(|bar| ((bar.workgroup, bar.wave), 0)));
    waves.values_mut().enumerate().for_each(|(number, place)| *place = number);
    let shown = classes.iter().map(|class| {
        let wait = matches!(class, Class::Waits(_));
        json!({ "name": class.name(), "style": class.style(), "wait": wait, "rule": class.rule(timeline) })
    });
    let rows = chart.rows.iter().map(|row| {
        json!({ "name": row.name, "short": row.short, "wave": row.wave, "bars": numbers(row, &classes, &waves) })
    });
    let insts = timeline.report.by_instruction.iter().map(|inst| {
        let note = timeline.notes.get(&inst.offset).map_or("", String::as_str);
        json!([format!("{:#x}", inst.offset), inst.text, inst.line.as_deref().unwrap_or(""), note])
    });
    let folds = chart.folds.iter().map(|fold| {
        json!({ "from": fold.from, "to": fold.to, "trips": fold.trips, "text": chart.fold_text(fold) })
    });
    json!({
        "start": chart.start,
        "end": chart.end,
        "gap": chart.gap,
        "classes": shown.collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "insts": insts.collect::<Vec<_>>(),
        "waves": waves.keys().collect::<Vec<_>>(),
        "barriers": chart.lines.iter().map(|l| json!([l.cycle, l.rows.0, l.rows.1, l.workgroup])).collect::<Vec<_>>(),
        "folds": folds.collect::<Vec<_>>(),
    })
}

/// The bars of a row in the form that the script reads.
fn numbers(row: &Row, classes: &[Class], waves: &BTreeMap<(u64, u32), usize>) -> Vec<i64> {
    let mut numbers = Vec::with_capacity(row.bars.len() * 7);
    let mut last = 0;
    for bar in &row.bars {
        let class = classes.iter().position(|class| *class == bar.class).unwrap_or(0);
        let wave = waves.get(&(bar.workgroup, bar.wave)).copied().unwrap_or(0);
        let done = bar.done.map_or(-1, |done| done.saturating_sub(bar.start) as i64);
        let by = bar.by.map_or(-1, i64::from);
        let of_bar = [(bar.start - last) as i64, bar.cycles as i64, class as i64];
        numbers.extend(of_bar.into_iter().chain([i64::from(bar.at), wave as i64, by, done]));
        last = bar.start;
    }
    numbers
}
