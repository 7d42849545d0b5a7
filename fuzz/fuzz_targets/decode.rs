//! Machine code: decoded or refused, and what is decoded and encoded again is decoded to the same instruction.
#![cfg_attr(fuzzing, no_main)]

use gcn_emit::decode::decode_inst;
use gcn_emit::encode::encode_inst;

fn run(data: &[u8]) {
    let Some((first, code)) = data.split_first() else { return };
    let target = gcn_fuzz::target_of(*first);
    let mut rest = code;
    while let Ok((inst, length)) = decode_inst(rest, target) {
        assert!(length > 0 && length <= rest.len());
        // Some bytes are an instruction that the hardware forbids, such as VOP3 with two SGPRs: they are decoded, as LLVM decodes
        // them, and nobody may write them.
        if let Ok(bytes) = encode_inst(&inst, target) {
            let again = decode_inst(&bytes, target).expect("what is encoded can be decoded");
            assert_eq!(again, (inst, bytes.len()));
        }
        rest = &rest[length..];
    }
}

gcn_fuzz::target!(run);
