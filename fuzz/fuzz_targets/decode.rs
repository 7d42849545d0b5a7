//! Arbitrary machine code: it must be decoded or rejected, and a decoded instruction that is encoded and decoded again must not change.
#![cfg_attr(fuzzing, no_main)]

use gcn_emit::decode::decode_inst;
use gcn_emit::encode::encode_inst;
use gcn_isa::Target;

fn run(data: &[u8]) {
    let Some((first, code)) = data.split_first() else { return };
    let target = Target::ALL[usize::from(*first) % Target::ALL.len()];
    let mut rest = code;
    while let Ok((inst, length)) = decode_inst(rest, target) {
        assert!(length > 0 && length <= rest.len());
        // Some bytes decode to an instruction that the hardware forbids, such as a VOP3 with two SGPRs. Like LLVM, the decoder accepts
        // them, but the encoder does not.
        if let Ok(bytes) = encode_inst(&inst, target) {
            let again = decode_inst(&bytes, target).expect("what is encoded can be decoded");
            assert_eq!(again, (inst, bytes.len()));
        }
        rest = &rest[length..];
    }
}

gcn_fuzz::target!(run);
