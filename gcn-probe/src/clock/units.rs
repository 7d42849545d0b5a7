//! Measures the issue rate and the latency of each class of instructions.

use gcn_isa::Target;

use super::found::Bench;
use super::frame::{Frame, Section, Wait, distance};

/// Pairs of a parameter and an instruction of its class. `{d}` is replaced by a different register in each copy.
const VECTOR: [(&str, &str); 11] = [
    ("valu.full", "v_add_f32 v{d}, v8, v9"),
    ("valu.f64", "v_fma_f64 v[{d}:{d1}], v[8:9], v[10:11], v[12:13]"),
    ("valu.f64-trans", "v_rcp_f64 v[{d}:{d1}], v[8:9]"),
    ("valu.f64-div", "v_trig_preop_f64 v[{d}:{d1}], v[8:9], v10"),
    ("valu.f64-cvt", "v_cvt_f64_i32 v[{d}:{d1}], v8"),
    ("valu.cvt", "v_cvt_f32_i32 v{d}, v8"),
    ("valu.i32-mul", "v_mul_lo_u32 v{d}, v8, v9"),
    ("valu.i64", "v_lshlrev_b64 v[{d}:{d1}], v8, v[10:11]"),
    ("valu.sad", "v_qsad_pk_u16_u8 v[{d}:{d1}], v[8:9], v10, v[12:13]"),
    ("valu.swap", "v_swap_b32 v{d}, v{d1}"),
    ("valu.div32", "v_div_fmas_f32 v{d}, v8, v9, v10"),
];

/// A transcendental instruction, which may execute in a separate unit.
const TRANSCENDENTAL: &str = "v_rcp_f32 v{d}, v8";
/// The number of plain instructions that issue while the transcendental unit is busy.
const PLAIN: usize = 12;

/// Copy number `i` of an instruction.
fn copy(of: &str, i: usize) -> String {
    let register = 16 + 2 * (i % 24);
    let text = of.replace("{d}", &register.to_string()).replace("{d1}", &(register + 1).to_string());
    format!("{text}\n")
}

/// Measures the classes of vector instructions.
pub(super) fn vector(bench: &mut Bench<'_>) -> Result<(), String> {
    let frame = bench.frame();
    let interval = bench.interval()?;
    bench.number("issue.interval", interval);
    let mut full = interval;
    for (name, text) in VECTOR {
        let cycles = bench.slope(&frame, |i| copy(text, i), Wait::None)?;
        if name == "valu.full" {
            full = cycles;
        }
        bench.number(name, cycles);
    }
    let alone = bench.slope(&frame, |i| copy(TRANSCENDENTAL, i), Wait::None)?;
    // Between instructions that do not need the transcendental unit, the instruction costs only its issue cycles.
    let among = |i| -> String {
        let plain = (0..PLAIN).map(|n| copy("v_add_f32 v{d}, v8, v9", PLAIN * i + n));
        std::iter::once(copy(TRANSCENDENTAL, i)).chain(plain).collect()
    };
    let among = bench.slope(&frame, among, Wait::None)? - PLAIN as f64 * full;
    if bench.target.has_workgroup_processors() {
        bench.number("valu.trans", among);
        bench.number("trans.busy", alone);
        // Detects whether the two halves of a wave of 64 lanes are executed one after the other.
        let wide = bench.wide();
        let halves = bench.slope(&wide, |i| copy(VECTOR[0].1, i), Wait::None)? / full;
        bench.number("valu.lanes", 64.0 / halves.max(1.0));
    } else {
        bench.number("valu.trans", alone);
    }
    parallel(bench)
}

/// Measures how many waves can issue at the same time without delaying each other.
fn parallel(bench: &mut Bench<'_>) -> Result<(), String> {
    /// The number of waves that every workgroup may have.
    const MOST: u32 = 16;
    let mut frame = bench.frame();
    let mut alone = None;
    let (mut simds, mut points) = (0, Vec::new());
    for waves in 1..=MOST {
        frame.waves = waves;
        let cycles = bench.slope(&frame, |i| copy("v_mul_lo_u32 v{d}, v8, v9", i), Wait::None)?;
        points.push((f64::from(waves), cycles));
        if cycles > 1.5 * *alone.get_or_insert(cycles) {
            break;
        }
        simds = waves;
    }
    bench.curve("Vector instructions of several waves", "waves", "cycles for one of each", points);
    bench.number("cu.simds", simds.into());
    // With this many waves of scalar instructions, the whole unit's scalar issue rate is the limit.
    frame.waves = 2 * simds.max(1);
    let cycles = bench.slope(&frame, |i| format!("s_mov_b32 s{}, 0\n", 16 + i % 8), Wait::None)?
        / f64::from(frame.waves);
    bench.number("cu.scalar-units", (1.0 / cycles).round());
    Ok(())
}

/// A matrix instruction: its text with `{d}` for the destination, and the number of destinations that are used in turn.
struct Product {
    text: String,
    sets: usize,
    step: usize,
}

impl Product {
    fn copy(&self, i: usize) -> String {
        let first = 64 + self.step * (i % self.sets);
        let last = first + self.step - 1;
        let text = self.text.replace("{d}", &format!("[{first}:{last}]"));
        format!("{text}\n")
    }

    /// The number of passes of the instruction according to the manual.
    fn passes(&self, target: Target) -> Result<f64, String> {
        let inst =
            gcn_emit::text::parse_inst(self.copy(0).trim(), target).map_err(|error| error.to_string())?;
        Ok(gcn_isa::hazards::View::new(target, &inst).passes().into())
    }
}

/// A matrix instruction that every target with MFMA has.
pub(super) const SINGLE: &str = "v_mfma_f32_16x16x1f32 a[64:79], v8, v9, a[64:79]";
/// A matrix instruction of doubles.
pub(super) const DOUBLES: &str = "v_mfma_f64_16x16x4f64 a[64:71], v[8:9], v[10:11], a[64:71]";
/// A message that affects nothing but the wave that sends it.
pub(super) const MESSAGE: &str = "s_sendmsg_rtn_b64 s[20:21], sendmsg(MSG_RTN_GET_REALTIME)\n";

/// Measures matrix instructions.
pub(super) fn matrix(bench: &mut Bench<'_>) -> Result<(), String> {
    if bench.target.has_workgroup_processors() { wmma(bench) } else { mfma(bench) }
}

fn mfma(bench: &mut Bench<'_>) -> Result<(), String> {
    let (target, frame) = (bench.target, bench.frame());
    if !bench.has(SINGLE) {
        return Ok(());
    }
    let single = Product { text: SINGLE.replace("a[64:79]", "a{d}"), sets: 4, step: 16 };
    let pass = bench.slope(&frame, |i| single.copy(i), Wait::None)? / single.passes(target)?;
    bench.number("matrix.pass", pass);
    let rest = "s_nop 15\n".repeat(20);
    let after = |bench: &mut Bench<'_>, product: &Product| {
        let mut frame = bench.frame();
        frame.setup.clone_from(&rest);
        // The idle time before the first instruction ensures that no earlier matrix instruction is still executing when it issues.
        let first = format!("{rest}{}", product.copy(0));
        let second = copy("v_add_f32 v{d}, v8, v9", 0);
        let both = distance(bench.gpu(), &frame, &first, &second)?;
        Ok::<f64, String>(both - distance(bench.gpu(), &frame, &rest, &second)?)
    };
    let taken = after(bench, &single)?;
    bench.number("issue.matrix-takes-valu", taken);
    let double = Product { text: DOUBLES.replace("a[64:71]", "a{d}"), sets: 4, step: 8 };
    if double.passes(target).is_ok() {
        let taken = after(bench, &double)?;
        let whole = taken > 0.75 * pass * double.passes(target)?;
        bench.number("issue.dgemm-takes-valu", u8::from(whole).into());
    }
    Ok(())
}

fn wmma(bench: &mut Bench<'_>) -> Result<(), String> {
    let frame = bench.frame();
    // On RDNA 4, A and B take half as many registers as on RDNA 3.
    let forms: [(&str, [&str; 2]); 3] = [
        (
            "matrix.wmma-16",
            [
                "v_wmma_f32_16x16x16_f16 v{d}, v[8:15], v[16:23], v{d}",
                "v_wmma_f32_16x16x16_f16 v{d}, v[8:11], v[16:19], v{d}",
            ],
        ),
        (
            "matrix.wmma-8",
            [
                "v_wmma_i32_16x16x16_iu8 v{d}, v[8:11], v[16:19], v{d}",
                "v_wmma_i32_16x16x16_iu8 v{d}, v[8:9], v[16:17], v{d}",
            ],
        ),
        (
            "matrix.wmma-4",
            [
                "v_wmma_i32_16x16x16_iu4 v{d}, v[8:9], v[16:17], v{d}",
                "v_wmma_i32_16x16x16_iu4 v{d}, v8, v16, v{d}",
            ],
        ),
    ];
    let interval = bench.interval()?;
    for (name, texts) in forms {
        let product = |text: &str| Product { text: text.to_owned(), sets: 8, step: 8 };
        let Some(product) = texts.into_iter().map(product).find(|product| bench.has(&product.copy(0))) else {
            continue;
        };
        let cycles = bench.slope(&frame, |i| product.copy(i), Wait::None)?;
        bench.number(name, cycles);
        if name == "matrix.wmma-16" {
            // One instruction that reads the result, then the next matrix instruction.
            let read = |i| format!("{}v_mov_b32 v40, v64\n", product.copy(8 * i));
            let chain = bench.slope(&frame, read, Wait::None)?;
            bench.number("dependency.wmma", chain - cycles - interval);
        }
    }
    Ok(())
}

/// Measures dependencies, branches, and other events for which the hardware stalls a wave.
pub(super) fn waits(bench: &mut Bench<'_>) -> Result<(), String> {
    let frame = bench.frame();
    let d = frame.dialect;
    let interval = bench.interval()?;
    if bench.target.has_workgroup_processors() {
        dependent(bench)?;
    } else {
        let chain = "v_readfirstlane_b32 s20, v8\ns_mov_b32 s21, s20\n";
        let cycles = bench.slope(&frame, |_| chain.to_owned(), Wait::None)?;
        bench.number("dependency.valu-sgpr", cycles - interval);
    }
    // Each copy has its own labels.
    let taken = |bench: &mut Bench<'_>, branch: &str| {
        let mut frame = frame.clone();
        for copies in [16, 48] {
            let body = |i| format!("{branch} to_{copies}_{i}\nto_{copies}_{i}:\n");
            let before = "s_cmp_eq_u32 s4, s4\n".to_owned();
            let body = (0..copies).map(body).collect();
            frame.sections.push(Section { before, body, after: Wait::None });
        }
        let times = frame.run(bench.gpu())?;
        Ok::<f64, String>((times.first(0, 1) - times.first(0, 0)) / 32.0)
    };
    let cycles = taken(bench, "s_branch")?;
    bench.number("branch.taken", cycles);
    let cycles = taken(bench, "s_cbranch_scc0")?;
    bench.number("branch.not-taken", cycles);
    let sleeps = [1, 3].map(|n| bench.slope(&frame, |_| format!("s_sleep {n}\n"), Wait::None));
    let [short, long] = sleeps;
    bench.number("sleep.unit", (long? - short?) / 2.0);
    if let Some(latency) = bench.clock_latency()? {
        bench.number("memtime.latency", latency);
    }
    if bench.has(MESSAGE) {
        let both = format!("{MESSAGE}{}", d.wait(Wait::Scalar));
        let cycles = bench.slope(&frame, |_| both.clone(), Wait::None)?;
        bench.number("message.latency", cycles - interval);
    }
    barrier(bench)
}

/// Measures the cycles from the last wave's arrival at a barrier to the next issue. Two waves of one SIMD meet; the waves on the other
/// SIMDs have ended.
fn barrier(bench: &mut Bench<'_>) -> Result<(), String> {
    let mut frame = bench.frame();
    let barrier = frame.dialect.barrier();
    frame.waves = 5;
    frame.meets = false;
    // SIMDs get waves in turn, so waves 0 and 4 are on the same one.
    frame.setup =
        "s_cmp_eq_u32 s3, 0\ns_cbranch_scc1 stays\ns_cmp_eq_u32 s3, 4\ns_cbranch_scc0 done\nstays:\n\
                   s_mov_b32 s16, 0\n"
            .to_owned();
    for copies in [16, 48] {
        // The three waves that have ended do not count at barriers, so only the two remaining waves synchronise.
        frame.sections.push(Section {
            before: barrier.to_owned(),
            body: barrier.repeat(copies),
            after: Wait::None,
        });
    }
    let times = frame.run(bench.gpu())?;
    let mut cycles = (times.first(0, 1) - times.first(0, 0)) / 32.0;
    if frame.dialect.splits_counters() {
        // On this target, arriving at a barrier is a scalar instruction. The two waves are on one SIMD, so they issue it one after the
        // other.
        cycles -= bench.interval()?;
    }
    bench.number("barrier.release", cycles);
    Ok(())
}

/// Measures the latency of vector ALU results for each kind of reader, and how other waves are affected meanwhile.
fn dependent(bench: &mut Bench<'_>) -> Result<(), String> {
    let mut frame: Frame = bench.frame();
    let chain = |_: usize| "v_add_f32 v16, v16, v8\n".to_owned();
    let free = bench.slope(&frame, |i| copy("v_add_f32 v{d}, v8, v9", i), Wait::None)?;
    let alone = bench.slope(&frame, chain, Wait::None)?;
    bench.number("dependency.alu", u8::from(alone > 1.5 * free).into());
    // Two waves for each of four SIMDs.
    frame.waves = 8;
    let both = bench.slope(&frame, chain, Wait::None)?;
    bench.number("dependency.holds-simd", u8::from(both > 1.5 * alone).into());
    Ok(())
}
