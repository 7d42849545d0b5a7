//! Memory and its counters.

use gcn_dsl::prelude::*;

use gcn_dsl::sim::timed::TimedReport;

use crate::{Fault, Output, Outputs, TARGET, body, one_cu, row, table};

// ANCHOR: chain
gcn_kernel! {
    /// Eight loads, each of which needs the one before.
    #[workgroup(64)]
    #[wave(64)]
    pub fn chain(next: &[u32], out: &mut [u32]) {
        let mut at: V<u32> = lane_id();
        #[unroll]
        for _ in 0..8 {
            at = next[at];
        }
        out[lane_id()] = at;
    }
}

gcn_kernel! {
    /// Eight loads that need nothing of each other.
    #[workgroup(64)]
    #[wave(64)]
    pub fn eight(next: &[u32], out: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[unroll]
        for k in 0..8u32 {
            sum += next[k * 64 + lane_id()];
        }
        out[lane_id()] = sum;
    }
}
// ANCHOR_END: chain

// ANCHOR: copy
/// Workgroups that copy.
const GROUPS: u32 = 8;

gcn_kernel! {
    /// Copies 4 bytes for each lane and trip.
    #[workgroup(256)]
    pub fn copy_narrow(n: u32, x: &[u32], y: &mut [u32]) {
        for i in (global_id().x..n).step_by(256 * GROUPS) {
            y[i] = x[i];
        }
    }
}

gcn_kernel! {
    /// Copies 16 bytes for each lane and trip.
    #[workgroup(256)]
    pub fn copy_wide(n: u32, x: &[u32], y: &mut [u32]) {
        for i in (4 * global_id().x..n).step_by(4 * 256 * GROUPS) {
            y.store_vector(i, x.load_vector::<4>(i));
        }
    }
}
// ANCHOR_END: copy

// ANCHOR: scatter
gcn_kernel! {
    /// As `copy_narrow`, but neighbouring lanes read elements that are `stride` apart.
    #[workgroup(256)]
    pub fn copy_strided(n: u32, stride: u32, x: &[u32], y: &mut [u32]) {
        for i in (global_id().x..n).step_by(256 * GROUPS) {
            y[i] = x[i % (n / stride) * stride + i / (n / stride)];
        }
    }
}
// ANCHOR_END: scatter

// ANCHOR: particles
gcn_kernel! {
    /// A particle: 32 bytes.
    #[device]
    #[repr(C)]
    #[derive(Default, PartialEq)]
    pub struct Particle {
        position: [f32; 3],
        mass: f32,
        velocity: [f32; 3],
        kind: u32,
    }

    /// Moves particles along z. An array of structs.
    #[workgroup(256)]
    pub fn rise_structs(dt: f32, p: &mut [Particle]) {
        let i = global_id().x;
        p[i].position[2] = p[i].velocity[2].mul_add(dt, p[i].position[2]);
    }

    /// The same. A struct of arrays: each field is an array of its own.
    #[workgroup(256)]
    pub fn rise_arrays(dt: f32, velocity_z: &[f32], z: &mut [f32]) {
        let i = global_id().x;
        z[i] = velocity_z[i].mul_add(dt, z[i]);
    }
}
// ANCHOR_END: particles

// ANCHOR: energy
gcn_kernel! {
    /// The energy of each particle, which needs six of its eight fields. An array of structs.
    #[workgroup(256)]
    pub fn energy_structs(p: &[Particle], energy: &mut [f32]) {
        let i = global_id().x;
        let (v, mass, z) = (p[i].velocity, p[i].mass, p[i].position[2]);
        let square = v[0].mul_add(v[0], v[1].mul_add(v[1], v[2] * v[2]));
        energy[i] = mass * (0.5 * square + 9.81 * z);
    }

    /// The same. A struct of arrays: the fields are `n` elements apart.
    #[workgroup(256)]
    pub fn energy_arrays(n: u32, fields: &[f32], energy: &mut [f32]) {
        let i = global_id().x;
        let (z, mass) = (fields[2 * n + i], fields[3 * n + i]);
        let (x, y, up) = (fields[4 * n + i], fields[5 * n + i], fields[6 * n + i]);
        let square = x.mul_add(x, y.mul_add(y, up * up));
        energy[i] = mass * (0.5 * square + 9.81 * z);
    }
}
// ANCHOR_END: energy

/// Particles of the measurement.
const PARTICLES: u32 = 1 << 14;

fn particles() -> Vec<Particle> {
    let number = |i: u32, step: u32| (i * step % 17) as f32 / 4.0;
    let of = |i| Particle {
        position: [number(i, 3), number(i, 5), number(i, 7)],
        mass: 1.0 + number(i, 2),
        velocity: [number(i, 9), number(i, 4), number(i, 6)],
        kind: i % 3,
    };
    (0..PARTICLES).map(of).collect()
}

/// One field of all particles.
fn field(of: fn(&Particle) -> f32) -> Vec<f32> {
    particles().iter().map(of).collect()
}

/// All fields, one after the other.
fn fields() -> Vec<f32> {
    let of: [fn(&Particle) -> f32; 7] = [
        |p| p.position[0],
        |p| p.position[1],
        |p| p.position[2],
        |p| p.mass,
        |p| p.velocity[0],
        |p| p.velocity[1],
        |p| p.velocity[2],
    ];
    of.into_iter().flat_map(field).collect()
}

/// The four kernels on particles: useful bytes for each particle, and the report.
fn layouts() -> Result<[(&'static str, u32, TimedReport); 4], Fault> {
    let grid = Grid::x(PARTICLES / 256);
    let (mut p, mut z, v) = (particles(), field(|p| p.position[2]), field(|p| p.velocity[2]));
    let mut energy = vec![0.0; PARTICLES as usize];
    let config = one_cu();
    let all = fields();
    Ok([
        ("rise_structs", 12, rise_structs.timed(TARGET, grid, (0.5, &mut p), &config)?),
        ("rise_arrays", 12, rise_arrays.timed(TARGET, grid, (0.5, &v, &mut z), &config)?),
        ("energy_structs", 24, energy_structs.timed(TARGET, grid, (&p, &mut energy), &config)?),
        ("energy_arrays", 24, energy_arrays.timed(TARGET, grid, (PARTICLES, &all, &mut energy), &config)?),
    ])
}

/// Elements that the copies move.
const N: u32 = 1 << 16;

/// Cycles of `chain` and `eight`.
fn latency() -> Result<[u64; 2], Fault> {
    let next: Vec<u32> = (0..512).map(|i| (i + 64) % 512).collect();
    let mut out = [0; 64];
    let chained = chain.timed(TARGET, Grid::x(1), (&next, &mut out), &one_cu())?.cycles;
    Ok([chained, eight.timed(TARGET, Grid::x(1), (&next, &mut out), &one_cu())?.cycles])
}

/// Cycles of the three copies; the last one with a stride of 32 elements.
fn copies() -> Result<[u64; 3], Fault> {
    let (x, mut y): (Vec<u32>, _) = ((0..N).collect(), vec![0; N as usize]);
    let narrow = copy_narrow.timed(TARGET, Grid::x(GROUPS), (N, &x, &mut y), &one_cu())?.cycles;
    let wide = copy_wide.timed(TARGET, Grid::x(GROUPS), (N, &x, &mut y), &one_cu())?.cycles;
    let strided = copy_strided.timed(TARGET, Grid::x(GROUPS), (N, 32, &x, &mut y), &one_cu())?.cycles;
    Ok([narrow, wide, strided])
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let [chained, independent] = latency()?;
    let loads = [row("chain", &[&chained]), row("eight", &[&independent])];
    let [narrow, wide, strided] = copies()?;
    let per = |cycles: u64| format!("{:.1}", f64::from(8 * N) / cycles as f64);
    let copied = [
        row("copy_narrow", &[&narrow, &per(narrow)]),
        row("copy_wide", &[&wide, &per(wide)]),
        row("copy_strided", &[&strided, &per(strided)]),
    ];
    let explained = eight.build(TARGET)?.assembly(Comments::Explain);
    let of_particles = layouts()?.map(|(name, useful, report)| {
        let (lines, useful) =
            (report.memory.l1.hits + report.memory.l1.misses, u64::from(useful * PARTICLES));
        let moved = report.memory.memory_bytes;
        let rate = format!("{:.1}", useful as f64 / report.cycles as f64);
        row(name, &[&useful, &moved, &lines, &report.cycles, &rate])
    });
    let head =
        ["kernel", "useful bytes", "bytes moved", "lines looked up", "cycles", "useful bytes per cycle"];
    Ok(vec![
        Output { name: "particles.md", text: table(&head, &of_particles) },
        Output { name: "eight.s", text: body(&explained) },
        Output { name: "latency.md", text: table(&["kernel", "cycles"], &loads) },
        Output { name: "copies.md", text: table(&["kernel", "cycles", "bytes per cycle"], &copied) },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_add_up_only_in_a_chain() {
        let [chained, independent] = latency().unwrap();
        assert!(chained > 3 * independent, "{chained}, {independent}");
    }

    #[test]
    fn wide_accesses_are_faster_and_scattered_ones_slower() {
        let [narrow, wide, strided] = copies().unwrap();
        assert!(wide < narrow && narrow < strided, "{narrow}, {wide}, {strided}");
    }

    #[test]
    fn copies_copy() {
        let device = Device::simulator(TARGET);
        let x: Vec<u32> = (0..N).map(|i| i * 7).collect();
        let mut y = vec![0; N as usize];
        copy_narrow.launch(&device, Grid::x(GROUPS), (N, &x, &mut y)).unwrap();
        assert_eq!(x, y);
        y.fill(0);
        copy_wide.launch(&device, Grid::x(GROUPS), (N, &x, &mut y)).unwrap();
        assert_eq!(x, y);
        copy_strided.launch(&device, Grid::x(GROUPS), (N, 32, &x, &mut y)).unwrap();
        let rows = N as usize / 32;
        assert!((0..N as usize).all(|i| y[i] == x[i % rows * 32 + i / rows]));
    }

    #[test]
    fn chains_lead_where_they_should() {
        let next: Vec<u32> = (0..512).map(|i| (i + 64) % 512).collect();
        let mut out = [0; 64];
        chain.launch(&Device::simulator(TARGET), Grid::x(1), (&next, &mut out)).unwrap();
        assert!((0..64).all(|i| out[i] == i as u32));
    }

    #[test]
    fn particles_rise_in_either_layout() {
        let (device, grid) = (Device::simulator(TARGET), Grid::x(PARTICLES / 256));
        let (mut p, mut z, v) = (particles(), field(|p| p.position[2]), field(|p| p.velocity[2]));
        let want: Vec<f32> = z.iter().zip(&v).map(|(z, v)| v.mul_add(0.5, *z)).collect();
        rise_structs.launch(&device, grid, (0.5, &mut p)).unwrap();
        rise_arrays.launch(&device, grid, (0.5, &v, &mut z)).unwrap();
        assert_eq!(z, want);
        assert!(p.iter().map(|p| p.position[2]).eq(want));
        assert!(p.iter().zip(particles()).all(|(p, old)| p.kind == old.kind && p.mass == old.mass));
    }

    #[test]
    fn energies_agree() {
        let (device, grid) = (Device::simulator(TARGET), Grid::x(PARTICLES / 256));
        let (mut one, mut two) = (vec![0.0; PARTICLES as usize], vec![0.0; PARTICLES as usize]);
        energy_structs.launch(&device, grid, (&particles(), &mut one)).unwrap();
        energy_arrays.launch(&device, grid, (PARTICLES, &fields(), &mut two)).unwrap();
        for (p, (one, two)) in particles().iter().zip(one.iter().zip(&two)) {
            let square: f64 = p.velocity.iter().map(|v| f64::from(*v).powi(2)).sum();
            let want = f64::from(p.mass) * (0.5 * square + 9.81 * f64::from(p.position[2]));
            assert!(
                (f64::from(*one) - want).abs() < 1e-4 * (1.0 + want) && one == two,
                "{one}, {two}, {want}"
            );
        }
    }
}
