//! Files: what cannot be read or written, and readers that stop early.

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
