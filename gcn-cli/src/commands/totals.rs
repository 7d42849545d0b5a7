//! A table of the waits of functions, before and after a rewrite.

use std::fmt::Write as _;

use gcn_emit::rewrite::{FunctionWaits, LOOP_WEIGHT, Waits};

/// A row for each name: wait states and `s_waitcnt`, before and after, unweighted and weighted by loop depth.
pub fn table(rows: &[(String, Waits, Waits)]) -> String {
    let longest = rows.iter().map(|r| r.0.len()).max().unwrap_or(0).clamp(8, 60);
    let mut out = format!(
        "{:longest$}  {:>19} {:>19} {:>23} {:>23}\n",
        "", "wait states", "s_waitcnt", "weighted states", "weighted s_waitcnt"
    );
    for (name, before, after) in rows {
        let _ = writeln!(
            out,
            "{name:longest$}  {:>8} -> {:<7} {:>8} -> {:<7} {:>10} -> {:<9} {:>10} -> {:<9}",
            before.wait_states,
            after.wait_states,
            before.waitcnts,
            after.waitcnts,
            before.weighted_wait_states,
            after.weighted_wait_states,
            before.weighted_waitcnts,
            after.weighted_waitcnts,
        );
    }
    let _ = writeln!(out, "weighted: times {LOOP_WEIGHT} for each loop around it");
    out.lines().map(|l| l.trim_end().to_owned() + "\n").collect()
}

/// The sums over all functions, before and after.
pub fn sum(functions: &[FunctionWaits]) -> (Waits, Waits) {
    let (mut before, mut after) = (Waits::default(), Waits::default());
    for function in functions {
        before += function.before;
        after += function.after;
    }
    (before, after)
}

/// A row for each function, and one for the total if there are several.
pub fn rows(functions: &[FunctionWaits]) -> Vec<(String, Waits, Waits)> {
    let mut rows: Vec<_> = functions.iter().map(|f| (f.name.clone(), f.before, f.after)).collect();
    if rows.len() > 1 {
        let (before, after) = sum(functions);
        rows.push(("total".to_owned(), before, after));
    }
    rows
}
