//! `gcn targets`.

use gcn_isa::{Target, WaveSize};

use crate::failure::Failure;
use crate::{commands, file};

/// Lists the targets: names for --target, processors, and the limits of their waves.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only the targets whose name or processor contains this text, in capital or small letters
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn targets                all targets
  gcn targets mi300          the target of an MI300X
  gcn targets rdna 4         those of RDNA 4; the words are one text
  gcn targets generic        what code for a generic target runs on
  gcn targets --json";

/// A target in the output.
#[derive(serde::Serialize)]
struct Listed {
    target: &'static str,
    processor: &'static str,
    /// The usual one first.
    lanes: Vec<u32>,
    vgprs: u32,
    waves: u32,
    lds: u32,
    runs_on: Vec<&'static str>,
}

impl Listed {
    fn of(target: Target) -> Listed {
        let usual = target.usual_wave();
        let mut waves = target.wave_sizes().to_vec();
        waves.sort_by_key(|&wave| wave != usual);
        let members = target.generic().map_or(&[][..], |(_, members)| members);
        Listed {
            target: target.name(),
            processor: target.processor().trim_end_matches('.'),
            lanes: waves.into_iter().map(WaveSize::lanes).collect(),
            vgprs: target.vgpr_file(usual).registers,
            waves: target.max_waves_per_simd(),
            lds: target.lds_per_cu(),
            runs_on: members.iter().map(|member| member.name()).collect(),
        }
    }
}

/// The length of the shortest beginning of a text that is a hint to a target.
const SHORTEST: usize = 4;

/// The targets whose name or processor contains the text, which is in small letters.
fn containing(text: &str) -> Vec<Listed> {
    let all = Target::KNOWN.into_iter().map(Listed::of);
    all.filter(|t| t.target.contains(text) || t.processor.to_lowercase().contains(text)).collect()
}

/// Prints the targets whose name or processor contains the text.
pub fn run(args: &Args) -> Result<(), Failure> {
    // `RDNA 4` is written without quotes, too.
    let given = args.words.join(" ");
    let text = given.to_lowercase();
    let listed = containing(&text);
    if listed.is_empty() {
        // `mi300x` is one of the MI300 series.
        let beginnings = text.char_indices().map(|(end, _)| &text[..end]).filter(|t| t.len() >= SHORTEST);
        let near = beginnings.rev().find(|beginning| !containing(beginning).is_empty()).map(str::trim_end);
        let hint = near.map_or_else(String::new, |near| format!("; `gcn targets {near}` finds similar ones"));
        return Err(Failure::usage(format!(
            "no target is named `{given}` or has `{given}` in its description{hint}; `gcn targets` lists all"
        )));
    }
    file::print(if args.json { commands::json(&listed)? } else { table(&listed) }.as_bytes())
}

fn table(listed: &[Listed]) -> String {
    let row = |target: &str, lanes: &str, [vgprs, waves, lds]: [&str; 3], processor: &str| {
        format!("{target:<16} {lanes:>8} {vgprs:>6} {waves:>6} {lds:>8}  {processor}\n")
    };
    let mut table = row("target", "lanes", ["VGPRs", "waves", "LDS"], "processor");
    for t in listed {
        let lanes: Vec<String> = t.lanes.iter().map(u32::to_string).collect();
        let [vgprs, waves, lds] = [t.vgprs, t.waves, t.lds].map(|n| n.to_string());
        table += &row(t.target, &lanes.join(" or "), [&vgprs, &waves, &lds], t.processor);
        if !t.runs_on.is_empty() {
            table += &format!("{:17}runs on {}\n", "", t.runs_on.join(", "));
        }
    }
    table
}
