//! Tests `gcn check`.

use serde_json::Value;

use crate::{TWO_KERNELS, UNWAITED, gcn, gcn_with, two_kernels};

fn checked(arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let run = gcn_with(&[&["check"], arguments].concat(), input);
    assert!(!run.err.contains("panicked"), "{}", run.err);
    (run.code, String::from_utf8(run.out).expect("UTF-8"), run.err)
}

/// The machine code of `UNWAITED`.
fn unwaited_object() -> Vec<u8> {
    let run = gcn_with(&["asm", "-", "-o", "-"], UNWAITED.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}

#[test]
fn clean_files_give_0() {
    for input in [TWO_KERNELS.as_bytes(), &two_kernels()] {
        let (code, out, err) = checked(&["-"], input);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert!(out.starts_with("<stdin>: 12 instructions: clean\n"), "{out}");
    }
}

/// The expected numbers are the manual's: `vmcnt` before the use of loaded registers (CDNA3 section 4.4), and 2 + passes wait states before
/// a store reads the result of an SGEMM of 2 passes (table 37).
#[test]
fn findings_in_assembly_show_both_lines_rule_and_remedy() {
    let (code, out, _) = checked(&["-"], UNWAITED.as_bytes());
    assert_eq!(code, 1, "{out}");
    let line = |text: &str| UNWAITED.lines().position(|l| l.contains(text)).map_or(0, |l| l + 1);
    let (load, mfma, store) = (line("global_load"), line("v_mfma"), line("global_store"));
    assert!(out.contains(&format!("<stdin>:{mfma}:2: error[waitcnt.raw]: ")), "{out}");
    assert!(out.contains(&format!("put `s_waitcnt vmcnt(0)` before line {mfma}")), "{out}");
    assert!(out.contains("first instruction") && out.contains(&format!("\n{load} | ")), "{out}");
    assert!(out.contains("needs 4 wait states, has 2"), "{out}");
    assert!(
        out.contains(&format!("put `s_nop 1` or 2 independent instructions before line {store}")),
        "{out}"
    );
    assert!(out.contains("CDNA3 ISA table 37"), "{out}");
    assert!(out.contains("findings  grade"), "{out}");
}

#[test]
fn findings_in_objects_show_function_and_offset() {
    let (code, out, _) = checked(&["-"], &unwaited_object());
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("<stdin>: .text+0x18: error[waitcnt.raw]: "), "{out}");
    assert!(
        out.contains("  scale+0x10  global_load_dwordx4 v[4:7], v0, s[2:3]  <- first instruction"),
        "{out}"
    );
    assert!(out.contains("put `s_waitcnt vmcnt(0)` before scale+0x18"), "{out}");
}

#[test]
fn json_has_the_same() {
    let (code, out, _) = checked(&["-", "--json", "--advice"], UNWAITED.as_bytes());
    assert_eq!(code, 1);
    let json: Value = serde_json::from_str(&out).expect("JSON");
    let file = &json["files"][0];
    assert_eq!((file["target_id"].as_str(), file["xnack"].as_bool()), (Some("gfx942"), Some(true)));
    let rules: Vec<_> =
        file["findings"].as_array().expect("a list").iter().map(|f| f["rule"].clone()).collect();
    assert!(rules.contains(&Value::from("waitcnt.raw")), "{rules:?}");
    let first = &file["findings"][0];
    assert_eq!(first["remedy"].as_str().map(|r| r.starts_with("put ")), Some(true), "{first}");
    assert!(first["first"]["line"].as_u64() < first["second"]["line"].as_u64(), "{first}");
    assert_eq!(json["total"]["files"], 1);
}

#[test]
fn grades_and_xnack_choose_the_rules() {
    // A scalar load that overwrites its own address is a hazard only with XNACK replay, and only LLVM documents it.
    let source = "s_load_dwordx2 s[0:1], s[0:1], 0x4\ns_endpgm\n";
    let check = |more: &[&str], target| {
        let (code, out, err) = checked(&[&["-", "--target", target], more].concat(), source.as_bytes());
        assert_eq!(err, "");
        (code, out.contains("xnack.smem-address"))
    };
    assert_eq!(check(&[], "gfx90a"), (0, true));
    // Always counted; listed only on request.
    let listed = |more: &[&str]| {
        let (_, out, _) = checked(&[&["-", "--target", "gfx90a"], more].concat(), source.as_bytes());
        (out.contains("warning[xnack.smem-address]"), out.contains("1 cautious"))
    };
    assert_eq!(listed(&[]), (false, true));
    assert_eq!(listed(&["--level", "documented"]), (false, true));
    assert_eq!(listed(&["--level", "cautious"]), (true, true));
    assert_eq!(check(&["--xnack", "off"], "gfx90a"), (0, false));
    assert_eq!(check(&[], "gfx90a:xnack-"), (0, false));
    assert_eq!(check(&["--xnack", "on"], "gfx90a:xnack-"), (0, true));
}

#[test]
fn descriptors_are_checked_too() {
    let source =
        TWO_KERNELS.replacen("next_free_vgpr 3", "next_free_vgpr 1", 1).replace("v1, 2, v0", "v21, 2, v0");
    let (code, out, _) = checked(&["-"], source.as_bytes());
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("error[kernel.vgprs]: kernel fill: v21 is used"), "{out}");
}

#[test]
fn what_cannot_be_checked_gives_2_and_what_was_not_is_said() {
    let unsupported = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx1310\"\n\ts_endpgm\n";
    for input in [unsupported, "\tno_such_instruction v0\n", "\t.data\n\t.long 1\n", "\u{7f}ELF"] {
        let (code, out, err) = checked(&["-", "--target", "gfx942"], input.as_bytes());
        assert_eq!((code, out.as_str()), (2, ""), "{input}: {err}");
        assert!(!err.is_empty());
    }
    let odd = "\ts_cbranch_scc0 .Lend\n\ts_setpc_b64 s[0:1]\n\t.long 0x12345678\n.Lend:\n\ts_endpgm\n";
    let (code, out, err) = checked(&["-", "--target", "gfx942"], odd.as_bytes());
    assert_eq!(code, 2, "{out}");
    assert!(out.contains("3 instructions: no findings; 4 bytes not read; 1 unknown exit"), "{out}");
    assert!(out.contains("not checked: 4 bytes at .text+0x8: data"), "{out}");
    assert!(out.contains("not checked: where control goes after `s_setpc_b64 s[0:1]` (line 2)"), "{out}");
    assert!(err.contains("not everything was checked; `--allow-unread`"), "{err}");
    let (code, allowed, err) = checked(&["-", "--target", "gfx942", "--allow-unread"], odd.as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(allowed, out, "it changes the exit code alone");
}

/// A file is clean only if all of it was checked. Lines with errors, bytes that are not instructions, and jumps to unknown addresses each
/// give exit code 2, in every output format. Data that control flow does not reach, and unknown callers, do not.
#[test]
fn what_was_not_read_or_decided_is_not_clean() {
    let cases = [
        ("\tv_mov_b32 v0, 0\n\ts_endpgm\n", 0),
        ("\tv_mov_b32 v0, 0\n\ts_endpgm\n\t.long 0x12345678\n", 0),
        ("\tv_mov_b32 v0, 0\n\tv_no_such v1\n\ts_endpgm\n", 2),
        ("\tv_mov_b32 v0, 0\n\t.long 0xffffffff\n\ts_endpgm\n", 2),
        ("\tv_mov_b32 v0, 0\n\ts_setpc_b64 s[4:5]\n", 2),
        ("\tv_mov_b32 v0, 0\n\ts_swappc_b64 s[30:31], s[4:5]\n\ts_endpgm\n", 2),
        ("\tv_mov_b32 v0, 0\n\ts_branch 100\n", 2),
        ("\tds_read_b32 v0, v1\n\tv_mov_b32 v2, v0\n\tv_no_such v1\n\ts_endpgm\n", 1),
    ];
    for (source, code) in cases {
        for more in [&[][..], &["--json"], &["--sarif"], &["--summary"], &["--level", "certain"]] {
            let arguments = [&["-", "--target", "gfx942"], more].concat();
            assert_eq!(checked(&arguments, source.as_bytes()).0, code, "{more:?}:\n{source}");
            let allowed = [&arguments[..], &["--allow-unread"]].concat();
            let expected = if code == 2 { 0 } else { code };
            assert_eq!(checked(&allowed, source.as_bytes()).0, expected, "allowed, {more:?}:\n{source}");
        }
        let (_, out, _) = checked(&["-", "--target", "gfx942"], source.as_bytes());
        assert_eq!(out.contains(": clean"), code == 0, "{out}");
        let (_, out, _) = checked(&["-", "--target", "gfx942", "--json"], source.as_bytes());
        let json: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(json["files"][0]["complete"], code == 0, "{json}");
        let (_, out, _) = checked(&["-", "--target", "gfx942", "--sarif"], source.as_bytes());
        let sarif: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(sarif.pointer("/runs/0/invocations/0/exitCode"), Some(&Value::from(code)));
    }
}

/// The exit code and the counts do not depend on which findings are listed.
#[test]
fn grades_and_exit_codes_do_not_depend_on_what_is_listed() {
    let head = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n";
    // A mask that is read one state too early according to AMD's rocRoller, and two states according to LLVM: the first state is a
    // `documented` finding, the second a `cautious` one.
    let masked = "\tv_cmp_lt_u32 vcc, v0, v1\n\tv_cndmask_b32 v2, v3, v4, vcc\n";
    let cautious = "\tv_cmp_lt_u32 vcc, v0, v1\n\ts_nop 0\n\tv_cndmask_b32 v2, v3, v4, vcc\n";
    let certain = "\tds_read_b32 v0, v1\n\tv_mov_b32 v2, v0\n";
    // The reader follows immediately through the jump, and after one instruction on the fall-through path; both are too early.
    let jump = "\tds_read_b32 v0, v1\n\ts_setpc_b64 s[4:5]\nhere:\n\tv_mov_b32 v2, v0\n";
    let bodies = [masked, cautious, certain, jump];
    for set in 1u32..1 << bodies.len() {
        let chosen = (0..bodies.len()).filter(|i| set >> i & 1 == 1).map(|i| bodies[i]);
        let source = head.to_owned() + &chosen.collect::<String>() + "\ts_endpgm\n";
        let expected = if set & 0b101 != 0 {
            1
        } else if set & 0b1000 != 0 {
            2
        } else {
            0
        };
        let mut counts = None;
        for level in ["certain", "documented", "cautious"] {
            for more in [&[][..], &["--limit", "0"], &["--advice"], &["--summary"], &["--sarif"], &["--json"]]
            {
                let arguments = [&["-", "--level", level], more].concat();
                let (code, out, _) = checked(&arguments, source.as_bytes());
                assert_eq!(code, expected, "{arguments:?}:\n{source}\n{out}");
                if more == ["--json"] {
                    let json: Value = serde_json::from_str(&out).expect("JSON");
                    let grades = ["cautious", "documented", "certain"];
                    let rank = |grade: &str| grades.iter().position(|g| *g == grade);
                    let findings = json["files"][0]["findings"].as_array().expect("findings");
                    let listed = |f: &Value| rank(f["grade"].as_str().unwrap_or("")) >= rank(level);
                    assert!(findings.iter().all(listed), "{level}: {json}");
                    let of_level =
                        json["total"]["rules"].as_array().expect("rules").iter().filter(|r| listed(r));
                    let counted = of_level.filter_map(|r| r["findings"].as_u64()).sum::<u64>();
                    assert_eq!(findings.len() as u64, counted, "{json}");
                    let same = counts.get_or_insert(json["total"].clone());
                    assert_eq!(*same, json["total"], "{level}");
                }
            }
        }
    }
}

/// If there are more findings than are kept, those not listed are still counted by grade, and cautious findings do not displace others.
#[test]
fn findings_beyond_the_largest_number_keep_their_grade() {
    let text = |more: &str| {
        format!(
            ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.rept 110000\n v_cmp_lt_u32 s[4:5], v0, v1\n s_nop 0\n \
             v_cndmask_b32 v2, v3, v4, s[4:5]\n.endr\n{more} s_endpgm\n"
        )
    };
    let (code, out, err) = checked(&["-"], text("").as_bytes());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("330001 instructions: 110000 cautious\n"), "{out}");
    let (code, out, _) = checked(&["-"], text("ds_read_b32 v0, v1\n v_mov_b32 v2, v0\n").as_bytes());
    assert_eq!(code, 1);
    assert!(out.contains("1 certain, 110000 cautious\n") && out.contains("error[waitcnt.raw]"), "{out}");
}

/// In a file with errors, everything else is checked; a line with an error is treated like data.
#[test]
fn lines_with_errors_are_left_out_and_named() {
    let file = "\tv_mfma_f32_4x4x1_16b_f32 v[0:3], v4, v5, v[0:3]\n\tv_add_f32 v7, v0, v0\nnext: v_no_such v1\n\
                \tv_mov_b32 v1, v2, v3\n\ts_branch nowhere\n\t.no_such\n\ts_endpgm\n";
    let (code, out, err) = checked(&["-", "--target", "gfx942"], file.as_bytes());
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    assert!(out.contains("<stdin>:2:2: error[cdna3.111]"), "{out}");
    assert!(
        out.contains("3 instructions: 1 documented; 4 lines with errors left out; 12 bytes not read"),
        "{out}"
    );
    let named = "not checked: line 3, which has an error: gfx942 has no instruction `v_no_such`";
    assert!(out.contains(named) && out.contains("not checked: line 6, which has an error"), "{out}");
    let (_, json, _) = checked(&["-", "--target", "gfx942", "--json"], file.as_bytes());
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let lines = json.pointer("/files/0/not_checked/lines").and_then(Value::as_array).expect("lines");
    let lines: Vec<_> = lines.iter().filter_map(|l| l["line"].as_u64()).collect();
    assert_eq!(lines, [3, 4, 5, 6]);
    // A text in which every line is an error is not assembly.
    let prose = "this is no assembly\n".repeat(1000);
    assert_eq!(checked(&["-", "--target", "gfx942"], prose.as_bytes()).0, 2);
}

#[test]
fn many_files_are_summed_up_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::create_dir(path("deep")).expect("a folder");
    std::fs::write(path("a.s"), TWO_KERNELS).expect("a file");
    std::fs::write(path("deep/b.co"), unwaited_object()).expect("a file");
    std::fs::write(path("c"), two_kernels()).expect("a file");
    std::fs::write(path("notes.txt"), "no code").expect("a file");
    let all = path("");
    let (code, out, err) = checked(&[&all, "--summary"], b"");
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].contains("a.s: 12 instructions: clean"), "{out}");
    assert!(lines[1].contains("c: 12 instructions: clean"), "{out}");
    assert!(lines[2].contains("b.co: 9 instructions: "), "{out}");
    assert!(out.contains("\n3 files: "), "{out}");
    for jobs in ["1", "3"] {
        assert_eq!(checked(&[&all, "--summary", "--jobs", jobs], b"").1, out);
    }
    // A file that cannot be read is reported, and the other files are still checked.
    std::fs::write(path("z.s"), "\tno_such_instruction\n").expect("a file");
    let (code, out, err) = checked(&[&all, "--summary"], b"");
    assert!(
        code == 1 && out.contains("3 files: ") && out.contains("1 not checked") && err.contains("z.s"),
        "{out}{err}"
    );
    std::fs::remove_file(path("deep/b.co")).expect("removed");
    assert_eq!(checked(&[&all, "--summary"], b"").0, 2);
    assert_eq!(gcn(&["check", &path("deep")]).code, 2);
    assert_eq!(gcn(&["check", "no/such/file"]).code, 2);
}

#[test]
fn findings_that_are_alike_are_shown_once() {
    let mut source = String::from("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n");
    for i in 0..40 {
        source += &format!("\tds_read_b32 v{}, v0\n\tv_mov_b32 v50, v{}\n", i + 1, i + 1);
    }
    source += "\tds_read_b32 v41, v0\n\tv_add_f32 v51, v41, v41\n\ts_endpgm\n";
    let (_, out, _) = checked(&["-"], source.as_bytes());
    assert_eq!(out.matches("error[waitcnt.raw]").count(), 5, "{out}");
    let more = "36 more of this rule in .text: line 13, line 15, line 17, line 19, line 21, line 23, …";
    assert!(out.contains(more), "{out}");
    let (_, out, _) = checked(&["-", "--limit", "1"], source.as_bytes());
    assert_eq!(out.matches("error[waitcnt.raw]").count(), 1, "{out}");
    assert!(out.contains("40 more of this rule in .text: line 5, line 7, "), "{out}");
    let (_, out, _) = checked(&["-", "--limit", "0"], source.as_bytes());
    assert_eq!(out.matches("error[waitcnt.raw]").count(), 0, "{out}");
    assert!(out.contains("41 more findings; `--limit` shows them"), "{out}");
}

/// An instruction that comes too early after several others is one location, both in findings shown in full and in the list of further
/// locations.
#[test]
fn an_address_is_named_once() {
    let mut source = String::from("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n");
    for i in 0..12 {
        let [a, b, c] = [1, 2, 3].map(|r| 3 * i + r);
        source += &format!("\tds_read_b32 v{a}, v0\n\tds_read_b32 v{b}, v0\n\tds_read_b32 v{c}, v0\n");
        source += &format!("\tv_add3_u32 v50, v{a}, v{b}, v{c}\n");
    }
    source += "\ts_endpgm\n";
    let (_, out, _) = checked(&["-"], source.as_bytes());
    assert!(out.contains("36 certain"), "{out}");
    // The wait that satisfies all findings at this instruction.
    assert!(out.contains("put `s_waitcnt lgkmcnt(0)` before line 5\n"), "{out}");
    assert!(out.contains("also too early after line 2, line 3\n"), "{out}");
    assert!(out.contains("21 more of this rule in .text: line 25, line 29, "), "{out}");
}

#[test]
fn advice_is_given_on_request() {
    let source = TWO_KERNELS.replace("\ts_movk_i32", "\ts_nop 7\n\ts_movk_i32");
    let (code, out, _) = checked(&["-", "--advice"], source.as_bytes());
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("advice: 8 wait states here, 0 are enough: `s_nop 7`"), "{out}");
    assert!(!checked(&["-"], source.as_bytes()).1.contains("advice"));
}

/// Kernels of size 0, such as rocPRIM emits for unreachable kernels: at the end of the code (`zk`), and at the address of another kernel
/// (`zk_alias`), whose instructions do not belong to the empty kernel. LLVM 22 reads both objects.
#[test]
fn kernels_of_0_bytes_have_no_instructions() {
    let kernel = |name: &str, body: &str, size: u32| {
        format!(
            "\t.globl {name}\n\t.p2align 8\n\t.type {name},@function\n{name}:\n{body}\t.size {name}, {size}\n"
        )
    };
    let descriptor = |name: &str, vgprs: u32, sgprs: u32| {
        let offset = vgprs.next_multiple_of(4);
        format!(
            "\t.amdhsa_kernel {name}\n\t.amdhsa_next_free_vgpr {vgprs}\n\t.amdhsa_next_free_sgpr {sgprs}\n\
             \t.amdhsa_accum_offset {offset}\n\t.end_amdhsa_kernel\n"
        )
    };
    let head = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\t.text\n";
    let rodata = "\t.section .rodata,\"a\",@progbits\n\t.p2align 6\n";
    let used = "\tv_mov_b32 v62, 0\n\ts_mov_b32 s31, 0\n\ts_endpgm\n";
    let dead = kernel("dead", "", 0);
    let good = kernel("good", used, 12);
    let more = kernel("more", "", 0);
    let metadata = |name: &str| {
        format!(
            "  - .name: {name}\n    .symbol: {name}.kd\n    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    \
             .kernarg_segment_size: 0\n    .kernarg_segment_align: 8\n    .max_flat_workgroup_size: 256\n    \
             .wavefront_size: 64\n    .sgpr_count: 1\n    .vgpr_count: 1\n"
        )
    };
    let descriptors = |names: &[(&str, u32, u32)]| {
        let all: String = names.iter().map(|n| descriptor(n.0, n.1, n.2)).collect();
        let metadata: String = names.iter().map(|n| metadata(n.0)).collect();
        format!(
            "{all}\t.amdgpu_metadata\namdhsa.kernels:\n{metadata}amdhsa.version: [1, 2]\n\t.end_amdgpu_metadata\n"
        )
    };
    let both = descriptors(&[("dead", 1, 1), ("good", 63, 32)]);
    let three = descriptors(&[("dead", 1, 1), ("good", 63, 32), ("more", 1, 1)]);
    let padding = "\t.fill 61, 4, 0xbf800000\n";
    let sources = [
        (format!("{head}{good}{padding}{dead}{rodata}{both}"), 3),
        (format!("{head}{dead}{good}{rodata}{both}"), 3),
        (format!("{head}{dead}{more}{good}{rodata}{three}"), 3),
        (format!("{head}{good}{padding}{dead}{more}{rodata}{three}"), 3),
        (format!("{head}{dead}{rodata}{}", descriptors(&[("dead", 1, 1)])), 0),
    ];
    for (source, instructions) in &sources {
        let object = gcn_with(&["asm", "-", "-o", "-"], source.as_bytes()).out;
        for input in [source.as_bytes(), &object] {
            let (code, out, err) = checked(&["-"], input);
            assert_eq!((code, err.as_str()), (0, ""), "{out}\n{source}");
            assert!(out.contains(&format!(": {instructions} instructions: clean\n")), "{out}\n{source}");
        }
        let text = gcn_with(&["inspect", "-"], &object).text();
        assert!(text.contains("kernel dead\n  code: 0 bytes"), "{text}");
        let text = gcn_with(&["disasm", "-"], &object).text();
        let again = gcn_with(&["asm", "-", "-o", "-"], text.as_bytes());
        assert_eq!(again.code, 0, "{}\n{text}", again.err);
        assert_eq!(gcn_with(&["disasm", "-"], &again.out).text(), text);
    }
    // The descriptor of the kernel that has the code is still checked against it.
    let small = sources[1].0.replace("_vgpr 63", "_vgpr 40").replace("_offset 64", "_offset 40");
    let (code, out, _) = checked(&["-"], &gcn_with(&["asm", "-", "-o", "-"], small.as_bytes()).out);
    assert!(code == 1 && out.contains("kernel good: v62 is used") && !out.contains("kernel dead:"), "{out}");
    // If the symbols have no sizes, two names at one address are two names of the same kernel.
    let alias = sources[1].0.replace("\t.size good, 12\n", "");
    let (code, out, _) = checked(&["-"], alias.as_bytes());
    assert!(code == 1 && out.contains("kernel dead: v62 is used"), "{out}");
}

/// LLVM 22 waits directly after an asynchronous arrival, in the same function, so no function has to wait at its start for one of its caller.
#[test]
fn functions_do_not_wait_for_asynchronous_arrivals_of_their_callers() {
    let found = |inst: &str| {
        let text = format!(
            ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1250\"\n.type f,@function\nf:\ns_wait_loadcnt_dscnt 0x0\n\
             s_wait_kmcnt 0x0\n{inst}\ns_set_pc_i64 s[30:31]\n.Lf:\n.size f, .Lf-f\n"
        );
        let (_, out, _) = checked(&["--level", "cautious", "-"], text.as_bytes());
        out.matches("warning[llvm.async-arrive").count()
    };
    assert_eq!(found("v_mov_b32_e32 v0, v1"), 0);
    assert_eq!(found("ds_atomic_async_barrier_arrive_b64 v0"), 2, "before it and after it");
}

/// The end of a function that does not return: `llvm.trap` as clang 22 writes it, and padding. Control does not run on into the next
/// function, in which a register would be used too early (LLVM AMDGPU guide, trap handler ABI: `s_trap 2` halts the wave).
#[test]
fn control_ends_at_the_trap_that_ends_the_program() {
    let source = |target: &str, trap: &str, [load, mov]: [&str; 2]| {
        format!(
            ".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n.p2align 8\n.type die,@function\ndie: {load}\n{trap}\n.Le:\n\
             .size die, .Le-die\n.p2align 8\n.globl k\n.type k,@function\nk: {mov}\ns_endpgm\n.Lk:\n.size k, .Lk-k\n"
        )
    };
    let gfx9 = ["global_load_dword v1, v0, s[4:5]", "v_mov_b32 v2, v1"];
    let gfx11 = ["global_load_b32 v1, v0, s[4:5]", "v_mov_b32 v2, v1"];
    for (target, lines) in
        [("gfx90a", gfx9), ("gfx942", gfx9), ("gfx1030", gfx9), ("gfx1151", gfx11), ("gfx1201", gfx11)]
    {
        let (code, out, _) = checked(&["-"], source(target, "s_trap 2", lines).as_bytes());
        assert_eq!(code, 0, "{target}: {out}");
        // A breakpoint continues.
        let (code, out, _) = checked(&["-"], source(target, "s_trap 3", lines).as_bytes());
        assert_eq!(code, 1, "{target}: {out}");
        // Zeros after it are padding, not code that could not be read.
        let zeros = source(target, "s_trap 2\n.zero 64", lines);
        let object = gcn_with(&["asm", "-", "-o", "-"], zeros.as_bytes()).out;
        let (code, out, _) = checked(&["-"], &object);
        assert!(code == 0 && !out.contains("not read"), "{target}: {out}");
    }
    // The same after a call that ends its function, to such a function: clang 22 writes one for `abort()`.
    for target in ["gfx90a", "gfx942", "gfx1030"] {
        let call = "s_getpc_b64 s[6:7]\ns_add_u32 s6, s6, no@rel32@lo+4\ns_addc_u32 s7, s7, no@rel32@hi+12\n\
                    s_swappc_b64 s[30:31], s[6:7]";
        let no = ".zero 64\n.type no,@function\nno: s_trap 2\n.Ln:\n.size no, .Ln-no";
        let text =
            source(target, call, gfx9).replace(".p2align 8\n.globl", &format!("{no}\n.p2align 8\n.globl"));
        let object = gcn_with(&["asm", "-", "-o", "-"], text.as_bytes()).out;
        let (code, out, _) = checked(&["-"], &object);
        assert!(code == 0 && !out.contains("not read"), "{target}: {out}");
    }
    // On gfx11 the trap may have no effect, and LLVM writes a loop after it that halts the wave.
    let (code, out, _) =
        checked(&["-"], source("gfx1100", "s_trap 2\n.Lh: s_sethalt 5\ns_branch .Lh", gfx11).as_bytes());
    assert_eq!(code, 0, "{out}");
}
