//! The known differences between us and LLVM, with their reasons: `tests/data/fuzz-differences.tsv`.

/// A class of lines for which our result and LLVM's differ.
pub struct Known {
    side: &'static str,
    line: Vec<&'static str>,
    message: &'static str,
    reason: &'static str,
}

/// The list of classes.
pub fn known() -> Vec<Known> {
    let text: &'static str = include_str!("../../data/fuzz-differences.tsv");
    text.lines().skip(1).map(class).collect()
}

fn class(row: &'static str) -> Known {
    let cells: Vec<&str> = row.split('\t').collect();
    let [side, line, message, reason] = cells[..] else { panic!("four columns: {row}") };
    Known { side, line: line.split(" + ").collect(), message, reason }
}

/// The reason of the first class that matches: which side rejects, the texts that the line must contain (all of them; `^` means at its
/// start), and a text that the message must contain.
pub fn reason(known: &[Known], side: &str, line: &str, message: &str) -> Option<&'static str> {
    let has = |part: &&str| match part.strip_prefix('^') {
        Some(start) => line.starts_with(start),
        None => line.contains(*part),
    };
    let fits = |k: &&Known| k.side == side && k.line.iter().all(&has) && message.contains(k.message);
    known.iter().find(fits).map(|k| k.reason)
}
