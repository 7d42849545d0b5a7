//! Objects for RDNA by clang 22 and Triton 3.9, for every generation and both sizes of waves: text that assembles to the same bytes, with
//! this crate and with LLVM.

use std::io::Read as _;
use std::path::Path;

use gcn_emit::disasm::Options;
use gcn_emit::object::read_code_object;
use gcn_isa::Target;

use super::{code, count, files, round_trip};
use crate::llvm::{Llvm, Scratch, text};

#[test]
fn objects_of_rdna_assemble_again() {
    let llvm = Llvm::find();
    let dir = Scratch::new("rdna-objects");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/rdna-objects");
    let (mut objects, mut with_llvm, mut instructions) = (0, 0, 0);
    for path in files(&data, "gz") {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let mut bytes = Vec::new();
        let packed = std::fs::File::open(&path).expect("test data");
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("test data is whole");
        let object = read_code_object(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let counted = count(&object);
        // Triton's LLVM, which is newer than 22, fills the field of a third source that an instruction lacks: no text assembles to that.
        let by_triton = !name.contains(".w");
        assert_eq!((counted.unprintable == 0, counted.undecodable), (!by_triton, 0), "{name}: {counted:?}");
        let again = round_trip(&name, &bytes, &Options::default());
        // On gfx1201 LLVM 22 takes either whole registers or halves, as an option says; we write upper halves only.
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
    assert_eq!(objects, 24);
    assert!(llvm.is_none() || with_llvm >= 20, "{with_llvm}");
    assert!(instructions > 5_000, "{instructions}");
}
