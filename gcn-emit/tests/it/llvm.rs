//! Runs LLVM 22, with which this crate's results are compared.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gcn_emit::target_id::{Feature, TargetId};
use gcn_test_support::llvm::tool;

/// The tools of LLVM 22, if they are installed.
pub struct Llvm(());

impl Llvm {
    /// Finds the tools. Without them, reports the running test as skipped and returns `None`, or panics if `GCN_REQUIRE_LLVM=1`.
    pub fn find() -> Option<Llvm> {
        let all = ["llvm-mc", "ld.lld", "llvm-readelf", "llvm-objdump"].map(tool);
        all.iter().all(Option::is_some).then_some(Llvm(()))
    }

    /// Runs a tool that must succeed without output on standard error. Returns its standard output.
    pub fn run(&self, tool: &str, args: &[&str]) -> String {
        let out: Output = Command::new(tool).args(args).output().expect("the tool was found");
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && errors.is_empty(), "{tool} {args:?}: {}\n{errors}", out.status);
        String::from_utf8(out.stdout).expect("tools print UTF-8")
    }

    /// Assembles and links a file to a code object.
    pub fn code_object(&self, dir: &Scratch, name: &str, id: TargetId, assembly: &str) -> PathBuf {
        self.code_object_with(dir, name, (id, &attributes(id)), assembly)
    }

    /// As [`Llvm::code_object`], for a subtarget with these attributes.
    pub fn code_object_with(
        &self,
        dir: &Scratch,
        name: &str,
        (id, attributes): (TargetId, &str),
        assembly: &str,
    ) -> PathBuf {
        let source = dir.write(&format!("{name}.s"), assembly.as_bytes());
        let object = dir.path(&format!("{name}.o"));
        let linked = dir.path(&format!("{name}.llvm.hsaco"));
        let cpu = format!("-mcpu={}", id.target);
        let features = format!("-mattr={attributes}");
        let files = ["-filetype=obj", text(&source), "-o", text(&object)];
        let args = [&["-triple=amdgcn-amd-amdhsa", &cpu, &features][..], &files].concat();
        self.run("llvm-mc-22", &args);
        self.run("ld.lld-22", &["-shared", text(&object), "-o", text(&linked)]);
        linked
    }
}

/// The output of `llvm-mc` for this input, whether it succeeds or not.
pub fn feed(args: &[&str], input: String) -> Output {
    let mut child = Command::new("llvm-mc-22")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool was found");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || {
        // The write fails if the tool has crashed and closed the pipe.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("the tool ends");
    writer.join().expect("no panic");
    output
}

/// The settings of a target ID as subtarget attributes, which the assembler requires on its command line as well.
pub fn attributes(id: TargetId) -> String {
    let sign = |feature| match feature {
        Feature::Any => None,
        Feature::Off => Some('-'),
        Feature::On => Some('+'),
    };
    let settings = [("xnack", sign(id.xnack)), ("sramecc", sign(id.sramecc))];
    let given = settings.iter().filter_map(|(name, sign)| sign.map(|sign| format!("{sign}{name}")));
    given.collect::<Vec<_>>().join(",")
}

/// A directory for one test, which is removed when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(test: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("gcn-emit-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
        Scratch(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("the temporary directory is writable");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are UTF-8")
}
