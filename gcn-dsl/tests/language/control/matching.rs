//! `match`.

use gcn_dsl::prelude::*;

use super::{numbers, simulators};

const LIMIT: u32 = 40;

gcn_kernel! {
    #[workgroup(64)]
    fn matches(mode: u32, x: &[u32], y: &[i32], out: &mut [i32]) {
        let i = global_id().x;
        let v = x[i];
        let a = match v {
            0 => 1,
            1 | 2 | 5..=7 => 2,
            n if n & 1 == 1 => 3,
            LIMIT => 4,
            8..LIMIT => 5,
            other => other as i32,
        };
        let b = match y[i] {
            i32::MIN..=-100 => -1,
            -99..0 => -2,
            0 => 0,
            k @ 1..=9 => k * 7,
            10.. => 8,
        };
        // For a uniform value the arms are scalar branches, so all lanes reach a barrier in an arm.
        let c = match mode {
            0 => 10,
            1 => {
                barrier();
                20
            }
            m => m as i32,
        };
        let mut d: V<i32> = 0;
        match (v < 5) as u32 {
            0 => d = 100,
            _ => d += 1,
        }
        let e = match v & 1 == 0 {
            true => 1000,
            false => 2000,
        };
        out[i] = a * 3 + b * 5 + c * 7 + d * 11 + e * 13;
    }
}

#[test]
fn arms_are_rusts() {
    let x = numbers(128);
    let y: Vec<i32> = numbers(128).iter().rev().map(|v| *v as i32 - 120).collect();
    for device in simulators() {
        for mode in [0, 1, 2, 77] {
            let mut out = vec![0; 128];
            matches.launch(&device, Grid::x(2), (mode, &x, &y, &mut out)).unwrap();
            for i in 0..128 {
                let a = match x[i] {
                    0 => 1,
                    1 | 2 | 5..=7 => 2,
                    n if n & 1 == 1 => 3,
                    LIMIT => 4,
                    8..LIMIT => 5,
                    other => other as i32,
                };
                let b = match y[i] {
                    i32::MIN..=-100 => -1,
                    -99..0 => -2,
                    0 => 0,
                    k @ 1..=9 => k * 7,
                    10.. => 8,
                };
                let c = match mode {
                    0 => 10,
                    1 => 20,
                    m => m as i32,
                };
                let d = if x[i] < 5 { 1 } else { 100 };
                let e = if x[i] & 1 == 0 { 1000 } else { 2000 };
                assert_eq!(out[i], a * 3 + b * 5 + c * 7 + d * 11 + e * 13, "{mode} {} {}", x[i], y[i]);
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn machine(program: &[u32], x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut pc: V<u32> = x[i] & 7;
        let mut acc: V<u32> = 1;
        let mut fuel: V<u32> = 0;
        let result = loop {
            fuel += 1;
            if fuel > 60 {
                break acc + 1000000;
            }
            let op = program[pc];
            pc += 1;
            match op & 7 {
                0 => acc += 3,
                1 => acc = acc * 5,
                2 => {
                    if acc & 1 == 0 {
                        pc = op >> 3;
                        continue;
                    }
                    acc ^= 85;
                }
                3 => break acc,
                4 if acc & 2 == 0 => pc = op >> 3,
                4 | 5 => acc = acc >> 1,
                _ => {
                    out[i] = 7;
                    return;
                }
            }
        };
        out[i] = result;
    }
}

#[test]
fn an_interpreter_with_a_program_counter_for_each_lane() {
    let program: Vec<u32> =
        vec![0, 1, 2 | 5 << 3, 0, 4 | 1 << 3, 0, 5, 4 | 9 << 3, 3, 0, 2 | 12 << 3, 1, 5, 6, 3, 3, 3];
    let x = numbers(192);
    let run = |x: u32| {
        let (mut pc, mut acc, mut fuel) = (x & 7, 1u32, 0);
        loop {
            fuel += 1;
            if fuel > 60 {
                return acc.wrapping_add(1000000);
            }
            let op = program.get(pc as usize).copied().unwrap_or(0);
            pc += 1;
            match op & 7 {
                0 => acc = acc.wrapping_add(3),
                1 => acc = acc.wrapping_mul(5),
                2 => {
                    if acc & 1 == 0 {
                        pc = op >> 3;
                        continue;
                    }
                    acc ^= 85;
                }
                3 => return acc,
                4 if acc & 2 == 0 => pc = op >> 3,
                4 | 5 => acc >>= 1,
                _ => return 7,
            }
        }
    };
    let expected: Vec<u32> = x.iter().map(|x| run(*x)).collect();
    assert!(expected.iter().collect::<std::collections::BTreeSet<_>>().len() > 3);
    for device in simulators() {
        let mut out = vec![0; 192];
        machine.launch(&device, Grid::x(3), (&program, &x, &mut out)).unwrap();
        assert_eq!(out, expected);
    }
}
