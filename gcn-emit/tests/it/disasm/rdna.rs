//! Tests objects for RDNA that clang 22 and Triton 3.9 compiled, for every generation and both wave sizes: the text must assemble to the
//! same bytes, with this crate and with LLVM.

use std::io::Read as _;
use std::path::Path;

use gcn_emit::disasm::Options;
use gcn_emit::object::read_code_object;
use gcn_isa::Target;
use gcn_test_support::Random;

use super::shapes::kernel_of;
use super::{assemble_again, code, count, files, round_trip};
use crate::llvm::{Llvm, Scratch, text};

/// The objects with their names, in the order of the names.
pub fn rdna_objects() -> impl Iterator<Item = (String, Vec<u8>)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/rdna-objects");
    files(&data, "gz").into_iter().map(|path| {
        let mut bytes = Vec::new();
        let packed = std::fs::File::open(&path).expect("test data");
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("test data is whole");
        (path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned(), bytes)
    })
}

#[test]
fn objects_of_rdna_assemble_again() {
    let llvm = Llvm::find();
    let dir = Scratch::new("rdna-objects");
    let (mut objects, mut with_llvm, mut instructions) = (0, 0, 0);
    for (name, bytes) in rdna_objects() {
        let object = read_code_object(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let counted = count(&object);
        // Triton's LLVM, which is newer than 22, sets bits in the field of a third source that an instruction lacks; no text assembles to
        // these bits.
        let by_triton = !name.contains(".w");
        assert_eq!((counted.unprintable == 0, counted.undecodable), (!by_triton, 0), "{name}: {counted:?}");
        let again = round_trip(&name, &bytes, &Options::default());
        // In the text, calls name the function, so that they remain correct if code in between changes size.
        let is_symbolic = again.lines().filter(|line| line.contains(">>32")).count();
        assert_eq!(is_symbolic, again.matches("s_getpc_b64").count(), "{name}");
        // On gfx1201, an option of LLVM 22 selects whether whole registers or halves are accepted; we write halves only for upper halves.
        let has_halves =
            object.target_id.target == Target::GFX1201 && (again.contains(".h,") || again.contains(".h\n"));
        if let Some(llvm) = llvm.as_ref().filter(|_| !has_halves) {
            with_llvm += 1;
            let wave = object.kernels[0].descriptor.wave(object.target_id.target);
            let attributes = format!("+wavefrontsize{}", wave.lanes());
            let linked = llvm.code_object_with(&dir, &name, (object.target_id, &attributes), &again);
            let linked = std::fs::read(text(&linked)).expect("just linked");
            let theirs = read_code_object(&linked).expect("an object");
            assert!(code(&object) == code(&theirs), "{name}: LLVM assembles other code:\n{again}");
        }
        instructions += counted.instructions;
        objects += 1;
    }
    assert_eq!(objects, 27);
    assert!(llvm.is_none() || with_llvm >= 20, "{with_llvm}");
    assert!(instructions > 5_000, "{instructions}");
}

/// Arbitrary bytes, and instructions with a few bits changed: the text must assemble to the same bytes. LLVM is not compared, since its
/// disassembler accepts more than its assembler.
#[test]
fn any_bytes_of_rdna_assemble_again() {
    let mut packed = flate2::read::GzDecoder::new(&include_bytes!("../../data/rdna-encodings.tsv.gz")[..]);
    let mut vectors = String::new();
    packed.read_to_string(&mut vectors).expect("test data is whole");
    for name in ["gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"] {
        let own = vectors.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let own = own.filter(|cells| cells[0] == name && cells[3] == "32");
        let seeds: Vec<u128> = own
            .filter(|cells| cells[2].len() <= 32)
            .map(|cells| {
                (0..cells[2].len() / 2).rev().fold(0, |bits, i| {
                    bits << 8 | u128::from_str_radix(&cells[2][2 * i..2 * i + 2], 16).expect("hexadecimal")
                })
            })
            .collect();
        let mut rng = Random::new(7);
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..8000 {
            if rng.below(4) == 0 {
                bytes.extend((rng.next_u64() as u32).to_le_bytes());
                continue;
            }
            let mut bits = seeds[rng.below(seeds.len())];
            let length = (128 - bits.leading_zeros()).div_ceil(32) as usize;
            for _ in 0..rng.below(4) {
                bits ^= 1 << rng.below(32 * length);
            }
            bytes.extend(&bits.to_le_bytes()[..4 * length]);
        }
        let object = assemble_again(&kernel_of(name.parse().expect("a target"), &bytes));
        round_trip(&format!("random bytes on {name}"), &object, &Options::default());
        let found = count(&read_code_object(&object).expect("our own object"));
        assert!(found.instructions > 3000 && found.undecodable > 1000, "{name}: {found:?}");
    }
}
