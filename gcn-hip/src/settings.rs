//! Settings from environment variables, which `gcn run` or the user sets.

use std::fmt::Write as _;
use std::str::FromStr;

use gcn_isa::Target;
use gcn_isa::hazards::{Config, Grade};
use gcn_sim::{MatrixArithmetic, Mode, Options, Sanitize};

/// The maximum number of findings that a launch keeps.
const FINDINGS: u32 = 1000;

/// The number of instructions that a wave executes in its first turn after a barrier. A small number keeps the waves of a workgroup close
/// together, as on hardware. Some programs have data races that show only if one wave runs far ahead of the others.
const FIRST_TURN: u64 = 32;

/// The settings of the simulator.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The device's target; by default the one for which the program was compiled.
    pub target: Option<Target>,
    /// The visible devices, in this order.
    pub visible: Vec<usize>,
    pub options: Options,
    /// How matrix instructions add products.
    pub matrix: MatrixArithmetic,
    pub timed: bool,
    /// A table of the timed mode's parameters; `None` for the parameters of gcn-sim.
    pub params: Option<String>,
    /// The file to which each launch appends a line of JSON; `None` to write no such file.
    pub report: Option<String>,
    /// The file to which launches with findings append a line, for `gcn run`; `None` to write no such file.
    pub findings: Option<String>,
    /// The process ID of `gcn run`: when that process ends, this one ends as well.
    pub parent: Option<u32>,
    /// True if a failing kernel ends the process.
    pub abort: bool,
    /// True if each launch is reported on standard error.
    pub trace: bool,
}

/// The names of the variables.
pub(crate) const TARGET: &str = "GCN_HIP_TARGET";
const DEVICES: &str = "GCN_HIP_DEVICES";
const MODE: &str = "GCN_HIP_MODE";
const LEVEL: &str = "GCN_HIP_LEVEL";
const SANITIZE: &str = "GCN_HIP_SANITIZE";
const TIMED: &str = "GCN_HIP_TIMED";
const PARAMS: &str = "GCN_HIP_PARAMS";
const REPORT: &str = "GCN_HIP_REPORT";
const FOUND: &str = "GCN_HIP_FINDINGS";
const PARENT: &str = "GCN_HIP_PARENT";
const LIMIT: &str = "GCN_HIP_LIMIT";
const MATRIX: &str = "GCN_HIP_MATRIX";
const PARALLEL: &str = "GCN_HIP_PARALLEL";
const ABORT: &str = "GCN_HIP_ABORT";
const TRACE: &str = "GCN_HIP_TRACE";
/// The variables that select the visible devices; the first one that is set counts.
const VISIBLE: [&str; 3] = ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];

impl Settings {
    /// Reads the settings through `variable`, which returns a variable's value. The error has one line for each invalid setting.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Settings, String> {
        let mut reader = Reader { variable, errors: String::new() };
        let flag = |text: &str| matches!(text, "0" | "1").then_some(text == "1");
        let target =
            reader.get(TARGET, "a target such as gfx942", |t| t.split(':').next()?.parse::<Target>().ok());
        let devices = reader.get(DEVICES, "a number of devices from 1 to 64", number(1..=64)).unwrap_or(1);
        let mode = reader.get(MODE, "functional, strict or faithful", |text| match text {
            "functional" => Some(Mode::Functional),
            "strict" => Some(Mode::Strict),
            "faithful" => Some(Mode::Faithful),
            _ => None,
        });
        let level = reader.get(LEVEL, "certain, documented or cautious", |text| Grade::from_str(text).ok());
        let names = format!("a list of {}, or all", Sanitize::all().to_string().replace(',', ", "));
        let sanitize = reader.get(SANITIZE, &names, |text| text.parse().ok());
        let limit = reader.get(LIMIT, "a number of instructions", number(1..=u64::MAX));
        let parallel = reader.get(PARALLEL, "0 or 1", flag).unwrap_or(true);
        let options = Options {
            mode: mode.unwrap_or_default(),
            rules: Config::at_least(level.unwrap_or(Grade::Documented)),
            sanitize: sanitize.unwrap_or_default(),
            max_instructions: limit.unwrap_or(Options::default().max_instructions),
            findings: FINDINGS,
            first_turn: FIRST_TURN,
            parallel,
            ..Options::default()
        };
        let matrix = reader.get(MATRIX, "hardware or chain", |text| text.parse().ok()).unwrap_or_default();
        let timed = reader.get(TIMED, "0 or 1", flag).unwrap_or(false);
        let abort = reader.get(ABORT, "0 or 1", flag).unwrap_or(false);
        let trace = reader.get(TRACE, "0 or 1", flag).unwrap_or(false);
        let listed = VISIBLE.iter().find_map(|name| (reader.variable)(name));
        let params = (reader.variable)(PARAMS).filter(|path| !path.is_empty());
        let params = params.and_then(|path| match table(&path) {
            Ok(table) => Some(table),
            Err(error) => {
                // Writing to a string does not fail.
                let _ = writeln!(reader.errors, "{PARAMS}=`{path}`: {error}");
                None
            }
        });
        let report = (reader.variable)(REPORT).filter(|path| !path.is_empty());
        let findings = (reader.variable)(FOUND).filter(|path| !path.is_empty());
        let parent = reader.get(PARENT, "a process", number(1..=u32::MAX));
        let visible = listed.map_or((0..devices).collect(), |list| visible(&list, devices));
        let settings = Settings {
            target,
            visible,
            options,
            matrix,
            timed,
            params,
            report,
            findings,
            parent,
            abort,
            trace,
        };
        if reader.errors.is_empty() { Ok(settings) } else { Err(reader.errors) }
    }
}

struct Reader<F> {
    variable: F,
    errors: String,
}

impl<F: Fn(&str) -> Option<String>> Reader<F> {
    fn get<T>(&mut self, name: &str, form: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = (self.variable)(name).filter(|text| !text.is_empty())?;
        let value = parse(text.trim());
        if value.is_none() {
            // Writing to a string cannot fail.
            let _ = writeln!(self.errors, "{name}=`{text}`: write {form}");
        }
        value
    }
}

/// The table of parameters in a file, if it is valid for every target.
fn table(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut config = gcn_sim::timed::Config::default();
    Target::KNOWN
        .into_iter()
        .try_for_each(|target| config.read(&text, target))
        .map_err(|error| error.to_string())?;
    Ok(text)
}

fn number<T: FromStr + PartialOrd>(range: std::ops::RangeInclusive<T>) -> impl Fn(&str) -> Option<T> {
    move |text| text.parse().ok().filter(|n| range.contains(n))
}

/// The devices of a list. As in ROCm, the list ends before the first device that does not exist.
fn visible(list: &str, devices: usize) -> Vec<usize> {
    let numbers = list.split(',').map(|text| text.trim().parse().ok().filter(|n| *n < devices));
    numbers.map_while(|number| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(|name| pairs.iter().find(|p| p.0 == name).map(|p| p.1.to_owned()))
    }

    #[test]
    fn variables_set_the_simulation() {
        let s = read(&[]).unwrap();
        assert_eq!((s.target, s.visible, s.timed), (None, vec![0], false));
        let s = read(&[(TARGET, "gfx90a:xnack-"), (MODE, "strict"), (SANITIZE, "races,lds"), (LIMIT, "7")]);
        let s = s.unwrap();
        assert_eq!((s.target, s.options.mode), (Some(Target::GFX90A), Mode::Strict));
        assert_eq!(s.options.sanitize, Sanitize::RACES | Sanitize::LDS);
        assert_eq!(s.options.max_instructions, 7);
        assert_eq!(read(&[(MATRIX, "chain")]).unwrap().matrix, MatrixArithmetic::Chain);
        assert!(read(&[(MATRIX, "exact")]).unwrap_err().contains("hardware or chain"));
    }

    #[test]
    fn devices_are_visible_up_to_the_first_that_does_not_exist() {
        for (list, expected) in [("1,0", vec![1, 0]), ("0,7,1", vec![0]), ("", vec![]), ("-1", vec![])] {
            let s = read(&[(DEVICES, "2"), (VISIBLE[0], list)]).unwrap();
            assert_eq!(s.visible, expected, "{list}");
        }
    }

    #[test]
    fn every_wrong_value_is_named_with_what_to_write() {
        let error = read(&[(TARGET, "gfx1310"), (MODE, "x"), (DEVICES, "0"), (TIMED, "yes")]).unwrap_err();
        assert_eq!(error.lines().count(), 4, "{error}");
        assert!(error.contains("GCN_HIP_MODE=`x`: write functional, strict or faithful"), "{error}");
    }
}
