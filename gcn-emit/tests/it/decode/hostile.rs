//! Tests arbitrary bytes: the decoder does not panic, its offsets are correct, and it reports an error where the code ends early.

use gcn_emit::decode::{DecodeFault, decode_inst, decode_program};
use gcn_emit::encode::{encode_inst, encode_program};
use gcn_isa::Target;
use gcn_test_support::Random;

use super::generate::{Words, seeds};

/// Code that consists of valid instructions.
fn real_code(rng: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    (0..1 + rng.below(60)).flat_map(|_| seeds[rng.below(seeds.len())].clone()).collect()
}

/// Decodes a program. The result must be an error inside the code, or a program whose encoding has the same length; there must be no panic.
/// Returns true for a program.
fn check(bytes: &[u8], target: Target) -> bool {
    match decode_program(bytes, target, "k") {
        Ok(program) => {
            let placed = program.labels.iter().all(|l| l.at.is_some_and(|at| at <= program.lines.len()));
            assert!(placed, "{bytes:02x?}");
            if let Ok(encoded) = encode_program(&program) {
                assert_eq!(encoded.bytes.len(), bytes.len(), "{target} {bytes:02x?}");
            }
            true
        }
        Err(error) => {
            assert!(error.offset < bytes.len(), "{target} {bytes:02x?}: {error}");
            false
        }
    }
}

#[test]
fn programs_of_hostile_bytes() {
    let (mut decoded, mut refused) = (0, 0);
    for target in Target::REPRESENTATIVES {
        let mut rng = Random::new(target as u64 + 77);
        let seeds = seeds(target);
        let mut words = Words::new(target, 5, seeds.clone());
        for round in 0..1500 {
            let mut bytes = match round % 3 {
                0 => (0..rng.below(200)).map(|_| rng.next_u64() as u8).collect(),
                1 => (0..rng.below(30)).flat_map(|_| words.next()).collect(),
                _ => real_code(&mut rng, &seeds),
            };
            if round % 2 == 0 && !bytes.is_empty() {
                for _ in 0..rng.below(3) {
                    let at = rng.below(bytes.len());
                    bytes[at] = rng.next_u64() as u8;
                }
                bytes.truncate(bytes.len() - rng.below(bytes.len().min(17)));
            }
            if check(&bytes, target) { decoded += 1 } else { refused += 1 }
        }
    }
    println!("{decoded} programs decoded, {refused} refused");
    assert!(decoded > 300 && refused > 3000, "{decoded} {refused}");
}

#[test]
fn truncated_instructions_say_how_much_is_missing() {
    for target in Target::REPRESENTATIVES {
        for code in seeds(target) {
            for have in 0..code.len() {
                let error =
                    decode_inst(&code[..have], target).map(|(inst, length)| (inst.desc.printed, length));
                // The first half of a 16-byte instruction may be an instruction by itself.
                if let Ok((name, length)) = error {
                    assert!(have >= 8 && code.len() == 16 && length == 8, "{name} {code:02x?} {have}");
                    continue;
                }
                let fault = error.map_err(|e| e.fault);
                let short = matches!(fault, Err(DecodeFault::Truncated { need, have: h }) if need > have && h == have);
                // The second half of a 16-byte instruction may be invalid by itself.
                assert!(short || code.len() == 16, "{target} {code:02x?} cut to {have}: {fault:?}");
            }
        }
    }
}

/// What can be decoded can be encoded again, and is then decoded to the same instruction.
#[test]
fn decoded_words_survive_the_way_back() {
    for target in Target::REPRESENTATIVES {
        let mut words = Words::new(target, 9, seeds(target));
        let mut legal = 0;
        for _ in 0..30_000 {
            let word = words.next();
            let Ok((inst, length)) = decode_inst(&word, target) else { continue };
            let Ok(encoded) = encode_inst(&inst, target) else { continue };
            assert_eq!(encoded.len(), length, "{target} {word:02x?}");
            let again = decode_inst(&encoded, target).map(|d| d.0);
            assert_eq!(again.as_ref(), Ok(&inst), "{target} {word:02x?}");
            legal += 1;
        }
        assert!(legal > 10_000, "{target}: {legal}");
    }
}

/// The code of an instruction that the hardware forbids, VOP3 with two SGPRs on gfx908: it is decoded, as in LLVM, but the encoder rejects
/// it.
#[test]
fn what_is_decoded_is_written_as_it_was_or_refused_by_a_rule() {
    let words = [0xd1cb_0000u32, 0x0408_0200];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for target in Target::REPRESENTATIVES {
        let (inst, length) = decode_inst(&bytes, target).unwrap();
        assert_eq!(length, 8);
        let error = encode_inst(&inst, target).unwrap_err().to_string();
        assert!(error.contains("s1") && error.contains("s0"), "{target}: {inst:?}: {error}");
    }
}
