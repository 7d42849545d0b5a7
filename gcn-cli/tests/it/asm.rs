//! Tests `gcn asm`: LLVM's golden vectors through the command, files with errors, and the choice of the output.

use crate::{TWO_KERNELS, gcn, gcn_with, unpack};

/// Golden vectors: target, canonical text, and bytes in hexadecimal. They were produced with LLVM 22 (see gcn-emit's tests).
const ENCODINGS: &[u8] = include_bytes!("../../../gcn-emit/tests/data/encodings.tsv.gz");

#[test]
fn golden_vectors_print_with_their_encodings() {
    let golden = unpack(ENCODINGS);
    for target in ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"] {
        let rows: Vec<Vec<&str>> =
            golden.lines().map(|l| l.split('\t').collect()).filter(|r: &Vec<&str>| r[0] == target).collect();
        assert!(rows.len() > 9000, "{target}: {}", rows.len());
        let source: String = rows.iter().map(|r| format!("\t{}\n", r[1])).collect();
        let printed =
            gcn_with(&["asm", "-", "--target", target, "--show-encoding"], source.as_bytes()).text();
        for (line, row) in printed.lines().zip(&rows) {
            let bytes: Vec<String> = row[2].as_bytes().chunks(2).map(|h| format!("0x{}", hex(h))).collect();
            assert_eq!(line, format!("{} ; encoding: [{}]", row[1], bytes.join(",")), "{target}");
        }
        assert_eq!(printed.lines().count(), rows.len());
    }
}

fn hex(digits: &[u8]) -> &str {
    std::str::from_utf8(digits).expect("hexadecimal digits")
}

#[test]
fn the_files_target_decides_unless_another_is_asked_for() {
    let source = b".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\nglobal_load_dword v0, v1, s[2:3] sc1\n";
    let printed = gcn_with(&["asm", "-", "--show-encoding"], source).text();
    assert_eq!(
        printed,
        "global_load_dword v0, v1, s[2:3] sc1 ; encoding: [0x00,0x80,0x50,0xde,0x01,0x00,0x02,0x00]\n"
    );
    let error = gcn_with(&["asm", "-", "--show-encoding"], b"s_nop 0\n").failure(1);
    assert!(error.contains(".amdgcn_target") && error.contains("--target"), "{error}");
}

#[test]
fn every_error_is_shown_at_its_place_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bad.s");
    let source = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\nv_ad_f32 v0, v1, v2\n\ts_add_u32 s0, s1\n\t.quadd 1\n";
    std::fs::write(&file, source).expect("a file");
    let error = gcn(&["asm", file.to_str().expect("UTF-8")]).failure(1);
    for part in ["bad.s:2:1", "v_add_f32", "bad.s:3:", "s_add_u32", "bad.s:4:2", ".quad"] {
        assert!(error.contains(part), "{part} is missing in\n{error}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn the_code_object_stands_beside_its_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("two.s");
    std::fs::write(&file, TWO_KERNELS).expect("a file");
    assert_eq!(gcn(&["asm", file.to_str().expect("UTF-8")]).text(), "");
    let object = std::fs::read(folder.path().join("two.hsaco")).expect("a code object");
    assert_eq!(object, crate::two_kernels());
    let read = gcn_emit::object::read_code_object(&object).expect("a code object");
    assert_eq!(read.kernels.iter().map(|k| k.name).collect::<Vec<_>>().len(), 2);
}

#[test]
fn errors_and_instructions_have_a_json_form() {
    let run = gcn_with(&["asm", "-", "--json", "--target", "gfx942"], b"v_ad_f32 v0, v1, v2\n");
    assert_eq!(run.code, 1);
    let errors: serde_json::Value = serde_json::from_slice(&run.out).expect("JSON");
    assert_eq!((&errors["errors"][0]["line"], &errors["errors"][0]["column"]), (&1.into(), &1.into()));
    let report = gcn_with(&["asm", "-", "--json", "--target", "gfx942"], b"\n s_endpgm\n").text();
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["instructions"][0]["encoding"], "000081bf");
    assert_eq!(report["instructions"][0]["line"], 2);
}

#[test]
fn symbols_come_from_the_command_line() {
    // The bytes are those of llvm-mc 22 with `-defsym n=3 -defsym m=0x10`.
    let source = b".if n == 3\ns_nop n\n.endif\ns_mov_b32 s0, m\n";
    let options = ["asm", "-", "--target", "gfx90a", "--show-encoding", "-D", "n=3", "--defsym=m=0x10"];
    assert_eq!(
        gcn_with(&options, source).text(),
        "s_nop 3 ; encoding: [0x03,0x00,0x80,0xbf]\ns_mov_b32 s0, 16 ; encoding: [0x90,0x00,0x80,0xbe]\n"
    );
    let again = gcn_with(&options, b".set n, 3\n").failure(1);
    assert!(again.contains("<stdin>:1") && again.contains("`n`"), "{again}");
    for wrong in ["n", "=3", "n=x", "n=", "n=99999999999999999999", "n=+1", "n=08"] {
        let error = gcn_with(&["asm", "-", "--target", "gfx90a", "-D", wrong], source).failure(2);
        assert!(error.contains("-D") || error.contains("--defsym"), "{error}");
    }
}

#[test]
fn names_that_nothing_defines_are_told_as_such() {
    // A misspelt register is taken for a symbol; the error must say that it is not defined, not only which relocation is missing.
    let source =
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\nk: s_mov_b32 s0, src_shared_base_lo\n s_endpgm\n";
    let error = crate::gcn_with(&["asm", "-"], source.as_bytes()).failure(1);
    assert!(error.contains("symbol `src_shared_base_lo`: the symbol is not defined"), "{error}");
    let error = crate::gcn_with(&["asm", "-", "-D", "1x=3"], source.as_bytes()).failure(2);
    assert!(error.contains("`1x` is not the name of a symbol"), "{error}");
}
