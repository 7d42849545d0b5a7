//! Tests that the output of `gcn disasm` assembles to the same code.

use gcn_emit::object::read_code_object;

use crate::{gcn_with, two_kernels};

#[test]
fn the_text_assembles_to_the_same_code_object() {
    let object = two_kernels();
    for options in [&["disasm", "-"][..], &["disasm", "-", "--bytes"]] {
        let text = gcn_with(options, &object).text();
        let again = gcn_with(&["asm", "-", "-o", "-"], text.as_bytes());
        assert_eq!(again.code, 0, "{}", again.err);
        let (old, new) = (read_code_object(&object).unwrap(), read_code_object(&again.out).unwrap());
        assert_eq!(old.text().map(|t| t.bytes), new.text().map(|t| t.bytes));
        assert_eq!(old.metadata, new.metadata);
        let kernels = |o: &gcn_emit::object::CodeObject<'_>| {
            let mut list: Vec<_> = o.kernels.iter().map(|k| (k.name.to_owned(), k.descriptor)).collect();
            list.sort_by(|a, b| a.0.cmp(&b.0));
            list
        };
        assert_eq!(kernels(&old), kernels(&new));
    }
}

#[test]
fn one_kernel_alone() {
    let text = gcn_with(&["disasm", "-", "--kernel", "count"], &two_kernels()).text();
    assert!(text.contains("s_cbranch_scc1") && !text.contains("global_store_dword"), "{text}");
    let error = gcn_with(&["disasm", "-", "--kernel", "cont"], &two_kernels()).failure(1);
    assert!(error.contains("no kernel `cont`") && error.contains("count"), "{error}");
}

#[test]
fn bytes_and_json_tell_the_machine_code() {
    // s_endpgm is 0xbf810000 (CDNA3 ISA, SOPP).
    let text = gcn_with(&["disasm", "-", "--bytes"], &two_kernels()).text();
    let end = text.lines().find(|l| l.contains("s_endpgm")).expect("an end");
    assert!(end.to_lowercase().contains("bf810000"), "{end}");
    let json = gcn_with(&["disasm", "-", "--json"], &two_kernels()).text();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let items = json["sections"][0]["items"].as_array().expect("instructions");
    let end = items.iter().find(|i| i["text"] == "s_endpgm").expect("an end");
    assert_eq!(end["bytes"], "000081bf");
}

#[test]
fn what_is_no_code_object_is_refused() {
    assert!(gcn_with(&["disasm", "-"], b"not an object").failure(1).contains("not a code object"));
    let object = two_kernels();
    for length in [0, 1, 63, 64, 200, object.len() / 2] {
        gcn_with(&["disasm", "-"], &object[..length]).failure(1);
    }
}

/// The word 0 would be `v_cndmask_b32_e32 v0, s0, v0, vcc` (VOP2 opcode 0), which reads two scalar values; LLVM 22 refuses to disassemble
/// it, too.
#[test]
fn zeros_are_described_as_padding() {
    let text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.text\ns_endpgm\n.fill 41, 4, 0\ns_nop 1\n.long 0, 0\n";
    let object = gcn_with(&["asm", "-", "-o", "-"], text.as_bytes()).out;
    let shown = gcn_with(&["disasm", "-"], &object).text();
    assert!(shown.contains(".fill 41, 4, 0x0 ; zeros, as padding"), "{shown}");
    assert!(shown.contains("s_nop 1\n\t.long 0 ; zeros, as padding\n"), "{shown}");
    let again = gcn_with(&["asm", "-", "-o", "-"], shown.as_bytes()).out;
    let code = |bytes: &[u8]| read_code_object(bytes).unwrap().text().map(|t| t.bytes.to_vec());
    assert_eq!(code(&object), code(&again));
    let json = gcn_with(&["disasm", "-", "--json"], &object).text();
    assert_eq!(json.matches("zeros, as padding").count(), 43);
}
