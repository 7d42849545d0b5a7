//! Tests `.amdhsa_` directives: whether they are accepted, their largest values, and the bits of the descriptor that they change.

use gcn_emit::asm;
use gcn_emit::asm_file::assembly_file;
use gcn_emit::descriptor::KernelDescriptor;
use gcn_emit::disasm::{Options, disassemble};
use gcn_emit::kernel::{KernelSpec, Scheduling, WorkgroupSize};
use gcn_emit::object::read_code_object;
use gcn_emit::text::Comments;
use gcn_isa::{Program, Target, WaveSize};

use super::{assemble, machine, rows};

const DIRECTIVES: &[u8] = include_bytes!("../../data/processors/descriptor-directives.tsv.gz");
const GRANULES: &[u8] = include_bytes!("../../../../gcn-isa/tests/data/register-granules.tsv.gz");
const PREFETCH: &[u8] = include_bytes!("../../data/processors/inst-pref-size.tsv.gz");

/// A kernel of `s_endpgm` with these directives, and with the required ones that are not among them.
fn source(target: Target, directives: &str) -> String {
    let mut required = vec![".amdhsa_next_free_vgpr 8", ".amdhsa_next_free_sgpr 8"];
    if target.has_unified_agprs() {
        required.push(".amdhsa_accum_offset 4");
    }
    required.retain(|line| !directives.contains(line.split(' ').next().unwrap()));
    format!(
        ".amdhsa_code_object_version 6\n.globl k\n.type k,@function\nk:\n.long 0xbf810000\n.size k, 4\n.rodata\n.p2align 6\n\
         .amdhsa_kernel k\n{}\n{directives}\n.end_amdhsa_kernel\n",
        required.join("\n")
    )
}

/// The descriptor of that kernel, or the error message.
fn descriptor(target: Target, wave: WaveSize, directives: &str) -> Result<[u8; 64], String> {
    let assembly = assemble(target, wave, &source(target, directives)).map_err(|e| e.to_string())?;
    let object = assembly.code_object().unwrap();
    let mut bytes = *read_code_object(&object).unwrap().kernels[0].descriptor_bytes;
    bytes[16..24].fill(0);
    Ok(bytes)
}

const WORDS: [(&str, usize, usize); 8] = [
    ("group_size", 0, 4),
    ("private_size", 4, 4),
    ("kernarg_size", 8, 4),
    ("rsrc3", 44, 4),
    ("rsrc1", 48, 4),
    ("rsrc2", 52, 4),
    ("properties", 56, 2),
    ("preload", 58, 2),
];

fn word(bytes: &[u8; 64], name: &str) -> u32 {
    let (_, at, length) = WORDS.into_iter().find(|word| word.0 == name).unwrap();
    (0..length).map(|i| u32::from(bytes[at + i]) << (8 * i)).sum()
}

/// The fields in which two descriptors differ, by their names in the table, sorted.
fn changed(a: &[u8; 64], b: &[u8; 64]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (name, ..) in WORDS {
        let bits = word(a, name) ^ word(b, name);
        found.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| format!("{name}[{bit}]")));
    }
    found.sort();
    found
}

#[test]
fn directives_do_what_llvm_says() {
    let mut checked = 0;
    for row in rows(DIRECTIVES) {
        let [name, target, wave, accepted, value, most, bits, message] = &row[..] else { panic!("{row:?}") };
        let (target, wave) = machine(target, wave).unwrap();
        let defaults = descriptor(target, wave, "").unwrap();
        checked += 1;
        if name == "(defaults)" {
            for said in bits.split(' ') {
                let (name, number) = said.split_once("=0x").unwrap();
                assert_eq!(word(&defaults, name), u32::from_str_radix(number, 16).unwrap(), "{row:?}");
            }
            continue;
        }
        let with = |value: &str| descriptor(target, wave, &format!(".amdhsa_{name} {value}"));
        let result = with(value);
        if accepted == "no" {
            assert!(result.is_err(), "{row:?}");
            continue;
        }
        let bytes = result.unwrap_or_else(|error| panic!("{row:?}: {error}"));
        let mut said: Vec<&str> = bits.split(' ').filter(|bit| !bit.is_empty()).collect();
        said.sort_unstable();
        assert_eq!(changed(&defaults, &bytes), said, "{row:?}");
        assert_eq!(said.is_empty(), message == "same as default", "{row:?}");
        // LLVM lets larger numbers of named barriers spill over into the next fields; its disassembler then rejects the descriptor.
        let most = if name == "named_barrier_count" { "7" } else { most };
        if let Ok(most) = most.parse::<u64>() {
            assert!(with(&most.to_string()).is_ok(), "{row:?}");
            assert!(with(&(most + 1).to_string()).is_err(), "{row:?}");
        }
    }
    assert_eq!(checked, 1450 + 50);
}

/// Descriptors written with directives are disassembled to directives; when assembled again, the bytes are the same.
#[test]
fn descriptors_are_written_as_directives() {
    let mut checked = 0;
    for row in rows(DIRECTIVES).into_iter().filter(|row| row[3] == "yes" && row[0] != "(defaults)") {
        let (target, wave) = machine(&row[1], &row[2]).unwrap();
        let text = source(target, &format!(".amdhsa_{} {}", row[0], row[4]));
        let object = assemble(target, wave, &text).unwrap().code_object().unwrap();
        let read = read_code_object(&object).unwrap();
        let text = disassemble(&read).to_assembly(&Options::default());
        let again = asm::assemble("again.s", &text, &asm::Options::default());
        let again = again.unwrap_or_else(|error| panic!("{row:?}: {error}\n{text}")).code_object().unwrap();
        let again = read_code_object(&again).unwrap();
        assert_eq!(again.target_id, read.target_id);
        let (was, is) = (read.kernels[0].descriptor_bytes, again.kernels[0].descriptor_bytes);
        assert_eq!(changed(was, is), [""; 0], "{row:?}\n{text}");
        // No directives can produce this descriptor (`llvm-mc`: "not valid on wavefront size 32"), so it is written as data.
        let is_data = row[0] == "shared_vgpr_count" && wave == WaveSize::W32;
        assert_eq!(!is_data, text.contains(".amdhsa_kernel k"), "{row:?}\n{text}");
        checked += 1;
    }
    assert_eq!(checked, 1078 + 38);
}

#[test]
fn registers_are_counted_as_llvm_counts_them() {
    let mut checked = 0;
    for row in rows(GRANULES) {
        let [target, wave, kind, from, to, field, note] = &row[..] else { panic!("{row:?}") };
        let Some((target, wave)) = machine(target, wave) else { continue };
        let with = |count: u32| descriptor(target, wave, &format!(".amdhsa_next_free_{kind} {count}"));
        let (shift, mask) = if kind == "vgpr" { (0, 0x3f) } else { (6, 0xf) };
        for count in [from, to].map(|n| n.parse().unwrap()) {
            let bytes = with(count).unwrap_or_else(|error| panic!("{row:?}: {error}"));
            assert_eq!(word(&bytes, "rsrc1") >> shift & mask, field.parse().unwrap(), "{row:?}: {count}");
        }
        if note.ends_with("error: value out of range") {
            assert!(with(to.parse::<u32>().unwrap() + 1).is_err(), "{row:?}");
        }
        checked += 1;
    }
    assert_eq!(checked, 1196 + 130);
}

/// `llc` requests prefetching of as much of the code as the field can express.
#[test]
fn code_is_fetched_as_llvm_fetches_it() {
    let mut checked = 0;
    for row in rows(PREFETCH) {
        let [target, bytes, rsrc3, field] = &row[..] else { panic!("{row:?}") };
        let (target, wave) = machine(target, "32").unwrap();
        let pieces = target.instruction_set().inst_pref_size(bytes.parse().unwrap());
        assert_eq!(pieces, field.parse().unwrap(), "{row:?}");
        let mut kernel = KernelSpec::new(Program::new(target, "k"), WorkgroupSize::AtMost(256));
        kernel.inst_pref_size = pieces;
        kernel.check().unwrap();
        let written = KernelDescriptor::of(&kernel, 0).compute_pgm_rsrc3;
        assert_eq!(written, u32::from_str_radix(&rsrc3[2..], 16).unwrap(), "{row:?}");
        if pieces > 0 {
            let bytes = descriptor(target, wave, &format!(".amdhsa_inst_pref_size {pieces}")).unwrap();
            assert_eq!(word(&bytes, "rsrc3"), written, "{row:?}");
        }
        checked += 1;
    }
    assert_eq!(checked, 105);
}

/// A kernel as a value, as assembly text and as bytes has the same descriptor.
#[test]
fn kernels_are_the_same_as_text_and_as_bytes() {
    for target in Target::KNOWN {
        for wave in target.wave_sizes().iter().copied() {
            let mut kernel =
                KernelSpec::new(Program { wave, ..Program::new(target, "k") }, WorkgroupSize::AtMost(64));
            kernel.resources.next_free_vgpr = 41;
            kernel.resources.next_free_sgpr = 17;
            for turn in 0..2 {
                if turn == 1 && target.has_forward_progress() {
                    kernel.scheduling = Scheduling {
                        workgroup_processors: false,
                        ordered_loads: false,
                        forward_progress: false,
                        round_robin: target.has_round_robin_scheduling(),
                    };
                    kernel.shared_vgprs =
                        if target.has_shared_vgprs() && wave == WaveSize::W64 { 24 } else { 0 };
                    kernel.inst_pref_size = target.instruction_set().inst_pref_size(1000);
                }
                kernel.check().unwrap();
                let text = assembly_file(std::slice::from_ref(&kernel), Comments::None);
                let assembly = asm::assemble("k.s", &text, &asm::Options::default());
                let assembly = assembly.unwrap_or_else(|error| panic!("{target} {wave:?}: {error}\n{text}"));
                let object = assembly.code_object().unwrap();
                let read = read_code_object(&object).unwrap();
                let mut bytes = *read.kernels[0].descriptor_bytes;
                bytes[16..24].fill(0);
                let own = KernelDescriptor::of(&kernel, 0);
                assert_eq!(changed(&bytes, &own.to_bytes()), [""; 0], "{target} {wave:?}\n{text}");
                let settings = own.settings(target);
                assert_eq!(settings.wave, wave);
                assert_eq!(
                    settings.scheduling,
                    target.has_forward_progress().then_some(Scheduling {
                        workgroup_processors: target.has_workgroup_processors()
                            && kernel.scheduling.workgroup_processors,
                        ..kernel.scheduling
                    })
                );
                let metadata = read.kernels[0].metadata.as_ref().unwrap();
                assert_eq!(metadata.wavefront_size, wave.lanes());
                assert_eq!(assembly.wave, wave, "{text}");
                // The description agrees with what was written.
                let fields = KernelDescriptor::describe(&bytes, target);
                assert!(fields.iter().all(|field| !field.is_wrong()), "{target}: {fields:?}");
            }
        }
    }
}

/// The halves of a wave can share VGPRs only if the wave has 64 lanes, and only as many as exist (LLVM 22: the messages of `llvm-mc`).
#[test]
fn shared_vgprs_have_limits() {
    let with = |directives: &str| descriptor(Target::GFX1100, WaveSize::W64, directives);
    assert!(with(".amdhsa_shared_vgpr_count 15").is_ok());
    assert!(with(".amdhsa_next_free_vgpr 136\n.amdhsa_shared_vgpr_count 15").is_ok());
    let error = with(".amdhsa_next_free_vgpr 140\n.amdhsa_shared_vgpr_count 15").unwrap_err();
    assert!(error.contains("are 64, but only 63"), "{error}");
    let error = with(".amdhsa_wavefront_size32 1\n.amdhsa_shared_vgpr_count 1").unwrap_err();
    assert!(error.contains("waves of 32 lanes share no VGPRs"), "{error}");
}
