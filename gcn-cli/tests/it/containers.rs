//! Tests bundles and host libraries with every command that reads them.

use std::io::Write as _;
use std::process::Command;

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
    assert!(assembly.failure(1).contains("the file is for `gfx942`, but `gfx90a` is asked for"));
    // Commands that analyse files do not ignore the option either.
    for command in ["check", "explain", "mutate", "evidence"] {
        let arguments = [command, "-", "--target", "gfx90a"];
        let error = gcn_with(&arguments, &two_kernels()).failure(2);
        assert!(error.contains("the file is for gfx942, but --target is gfx90a"), "{command}: {error}");
        let error = gcn_with(&arguments, crate::TWO_KERNELS.as_bytes()).failure(2);
        assert!(error.contains("the file is for `gfx942`, but `gfx90a` is asked for"), "{command}: {error}");
    }
    gcn_with(&["check", "-", "--target", "gfx942"], crate::TWO_KERNELS.as_bytes()).text();
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
    // The remedy is not a command that refuses the file, too.
    for command in ["asm", "fix"] {
        let error = gcn(&[command, host.to_str().expect("UTF-8")]).failure(1);
        assert!(error.contains("this is an ELF file for ") && !error.contains("gcn disasm"), "{error}");
        let error = gcn(&[command, "."]).failure(2);
        assert!(error.contains("cannot read .: Is a directory"), "{error}");
    }
    for (command, text) in [("disasm", "s_nop 0\n"), ("inspect", "x"), ("disasm", crate::TWO_KERNELS)] {
        let error = gcn_with(&[command, "-"], text.as_bytes()).failure(1);
        assert!(error.contains("this is text, not a code object"), "{error}");
    }
    assert!(gcn_with(&["inspect", "-", "--list"], b"s_nop 0\n").failure(1).contains("neither a code object"));
}

#[test]
fn files_of_other_kinds_are_named() {
    let host = std::fs::read(std::env::current_exe().expect("this test is a program")).expect("a file");
    let mut pal = two_kernels();
    pal[7] = 0x41;
    let mut old = two_kernels();
    old[48] = 0x2a;
    let kinds: [(&[u8], &str); 5] = [
        (b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff", "a program or library of Windows (PE)"),
        (b"\xcf\xfa\xed\xfe\x07\0\0\x01", "a program or library of macOS (Mach-O)"),
        (&host, "an ELF file for "),
        (&pal, "AMD's PAL (graphics), which is not supported"),
        (&old, "gfx803; GFX6 to GFX8"),
    ];
    for (bytes, part) in kinds {
        for (command, code) in [("inspect", 1), ("check", 2), ("disasm", 1), ("sim", 1)] {
            let error = gcn_with(&[command, "-"], bytes).failure(code);
            assert!(error.contains(part), "{command}: {error}");
        }
    }
}

#[test]
fn uris_of_loaded_code_objects_are_read() {
    let object = two_kernels();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a program");
    std::fs::write(&file, [&[7; 100][..], &object, &[7; 9]].concat()).expect("a file");
    let uri = |range: &str| format!("file://{}{range}", file.to_str().expect("UTF-8").replace(' ', "%20"));
    let expected = gcn_with(&["disasm", "-"], &object).text();
    let size = object.len();
    for range in [format!("#offset=100&size={size}"), format!("?offset=0x64&size={size:#x}")] {
        assert_eq!(gcn(&["disasm", &uri(&range)]).text(), expected, "{range}");
    }
    std::fs::write(&file, &object).expect("a file");
    assert_eq!(gcn(&["disasm", &uri("")]).text(), expected);
    for (uri, part) in [
        (uri("#offset=1&size=1000000"), "ends before"),
        (uri("#offset=1&size="), "#offset=N&size=N"),
        ("memory://1#offset=1&size=2".to_owned(), "memory of a process"),
    ] {
        let error = gcn(&["disasm", &uri]).failure(2);
        assert!(error.contains(part), "{error}");
    }
}

/// Reads a library of 46 bundles whose unpacked size is 2.2 GiB, more than the memory that the process may use.
#[test]
fn libraries_are_unpacked_one_bundle_at_a_time() {
    const BUNDLES: usize = 46;
    /// The size of the host's entry, which consists of zeros and is the largest part of each bundle.
    const ZEROS: usize = 48 << 20;
    /// The limit of the address space in KiB, which includes the program and its libraries.
    const MEMORY: u32 = 400_000;

    let object = two_kernels();
    let entries = [
        ("host-x86_64-unknown-linux-gnu-", 4096, ZEROS),
        ("hipv4-amdgcn-amd-amdhsa--gfx942", 4096 + ZEROS, object.len()),
    ];
    let mut bundle = [&b"__CLANG_OFFLOAD_BUNDLE__"[..], &2u64.to_le_bytes()].concat();
    for (name, at, size) in entries {
        [at, size, name.len()].iter().for_each(|number| bundle.extend((*number as u64).to_le_bytes()));
        bundle.extend(name.bytes());
    }
    bundle.resize(4096 + ZEROS, 0);
    bundle.extend(&object);
    assert!(bundle.len() * BUNDLES > 2 << 30);
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(&bundle).expect("memory");
    let data = writer.finish().expect("memory");
    // The header of a compressed bundle: version 2, zlib.
    let mut packed = b"CCOB\x02\0\0\0".to_vec();
    [24 + data.len(), bundle.len()].iter().for_each(|size| packed.extend((*size as u32).to_le_bytes()));
    packed.extend([0; 8]);
    packed.extend(data);
    packed.resize(packed.len().next_multiple_of(8), 0);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("libmany.hipfb");
    std::fs::write(&file, packed.repeat(BUNDLES)).expect("a file");

    let limited = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let run = |arguments: &[&str]| {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &limited,
            env!("CARGO_BIN_EXE_gcn"),
            arguments[0],
            file.to_str().expect("UTF-8"),
        ]);
        let output = command.args(&arguments[1..]).output().expect("sh starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), error)
    };
    let (code, checked, error) = run(&["check", "--summary"]);
    assert!(code == Some(0) && checked.contains("46 files: clean"), "{checked}{error}");
    let (code, text, error) = run(&["disasm", "--entry", "2"]);
    assert!(code == Some(0) && text.contains("fill:"), "{error}");
}
