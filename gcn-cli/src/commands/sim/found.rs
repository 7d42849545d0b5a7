//! The text of the reports on stale reads and of sanitizers.

use std::collections::BTreeMap;
use std::fmt::Display;

use gcn_sim::Stats;

/// The number of reports of each kind that are shown in full.
const SHOWN: usize = 20;

/// The reports for standard error: the first of each list, and totals by kind.
pub fn text(stats: &Stats) -> String {
    let stale = section("read too early", &stats.stale, |s| s.hazard.rule.clone());
    stale + &section("found by sanitizers", &stats.findings, |f| f.kind.title().to_owned())
}

/// Totals: stale reads by rule, findings by kind.
pub fn totals(stats: &Stats) -> String {
    let stale = total("read too early", &stats.stale, |s| s.hazard.rule.clone());
    stale + &total("found by sanitizers", &stats.findings, |f| f.kind.title().to_owned())
}

fn section<T: Display>(title: &str, items: &[T], kind: impl Fn(&T) -> String) -> String {
    if items.is_empty() {
        return String::new();
    }
    let shown: String = items.iter().take(SHOWN).map(|item| format!("  {item}\n")).collect();
    let left = items.len().saturating_sub(SHOWN);
    let more = if left > 0 { format!("  and {left} more, which --json lists\n") } else { String::new() };
    let all = if left > 0 { total(title, items, kind) } else { String::new() };
    format!("{title}:\n{shown}{more}{all}")
}

fn total<T>(title: &str, items: &[T], kind: impl Fn(&T) -> String) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    items.iter().for_each(|item| *counts.entry(kind(item)).or_default() += 1);
    if counts.is_empty() {
        return String::new();
    }
    let rows: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    format!("{title}: {} ({})\n", items.len(), rows.join(", "))
}
