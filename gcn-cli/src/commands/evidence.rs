//! `gcn evidence`.

mod table;

use gcn_emit::asm::Folders;
use gcn_emit::target_id::TargetId;
use gcn_isa::Target;
use gcn_isa::evidence::{self, Evidence};
use gcn_isa::hazards::Config;

use crate::commands::check::in_parallel;
use crate::commands::code::{self, Broken, Input};
use crate::commands::container::Choice;
use crate::commands::rule_set::Rules;
use crate::failure::{self, Failure};
use crate::{commands, file};
use table::Table;

/// Counts, over code objects and assembly files, at how many places each hazard rule applies and whether the code obeys it.
///
/// The output has one line for each rule and target. `objects`: the files in which the rule applies. `sites`: the instructions to which the
/// rule applies because an earlier instruction is at less than twice the required distance. `kept`: the sites that obey the rule; `exact`:
/// those of them with exactly the required distance; `nops`: those of them that obey it only thanks to `s_nop`. `broken`: the sites that
/// violate the rule; `broken_objects`: the files with such sites; `covered`: the broken sites that would obey the rule if the passes of
/// matrix instructions in between counted, or that have a branch in between. For rules about counters and about single instructions,
/// `broken` is the number of findings, including those that `gcn check` omits because the code alone does not show which LDS addresses are
/// meant.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files and folders; `-` for standard input
    #[arg(value_name = "FILE", required = true, value_parser = file::name())]
    files: Vec<String>,
    /// The target of assembly files that do not name one; must agree with the target that a file names, if any
    #[arg(long, value_name = "T")]
    target: Option<TargetId>,
    #[command(flatten)]
    wave: commands::Wave,
    #[command(flatten)]
    rules: Rules,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn evidence kernels/               every code object and assembly file under kernels/
  gcn evidence --json a.hsaco b.s     as JSON";

pub fn run(args: &Args) -> Result<(), Failure> {
    let rules = args.rules.config()?;
    let file::Expanded { files, unreadable } = file::expand(&args.files);
    unreadable.iter().for_each(|complaint| failure::complain(complaint));
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let counted = in_parallel(&files, jobs, |file| {
        let mut counted = Vec::new();
        code::each(
            file,
            &Choice::for_target(args.target, args.wave),
            Broken::Refuse,
            &Folders::default(),
            |input| {
                counted.push(Counted::of(&input, rules));
            },
        )?;
        counted.into_iter().collect::<Result<Vec<_>, Failure>>()
    });
    let mut table = Table::default();
    let mut failed = unreadable.len();
    for result in counted {
        match result {
            Ok(counted) => counted.iter().for_each(|c| table.add(c)),
            Err(failure) => {
                let failure: Failure = failure;
                failed += 1;
                failure::complain(&failure.message());
            }
        }
    }
    if table.objects == 0 {
        return Err(Failure::usage("no code could be read"));
    }
    failure::complain(&table.summary());
    file::print(if args.json { commands::json(&table.json())? } else { table.text() }.as_bytes())?;
    if failed > 0 { Err(Failure::usage(format!("{failed} files were not counted"))) } else { Ok(()) }
}

/// The counts of one code object.
struct Counted {
    target: Target,
    instructions: usize,
    /// Bytes in code sections that are not instructions.
    unread: u64,
    evidence: Evidence,
}

impl Counted {
    fn of(input: &Input, rules: Config) -> Result<Counted, Failure> {
        let unit = &input.unit;
        let target = unit.target_id.target;
        let config = rules.with_xnack(unit.target_id.may_replay());
        let mut evidence = Evidence::new();
        for code in &unit.sections {
            evidence::add(&mut evidence, &evidence::of(&code.program, config));
        }
        for counts in evidence.values_mut() {
            counts.objects = counts.objects.min(1);
        }
        Ok(Counted {
            target,
            instructions: unit.instructions(),
            unread: unit.sections.iter().flat_map(|c| &c.unread).map(|u| u.length).sum(),
            evidence,
        })
    }
}
