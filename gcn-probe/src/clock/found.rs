//! What experiments use to run programs and to record their results.

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

/// Runs an experiment's programs on the GPU, and collects its results.
pub(super) struct Bench<'a> {
    pub target: Target,
    /// How often each program runs.
    times: u32,
    gpu: Runner<'a>,
    pub found: Vec<Measured>,
    pub curves: Vec<Curve>,
}

impl<'a> Bench<'a> {
    /// A bench without results; each program runs `times` times.
    pub fn new(target: Target, times: u32, gpu: Runner<'a>) -> Bench<'a> {
        Bench { target, times, gpu, found: Vec::new(), curves: Vec::new() }
    }

    /// Checks that the clock measures time: on a simulator without a timed model it counts instructions.
    ///
    /// # Errors
    /// If the clock counts instructions.
    pub fn has_time(&mut self) -> Result<(), String> {
        /// The least number of cycles that `s_nop 15` takes.
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

    /// The function that runs programs.
    pub fn gpu(&mut self) -> Runner<'_> {
        self.gpu
    }

    /// A program for one wave of the target's usual size.
    pub fn frame(&self) -> Frame {
        Frame::new(self.target.into(), self.times)
    }

    /// A program for one wave of 64 lanes.
    pub fn wide(&self) -> Frame {
        Frame::new(Subtarget { target: self.target, wave: WaveSize::W64 }, self.times)
    }

    /// True if all of these instructions exist on the target.
    pub fn has(&self, text: &str) -> bool {
        exists(self.target, text)
    }

    /// Records the value of a measured parameter.
    pub fn number(&mut self, name: &str, value: f64) {
        self.text(name, format!("{:.0}", value.max(0.0)));
    }

    /// Records a measured parameter whose value is not a number.
    pub fn text(&mut self, name: &str, value: String) {
        self.found.push(Measured { name: name.to_owned(), value });
    }

    /// Records the points of a curve from which a result was read.
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

    /// The cycles between the issues of two independent instructions of a wave.
    pub fn interval(&mut self) -> Result<f64, String> {
        let frame = self.frame();
        self.slope(&frame, |i| format!("s_mov_b32 s{}, 0\n", 16 + i % 8), Wait::None)
    }

    /// The cycles from reading the clock until the value has arrived; `None` on targets where the program need not wait for it.
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
