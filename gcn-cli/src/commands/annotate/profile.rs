//! The profile: samples by instruction and by stall reason, with the arbiter's statistics and the timed model's result.

use std::collections::BTreeMap;

use gcn_emit::code::Unit;
use gcn_emit::lines::SourceLines;
use gcn_emit::text::InstText;
use gcn_sim::timed::{InstructionReport, Pipe, Stall, Stalls, straight};
use serde::Serialize;

use super::arbiter::ArbiterUse;
use super::samples::{Sample, Where};

/// The number of samples for each stall reason, in the order of [`Stall::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons([u64; Stall::COUNT]);

impl Reasons {
    fn add(&mut self, stall: Stall) {
        self.0[stall as usize] += 1;
    }

    /// The number of samples with this reason.
    pub fn get(&self, stall: Stall) -> u64 {
        self.0[stall as usize]
    }

    /// The reasons that occur, with their counts, most frequent first.
    pub fn by_count(&self) -> Vec<(Stall, u64)> {
        let mut list: Vec<_> =
            Stall::ALL.into_iter().map(|s| (s, self.get(s))).filter(|(_, n)| *n > 0).collect();
        list.sort_by_key(|(stall, count)| (std::cmp::Reverse(*count), *stall));
        list
    }
}

impl Serialize for Reasons {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Stall::ALL.into_iter().map(|s| (s.name(), self.get(s))))
    }
}

/// The result of the timed mode.
pub struct Model {
    /// The result for each instruction, by its address.
    pub by_address: BTreeMap<u64, InstructionReport>,
    /// Stalls of all waves.
    pub stalls: Stalls,
}

/// An instruction of the code, with its samples.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The function that contains the instruction.
    pub function: String,
    /// The instruction's address in the code object.
    pub address: u64,
    /// The instruction's assembly text.
    pub text: String,
    /// True if the text contains a label or the address of another instruction, as in a branch.
    #[serde(skip)]
    branches: bool,
    /// The wave size for which the code is compiled.
    #[serde(skip)]
    lanes: u32,
    /// The instruction's source line, if known.
    pub source: Option<String>,
    /// The number of samples in which a wave was at the instruction.
    pub samples: u64,
    /// The number of these samples in which the wave issued the instruction.
    pub issued: u64,
    /// The samples in which the wave did not issue the instruction, by reason.
    pub reasons: Reasons,
    /// The number of active lanes, summed over the instruction's samples.
    pub active_lanes: u64,
    /// Addresses of other instructions with the same text and source line. CSV files do not distinguish them, so their samples are counted
    /// here.
    pub same: Vec<u64>,
    /// The pipeline that executes the instruction.
    pub pipe: Pipe,
    /// The instruction's share of all waves' cycles in the timed mode, from 0 to 1.
    pub model: Option<f64>,
    /// The reasons why waves stall at the instruction in the timed mode, each with its share of all waves' cycles; the largest share first.
    pub model_reasons: Vec<(Stall, f64)>,
}

/// Samples of one code object.
pub struct Profile {
    /// All instructions, in address order.
    pub lines: Vec<Line>,
    /// The sampling method.
    pub method: &'static str,
    /// Samples of this code object.
    pub samples: u64,
    /// The number of these samples in which the wave issued.
    pub issued: u64,
    /// The samples in which the wave did not issue, by reason.
    pub reasons: Reasons,
    /// The number of ignored samples, which belong to other code objects or dispatches.
    pub elsewhere: u64,
    /// Samples in this code object at an address where no instruction begins.
    pub outside: u64,
    /// The number of dispatches that were sampled.
    pub dispatches: usize,
    /// Active lanes, summed over the samples.
    pub active_lanes: u64,
    /// Lanes of the sampled waves, active or not, summed over the samples.
    pub lanes: u64,
    /// The number of waves on the compute unit: minimum, sum over the samples and maximum.
    pub waves: Option<(u32, u64, u32)>,
    /// The arbiter's statistics.
    pub arbiter: ArbiterUse,
    /// Stalls of all waves in the timed mode, as shares of their cycles.
    pub model: Vec<(Stall, f64)>,
    by_address: BTreeMap<u64, usize>,
}

/// The text of an instruction without comments, with single blanks.
fn plain(text: &str) -> String {
    let text = text.split("//").next().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The mnemonic of an instruction. Branches are compared by the mnemonic alone, since disassemblers print branch targets in different ways.
fn mnemonic(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Splits `file:line` or `file:line:column` into file and line. `None` for other texts.
fn file_and_line(place: &str) -> Option<(&str, &str)> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (file, line) = place.rsplit_once(':').filter(|(_, line)| number(line))?;
    Some(file.rsplit_once(':').filter(|(_, line)| number(line)).unwrap_or((file, line)))
}

/// True if two locations are the same source line. One of them may name the file with more leading folders than the other.
fn same_line(ours: &str, theirs: &str) -> bool {
    let (Some((file, line)), Some((other, at))) = (file_and_line(ours), file_and_line(theirs)) else {
        return false;
    };
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    line == at && (ends(file, other) || ends(other, file))
}

impl Profile {
    /// A profile of this code that has no samples yet.
    pub fn new(unit: &Unit, sources: &SourceLines) -> Profile {
        let target = unit.target_id.target;
        let mut lines = Vec::new();
        for code in &unit.sections {
            let pipes = straight(target, code.program.lines.iter().map(|line| &*line.inst)).issues;
            for (i, ((line, place), issue)) in
                code.program.lines.iter().zip(&code.places).zip(pipes).enumerate()
            {
                let address = code.address + place.offset;
                lines.push(Line {
                    function: code.function_of(i).map_or(&code.section, |f| &f.name).clone(),
                    address,
                    text: InstText { inst: &line.inst, target, program: Some(&code.program) }.to_string(),
                    branches: line.inst.desc.branch_operand().is_some(),
                    lanes: code.program.wave.lanes(),
                    source: sources.at(address).map(ToString::to_string),
                    samples: 0,
                    issued: 0,
                    reasons: Reasons::default(),
                    active_lanes: 0,
                    same: Vec::new(),
                    pipe: issue.pipe,
                    model: None,
                    model_reasons: Vec::new(),
                });
            }
        }
        let by_address = lines.iter().enumerate().map(|(i, line)| (line.address, i)).collect();
        Profile {
            lines,
            method: "",
            samples: 0,
            issued: 0,
            reasons: Reasons::default(),
            elsewhere: 0,
            outside: 0,
            dispatches: 0,
            active_lanes: 0,
            lanes: 0,
            waves: None,
            arbiter: ArbiterUse::default(),
            model: Vec::new(),
            by_address,
        }
    }

    /// Adds the samples of the code object with the number `wanted` (by default, the only one that matches the code) and of `dispatch` (by
    /// default, of all dispatches).
    ///
    /// # Errors
    /// An error that says why, if the samples do not belong to this code.
    pub fn count(
        &mut self,
        samples: &[Sample],
        wanted: Option<u64>,
        dispatch: Option<u64>,
    ) -> Result<(), String> {
        let object = self.object(samples, wanted)?;
        let places = self.places_by_text();
        let (mut dispatches, mut first_outside) = (std::collections::BTreeSet::new(), None);
        let mut stochastic = false;
        for sample in samples {
            if dispatch.is_some_and(|wanted| wanted != sample.dispatch) {
                self.elsewhere += 1;
                continue;
            }
            let index = match &sample.place {
                Where::Address { object: of, .. } if Some(*of) != object => {
                    self.elsewhere += 1;
                    continue;
                }
                Where::Address { address, .. } => self.by_address.get(address).copied(),
                Where::Text { text, source } => self.place(&places, text, source),
            };
            stochastic |= sample.state.is_some();
            match index {
                Some(index) => {
                    dispatches.insert(sample.dispatch);
                    self.add(index, sample);
                }
                None => {
                    self.outside += 1;
                    first_outside.get_or_insert(&sample.place);
                }
            }
        }
        self.method = if stochastic { "stochastic" } else { "host trap" };
        self.dispatches = dispatches.len();
        match (self.samples, first_outside) {
            (0, Some(Where::Address { address, .. })) => Err(format!(
                "no sample lies at an instruction of this code object, the first is at {address:#x}; is this the file that \
                 the profiled program loaded?"
            )),
            (0, Some(Where::Text { text, .. })) => Err(format!(
                "this code object has none of the sampled instructions, the first is `{text}`; is this the file that the \
                 profiled program loaded?"
            )),
            (0, None) => Err("no sample is left; --dispatch or --code-object selects others".to_owned()),
            _ => Ok(()),
        }
    }

    /// The number that identifies this code object in the samples.
    fn object(&self, samples: &[Sample], wanted: Option<u64>) -> Result<Option<u64>, String> {
        // For each code object number: the number of its samples, of its samples whose address is that of an instruction of this code, and
        // of those among them whose mnemonic is also the same.
        let mut numbers: BTreeMap<u64, [u64; 3]> = BTreeMap::new();
        for sample in samples {
            let Where::Address { object, address, text } = &sample.place else { continue };
            let counts = numbers.entry(*object).or_default();
            counts[0] += 1;
            if let Some(line) = self.by_address.get(address).and_then(|i| self.lines.get(*i)) {
                counts[1] += 1;
                counts[2] += u64::from(text.is_empty() || mnemonic(text) == mnemonic(&line.text));
            }
        }
        let list = || {
            let all: Vec<_> =
                numbers.iter().map(|(number, n)| format!("{number} ({} samples)", n[0])).collect();
            all.join(", ")
        };
        if let Some(wanted) = wanted {
            return match numbers.contains_key(&wanted) {
                true => Ok(Some(wanted)),
                false if numbers.is_empty() => {
                    Err("CSV files do not number code objects; leave out --code-object".to_owned())
                }
                false => Err(format!("no sample is of code object {wanted}; there are {}", list())),
            };
        }
        if numbers.len() < 2 {
            return Ok(numbers.keys().next().copied());
        }
        // The code objects all of whose samples are at an instruction of this code with the sampled mnemonic.
        let fits: Vec<u64> =
            numbers.iter().filter(|(_, [all, at, same])| all == at && at == same).map(|(n, _)| *n).collect();
        match fits[..] {
            [one] => Ok(Some(one)),
            _ => Err(format!(
                "the samples are of several code objects; choose one by --code-object: {}",
                list()
            )),
        }
    }

    /// Indices of the instructions with each text; branches also under their mnemonic alone.
    fn places_by_text(&self) -> BTreeMap<String, Vec<usize>> {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, line) in self.lines.iter().enumerate() {
            places.entry(plain(&line.text)).or_default().push(i);
            // Disassemblers print branch targets in different ways: this text contains a label, the sample may contain a number.
            if line.branches {
                places.entry(mnemonic(&line.text).to_owned()).or_default().push(i);
            }
        }
        places
    }

    /// The index of the first instruction with this text and, if any has it, this source line. The other instructions that match are
    /// recorded in its [`same`](Line::same).
    fn place(&mut self, places: &BTreeMap<String, Vec<usize>>, text: &str, source: &str) -> Option<usize> {
        let all = places.get(&plain(text)).or_else(|| places.get(mnemonic(text)))?;
        let on_line = |i: &&usize| {
            let line = self.lines.get(**i).and_then(|line| line.source.as_deref());
            line.is_some_and(|ours| same_line(ours, source))
        };
        let mut found: Vec<usize> = all.iter().filter(on_line).copied().collect();
        if found.is_empty() {
            found.clone_from(all);
        }
        let (first, others) = found.split_first()?;
        let same = others.iter().filter_map(|i| Some(self.lines.get(*i)?.address)).collect();
        self.lines.get_mut(*first)?.same = same;
        Some(*first)
    }

    fn add(&mut self, index: usize, sample: &Sample) {
        let Some(line) = self.lines.get_mut(index) else { return };
        line.samples += 1;
        line.active_lanes += u64::from(sample.lanes);
        self.samples += 1;
        self.active_lanes += u64::from(sample.lanes);
        self.lanes += u64::from(line.lanes);
        let Some(state) = &sample.state else { return };
        match state.stall {
            Some(stall) => {
                line.reasons.add(stall);
                self.reasons.add(stall);
            }
            None => {
                line.issued += 1;
                self.issued += 1;
            }
        }
        if let Some(waves) = state.waves {
            let (least, sum, most) = self.waves.unwrap_or((u32::MAX, 0, 0));
            self.waves = Some((least.min(waves), sum + u64::from(waves), most.max(waves)));
        }
        if let Some(arbiter) = state.arbiter {
            let pipe = line.pipe;
            self.arbiter.add(arbiter, state.stall, pipe);
        }
    }

    /// Adds the result of the timed mode to each instruction.
    pub fn compare(&mut self, model: Model) {
        let cycles = |line: &InstructionReport| line.issue_cycles + line.stalls.total();
        let total = model.by_address.values().map(cycles).sum::<u64>().max(1) as f64;
        for (address, report) in &model.by_address {
            let Some(line) = self.by_address.get(address).and_then(|i| self.lines.get_mut(*i)) else {
                continue;
            };
            line.model = Some(cycles(report) as f64 / total);
            line.model_reasons =
                report.stalls.by_length().into_iter().map(|(s, n)| (s, n as f64 / total)).collect();
        }
        self.model = model.stalls.by_length().into_iter().map(|(s, n)| (s, n as f64 / total)).collect();
    }

    /// The loss of an instruction: the number of samples in which its wave did not issue; all of its samples if the sampling method does
    /// not report whether the wave issued.
    pub fn loss(&self, line: &Line) -> u64 {
        if self.is_stochastic() { line.samples - line.issued } else { line.samples }
    }

    /// True if the samples report whether the wave issued.
    pub fn is_stochastic(&self) -> bool {
        self.method == "stochastic"
    }

    /// The sampled instructions, largest loss first.
    pub fn by_loss(&self) -> Vec<&Line> {
        let mut lines: Vec<&Line> = self.lines.iter().filter(|line| line.samples > 0).collect();
        lines.sort_by_key(|line| (std::cmp::Reverse((self.loss(line), line.samples)), line.address));
        lines
    }

    /// All instructions of the functions that have samples, in address order.
    pub fn listing(&self) -> Vec<&Line> {
        let sampled: std::collections::BTreeSet<&str> =
            self.lines.iter().filter(|line| line.samples > 0).map(|line| line.function.as_str()).collect();
        self.lines.iter().filter(|line| sampled.contains(line.function.as_str())).collect()
    }

    /// The profile as JSON.
    pub fn report(&self) -> Report<'_> {
        let waves = self.waves.map(|(least, sum, most)| Waves {
            least,
            average: sum as f64 / self.samples.max(1) as f64,
            most,
        });
        Report {
            method: self.method,
            samples: self.samples,
            issued: self.issued,
            reasons: self.reasons,
            elsewhere: self.elsewhere,
            outside: self.outside,
            dispatches: self.dispatches,
            waves,
            arbiter: self.arbiter,
            instructions: self.by_loss(),
        }
    }
}

/// The profile as JSON.
#[derive(Serialize)]
pub struct Report<'p> {
    method: &'static str,
    samples: u64,
    issued: u64,
    reasons: Reasons,
    elsewhere: u64,
    outside: u64,
    dispatches: usize,
    waves: Option<Waves>,
    arbiter: ArbiterUse,
    instructions: Vec<&'p Line>,
}

#[derive(Serialize)]
struct Waves {
    least: u32,
    average: f64,
    most: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_compared_by_file_and_line() {
        assert!(same_line("/a/b.s:17", "b.s:17") && same_line("b.hip:5:9", "/src/b.hip:5"));
        assert!(
            !same_line("/a/b.s:17", "b.s:18") && !same_line("ab.s:17", "b.s:17") && !same_line("b.s", "b.s")
        );
    }
}
