//! `gcn rules`.

mod markdown;

use std::fmt::Write as _;

use gcn_isa::Target;
use gcn_isa::hazards::{self, RulePage, TargetStates};

use crate::failure::Failure;
use crate::{commands, file};

/// Lists the hazard rules: what has to be between which instructions, the sources, and how well each rule is supported.
///
/// Rule names, or prefixes of them (`cdna3.10`, `waitcnt`), select rules to describe in full.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Rules, by name or by a prefix of it
    #[arg(value_name = "RULE")]
    names: Vec<String>,
    /// List the rules of this target only
    #[arg(long, value_name = "T", value_parser = commands::target)]
    target: Option<Target>,
    /// Print the rules as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the page `docs/hazards.md`
    #[arg(long, conflicts_with_all = ["names", "target"])]
    markdown: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn rules --target gfx942           one line per rule
  gcn rules cdna3.106 waitcnt         full descriptions
  gcn rules --json                    as JSON";

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut pages = hazards::pages(args.target);
    if !args.names.is_empty() {
        pages = named(pages, args)?;
    }
    let text = if args.json {
        commands::json(&pages)?
    } else if args.markdown {
        markdown::page(&pages)
    } else if args.names.is_empty() {
        list(&pages)
    } else {
        pages.iter().map(details).collect::<Vec<_>>().join("\n")
    };
    file::print(text.as_bytes())
}

/// The rules with these names. A name that is not the full name of a rule selects all rules whose names begin with it.
fn named(pages: Vec<RulePage>, args: &Args) -> Result<Vec<RulePage>, Failure> {
    for name in &args.names {
        if !pages.iter().any(|p| p.id.starts_with(name.as_str())) {
            return Err(no_such_rule(name, args.target));
        }
    }
    let exact = |name: &String| pages.iter().any(|p| p.id == name);
    let wanted = |page: &RulePage| {
        let fits =
            |name: &String| if exact(name) { page.id == name } else { page.id.starts_with(name.as_str()) };
        args.names.iter().any(fits)
    };
    Ok(pages.iter().filter(|p| wanted(p)).cloned().collect())
}

fn no_such_rule(name: &str, target: Option<Target>) -> Failure {
    let all = hazards::pages(None);
    if let (Some(target), Some(page)) = (target, all.iter().find(|p| p.id.starts_with(name))) {
        return Failure::input(format!("{target} has no rule `{name}`; {} has", page.targets.join(", ")));
    }
    let nearest = all.iter().min_by_key(|p| strsim::damerau_levenshtein(p.id, name));
    let hint = nearest.map_or(String::new(), |p| format!("; the nearest name is `{}`", p.id));
    Failure::input(format!("there is no rule `{name}`{hint}"))
}

/// One line per rule.
fn list(pages: &[RulePage]) -> String {
    let mut out = String::new();
    let mut family = "";
    for page in pages {
        if page.family != family {
            family = page.family;
            let _ = writeln!(out, "{}{family}", if out.is_empty() { "" } else { "\n" });
        }
        let states = page.pair.as_ref().map_or(String::new(), |p| format!(": {}", short(&p.wait_states)));
        let _ = writeln!(out, "  {:<24} {:<11} {}{states}", page.id, page.grade, page.title);
    }
    out
}

/// Wait states as text, such as `2 on gfx90a gfx942; passes + 2 on gfx950`; without the targets if there is only one formula.
fn short(states: &[TargetStates]) -> String {
    match states {
        [one] => one.formula.clone(),
        _ => {
            let parts = states.iter().map(|s| format!("{} on {}", s.formula, s.targets.join(" ")));
            parts.collect::<Vec<_>>().join("; ")
        }
    }
}

/// The full description of a rule.
fn details(page: &RulePage) -> String {
    let mut out = format!("{}: {}\n", page.id, page.title);
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {name:<13} {value}");
        }
    };
    if let Some(pair) = &page.pair {
        line("first", &side(&pair.first, &pair.first_does));
        line("second", &side(&pair.second, &pair.second_does));
        line("dependency", &pair.dependency);
        line("overlap", &pair.overlap);
        for states in &pair.wait_states {
            line("wait states", &wait_states(states));
        }
    } else {
        line("targets", &page.targets.join(", "));
    }
    line("remedy", &page.remedy);
    line("source", &page.citation);
    line(
        "evidence",
        &format!(
            "manual {}; LLVM {}; {} {}{}; hand-written kernels: {}; compiled kernels: {}",
            page.manual,
            page.llvm,
            if page.remedy.is_empty() { "rocRoller" } else { "Mesa" },
            if page.remedy.is_empty() { &page.rocroller } else { &page.mesa },
            if page.hardware_fails { "; hardware fails without it" } else { "" },
            page.kernels.summary,
            page.compiled.summary
        ),
    );
    line("observed", &page.observed.join("; "));
    line("grade", &format!("{}; in the rule sets {}", page.grade, page.rule_sets.join(", ")));
    line("only with", if page.xnack_only { "XNACK on" } else { "" });
    line("note", page.note);
    out
}

/// An instruction and how it must access the register for the rule to apply, such as `dot product; writes a VGPR or AGPR`.
fn side(who: &str, does: &str) -> String {
    if does.is_empty() { who.to_owned() } else { format!("{who}; {does}") }
}

/// Wait states as text, such as `gfx942: passes + 3 = 5 after 2, 7 after 4 passes`.
fn wait_states(states: &TargetStates) -> String {
    let mut text = format!("{}: {}", states.targets.join(", "), states.formula);
    if !states.after.is_empty() {
        let after: Vec<_> = states.after.iter().map(|a| format!("{} after {}", a.states, a.passes)).collect();
        let _ = write!(text, " = {} passes", after.join(", "));
    }
    text
}
