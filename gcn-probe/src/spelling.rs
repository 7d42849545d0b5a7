//! The spelling of the harness's instructions on each target.

use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::hazards::remedy::{Dependency, Fix, Waits};
use gcn_isa::target::{Family, WaveSize};
use gcn_isa::{Target, table};

/// The names of the lane masks in waves of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masks {
    /// EXEC.
    pub exec: &'static str,
    /// VCC.
    pub vcc: &'static str,
    /// The suffix of scalar instructions on masks: `b32` or `b64`.
    pub bits: &'static str,
    wave: WaveSize,
}

impl Masks {
    /// The names for waves of this size.
    pub const fn of(wave: WaveSize) -> Masks {
        match wave {
            WaveSize::W32 => Masks { exec: "exec_lo", vcc: "vcc_lo", bits: "b32", wave },
            WaveSize::W64 => Masks { exec: "exec", vcc: "vcc", bits: "b64", wave },
        }
    }

    /// The mask in SGPRs from `sgpr` on.
    pub fn at(self, sgpr: u16) -> String {
        match self.wave {
            WaveSize::W32 => format!("s{sgpr}"),
            WaveSize::W64 => format!("s[{sgpr}:{}]", sgpr + 1),
        }
    }
}

/// Instructions that wait for every counter. No program copies tensors, for which the simulator has no counter.
pub fn waited(target: Target) -> String {
    let set = target.instruction_set();
    WaitCnt::all(set).without(Counter::Tensor.at(0)).on(set).statements().join("\n")
}

/// An instruction that waits until memory operations have read their registers, which may then change; empty if they have read them at issue.
pub fn free(target: Target) -> String {
    let set = target.instruction_set();
    if Counter::X.is_in(WaitCnt::all(set)) {
        Counter::X.at(0).on(set).statements().join("\n")
    } else {
        String::new()
    }
}

/// Instructions that wait until everything before them is complete: every counter, the wait states of every GFX9 hazard, and every
/// dependency of RDNA.
pub fn settled(target: Target) -> String {
    let waits = Dependency::ALL.into_iter().fold(Waits::empty(), |waits, one| waits | one.wait());
    let rdna = target.family() == Family::RDNA;
    let dependencies = if rdna { Fix { waits, ..Fix::NONE }.statements(target) } else { Vec::new() };
    let states = ["s_nop 7"; 4].map(str::to_owned);
    [waited(target)].into_iter().chain(dependencies).chain(states).collect::<Vec<_>>().join("\n")
}

/// The text with each mnemonic in braces replaced by the target's name for it; `None` if the target lacks one.
pub fn spelled(text: &str, target: Target) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        match table::find_operation(target, name).next() {
            Some(row) => out.push_str(row.mnemonic),
            None if name == "s_barrier" => out.push_str("s_barrier_signal -1\ns_barrier_wait -1"),
            None => return None,
        }
        rest = after;
    }
    Some(out + rest)
}
