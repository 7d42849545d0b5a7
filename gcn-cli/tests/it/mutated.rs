//! Fuzzes commands with files in which bytes are changed, removed or repeated: every command must end without a panic or abort, within its
//! memory and time limits.
//!
//! By default a few hundred files are tested; `GCN_MUTATED=20000 cargo test --release -p gcn-tools mutated` tests 20,000 with each command.

use std::process::{Command, Stdio};

use gcn_test_support::{Random, env::setting};

use crate::two_kernels;

/// Limits of a process: the address space in KiB, and processor time in seconds.
const MEMORY: u32 = 4_000_000;
const TIME: u32 = 20;

/// The commands that read a file, each with the kind of file that it reads.
const COMMANDS: [(&[&str], Seeds); 9] = [
    (&["inspect"], Seeds::Objects),
    (&["inspect", "--list"], Seeds::Objects),
    (&["disasm", "--entry", "1"], Seeds::Objects),
    (&["check", "--summary"], Seeds::All),
    (&["sim", "--kernel", "fill", "--limit", "1000", "--jobs", "1", "--args", "SPEC"], Seeds::All),
    (&["mutate"], Seeds::All),
    (&["asm", "-o", "/dev/null"], Seeds::Texts),
    (&["fix"], Seeds::Texts),
    (&["explain"], Seeds::Texts),
];

#[derive(Clone, Copy, PartialEq)]
enum Seeds {
    Objects,
    Texts,
    All,
}

fn seeds(kind: Seeds) -> Vec<Vec<u8>> {
    let objects = || {
        let host = |packed: &[u8]| crate::unpack_bytes(packed);
        vec![
            two_kernels(),
            host(include_bytes!("../../../gcn-emit/tests/data/link/bundle.hipfb.gz")),
            host(include_bytes!("../../../gcn-emit/tests/data/link/bundle.ccob.gz")),
            host(include_bytes!("../../../gcn-emit/tests/data/link/host-compressed.so.gz")),
            host(include_bytes!("../../../gcn-emit/tests/data/link/kernels-gfx908.o.gz")),
            include_bytes!("../../../gcn-emit/tests/data/link/kernels-gfx942.so.gz").to_vec(),
        ]
    };
    let texts = || vec![crate::TWO_KERNELS.as_bytes().to_vec(), crate::UNWAITED.as_bytes().to_vec()];
    match kind {
        Seeds::Objects => objects(),
        Seeds::Texts => texts(),
        Seeds::All => [objects(), texts()].concat(),
    }
}

/// Changes a file at a few random positions.
fn mutate(random: &mut Random, mut file: Vec<u8>) -> Vec<u8> {
    for _ in 0..=random.below(6) {
        let at = random.below(file.len());
        // Half of the changes are in the first 1024 bytes, since headers and tables determine how the rest is read.
        let at = if random.below(2) == 0 { at % 1024 } else { at };
        match random.below(6) {
            0 => file.truncate(at.max(1)),
            1 => write(random, &mut file, at, 1),
            2 => write(random, &mut file, at, 4),
            3 => write(random, &mut file, at, 8),
            4 => {
                let end = (at + random.below(64)).min(file.len());
                let piece = file.get(at..end).unwrap_or_default().to_vec();
                let to = random.below(file.len());
                file.splice(to..to, piece);
            }
            _ => {
                let end = (at + random.below(16)).min(file.len());
                file.drain(at.min(end)..end);
            }
        }
        if file.is_empty() {
            file.push(0);
        }
    }
    file
}

/// Writes a boundary value at `at`: 0, all ones, the least or the greatest number; or a random number.
fn write(random: &mut Random, file: &mut [u8], at: usize, size: usize) {
    let value = match random.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << 31,
        3 => i64::MAX as u64,
        _ => random.below(usize::MAX) as u64,
    };
    let bytes = value.to_le_bytes();
    file.iter_mut().skip(at).take(size).zip(bytes).for_each(|(to, from)| *to = from);
}

/// Runs a command on a file within the limits. Returns an error that describes how the command ended, if it ended wrongly.
fn run(arguments: &[&str], spec: &str, file: &str) -> Result<(), String> {
    let limits = format!("ulimit -v {MEMORY}; ulimit -t {TIME}; exec \"$0\" \"$@\"");
    let (command, options) = arguments.split_first().expect("a command");
    let options = options.iter().map(|o| if *o == "SPEC" { spec } else { o });
    let output = Command::new("sh")
        .args(["-c", &limits, env!("CARGO_BIN_EXE_gcn"), command, file])
        .args(options)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .expect("sh starts");
    let error = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0..=2) if !error.contains("panicked") => Ok(()),
        _ => Err(format!("{:?}: {}", output.status, error.chars().take(2000).collect::<String>())),
    }
}

/// Runs a command on `count` changed files.
fn campaign(arguments: &[&str], kind: Seeds, count: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let (seeds, name) = (seeds(kind), folder.path().join("file").to_string_lossy().into_owned());
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/two_kernels.json");
    let mut random = Random::new(arguments.concat().len() as u64);
    for number in 0..count {
        let file = mutate(&mut random, seeds[number % seeds.len()].clone());
        std::fs::write(&name, &file).expect("the file is written");
        if let Err(problem) = run(arguments, spec, &name) {
            let kept = std::env::temp_dir().join(format!("gcn-mutated-{}-{number}", arguments[0]));
            std::fs::write(&kept, &file).expect("the file is written");
            panic!("{arguments:?}, {}: {problem}", kept.display());
        }
    }
}

#[test]
fn commands_end_on_any_file() {
    let count = setting("GCN_MUTATED", 40);
    std::thread::scope(|threads| {
        for (arguments, kind) in COMMANDS {
            threads.spawn(move || campaign(arguments, kind, count));
        }
    });
}
