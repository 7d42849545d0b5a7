//! What an experiment has at hand, and what it finds.

use gcn_emit::text::parse_program;
use gcn_isa::target::Subtarget;
use gcn_isa::{Target, WaveSize};

use super::frame::{Frame, Wait, slope};
use super::result::{Curve, Measured};
use crate::launch::{KERNEL, Runner};

/// True if all of these instructions exist on a target.
pub(super) fn exists(target: Target, text: &str) -> bool {
    parse_program(text, target, KERNEL).is_ok()
}

/// The GPU for an experiment, and what was found.
pub(super) struct Bench<'a> {
    pub target: Target,
    /// How often each program runs.
    times: u32,
    gpu: Runner<'a>,
    pub found: Vec<Measured>,
    pub curves: Vec<Curve>,
}

impl<'a> Bench<'a> {
    /// Nothing found yet; each program runs `times` times.
    pub fn new(target: Target, times: u32, gpu: Runner<'a>) -> Bench<'a> {
        Bench { target, times, gpu, found: Vec::new(), curves: Vec::new() }
    }

    /// That the clock counts time: on a simulator that has none, it counts instructions.
    ///
    /// # Errors
    /// It does not.
    pub fn has_time(&mut self) -> Result<(), String> {
        /// Cycles that each takes at least.
        const IDLE: f64 = 16.0;
        let frame = self.frame();
        let cycles = self.slope(&frame, |_| "s_nop 15\n".to_owned(), Wait::None)?;
        if cycles >= IDLE {
            return Ok(());
        }
        Err(format!(
            "an instruction that does nothing for {IDLE} cycles takes {cycles}: the clock counts no time; \
             a simulator has one in timed mode (`gcn run --timed`)"
        ))
    }

    /// Runs programs.
    pub fn gpu(&mut self) -> Runner<'_> {
        self.gpu
    }

    /// A program of a wave of the usual size.
    pub fn frame(&self) -> Frame {
        Frame::new(self.target.into(), self.times)
    }

    /// A program of a wave of 64 lanes.
    pub fn wide(&self) -> Frame {
        Frame::new(Subtarget { target: self.target, wave: WaveSize::W64 }, self.times)
    }

    /// True if all of these instructions exist on the target.
    pub fn has(&self, text: &str) -> bool {
        exists(self.target, text)
    }

    /// A parameter was measured.
    pub fn number(&mut self, name: &str, value: f64) {
        self.text(name, format!("{:.0}", value.max(0.0)));
    }

    /// The same for one that is no number.
    pub fn text(&mut self, name: &str, value: String) {
        self.found.push(Measured { name: name.to_owned(), value });
    }

    /// Points that a result was read from.
    pub fn curve(&mut self, title: &str, x: &str, y: &str, points: Vec<(f64, f64)>) {
        let [title, x, y] = [title, x, y].map(str::to_owned);
        self.curves.push(Curve { title, x, y, points });
    }

    pub fn slope(
        &mut self,
        frame: &Frame,
        copy: impl Fn(usize) -> String,
        after: Wait,
    ) -> Result<f64, String> {
        slope(self.gpu, frame, copy, after)
    }

    /// Cycles between two instructions of a wave that depend on nothing.
    pub fn interval(&mut self) -> Result<f64, String> {
        let frame = self.frame();
        self.slope(&frame, |i| format!("s_mov_b32 s{}, 0\n", 16 + i % 8), Wait::None)
    }

    /// Cycles from a reading of the clock until it has arrived; none where nobody waits for it.
    pub fn clock_latency(&mut self) -> Result<Option<f64>, String> {
        let frame = self.frame();
        let d = frame.dialect;
        if !d.has_memtime() {
            return Ok(None);
        }
        let interval = self.interval()?;
        let read = format!("{}{}", d.clock(16), d.wait(Wait::Scalar));
        Ok(Some(self.slope(&frame, |_| read.clone(), Wait::None)? - interval))
    }
}
