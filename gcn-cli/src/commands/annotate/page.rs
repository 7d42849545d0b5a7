//! The profile as a self-contained HTML page.

use std::fmt::Write as _;

use gcn_sim::timed::Stall;

use super::profile::{Line, Profile};
use super::samples::PIPES;
use super::text::{arbiter, head, percent, reasons};

const STYLE: &str = "body{font:14px sans-serif;margin:1em;color:#222;background:#fff}h1,p{overflow-wrap:anywhere}table{border-collapse:collapse;margin:1em 0}\
th,td{padding:2px 8px;text-align:right;vertical-align:top}th{border-bottom:1px solid #888}.t{text-align:left}\
td.s{text-align:left;white-space:nowrap}td.c{text-align:left;font-family:monospace;white-space:pre}.w{overflow-x:auto}.f td{font-weight:bold;text-align:left}\
.b{display:inline-block;height:.8em;background:#c65}.m{background:#58a}button{font:inherit}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}}";

/// Switches between the two sort orders of the table.
const SCRIPT: &str = "const b=document.querySelector('button'),t=document.querySelector('#code tbody');\
const rows=[...t.rows];let loss=true;function order(){const key=loss?r=>-r.dataset.loss:r=>+r.dataset.at;\
rows.sort((a,b)=>key(a)-key(b)||a.dataset.at-b.dataset.at);rows.forEach(r=>{r.hidden=loss&&r.dataset.samples==0;t.append(r)});\
b.textContent=loss?'In the order of addresses':'By loss';}b.onclick=()=>{loss=!loss;order()};order();";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A bar of length `share`; `most` has the full width.
fn bar(share: f64, most: f64, class: &str) -> String {
    let width = (120.0 * share / most.max(1e-9)).clamp(0.0, 120.0);
    format!("<span class=\"b {class}\" style=\"width:{width:.0}px\"></span>")
}

/// The page; `name` is the name of the code object.
pub fn html(profile: &Profile, name: &str) -> String {
    let title = escape(name);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
    );
    for line in head(profile).into_iter().chain(arbiter(profile)) {
        let _ = writeln!(out, "<p>{}</p>", escape(&line));
    }
    if profile.is_stochastic() {
        reasons_table(&mut out, profile);
    }
    if profile.arbiter.samples > 0 {
        pipes_table(&mut out, profile);
    }
    code_table(&mut out, profile);
    let _ = write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

fn reasons_table(out: &mut String, profile: &Profile) {
    let model = if profile.model.is_empty() { "" } else { "<th>model" };
    let _ = writeln!(out, "<div class=w><table><tr><th class=t>stall reason<th>samples<th>share{model}</tr>");
    for stall in Stall::ALL {
        let count = profile.reasons.get(stall);
        let modelled = profile.model.iter().find(|(s, _)| *s == stall).map_or(0.0, |(_, share)| *share);
        if count == 0 && modelled == 0.0 {
            continue;
        }
        let share = percent(count, profile.samples);
        let _ = write!(out, "<tr><td class=t>{stall}<td>{count}<td>{share}");
        if !model.is_empty() {
            let _ = write!(out, "<td>{:.1}%", 100.0 * modelled);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}

fn pipes_table(out: &mut String, profile: &Profile) {
    out.push_str(
        "<div class=w><table><tr><th class=t>pipeline<th>accepted<th>backpressured<th>idle<th>oversubscribed</tr>\n",
    );
    let all = profile.arbiter.samples;
    for ((_, name), pipe) in PIPES.iter().zip(profile.arbiter.pipes) {
        if pipe.accepted + pipe.backpressured > 0 {
            let cells = [pipe.accepted, pipe.backpressured, pipe.idle, pipe.oversubscribed];
            let cells: String = cells.map(|n| format!("<td>{}", percent(n, all))).concat();
            let _ = writeln!(out, "<tr><td class=t>{name}{cells}</tr>");
        }
    }
    out.push_str("</table></div>\n");
}

fn code_table(out: &mut String, profile: &Profile) {
    let lines = profile.listing();
    let has_model = !profile.model.is_empty();
    let share = |line: &Line| line.samples as f64 / profile.samples.max(1) as f64;
    let most = lines.iter().map(|line| share(line).max(line.model.unwrap_or_default())).fold(0.0, f64::max);
    let model = if has_model { "<th class=t>model" } else { "" };
    let _ = write!(
        out,
        "<button></button>\n<div class=w><table id=code><thead><tr><th>loss<th>samples<th class=t>share{model}<th>address\
         <th class=t>instruction<th class=t>why<th class=t>source</tr></thead><tbody>\n"
    );
    for line in lines {
        let loss = profile.loss(line);
        let _ = write!(
            out,
            "<tr data-loss={loss} data-samples={} data-at={}><td>{loss}<td>{}<td class=s>{} {}",
            line.samples,
            line.address,
            line.samples,
            bar(share(line), most, ""),
            percent(line.samples, profile.samples)
        );
        if has_model {
            let part = line.model.unwrap_or_default();
            let _ = write!(out, "<td class=s>{} {:.1}%", bar(part, most, "m"), 100.0 * part);
        }
        let _ = writeln!(
            out,
            "<td>{:#x}<td class=c>{}<td class=t>{}<td class=t>{}</tr>",
            line.address,
            escape(&line.text),
            escape(&reasons(line)),
            escape(line.source.as_deref().unwrap_or_default())
        );
    }
    out.push_str("</tbody></table></div>\n");
}
