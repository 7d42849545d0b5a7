//! The page `docs/hazards.md`.

use std::fmt::Write as _;

use gcn_isa::Target;
use gcn_isa::hazards::{RulePage, TargetStates};

/// The text before the rules.
const HEAD: &str = include_str!("head.md");
/// The text after the rules.
const TAIL: &str = include_str!("tail.md");

/// The whole page.
pub fn page(pages: &[RulePage]) -> String {
    let mut out = HEAD.to_owned();
    summary(&mut out, pages);
    let mut family = "";
    for page in pages {
        if page.family != family {
            family = page.family;
            let _ = write!(out, "\n## {family}\n");
        }
        rule(&mut out, page);
    }
    differences(&mut out, pages);
    out + TAIL
}

/// A table of all rules, with the wait states of each on some representative targets.
fn summary(out: &mut String, pages: &[RulePage]) {
    let targets = Target::REPRESENTATIVES.map(Target::name);
    let _ = writeln!(out, "| rule | hazard | {} | grade |", targets.join(" | "));
    let _ = writeln!(out, "|---|---|{}---|", "---|".repeat(targets.len()));
    for page in pages {
        let cells = targets.map(|t| cell(page, t));
        let _ = writeln!(
            out,
            "| [{}](#{}) | {} | {} | {} |",
            page.id,
            anchor(page.id),
            page.title,
            cells.join(" | "),
            page.grade
        );
    }
}

/// The Markdown anchor of a rule's heading.
fn anchor(id: &str) -> String {
    id.chars().filter(|c| *c != '.').collect()
}

/// The wait states on one target: a number, a range if it depends on the first instruction's passes, or a formula; `yes` for rules without
/// a number.
fn cell(page: &RulePage, target: &str) -> String {
    let Some(pair) = &page.pair else {
        return if page.targets.contains(&target) { "yes".to_owned() } else { String::new() };
    };
    let here = pair.wait_states.iter().find(|s| s.targets.contains(&target));
    here.map_or(String::new(), |s| match (s.after.first(), s.after.last()) {
        (Some(first), Some(last)) if first.states != last.states => {
            format!("{}–{}", first.states, last.states)
        }
        (Some(first), _) => first.states.to_string(),
        _ => s.formula.clone(),
    })
}

fn rule(out: &mut String, page: &RulePage) {
    let _ = write!(out, "\n### {}\n\n**Hazard:** {}.", page.id, page.title);
    if !page.note.is_empty() {
        let _ = write!(out, " {}.", capitalised(page.note));
    }
    out.push_str("\n\n");
    if let Some(pair) = &page.pair {
        let _ = writeln!(out, "- First instruction: {}", side(&pair.first, &pair.first_does));
        let _ = writeln!(out, "- Second instruction: {}", side(&pair.second, &pair.second_does));
        let _ = writeln!(out, "- Dependency: {}; {}", pair.dependency, pair.overlap);
        let states: Vec<String> =
            pair.wait_states.iter().map(|s| format!("- Wait states on {}\n", numbers(s))).collect();
        out.push_str(&states.concat());
    } else {
        let _ = writeln!(out, "- Targets: {}", page.targets.join(", "));
    }
    if !page.remedy.is_empty() {
        let _ = writeln!(out, "- Remedy: {}", page.remedy);
    }
    let xnack = if page.xnack_only { "; the rule applies only where XNACK replay is possible" } else { "" };
    let _ = writeln!(out, "- Grade: **{}**{xnack}", page.grade);
    let _ = writeln!(out, "- Rule sets: {}", page.rule_sets.join(", "));
    // In an entry the pronoun has no noun near it.
    let says = |voice: &str| voice.replacen(" it", " the rule", 1);
    let (other, voice) =
        if page.remedy.is_empty() { ("rocRoller", &page.rocroller) } else { ("Mesa", &page.mesa) };
    let fails = if page.hardware_fails { "; hardware was seen to fail without the rule" } else { "" };
    let _ = writeln!(out, "- Source: {}", page.citation);
    let _ = writeln!(
        out,
        "- Support: the manual {}; LLVM {}; {other} {}{fails}",
        says(&page.manual),
        says(&page.llvm),
        says(voice)
    );
    if !page.observed.is_empty() {
        let _ = writeln!(out, "- Observed: {}", page.observed.join("; "));
    }
    for (who, counts) in [("Hand-written", &page.kernels), ("Compiled", &page.compiled)] {
        if counts.kept + counts.broken > 0 {
            let _ = writeln!(out, "- {who} kernels: {}", counts.summary);
        }
    }
}

/// An instruction and how it must access the register for the rule to apply, such as `dot product. It writes a VGPR or AGPR`.
fn side(who: &str, does: &str) -> String {
    if does.is_empty() { who.to_owned() } else { format!("{who}. It {does}") }
}

/// Wait states as text, such as `gfx942: passes + 3; that is 5 after 2 passes, 7 after 4, 11 after 8, 19 after 16`.
fn numbers(states: &TargetStates) -> String {
    let mut text = format!("{}: {}", states.targets.join(", "), states.formula);
    for (number, after) in states.after.iter().enumerate() {
        let (before, unit) = if number == 0 { ("; that is", " passes") } else { (",", "") };
        let _ = write!(text, "{before} {} after {}{unit}", after.states, after.passes);
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    // A lower-case name, such as `s_setreg`, `vmcnt` or `rocRoller`, is not capitalised.
    let word = text.split([' ', ',']).next().unwrap_or_default();
    let is_name = |c: char| c == '_' || c.is_ascii_digit() || c.is_uppercase();
    if word.contains(is_name) || word.ends_with("cnt") {
        return text.to_owned();
    }
    letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
}

/// The section on the rules on which the sources disagree.
fn differences(out: &mut String, pages: &[RulePage]) {
    const AGREES: &str = "requires it";
    out.push_str(
        "\n## Where manual and LLVM differ\n\nThis table lists every rule that the manual and LLVM do not both require. A source that *requires less* asks for fewer wait \
         states or a weaker wait, at least in some of the rule's cases.\n\n| rule | manual | LLVM 22 | rocRoller | grade | note |\n|---|---|---|---|---|---|\n",
    );
    for page in pages.iter().filter(|p| p.manual != p.llvm || p.manual != AGREES) {
        let _ = writeln!(
            out,
            "| [{}](#{}) | {} | {} | {} | {} | {} |",
            page.id,
            anchor(page.id),
            page.manual,
            page.llvm,
            page.rocroller,
            page.grade,
            page.note
        );
    }
}
