//! The profile as text.

use std::fmt::Write as _;

use gcn_sim::timed::Stall;

use super::profile::{Line, Profile};
use super::samples::PIPES;

/// The number of reasons that are shown for an instruction.
const REASONS: usize = 2;

/// A share in percent.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The reasons why an instruction does not issue: those of the samples, then those of the timed model.
pub fn reasons(line: &Line) -> String {
    let of_samples = line.reasons.by_count().into_iter().take(REASONS);
    let measured: Vec<_> = of_samples.map(|(s, n)| format!("{s} {}", percent(n, line.samples))).collect();
    let of_model = line.model_reasons.iter().take(REASONS);
    let modelled: Vec<_> = of_model.map(|(s, _)| s.to_string()).collect();
    let mut text = measured.join(", ");
    if !modelled.is_empty() {
        let _ = write!(text, "{}model: {}", if text.is_empty() { "" } else { "; " }, modelled.join(", "));
    }
    if !line.same.is_empty() {
        let others: Vec<_> = line.same.iter().map(|address| format!("{address:#x}")).collect();
        let _ = write!(text, "{}or at {}", if text.is_empty() { "" } else { "; " }, others.join(", "));
    }
    text
}

/// The first lines of both the text and the page: totals.
pub fn head(profile: &Profile) -> Vec<String> {
    let samples = profile.samples;
    let mut lines = vec![format!(
        "{samples} samples by {} sampling of {} dispatches; {} at no instruction of the code, {} of other code or dispatches",
        profile.method, profile.dispatches, profile.outside, profile.elsewhere
    )];
    let [active, lanes] = [profile.active_lanes, profile.lanes].map(|sum| sum as f64 / samples.max(1) as f64);
    let mut state = format!("{active:.1} of {lanes:.0} lanes active");
    if profile.is_stochastic() {
        let _ = write!(state, "; the wave issued in {}", percent(profile.issued, samples));
    }
    if let Some((least, sum, most)) = profile.waves {
        let average = sum as f64 / samples.max(1) as f64;
        let _ = write!(state, "; {average:.1} waves on the compute unit ({least} to {most})");
    }
    lines.push(state);
    lines
}

/// The arbiter's statistics, one line each; empty if the samples have no arbiter state.
pub fn arbiter(profile: &Profile) -> Vec<String> {
    let all = &profile.arbiter;
    if all.samples == 0 {
        return Vec::new();
    }
    let ipc = all.accepted as f64 / all.samples as f64;
    let mut lines = vec![format!(
        "{ipc:.2} instructions a cycle and SIMD; no pipeline made progress in {}",
        percent(all.no_progress, all.samples)
    )];
    let lost = all.lost_to_issue + all.lost_to_stall + all.lost_to_none;
    if lost > 0 {
        lines.push(format!(
            "ARBITER_NOT_WIN: {lost} samples; another wave's instruction began in {}, was refused in {}; nothing was issued to \
             the pipeline in {}",
            all.lost_to_issue, all.lost_to_stall, all.lost_to_none
        ));
    }
    lines
}

/// The profile as text: totals, pipelines, and at most `limit` instructions sorted by loss; without a limit, whole functions in address
/// order.
pub fn render(profile: &Profile, limit: Option<usize>) -> String {
    let mut out = head(profile).join("\n") + "\n";
    let has_model = !profile.model.is_empty();
    if profile.is_stochastic() {
        let _ = writeln!(
            out,
            "\n{:<25} {:>8} {:>7}{}",
            "stall reason",
            "samples",
            "share",
            if has_model { "   model" } else { "" }
        );
        for stall in Stall::ALL {
            let count = profile.reasons.get(stall);
            let model = profile.model.iter().find(|(s, _)| *s == stall).map_or(0.0, |(_, share)| *share);
            if count > 0 || model > 0.0 {
                let model = if has_model { format!(" {:>6.1}%", 100.0 * model) } else { String::new() };
                let _ = writeln!(
                    out,
                    "{:<25} {count:>8} {:>7}{model}",
                    stall.name(),
                    percent(count, profile.samples)
                );
            }
        }
    }
    let said = arbiter(profile);
    if !said.is_empty() {
        let _ = writeln!(out, "\n{}", said.join("\n"));
        let all = profile.arbiter.samples;
        let _ = writeln!(
            out,
            "{:<19} {:>9} {:>14} {:>8} {:>15}",
            "pipeline", "accepted", "backpressured", "idle", "oversubscribed"
        );
        for ((_, name), pipe) in PIPES.iter().zip(profile.arbiter.pipes) {
            if pipe.accepted + pipe.backpressured > 0 {
                let cells = [pipe.accepted, pipe.backpressured, pipe.idle, pipe.oversubscribed]
                    .map(|n| percent(n, all));
                let _ = writeln!(
                    out,
                    "{name:<19} {:>9} {:>14} {:>8} {:>15}",
                    cells[0], cells[1], cells[2], cells[3]
                );
            }
        }
    }
    let lines = match limit {
        Some(_) => profile.by_loss(),
        None => profile.listing(),
    };
    instructions(&mut out, profile, &lines, limit.unwrap_or(usize::MAX));
    out
}

fn instructions(out: &mut String, profile: &Profile, lines: &[&Line], limit: usize) {
    let has_model = !profile.model.is_empty();
    let shown = lines.get(..limit.min(lines.len())).unwrap_or(lines);
    let texts = shown.iter().map(|line| line.text.len()).max().unwrap_or_default();
    let head = if has_model { "  model" } else { "" };
    let _ = writeln!(
        out,
        "\n{:>7} {:>7} {:>6}{head} {:>8}  {:<texts$}  why, and where",
        "loss", "samples", "share", "address", "instruction"
    );
    let mut function = "";
    for line in shown {
        if limit == usize::MAX && line.function != function {
            function = &line.function;
            let _ = writeln!(out, "{function}:");
        }
        let model = match line.model {
            _ if !has_model => String::new(),
            Some(share) => format!(" {:>5.1}%", 100.0 * share),
            None => " ".repeat(7),
        };
        let why = [reasons(line), line.source.clone().unwrap_or_default()];
        let why: Vec<_> = why.into_iter().filter(|text| !text.is_empty()).collect();
        let _ = writeln!(
            out,
            "{}",
            format!(
                "{:>7} {:>7} {:>6}{model} {:>8}  {:<texts$}  {}",
                profile.loss(line),
                line.samples,
                percent(line.samples, profile.samples),
                format!("{:#x}", line.address),
                line.text,
                why.join("  ")
            )
            .trim_end()
        );
    }
    if shown.len() < lines.len() {
        let _ = writeln!(out, "{} more; --limit shows them", lines.len() - shown.len());
    }
}
