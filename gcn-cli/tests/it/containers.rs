//! Bundles and host libraries, as every command reads them.

use std::io::Write as _;

use crate::{gcn, gcn_with, two_kernels, unpack_bytes};

fn library() -> Vec<u8> {
    unpack_bytes(include_bytes!("../../../gcn-emit/tests/data/link/host-compressed.so.gz"))
}

#[test]
fn code_objects_are_listed_and_chosen() {
    let library = library();
    let list = gcn_with(&["inspect", "-", "--list"], &library).text();
    assert_eq!(list.lines().count(), 6, "{list}");
    assert!(list.contains("    4  gfx942") && list.contains("1: _Z6secondPf"), "{list}");
    for command in ["disasm", "check", "sim"] {
        assert_eq!(gcn_with(&[command, "-", "--list"], &library).text(), list, "{command}");
    }
    let json = gcn_with(&["disasm", "-", "--list", "--json", "--target", "gfx90a"], &library).text();
    let rows: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((rows[0]["entry"].as_u64(), rows[1]["entry"].as_u64()), (Some(1), Some(3)));

    let several = gcn_with(&["disasm", "-"], &library).failure(2);
    assert!(several.contains("--target or --entry") && several.contains("4 (gfx942)"), "{several}");
    let both = gcn_with(&["disasm", "-", "--target", "gfx942"], &library).failure(2);
    assert!(both.contains("it has 2 (gfx942), 4 (gfx942)"), "{both}");
    let by_kernel = ["disasm", "-", "--target", "gfx942", "--kernel", "_Z6secondPf"];
    for options in [&["disasm", "-", "--entry", "4"][..], &by_kernel] {
        let text = gcn_with(options, &library).text();
        assert!(text.contains("gfx942\"") && text.contains("_Z6secondPf:"), "{text}");
    }
    let none = gcn_with(&["inspect", "-", "--target", "gfx906"], &library).failure(1);
    assert!(none.contains("there is no code object for gfx906; it has 1 (gfx90a:xnack+)"), "{none}");
    let checked = gcn_with(&["check", "-", "--summary"], &library).text();
    assert!(checked.contains("4 files: clean"), "{checked}");
    let template = gcn_with(&["sim", "-", "--entry", "2"], &library).text();
    assert!(
        template.contains("_Z5firstPf") && template.contains("\"workgroup\": [1024, 1, 1]"),
        "{template}"
    );
}

#[test]
fn the_target_of_a_file_is_not_overruled() {
    for (command, arguments) in [("disasm", &[][..]), ("inspect", &[]), ("sim", &["--kernel", "fill"])] {
        let arguments = [&[command, "-", "--target", "gfx906"], arguments].concat();
        let error = gcn_with(&arguments, &two_kernels()).failure(1);
        assert!(error.contains("the file is for gfx942, but --target is gfx906"), "{error}");
    }
    let assembly =
        gcn_with(&["sim", "-", "--kernel", "fill", "--target", "gfx90a"], crate::TWO_KERNELS.as_bytes());
    assert!(assembly.failure(1).contains("the file is for gfx942"));
}

#[test]
fn files_are_unpacked_by_every_command() {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(&two_kernels()).expect("memory");
    let packed = writer.finish().expect("memory");
    let disasm = gcn_with(&["disasm", "-"], &packed).text();
    assert_eq!(disasm, gcn_with(&["disasm", "-"], &two_kernels()).text());
    assert!(gcn_with(&["inspect", "-"], &packed).text().contains("kernel fill"));
}

#[test]
fn what_holds_no_code_for_gpus_says_so() {
    let host = std::env::current_exe().expect("this test is a program");
    let error = gcn(&["inspect", host.to_str().expect("UTF-8")]).failure(1);
    assert!(error.contains(".hip_fatbin"), "{error}");
    let text = gcn_with(&["fix", "-"], &library()).failure(1);
    assert!(text.contains("`gcn disasm` converts it to assembly"), "{text}");
    assert!(gcn_with(&["inspect", "-", "--list"], b"s_nop 0\n").failure(1).contains("neither a code object"));
}
