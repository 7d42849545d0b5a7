//! The configuration of a timed run: the part of the device to simulate, and model parameters.

use gcn_isa::Target;

use crate::core::params::{self, ParameterError, Params};

/// The configuration of a timed run: the part of the device to simulate, and model parameters.
///
/// ```
/// use gcn_sim::timed::Config;
/// let mut config = Config { timeline: 100_000, ..Config::default() };
/// config.set("l2.latency=250")?;
/// assert!(config.set("l2.latancy=250").is_err());
/// # Ok::<(), gcn_sim::timed::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of CUs over which the grid is distributed; `None` for all CUs of the target's device. Workgroup `i` runs on CU `i % cus`,
    /// and each CU gets an equal share of the bandwidth of L2 and memory.
    pub cus: Option<u32>,
    /// The number of these CUs whose time is simulated, starting with those of the first L2: on gfx942, with 304 CUs and eight L2 caches,
    /// CUs 0, 8, 16, … The simulated CUs share the lines of their L2 and of the Infinity Cache. The cycles of one CU equal those of the
    /// device if all workgroups do equal work, and either share no lines or `l2.reuse` and `mall.reuse` describe the sharing.
    pub simulated_cus: u32,
    /// If true, the workgroups of the other CUs run afterwards without timing, so that the results in memory are complete.
    pub complete: bool,
    /// The maximum number of events to record for the timeline; 0 for none.
    pub timeline: usize,
    /// The maximum number of waves to report individually.
    pub wave_reports: usize,
    /// The maximum number of instructions that a wave may execute.
    pub max_instructions: u64,
    /// Parameters that differ from the table, as names and values that [`Config::set`] has checked. Unknown names have no effect.
    pub overrides: Vec<(String, String)>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            cus: None,
            simulated_cus: 1,
            complete: true,
            timeline: 0,
            wave_reports: 4096,
            max_instructions: 1 << 40,
            overrides: Vec::new(),
        }
    }
}

impl Config {
    /// Sets a parameter by `name=value`, with a name from [`parameters`](super::parameters).
    ///
    /// # Errors
    /// [`ParameterError`] if there is no such parameter, or if it cannot have the value.
    pub fn set(&mut self, assignment: &str) -> Result<(), ParameterError> {
        let form = || ParameterError::Form(assignment.to_owned());
        let (name, value) = assignment.split_once('=').ok_or_else(form)?;
        let (name, value) = (name.trim(), value.trim());
        params::check(name, value)?;
        self.overrides.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Sets the parameters that a table in the form of `data/timing.tsv` has for a target, for example those that `gcn probe` has measured.
    /// Later settings take precedence over these.
    ///
    /// ```
    /// use gcn_isa::Target;
    /// use gcn_sim::timed::Config;
    /// let table = "name\ttarget\tvalue\tunit\tgrade\tsource\n\
    ///     l2.latency\tgfx942\t280\tcycles\tmeasured\tmy own MI300X\n";
    /// let mut config = Config::default();
    /// config.read(table, Target::GFX942)?;
    /// assert_eq!(config.overrides, [("l2.latency".to_owned(), "280".to_owned())]);
    /// # Ok::<(), gcn_sim::timed::ParameterError>(())
    /// ```
    ///
    /// # Errors
    /// [`ParameterError`] if a line is not a row, or a value is not valid for its parameter.
    pub fn read(&mut self, table: &str, target: Target) -> Result<(), ParameterError> {
        self.overrides.extend(params::read(table, target)?);
        Ok(())
    }

    /// The number of CUs that share an L2, given these parameters; useful for `simulated_cus`.
    pub fn cus_of_an_l2(&self, target: Target) -> u32 {
        let params = Params::new(target, &self.overrides);
        let cus = self.cus.map_or_else(|| params.units(target, "device.cus"), u64::from).max(1);
        let l2s = cus.div_ceil(params.units(target, "device.cus-per-l2"));
        u32::try_from(cus.div_ceil(l2s)).unwrap_or(u32::MAX)
    }

    /// A configuration in which all workgroups run on one CU.
    pub fn one_cu() -> Config {
        Config { cus: Some(1), ..Config::default() }
    }
}
