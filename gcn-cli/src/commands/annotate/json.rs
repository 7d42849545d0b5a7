//! Reader of rocprofv3's JSON results: the arrays `pc_sample_host_trap` and `pc_sample_stochastic`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::samples::{Arbiter, PIPES, Sample, State, Where, stall};

/// The whole file, only the value of its member `rocprofiler-sdk-tool`, or an object that contains only the arrays.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "rocprofiler-sdk-tool")]
    tool: Option<Tool>,
    #[serde(flatten)]
    process: Process,
}

/// The results of one process, or of several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Tool {
    Many(Vec<Process>),
    One(Box<Process>),
}

#[derive(Deserialize)]
struct Process {
    #[serde(default)]
    buffer_records: Records,
    #[serde(default)]
    strings: Strings,
    #[serde(flatten)]
    records: Records,
}

#[derive(Deserialize, Default)]
struct Records {
    #[serde(default)]
    pc_sample_host_trap: Vec<Entry>,
    #[serde(default)]
    pc_sample_stochastic: Vec<Entry>,
}

#[derive(Deserialize, Default)]
struct Strings {
    #[serde(default)]
    pc_sample_instructions: Vec<String>,
}

#[derive(Deserialize)]
struct Entry {
    record: Record,
    #[serde(default)]
    inst_index: Option<i64>,
}

#[derive(Deserialize)]
struct Record {
    pc: Pc,
    exec_mask: u64,
    #[serde(default)]
    dispatch_id: u64,
    wave_issued: Option<u8>,
    wave_cnt: Option<u32>,
    snapshot: Option<Snapshot>,
}

#[derive(Deserialize)]
struct Pc {
    code_object_id: u64,
    code_object_offset: u64,
}

#[derive(Deserialize)]
struct Snapshot {
    stall_reason: Option<String>,
    #[serde(default)]
    dual_issue_valu: u8,
    /// The fields `arb_state_issue_*` and `arb_state_stall_*`.
    #[serde(flatten)]
    fields: BTreeMap<String, Value>,
}

impl Snapshot {
    /// The pipelines whose field is not 0, as a bit set. AMD's documentation spells the prefix in two ways.
    fn set(&self, what: &str) -> u16 {
        let is_set = |pipe: &str| {
            ["arb_state", "arbiter_state"].iter().any(|prefix| {
                let value = self.fields.get(&format!("{prefix}_{what}_{pipe}"));
                value.is_some_and(|value| {
                    value.as_u64().is_some_and(|n| n > 0) || value.as_bool() == Some(true)
                })
            })
        };
        PIPES.iter().enumerate().filter(|(_, (pipe, _))| is_set(pipe)).fold(0, |set, (i, _)| set | 1 << i)
    }

    fn arbiter(&self) -> Option<Arbiter> {
        let (issue, stall) = (self.set("issue"), self.set("stall"));
        let there = self.fields.keys().any(|key| key.starts_with("arb"));
        there.then_some(Arbiter { issue, stall, dual_valu: self.dual_issue_valu > 0 })
    }
}

fn sample(entry: Entry, stochastic: bool, texts: &[String]) -> Result<Sample, String> {
    let record = entry.record;
    let text =
        entry.inst_index.and_then(|i| texts.get(usize::try_from(i).ok()?)).cloned().unwrap_or_default();
    let state = if stochastic {
        let issued = record.wave_issued.ok_or("`wave_issued` is missing")?;
        let snapshot = record.snapshot.as_ref().ok_or("`snapshot` is missing")?;
        let reason = || snapshot.stall_reason.as_deref().ok_or("`stall_reason` is missing");
        let stall = if issued == 0 { Some(stall(reason()?)?) } else { None };
        Some(State { stall, waves: record.wave_cnt, arbiter: snapshot.arbiter() })
    } else {
        None
    };
    let (object, address) = (record.pc.code_object_id, record.pc.code_object_offset);
    let place = Where::Address { object, address, text };
    Ok(Sample { place, lanes: record.exec_mask.count_ones(), dispatch: record.dispatch_id, state })
}

/// Reads the samples of a file.
pub fn read(text: &str) -> Result<Vec<Sample>, String> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| format!("not the JSON of rocprofv3's PC sampling: {error}"))?;
    let processes = match document.tool {
        Some(Tool::Many(processes)) => processes,
        Some(Tool::One(process)) => vec![*process],
        None => vec![document.process],
    };
    let mut samples = Vec::new();
    for process in processes {
        let texts = process.strings.pc_sample_instructions;
        for records in [process.buffer_records, process.records] {
            for (name, entries, stochastic) in [
                ("pc_sample_host_trap", records.pc_sample_host_trap, false),
                ("pc_sample_stochastic", records.pc_sample_stochastic, true),
            ] {
                for (i, entry) in entries.into_iter().enumerate() {
                    let problem = |problem| format!("{name}, record {i}: {problem}");
                    samples.push(sample(entry, stochastic, &texts).map_err(problem)?);
                }
            }
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use gcn_sim::timed::Stall;

    use super::*;

    /// A stochastic record with the fields of AMD's description.
    const RECORD: &str = r#"{"record": {"flags": {"has_mem_cnt": 0}, "hw_id": {"chiplet": 4, "simd_id": 2},
        "pc": {"code_object_id": 2, "code_object_offset": 13880}, "exec_mask": 255, "timestamp": 1, "dispatch_id": 29,
        "corr_id": {"internal": 29, "external": 0}, "wrkgrp_id": {"x": 9, "y": 489, "z": 0}, "wave_in_grp": 0,
        "wave_issued": 0, "inst_type": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_NO_INST", "wave_cnt": 6,
        "snapshot": {"stall_reason": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_ARBITER_NOT_WIN",
            "dual_issue_valu": 1, "arb_state_issue_valu": 1, "arb_state_issue_brmsg": 1, "arb_state_stall_matrix": 1}},
        "inst_index": 0}"#;

    #[test]
    fn every_field_is_read_wherever_the_arrays_stand() {
        let bare = format!(r#"{{"pc_sample_stochastic": [{RECORD}]}}"#);
        let strings = r#""strings": {"pc_sample_instructions": ["v_add_f32"]}"#;
        let inside = format!(r#"{{"buffer_records": {bare}, {strings}}}"#);
        let whole = format!(r#"{{"rocprofiler-sdk-tool": [{inside}]}}"#);
        for (text, name) in [(&bare, ""), (&inside, "v_add_f32"), (&whole, "v_add_f32")] {
            let sample = read(text).unwrap().remove(0);
            let place = Where::Address { object: 2, address: 13880, text: name.to_owned() };
            assert_eq!((sample.place, sample.lanes, sample.dispatch), (place, 8, 29));
            let state = sample.state.unwrap();
            assert_eq!((state.stall, state.waves), (Some(Stall::ArbiterNotWin), Some(6)));
            let arbiter = Arbiter { issue: 1 | 1 << 9, stall: 1 << 1, dual_valu: true };
            assert_eq!(state.arbiter, Some(arbiter));
        }
    }

    #[test]
    fn host_traps_have_no_state() {
        let record = RECORD.replace("\"wave_issued\": 0,", "");
        let sample = read(&format!(r#"{{"pc_sample_host_trap": [{record}]}}"#)).unwrap().remove(0);
        assert_eq!(sample.state, None);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_record() {
        let problem =
            |record: &str| read(&format!(r#"{{"pc_sample_stochastic": [{RECORD}, {record}]}}"#)).unwrap_err();
        let without = RECORD.replace("\"wave_issued\": 0,", "");
        assert_eq!(problem(&without), "pc_sample_stochastic, record 1: `wave_issued` is missing");
        let unknown = RECORD.replace("ARBITER_NOT_WIN", "TIRED");
        assert!(
            problem(&unknown).starts_with("pc_sample_stochastic, record 1: `TIRED` is not a stall reason")
        );
        assert!(problem("{}").contains("missing field `record`"));
        assert!(read("{\"a\": ").unwrap_err().starts_with("not the JSON of rocprofv3's PC sampling: EOF"));
        assert_eq!(read("{}"), Ok(vec![]));
    }
}
