//! Run-time compilation (`hiprtc`) with an installed clang.
//!
//! `GCN_HIP_CLANG` selects the clang; if it is not set, ROCm's clang or one in `PATH` is used. Headers and device libraries are those of
//! ROCm (`ROCM_PATH` or `/opt/rocm`), if ROCm is installed.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gcn_emit::object::read_code_object;
use gcn_sim::launch::Object;

/// `hiprtcResult`, except success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Error {
    ProgramCreation = 2,
    InvalidInput = 3,
    InvalidProgram = 4,
    Compilation = 6,
    NoNameExpressionsAfterCompilation = 8,
    NoLoweredNamesBeforeCompilation = 9,
    NameExpressionNotValid = 10,
    Internal = 11,
    Linking = 100,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

/// A program: its source and, after compilation, the result.
#[derive(Default)]
pub(crate) struct Program {
    pub source: String,
    /// The name of the source for messages.
    pub name: String,
    /// The headers: the names by which they are included, and their contents.
    pub headers: Vec<(String, String)>,
    /// The expressions whose symbols the user needs.
    pub names: Vec<String>,
    /// The compiler's messages.
    pub log: String,
    pub compiled: Option<Compiled>,
}

/// A program's code object, and the symbols of its name expressions.
pub(crate) struct Compiled {
    pub code: Vec<u8>,
    /// True if the code is LLVM bitcode, to be linked.
    pub is_bitcode: bool,
    pub symbols: HashMap<String, CString>,
}

/// A linker: bitcode and, after linking, the result.
#[derive(Default)]
pub(crate) struct Link {
    /// Options for the compiler.
    pub options: Vec<String>,
    pub inputs: Vec<Vec<u8>>,
    /// The code object.
    pub linked: Vec<u8>,
}

impl Link {
    /// Links for `target`.
    pub(crate) fn complete(&mut self, target: &str) -> Result {
        let folder = Folder::new()?;
        let code = folder.0.join("code");
        let processor = target.split(':').next().unwrap_or_default();
        // The bitcode already contains the functions of the device library.
        let mut arguments = ["--target=amdgcn-amd-amdhsa", &format!("-mcpu={processor}"), "-O3", "-nogpulib"]
            .map(str::to_owned)
            .to_vec();
        arguments.extend(self.options.iter().cloned());
        for (number, input) in self.inputs.iter().enumerate() {
            let path = folder.0.join(format!("{number}.bc"));
            std::fs::write(&path, input).map_err(|_| Error::Internal)?;
            arguments.push(path.display().to_string());
        }
        arguments.extend(["-o".to_owned(), code.display().to_string()]);
        let output = run(&arguments)?;
        if !output.status.success() {
            eprintln!("gcn-hip: linking: {}", String::from_utf8_lossy(&output.stderr).trim_end());
            return Err(Error::Linking);
        }
        self.linked = std::fs::read(code).map_err(|_| Error::Internal)?;
        Ok(())
    }
}

/// The name of a variable that contains the address of the object that a name expression denotes.
fn variable(number: usize) -> String {
    format!("__gcn_name_{number}")
}

impl Program {
    /// Compiles the program for `target`, unless the options specify another target.
    pub(crate) fn compile(&mut self, options: &[String], target: &str) -> Result {
        let folder = Folder::new()?;
        for (name, text) in &self.headers {
            folder.write(Path::new(name), text)?;
        }
        let source = folder.write(Path::new("source.hip"), &self.text())?;
        let code = folder.0.join("code");
        let is_bitcode = options.iter().any(|option| option == "-fgpu-rdc");
        let mut arguments = arguments(options, target);
        if is_bitcode {
            arguments.extend(["-c", "-emit-llvm"].map(str::to_owned));
        }
        arguments.extend(["-I".into(), folder.0.display().to_string()]);
        arguments.extend(["-o".into(), code.display().to_string(), source.display().to_string()]);
        let output = run(&arguments).inspect_err(|_| {
            "no clang: install one that knows the target, or name it with GCN_HIP_CLANG\n"
                .clone_into(&mut self.log);
        })?;
        self.log = String::from_utf8_lossy(&output.stderr).replace(&source.display().to_string(), &self.name);
        if !output.status.success() {
            return Err(Error::Compilation);
        }
        let code = std::fs::read(code).map_err(|_| Error::Internal)?;
        let symbols = if is_bitcode { HashMap::new() } else { symbols(&code, &self.names)? };
        self.compiled = Some(Compiled { code, is_bitcode, symbols });
        Ok(())
    }

    /// The source to compile. The macro is defined only after HIP's headers, because they omit much if it is defined, while programs test
    /// for it.
    fn text(&self) -> String {
        let mut text = format!("#define __HIPCC_RTC__ 1\n#line 1 \"{}\"\n{}\n", self.name, self.source);
        for (number, name) in self.names.iter().enumerate() {
            let address = if name.starts_with('&') { name.clone() } else { format!("&({name})") };
            let variable = variable(number);
            let _ = writeln!(text, "extern \"C\" __attribute__((device, used)) auto {variable} = {address};");
        }
        text
    }
}

/// The headers of HIP that programs see without including them (`HIPRTC_HEADERS` in the build of ROCm's library). Headers that do not exist
/// are left out; if the first one does not exist, the list is empty. The header for cooperative groups is excluded, because it works only
/// with ROCm's own compiler.
fn built_in(rocm: &Path) -> Vec<&'static str> {
    const HEADERS: [&str; 5] = [
        "hip/hip_runtime.h",
        "hip/hip_bfloat16.h",
        "hip/hip_fp16.h",
        "hip/hip_complex.h",
        "hip/hip_math_constants.h",
    ];
    let exists = |header: &&str| rocm.join("include").join(header).exists();
    if exists(&HEADERS[0]) { HEADERS.into_iter().filter(exists).collect() } else { Vec::new() }
}

/// The arguments for clang, except file names.
fn arguments(options: &[String], target: &str) -> Vec<String> {
    let fixed = "-x hip --cuda-device-only --no-gpu-bundle-output -O3 -std=c++17 -Wno-linker-warnings";
    let mut arguments: Vec<String> = fixed.split(' ').map(str::to_owned).collect();
    let rocm = ["ROCM_PATH", "HIP_PATH"].iter().find_map(std::env::var_os).map(PathBuf::from);
    let rocm = rocm.unwrap_or_else(|| "/opt/rocm".into());
    let headers = if options.iter().any(|o| o == "-nogpuinc") { Vec::new() } else { built_in(&rocm) };
    if !headers.is_empty() {
        arguments.push(format!("--rocm-path={}", rocm.display()));
        arguments.extend(headers.iter().flat_map(|header| ["-include", header].map(str::to_owned)));
    }
    // The spellings of the option in NVIDIA's and AMD's run-time compilers.
    let is_target = ["--gpu-architecture=", "--offload-arch=", "-arch="];
    let mut chosen = false;
    for option in options {
        let named = is_target.iter().find_map(|name| option.strip_prefix(name));
        chosen |= named.is_some();
        arguments.push(named.map_or_else(|| option.clone(), |target| format!("--offload-arch={target}")));
    }
    if !chosen {
        arguments.push(format!("--offload-arch={target}"));
    }
    arguments
}

/// Runs the first clang that exists.
fn run(arguments: &[String]) -> Result<Output> {
    /// The versions of clang to try, from the first that supports the newest target.
    const VERSIONS: std::ops::RangeInclusive<u32> = 20..=30;
    let named = std::env::var("GCN_HIP_CLANG").ok();
    let rocm = std::env::var("ROCM_PATH").unwrap_or_else(|_| "/opt/rocm".to_owned());
    let usual = [format!("{rocm}/llvm/bin/clang++"), "clang++".to_owned()].into_iter();
    let usual = usual.chain(VERSIONS.rev().map(|version| format!("clang++-{version}")));
    let candidates: Vec<String> = named.map_or_else(|| usual.collect(), |named| vec![named]);
    for candidate in candidates {
        match Command::new(candidate).args(arguments).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            result => return result.map_err(|_| Error::Internal),
        }
    }
    Err(Error::Compilation)
}

/// The symbols of the name expressions, found through variables that contain their addresses.
fn symbols(code: &[u8], names: &[String]) -> Result<HashMap<String, CString>> {
    /// A temporary load address for the object.
    const BASE: u64 = 1 << 32;
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let loaded = Object::load(code, |_| BASE).map_err(|_| Error::Internal)?;
    let object = read_code_object(code).map_err(|_| Error::Internal)?;
    let symbol = |number: usize| {
        let place = loaded.variable(&variable(number))?.address.checked_sub(loaded.base())?;
        let bytes = loaded.image().get(usize::try_from(place).ok()?..)?.first_chunk()?;
        let address = u64::from_le_bytes(*bytes).checked_sub(loaded.base())?;
        object
            .symbols
            .iter()
            .find(|s| s.address == address && s.section.is_some() && s.size > 0)
            .map(|s| s.name)
    };
    let pair = |(number, name): (usize, &String)| {
        let symbol = symbol(number).ok_or(Error::NameExpressionNotValid)?;
        Ok((name.clone(), CString::new(symbol).map_err(|_| Error::Internal)?))
    };
    names.iter().enumerate().map(pair).collect()
}

/// A temporary folder, which is removed when the value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("gcn-hiprtc-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        // If the folder exists already, fail: it may belong to another user.
        std::fs::create_dir(&path).map_err(|_| Error::Internal)?;
        Ok(Folder(path))
    }

    /// Writes a file inside of the folder.
    fn write(&self, name: &Path, text: &str) -> Result<PathBuf> {
        if !name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(Error::InvalidInput);
        }
        let path = self.0.join(name);
        let folder = path.parent().ok_or(Error::InvalidInput)?;
        std::fs::create_dir_all(folder).map_err(|_| Error::Internal)?;
        std::fs::write(&path, text).map_err(|_| Error::Internal)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If files cannot be removed, the system cleans them up eventually.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_there_are_need_not_be_included() {
        let folder = Folder::new().unwrap();
        assert_eq!(built_in(&folder.0), [""; 0]);
        for header in ["hip/hip_fp16.h", "hip/other.h"] {
            folder.write(&Path::new("include").join(header), "").unwrap();
        }
        assert_eq!(built_in(&folder.0), [""; 0]);
        folder.write(Path::new("include/hip/hip_runtime.h"), "").unwrap();
        assert_eq!(built_in(&folder.0), ["hip/hip_runtime.h", "hip/hip_fp16.h"]);
    }
}
