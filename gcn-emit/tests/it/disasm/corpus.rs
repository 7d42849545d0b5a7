//! Tests third-party code objects: `GCN_AITER` names a directory with `.co` files, such as `aiter_meta/hsa` of AMD's `amd-aiter` wheel
//! (2,501 objects, 12.2 million instructions). The test is skipped if the variable is not set.

use std::time::{Duration, Instant};

use gcn_emit::disasm::{Options, disassemble};
use gcn_emit::object::read_code_object;
use gcn_test_support::skipped;

use super::{Count, count, files, round_trip};

#[test]
fn foreign_objects_assemble_again() {
    let Some(dir) = std::env::var_os("GCN_AITER") else {
        let remedy = "set GCN_AITER to the folder `aiter_meta/hsa` of the unpacked amd-aiter wheel";
        skipped("GCN_AITER is not set", remedy);
        return;
    };
    let mut total = Count::default();
    let (mut decode, mut print, mut both) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let (mut code, mut text) = (0, 0);
    let files = files(dir.as_ref(), "co");
    for file in &files {
        let name = file.display().to_string();
        let bytes = std::fs::read(file).expect("a file that can be read");
        let object = read_code_object(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        code += object.text().map_or(0, |t| t.bytes.len());
        let start = Instant::now();
        let one = count(&object);
        decode += start.elapsed();
        let start = Instant::now();
        text += disassemble(&object).to_assembly(&Options::default()).len();
        print += start.elapsed();
        assert_eq!((one.undecodable, one.data), (0, 0), "{name}: {one:?}");
        total.instructions += one.instructions;
        total.unprintable += one.unprintable;
        let start = Instant::now();
        round_trip(&name, &bytes, &Options::default());
        both += start.elapsed();
    }
    println!(
        "{} objects, {code} bytes of code, {total:?}, {text} bytes of text; labels and instructions {decode:.1?}, text \
         {print:.1?}, the whole round {both:.1?}",
        files.len()
    );
    assert!(!files.is_empty(), "no .co files");
}
