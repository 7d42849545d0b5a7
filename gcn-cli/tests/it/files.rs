//! Tests files that cannot be read or written, and readers of the output that stop early.

use std::process::{Command, Stdio};

use crate::{TWO_KERNELS, gcn, gcn_with};

#[test]
fn what_cannot_be_read_or_written_is_named() {
    for command in ["asm", "disasm", "inspect"] {
        let error = gcn(&[command, "no/such/file"]).failure(2);
        assert!(error.contains("no/such/file"), "{error}");
    }
    let error = gcn_with(&["asm", "-", "-o", "no/such/folder/x"], TWO_KERNELS.as_bytes()).failure(2);
    assert!(error.contains("no/such/folder/x"), "{error}");
    let error = gcn_with(&["asm", "-", "--target", "gfx942"], b"\x7fELF\xff\xff").failure(1);
    assert!(error.contains("gcn disasm"), "{error}");
    gcn(&["asm"]).failure(2);
    gcn(&["frobnicate"]).failure(2);
}

#[test]
fn an_old_output_stays_whole_when_the_source_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out.hsaco");
    std::fs::write(&output, "old").expect("a file");
    let output_name = output.to_str().expect("UTF-8");
    gcn_with(&["asm", "-", "--target", "gfx942", "-o", output_name], b"v_ad_f32\n").failure(1);
    assert_eq!(std::fs::read(&output).expect("a file"), b"old");
    gcn_with(&["asm", "-", "-o", output_name], TWO_KERNELS.as_bytes()).text();
    assert!(std::fs::read(&output).expect("a file").starts_with(b"\x7fELF"));
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gcn"))
        .args(["layout", "v_mfma_f32_32x32x8_f16", "--target", "gfx942", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gcn starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("gcn ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_file_that_is_written_anew_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out.s");
    for mode in [0o600, 0o755, 0o664] {
        std::fs::write(&output, "old").expect("a file");
        std::fs::set_permissions(&output, std::fs::Permissions::from_mode(mode)).expect("a mode");
        gcn_with(&["fix", "-", "-o", output.to_str().expect("UTF-8")], TWO_KERNELS.as_bytes());
        let metadata = output.metadata().expect("a file");
        assert!(metadata.len() > 3);
        assert_eq!(metadata.permissions().mode() & 0o777, mode);
    }
}

/// A folder without read permission is named in a message, and the other files are checked.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_does_not_end_the_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let (closed, path) = (folder.path().join("closed"), folder.path().to_str().expect("UTF-8"));
    std::fs::write(folder.path().join("a.s"), TWO_KERNELS).expect("a file");
    std::fs::create_dir(&closed).expect("a folder");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o0)).expect("a mode");
    // root may read the folder regardless of its permissions.
    let readable = std::fs::read_dir(&closed).is_ok();
    let run = gcn(&["check", path, "--summary"]);
    let text = String::from_utf8(run.out).expect("UTF-8");
    assert!(text.contains("a.s: "), "{text}");
    if !readable {
        assert!(run.err.contains("cannot read") && run.err.contains("closed"), "{}", run.err);
        assert_eq!(run.code, 2);
    }
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// An endless device is refused when the size limit is reached or memory is exhausted.
#[cfg(target_os = "linux")]
#[test]
fn input_without_end_is_refused() {
    let limited = "ulimit -v 2000000; exec \"$0\" inspect /dev/zero";
    let output =
        Command::new("sh").args(["-c", limited, env!("CARGO_BIN_EXE_gcn")]).output().expect("sh starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("cannot read /dev/zero"), "{error}");
}

#[cfg(unix)]
#[test]
fn paths_are_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join(OsStr::from_bytes(b"caf\xe9 %41"));
    std::fs::create_dir(&inner).expect("a folder");
    let source = inner.join(OsStr::from_bytes(b"two\xff.s"));
    std::fs::write(&source, TWO_KERNELS).expect("a file");
    let run = |arguments: &[&OsStr]| {
        let output = Command::new(env!("CARGO_BIN_EXE_gcn")).args(arguments).output().expect("gcn starts");
        let (out, error) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        (output.status.code(), out + &error)
    };
    let (code, said) = run(&["asm".as_ref(), source.as_ref()]);
    assert_eq!(code, Some(0), "{said}");
    let object = inner.join(OsStr::from_bytes(b"two\xff.hsaco"));
    assert!(std::fs::read(&object).expect("the object").starts_with(b"\x7fELF"));
    let (code, said) = run(&["disasm".as_ref(), object.as_ref()]);
    assert!(code == Some(0) && said.contains("s_endpgm"), "{said}");
    // Files below a folder are found, and messages contain a name that is valid as an argument.
    let (_, said) = run(&["check".as_ref(), "--summary".as_ref(), folder.path().as_ref()]);
    let name = said.split_whitespace().find(|word| word.contains("two%ff.s")).expect("the file's name");
    assert!(name.contains("/caf%e9%20%2541/"), "{name}");
    let (code, said) = run(&["check".as_ref(), name.trim_end_matches(':').as_ref()]);
    assert!(code.is_some_and(|code| code < 2), "{said}");
}
