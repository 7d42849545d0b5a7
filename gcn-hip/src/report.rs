//! Reports launches on standard error and as lines of JSON.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use gcn_sim::Stats;
use serde::Serialize;

/// A launch that has ended.
#[derive(Debug, Serialize)]
pub(crate) struct Record<'a> {
    /// The number of the launch in the process, counted from 0.
    pub launch: u64,
    pub kernel: &'a str,
    pub device: usize,
    pub grid: [u32; 3],
    pub workgroup: [u32; 3],
    /// The numbers of waves, and of instructions that they executed.
    pub waves: u64,
    pub wave_instructions: u64,
    /// The host time in seconds.
    pub seconds: f64,
    /// The time according to the timing model, in cycles; `None` if the launch was not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The sanitizers' findings and the stale accesses, as text with the kernel's name and the line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// True if at least one finding is an error and not just a note.
    #[serde(skip)]
    pub faults: bool,
}

impl<'a> Record<'a> {
    /// Takes over the counts, findings and stale accesses of a run.
    pub(crate) fn take(&mut self, stats: &Stats) {
        (self.waves, self.wave_instructions) = (stats.waves, stats.wave_instructions);
        self.findings = stats.findings.iter().map(ToString::to_string).collect();
        self.faults = !stats.stale.is_empty() || stats.findings.iter().any(|finding| !finding.kind.is_note());
        self.findings.extend(stats.stale.iter().map(|stale| format!("read of a stale value, {stale}")));
    }

    /// Prints the problems on standard error. `log` is the file through which `gcn run` learns of them.
    pub(crate) fn complain(&self, log: Option<&str>) {
        let Record { kernel, launch, .. } = self;
        if let Some(path) = log.filter(|_| self.error.is_some() || self.faults) {
            self.append(path);
        }
        for finding in &self.findings {
            eprintln!("gcn-hip: kernel `{kernel}`, launch {launch}: {finding}");
        }
        if let Some(error) = &self.error {
            eprintln!("gcn-hip: kernel `{kernel}`, launch {launch}, stopped: {error}");
        }
    }

    /// Appends the record to a file.
    pub(crate) fn append(&self, path: &str) {
        let line = serde_json::to_string(self).unwrap_or_default() + "\n";
        let file = OpenOptions::new().create(true).append(true).open(path);
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            eprintln!("gcn-hip: cannot write the report {path}: {error}");
        }
    }
}

/// Prints on standard error a hint about a launch in which no workgroup has ended for `long`.
pub(crate) fn stalls(kernel: &str, launch: u64, long: Duration) {
    eprintln!(
        "gcn-hip: kernel `{kernel}`, launch {launch}: no workgroup has ended for {} s; if it hangs, `gcn run --limit N` \
         (GCN_HIP_LIMIT=N) stops a wave after N instructions and says where it was, and `--sanitize deadlock` \
         (GCN_HIP_SANITIZE=deadlock) finds waves that wait in vain",
        long.as_secs()
    );
}
