//! Tests calls, returns and long branches in compiled files, as assembly text and linked.
//!
//! `tests/data/calls/calls.c` was compiled by clang 22.1.8 for gfx942 with `-nogpulib -fvisibility=default`, at -O0 and -O2, to assembly
//! and to a linked code object.

use std::io::Read as _;

use gcn_emit::asm::{Assembly, Options, assemble};
use gcn_emit::code::{Code, Unit};
use gcn_emit::disasm::{self, disassemble};
use gcn_emit::object::{link, read_code_object, write_relocatable};
use gcn_isa::Reg;
use gcn_isa::cfg::{Flow, is_call};
use gcn_isa::check;
use gcn_isa::program::Jump;

fn data(name: &str) -> Vec<u8> {
    let path = format!("{}/data/calls/calls.{name}.gz", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

fn text(level: &str) -> String {
    String::from_utf8(data(&format!("{level}.s"))).unwrap()
}

fn assembled(text: &str) -> Assembly {
    let options = Options { keep_instructions: true, ..Options::default() };
    assemble("k.s", text, &options).unwrap_or_else(|errors| panic!("{errors}"))
}

fn unit(text: &str) -> Unit {
    Unit::from_assembly(assembled(text)).unwrap()
}

fn object(bytes: &[u8]) -> Unit {
    Unit::of_object(&read_code_object(bytes).unwrap()).unwrap()
}

fn code(unit: &Unit) -> &Code {
    unit.sections.iter().find(|s| s.section == ".text").unwrap()
}

/// Each indirect jump with the result of resolving it: a line, or the error.
fn jumps(code: &Code) -> Vec<(usize, Option<Result<usize, Jump>>)> {
    let to = |jump: Jump| match jump {
        Jump::To(label) => Ok(code.program.labels[label.0 as usize].at.unwrap()),
        other => Err(other),
    };
    let lines = code.program.lines.iter().enumerate();
    let indirect =
        lines.filter(|(_, l)| matches!(l.inst.desc.entry.mnemonic, "s_setpc_b64" | "s_swappc_b64"));
    indirect.map(|(line, l)| (line, l.jump.map(to))).collect()
}

/// The assembly text, the relocatable object and the linked object, both ours and clang's, have the same control flow.
#[test]
fn text_and_objects_have_the_same_flow() {
    for level in ["O0", "O2"] {
        let assembly = assembled(&text(level));
        let from_text = unit(&text(level));
        let expected = Flow::of(&code(&from_text).program);
        let others = [
            ("clang's", object(&data(&format!("{level}.hsaco")))),
            ("linked", object(&link(&assembly.module).unwrap())),
            ("relocatable", object(&write_relocatable(&assembly.module).unwrap())),
        ];
        for (name, other) in others {
            assert_eq!(jumps(code(&from_text)), jumps(code(&other)), "{level}: {name}");
            assert_eq!(expected, Flow::of(&code(&other).program), "{level}: {name}");
        }
    }
}

/// In the text, the symbol of a call is in the last address that is computed before the call.
#[test]
fn calls_lead_to_the_symbols_that_the_text_names() {
    let mut calls = 0;
    for (level, unknown) in [("O0", 1), ("O2", 0)] {
        let text = text(level);
        let unit = unit(&text);
        let code = code(&unit);
        let lines: Vec<&str> = text.lines().collect();
        let mut not_known = 0;
        for (place, line) in code.places.iter().zip(&code.program.lines).filter(|l| is_call(&l.1.inst)) {
            let above = lines[..place.line.unwrap() as usize].iter().rev();
            let symbol = above.clone().find_map(|l| l.split_once("32@lo+4")?.0.split_whitespace().last());
            let symbol = symbol.unwrap().split('@').next().unwrap();
            match line.jump {
                Some(Jump::To(label)) => {
                    let at = code.program.labels[label.0 as usize].at.unwrap();
                    assert_eq!(code.function_of(at).unwrap().name, symbol, "{level}: line {:?}", place.line);
                    calls += 1;
                }
                None => not_known += 1,
                other => panic!("{level}: line {:?}: {other:?}", place.line),
            }
        }
        assert_eq!(not_known, unknown, "{level}: a pointer to a function");
        assert_eq!(Flow::of(&code.program).unknown_exits().count(), unknown, "{level}");
        let report = check::check(&code.program);
        assert!(report.is_clean(), "{level}: {report}");
    }
    assert!(calls > 15, "{calls}");
}

/// A file with these functions and a kernel.
fn file(functions: &[(&str, &str)]) -> String {
    let mut text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.text\n".to_owned();
    for (name, body) in functions {
        text += &format!(
            ".type {name},@function\n{name}:\n{body}\n.L{name}_end:\n.size {name}, .L{name}_end-{name}\n"
        );
    }
    text + ".section .rodata,\"a\"\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 128\n.amdhsa_next_free_sgpr 100\n\
            .amdhsa_accum_offset 128\n.end_amdhsa_kernel\n"
}

fn rules(text: &str) -> Vec<&'static str> {
    let unit = unit(text);
    check::check(&code(&unit).program).findings.iter().map(|f| f.rule).collect()
}

const ENTRY: &str = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)";
const MATRIX: &str = "v_mfma_f32_32x32x8_f16 v[0:15], v[32:33], v[34:35], v[0:15]";

fn call(function: &str) -> String {
    format!(
        "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, {function}@rel32@lo+4\ns_addc_u32 s5, s5, {function}@rel32@hi+12\n\
         s_swappc_b64 s[30:31], s[4:5]"
    )
}

/// Case 106: 16 passes require 18 wait states between the two instructions.
#[test]
fn what_a_called_function_does_counts() {
    let k = |callee: &str| {
        rules(&file(&[
            ("f", &format!("{ENTRY}\n{callee}\ns_setpc_b64 s[30:31]")),
            ("k", &format!("{MATRIX}\n{}\nv_mov_b32 v40, v0\ns_endpgm", call("f"))),
        ]))
    };
    assert_eq!(k("s_nop 15"), [""; 0]);
    assert_eq!(k("s_nop 1"), ["cdna3.106"]);
    let direct = |callee: &str| {
        rules(&file(&[(
            "k",
            &format!(
                "{MATRIX}\ns_call_b64 s[30:31], .Lf\nv_mov_b32 v40, v0\ns_endpgm\n.Lf:\n{callee}\ns_setpc_b64 s[30:31]"
            ),
        )]))
    };
    assert_eq!(direct("s_nop 15"), [""; 0]);
    assert_eq!(direct("s_nop 1"), ["cdna3.106"]);
}

#[test]
fn a_return_does_not_lead_to_the_calls_of_others() {
    let g = format!("{ENTRY}\n{MATRIX}\ns_setpc_b64 s[30:31]");
    let h = format!("{ENTRY}\nv_add_u32 v40, v41, v42\ns_setpc_b64 s[30:31]");
    let with = |calls: &str| rules(&file(&[("g", &g), ("h", &h), ("k", calls)]));
    assert_eq!(with(&format!("{}\nv_mov_b32 v43, v0\ns_endpgm", call("h"))), [""; 0]);
    assert_eq!(with(&format!("{}\nv_mov_b32 v43, v0\ns_endpgm", call("g"))), ["cdna3.106"]);
    // Code before one call of a function is not connected to the code after another call of the same function.
    let two = format!(
        "s_cbranch_scc1 .Lb\n{MATRIX}\n{}\ns_endpgm\n.Lb:\n{}\nv_mov_b32 v43, v0\ns_endpgm",
        call("h"),
        call("h")
    );
    assert_eq!(with(&two), [""; 0]);
}

/// clang computes the address of a called function before a loop (`-O2`, a function that is not inlined). It is the same around the loop if
/// the function does not overwrite it.
#[test]
fn an_address_from_before_a_loop_is_known_around_it() {
    let k = |register: u16| {
        let (low, high) = (format!("s{register}"), format!("s{}", register + 1));
        let call = format!("s_swappc_b64 s[30:31], s[{register}:{}]", register + 1);
        format!(
            "s_getpc_b64 s[{register}:{}]\ns_add_u32 {low}, {low}, f@rel32@lo+4\ns_addc_u32 {high}, {high}, f@rel32@hi+12\n\
             .Lloop:\n{call}\n{call}\ns_cmp_lg_u32 s40, s41\ns_cbranch_scc1 .Lloop\ns_endpgm",
            register + 1
        )
    };
    let unknown = |register: u16, body: &str| {
        let f = format!("{ENTRY}\n{body}\ns_setpc_b64 s[30:31]");
        let text = file(&[("f", &f), ("k", &k(register))]);
        let linked = object(&link(&assembled(&text).module).unwrap());
        let exits = [unit(&text), linked].map(|unit| Flow::of(&code(&unit).program).unknown_exits().count());
        assert_eq!(exits[0], exits[1], "{text}");
        exits[0]
    };
    // A function may overwrite s4 by convention, but this one does not.
    assert_eq!(unknown(4, "v_mov_b32 v0, 0"), 0);
    assert_eq!(unknown(34, "v_mov_b32 v0, 0"), 0);
    // It does, so that only the call before that is known.
    assert_eq!(unknown(4, "s_mov_b32 s5, 0"), 2);
    // A function that this one calls may overwrite s4, but has to preserve s34.
    let pointer = "v_writelane_b32 v41, s30, 0\nv_writelane_b32 v41, s31, 1\ns_load_dwordx2 s[36:37], s[8:9], 0x0\n\
                   s_waitcnt lgkmcnt(0)\ns_swappc_b64 s[30:31], s[36:37]\nv_readlane_b32 s30, v41, 0\nv_readlane_b32 s31, v41, 1";
    assert_eq!(unknown(4, pointer), 3);
    assert_eq!(unknown(34, pointer), 1);
}

/// Long branches as LLVM's branch relaxation emits them; the return address is kept in other registers.
#[test]
fn long_branches_and_saved_return_addresses_are_followed() {
    let long = |to: &str, n: u32, high: i32| {
        format!(
            "s_getpc_b64 s[98:99]\n.Lafter{n}:\ns_add_u32 s98, s98, ({to}-.Lafter{n})&4294967295\n\
             s_addc_u32 s99, s99, {high}\ns_setpc_b64 s[98:99]"
        )
    };
    let leaf = format!("{ENTRY}\ns_setpc_b64 s[30:31]");
    let big = format!(
        "{ENTRY}\ns_mov_b64 s[42:43], s[30:31]\n{}\n.Lret:\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_setpc_b64 s[42:43]\n.Ltarget:\n\
         flat_load_dword v1, v[2:3]\n{}\nv_add_u32 v0, v0, v1\n{}",
        long(".Ltarget", 1, 0),
        call("leaf"),
        long(".Lret", 2, -1),
    );
    let k = format!("{}\ns_endpgm", call("big"));
    let text = file(&[("leaf", &leaf), ("big", &big), ("k", &k)]);
    let unit = unit(&text);
    let code = code(&unit);
    let kinds: Vec<_> = jumps(code).into_iter().map(|j| j.1.map(|j| j.is_ok())).collect();
    // A leaf function returns by its return address register.
    let (to, back) = (Some(true), Some(false));
    assert_eq!(kinds, [back, to, back, to, to, to], "{:?}", jumps(code));
    assert_eq!(Flow::of(&code.program).unknown_exits().count(), 0);
    assert_eq!(rules(&text), [""; 0]);
}

/// A function in another file is assumed to follow the calling convention. So is a weak function, since the linker may choose another
/// file's definition.
#[test]
fn functions_of_other_files_are_outside() {
    let text = file(&[("k", &format!("{}\n{}\ns_endpgm", call("elsewhere"), call("weak")))]);
    let text =
        text.replace(".type k", ".weak weak\n.type weak,@function\nweak:\ns_setpc_b64 s[30:31]\n.type k");
    let found: Vec<_> = jumps(code(&unit(&text))).into_iter().map(|j| j.1).collect();
    assert!(matches!(found[..], [_, Some(Err(Jump::Outside)), None]), "{found:?}");
}

/// A function without a symbol whose first instructions look like padding after the code before it. A call of `f` shows that they are not
/// padding. LLVM's assembler encodes both spellings in the same bytes.
#[test]
fn a_called_label_is_no_padding() {
    let call = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, f@rel32@lo+4\ns_addc_u32 s5, s5, f@rel32@hi+12\n\
                s_swappc_b64 s[30:31], s[4:5]\n";
    let mfma = "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]\n";
    let target = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n";
    for (before, typed) in [(call, false), (call, true), ("", false), ("", true)] {
        for first in ["s_nop 3", "s_nop 1\ns_nop 1", "s_mov_b32 s7, 3\ns_nop 2"] {
            let symbol = if typed { ".type f,@function\n" } else { "" };
            let end = "v_mov_b32 v40, v15\ns_setpc_b64 s[30:31]\n";
            let text = format!("{target}k:\n{before}{mfma}{call}s_endpgm\n{symbol}f:\n{first}\n{end}");
            let linked = object(&link(&assembled(&text).module).unwrap());
            for (unit, view) in [(unit(&text), "text"), (linked, "object")] {
                let code = code(&unit);
                let found = jumps(code);
                let called = code.program.lines.iter().rposition(|l| l.inst.desc.mnemonic == "s_endpgm");
                let called = called.map(|end| end + 1).unwrap();
                let calls = found.iter().filter(|(_, to)| *to == Some(Ok(called))).count();
                assert_eq!(calls, found.len() - 1, "{view}: {text}\n{found:?}");
                let findings = check::check(&code.program).findings;
                let late = findings.iter().find(|f| f.rule == "cdna3.106").expect("a late read");
                assert_eq!(late.second, code.program.lines.len() - 2, "{view}: {text}");
            }
        }
    }
}

/// clang 22 branches over long distances like this on gfx1250, and calls functions through `s_add_nc_u64`.
#[test]
fn long_branches_and_calls_of_gfx1250_are_followed() {
    let text = "
        .amdgcn_target \"amdgcn-amd-amdhsa--gfx1250\"
        .text
        .type k,@function
k:
        global_load_b32 v2, v1, s[4:5]
        s_add_pc_i64 .Lfar-.Lpost
.Lpost:
        v_mov_b32_e32 v3, v2
        s_endpgm
.Lfar:
        v_mov_b32_e32 v4, v2
        s_get_pc_i64 s[0:1]
        s_add_nc_u64 s[0:1], s[0:1], f@rel64+4
        s_swap_pc_i64 s[30:31], s[0:1]
        s_endpgm
.Lk_end:
        .size k, .Lk_end-k
        .type f,@function
f:
        s_set_pc_i64 s[30:31]
.Lf_end:
        .size f, .Lf_end-f
";
    let assembly = assembled(text);
    // As llvm-mc 22.1.8 encodes it.
    let bytes = [0xfe, 0x4b, 0x80, 0xbe, 8, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(assembly.module.sections.iter().find(|s| s.name == ".text").unwrap().bytes[12..24], bytes);
    let linked = link(&assembly.module).unwrap();
    let shown = disassemble(&read_code_object(&linked).unwrap()).to_assembly(&disasm::Options::default());
    assert!(shown.lines().any(|line| line.contains("s_add_pc_i64 .L") && line.contains("-.L")), "{shown}");
    let again = assembled(&shown);
    for unit in [unit(text), object(&linked), unit(&shown), object(&link(&again.module).unwrap())] {
        let code = code(&unit);
        let findings = check::check(&code.program).findings;
        let far = code
            .program
            .lines
            .iter()
            .position(|l| l.inst.operands[..] == [Reg::v(4, 1).into(), Reg::v(2, 1).into()]);
        let late: Vec<_> = findings.iter().filter(|f| f.rule == "waitcnt.raw").map(|f| f.second).collect();
        assert_eq!(late, Vec::from_iter(far));
        let ends = jumps(code).into_iter().map(|jump| jump.1);
        assert_eq!(
            ends.collect::<Vec<_>>(),
            [Some(Ok(9)), Some(Err(Jump::Back { by_convention: true }))],
            "{shown}"
        );
    }
}
