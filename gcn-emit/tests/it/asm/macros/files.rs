//! Tests `.include` and `.incbin`.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};

use gcn_emit::asm::{Assembly, Diagnostics, Files, Folders, Found, Options, assemble_with, expand};

use crate::llvm::Scratch;

/// Files in memory, by name.
struct Memory(BTreeMap<&'static str, &'static [u8]>);

impl Files for Memory {
    fn read(&self, name: &str, limit: u64) -> Result<Found> {
        let bytes = self.0.get(name).ok_or_else(|| Error::new(ErrorKind::NotFound, "not there"))?;
        assert!(bytes.len() as u64 <= limit);
        Ok(Found { path: format!("dir/{name}"), bytes: bytes.to_vec() })
    }
}

fn memory() -> Memory {
    Memory(BTreeMap::from([
        ("a.s", &b"s_nop 1\n.include \"b.s\"\ns_nop 3 /* c\n */"[..]),
        ("b.s", b"\xef\xbb\xbf.macro m x\n s_nop \\x\n.endm\nm 2"),
        ("bad.s", b"s_nop 0\n\ns_nopp 0\n"),
        ("self.s", b"s_nop 0\n.include \"other.s\"\n"),
        ("other.s", b"\n.include \"self.s\"\n"),
        ("bytes", b"0123456789"),
        ("latin", b"s_nop 0 ; \xe9\n"),
        ("if.s", b".if 1\n"),
        ("open.s", b"s_nop 0 /*"),
    ]))
}

fn with(source: &str) -> std::result::Result<Assembly, Diagnostics> {
    let options =
        Options { target: Some("gfx942".parse().unwrap()), keep_instructions: true, ..Options::default() };
    assemble_with("f.s", source, &options, &memory())
}

#[test]
fn a_file_is_read_in_place_of_the_directive() {
    let assembly = with("s_nop 0\n.include \"a.s\" ; comment\nm 4\n").unwrap();
    let bytes: Vec<u8> = assembly.module.sections[0].bytes.iter().step_by(4).copied().collect();
    assert_eq!(bytes, [0, 1, 2, 3, 4]);
    let places: Vec<_> = assembly
        .instructions
        .iter()
        .map(|i| (i.line, i.origin.map_or(String::new(), |o| assembly.origins[o as usize].to_string())))
        .collect();
    let place = |line: u32, origin: &str| (line, origin.to_owned());
    let want = [
        place(1, ""),
        place(2, "dir/a.s:1"),
        place(2, "dir/b.s:2, in `m`"),
        place(2, "dir/a.s:3"),
        place(3, "dir/b.s:2, in `m`"),
    ];
    assert_eq!(places, want);
}

#[test]
fn an_error_in_a_file_names_it_and_who_includes_it() {
    let error = &with("\n.include \"bad.s\"\n").unwrap_err().list[0];
    assert_eq!((error.file.as_str(), error.line, error.column), ("dir/bad.s", 3, 1));
    let note = &error.notes[0];
    assert_eq!((note.file.as_str(), note.line), ("f.s", 2));
    assert_eq!(note.message, "in `dir/bad.s`, which is included here");
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let cases = [
        (".include \"self.s\"\n", "`dir/self.s` includes `dir/other.s` includes `dir/self.s`"),
        (".include \"none.s\"\n", "cannot read `none.s`: not there"),
        (".include \"latin\"\n", "`latin` is not UTF-8"),
        (".include \"open.s\"\n", "the comment is not closed"),
        (".include \"if.s\"\n", "the condition has no `.endif`"),
        (".incbin \"none\"\n", "cannot read `none`"),
        (".incbin \"bytes\", -1\n", "the bytes to skip has to be from 0"),
        (".include a.s\n", "expected a string"),
    ];
    for (source, message) in cases {
        let all = with(source).unwrap_err();
        assert!(all.to_string().contains(message), "{source}: {all}");
    }
}

#[test]
fn an_open_condition_of_a_file_goes_on_after_it() {
    // The same as with llvm-mc.
    assert!(with(".include \"if.s\"\ns_nop 0\n.endif\n").is_ok());
}

#[test]
fn bytes_of_a_file_are_data() {
    let of = |source: &str| {
        let assembly = with(&format!(".data\n{source}\n")).unwrap();
        let section = assembly.module.sections.iter().find(|s| s.name == ".data").unwrap();
        (String::from_utf8(section.bytes.clone()).unwrap(), assembly.warnings.len())
    };
    let text = |text: &str| (text.to_owned(), 0);
    assert_eq!(of(".incbin \"bytes\""), text("0123456789"));
    assert_eq!(of(".incbin \"bytes\", 3"), text("3456789"));
    assert_eq!(of(".incbin \"bytes\", 3, 2"), text("34"));
    assert_eq!(of(".incbin \"bytes\",,2"), text("01"));
    assert_eq!(of(".incbin \"bytes\", 8, 5"), text("89"));
    assert_eq!(of(".incbin \"bytes\", 20"), text(""));
    assert_eq!(of(".incbin \"bytes\", 2, -1"), (String::new(), 1));
}

#[test]
fn included_text_is_expanded() {
    let options = Options { target: Some("gfx942".parse().unwrap()), ..Options::default() };
    let text = expand("f.s", "k: .include \"a.s\"\ns_endpgm", &options, &memory()).unwrap();
    let want =
        "k:\n; .include \"a.s\"\ns_nop 1\n; .include \"b.s\"\n; m 2\n s_nop 2\ns_nop 3 /* c\n */\ns_endpgm";
    assert_eq!(text, want);
}

#[test]
fn folders_are_searched_in_order_after_the_name_itself() {
    let dir = Scratch::new("asm-folders");
    for (folder, byte) in [("one", "1"), ("two", "2")] {
        std::fs::create_dir_all(dir.path(folder)).unwrap();
        dir.write(&format!("{folder}/x"), byte.as_bytes());
    }
    dir.write("two/y", b"3");
    let folders =
        Folders { folders: vec![dir.path("none"), dir.path("one"), dir.path("two")], ..Folders::default() };
    let read = |name: &str| folders.read(name, 10).map(|found| found.bytes);
    assert_eq!((read("x").unwrap(), read("y").unwrap()), (b"1".to_vec(), b"3".to_vec()));
    assert_eq!(read(dir.path("two/x").to_str().unwrap()).unwrap(), b"2");
    assert_eq!(read("z").unwrap_err().kind(), ErrorKind::NotFound);
    assert!(read("one").is_err() && folders.read("x", 0).is_err());
    assert!(folders.read("/dev/zero", 10).is_err());
}
