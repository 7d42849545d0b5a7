//! The output of `dbg!` in simulated kernels, and the index and length in the message of a failed index check.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use gcn_isa::reg::Reg;
use gcn_sim::{Machine, Probed};

use crate::ir::probe::Role;
use crate::ir::{Place, Type};
use crate::kernel::debug::Watched;
use crate::scalar::{Elem, bf16, f16};

/// The values that one execution of a `dbg!` by one wave has shown.
///
/// `Display` gives the text that the simulator prints.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// The source location of the `dbg!`, `file:line:column`.
    pub location: String,
    /// The text of the expression; for a part of an aggregate, followed by its index.
    pub expression: String,
    /// Coordinates of the workgroup in the grid.
    pub workgroup: [u32; 3],
    /// Number of the wave in the workgroup.
    pub wave: u32,
    /// The active lanes and their values as text. A uniform value is a single entry whose lane is `None`.
    pub values: Vec<(Option<u8>, String)>,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Printed { location, expression, workgroup: [x, y, z], wave, values } = self;
        write!(f, "[{location}] workgroup {x},{y},{z}, wave {wave}: {expression} = ")?;
        let mut rest = values.as_slice();
        if let [(None, value)] = rest {
            return f.write_str(value);
        }
        // Consecutive lanes with the same value are printed as one range.
        let mut separator = "";
        while let [(Some(first), value), ..] = rest {
            let same = rest.iter().zip(*first..).take_while(|((lane, v), n)| *lane == Some(*n) && v == value);
            let count = same.count().max(1);
            match count {
                1 => write!(f, "{separator}{first}: {value}")?,
                _ => write!(f, "{separator}{first}..={}: {value}", usize::from(*first) + count - 1)?,
            }
            separator = ", ";
            rest = &rest[count..];
        }
        Ok(())
    }
}

/// Collects the values that the waves of a launch show, in the order in which the simulator reports them.
#[derive(Default)]
pub(super) struct Listener {
    events: Arc<Mutex<Vec<Probed>>>,
}

impl Listener {
    /// Returns the machine with probes at the watched instructions, which report to this listener.
    pub fn on(&self, machine: Machine, watched: &[Watched]) -> Machine {
        let at: BTreeMap<u32, Reg> = watched.iter().map(|w| (w.offset, w.register)).collect();
        let events = Arc::clone(&self.events);
        machine.with_probes(at, move |event| {
            events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        })
    }

    /// Takes all values of `dbg!`, sorted by workgroup, wave and time, and the indices and lengths of failed index
    /// checks.
    pub fn take(&self, watched: &[Watched]) -> (Vec<Printed>, Vec<Number>) {
        let mut events = std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner));
        events.sort_by_key(|e| {
            let [x, y, z] = e.workgroup;
            (z, y, x, e.wave, e.count)
        });
        let (mut printed, mut numbers) = (Vec::new(), Vec::new());
        let mut open: BTreeMap<(&str, Option<usize>), Vec<Probed>> = BTreeMap::new();
        for mut event in events {
            let Some(w) = watched.iter().find(|w| w.offset == event.offset) else { continue };
            event.lanes.iter_mut().for_each(|x| *x ^= w.mask);
            if w.probe.role != Role::Shown {
                let value = event.lanes.first().copied().unwrap_or_default();
                numbers.push(Number {
                    role: w.probe.role,
                    whole: w.probe.text,
                    workgroup: event.workgroup,
                    wave: event.wave,
                    value,
                });
                continue;
            }
            // A value of several dwords is reported dword by dword. The scheduler may have moved parts of other values
            // in between, so each value is collected separately.
            let dwords = open.entry((w.probe.text, w.probe.leaf)).or_default();
            dwords.push(event);
            if dwords.len() == usize::from(w.probe.ty.dwords().max(1)) {
                let order =
                    |e: &Probed| watched.iter().find(|w| w.offset == e.offset).map_or(0, |w| w.probe.dword);
                dwords.sort_by_key(order);
                printed.push(one(w, dwords));
                dwords.clear();
            }
        }
        (printed, numbers)
    }
}

/// The index of a failed index check, or the length with which it was compared.
pub(super) struct Number {
    role: Role,
    /// The text that names the indexed object.
    whole: &'static str,
    workgroup: [u32; 3],
    wave: u32,
    value: u32,
}

/// The message of a failed index check, completed with the last index and the last length that the wave reported.
pub(super) fn with_numbers(message: &str, numbers: &[Number], workgroup: [u32; 3], wave: u32) -> String {
    let mine = numbers.iter().filter(|n| (n.workgroup, n.wave) == (workgroup, wave));
    let last = |role| mine.clone().rfind(|n| n.role == role);
    match (last(Role::Index), last(Role::Length)) {
        (Some(index), Some(length)) => {
            format!("an index is outside {}: index {}, length {}", length.whole, index.value, length.value)
        }
        _ => message.to_owned(),
    }
}

fn one(w: &Watched, dwords: &[Probed]) -> Printed {
    let (probe, first) = (&w.probe, &dwords[0]);
    let leaf = probe.leaf.map(|n| format!(" (value {n})")).unwrap_or_default();
    let text = |lane: usize| {
        let bits: Vec<u32> = dwords.iter().map(|d| d.lanes.get(lane).copied().unwrap_or_default()).collect();
        value(probe.ty, &bits)
    };
    let values = match probe.ty.place {
        Place::Uniform => vec![(None, text(0))],
        _ => {
            (0..64u8).filter(|l| first.exec >> l & 1 == 1).map(|l| (Some(l), text(usize::from(l)))).collect()
        }
    };
    Printed {
        location: probe.loc.to_string(),
        expression: format!("{}{leaf}", probe.text),
        workgroup: first.workgroup,
        wave: first.wave,
        values,
    }
}

/// Formats a value of a type as Rust's `{:?}` does.
fn value(ty: Type, dwords: &[u32]) -> String {
    if ty.count == 1 {
        let low = dwords.first().copied().unwrap_or_default();
        let high = dwords.get(1).copied().unwrap_or_default();
        return scalar(ty.elem, u64::from(high) << 32 | u64::from(low));
    }
    let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
    let elements = bytes.chunks(ty.elem.bytes() as usize).take(usize::from(ty.count));
    let elements = elements.map(|chunk| {
        let bits = chunk.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        scalar(ty.elem, bits)
    });
    format!("[{}]", elements.collect::<Vec<_>>().join(", "))
}

fn scalar(elem: Elem, bits: u64) -> String {
    match elem {
        Elem::Bool => (bits & 1 == 1).to_string(),
        Elem::I8 => (bits as i8).to_string(),
        Elem::U8 => (bits as u8).to_string(),
        Elem::I16 => (bits as i16).to_string(),
        Elem::U16 => (bits as u16).to_string(),
        Elem::I32 => (bits as i32).to_string(),
        Elem::U32 => (bits as u32).to_string(),
        Elem::I64 => (bits as i64).to_string(),
        Elem::U64 => bits.to_string(),
        Elem::F16 => format!("{:?}", f16::from_bits(bits as u16)),
        Elem::Bf16 => format!("{:?}", bf16::from_bits(bits as u16)),
        // The meaning of the bits depends on the target.
        Elem::F8E4M3 | Elem::F8E5M2 => format!("{:#04x}", bits as u8),
        Elem::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Elem::F64 => format!("{:?}", f64::from_bits(bits)),
    }
}
