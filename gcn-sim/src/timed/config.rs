//! The part of the device to simulate, and its parameters.

use gcn_isa::Target;

use crate::core::params::{self, ParameterError, Params};

/// The part of the device to simulate, and its parameters.
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
    /// CUs over which the grid is spread; `None` for as many as the target's device has. Workgroup `i` runs on CU
    /// `i % cus`, and each CU gets its share of L2 and memory bandwidth.
    pub cus: Option<u32>,
    /// How many of these CUs are simulated with time: those of the first L2 first, CU 0, 8, 16, … of the 304 with eight L2
    /// caches of gfx942. They share the lines of their L2 and of the Infinity Cache. The cycles of one are those of the
    /// device if the workgroups do equal work and share no lines, or `l2.reuse` and `mall.reuse` say how far they do.
    pub simulated_cus: u32,
    /// Run the workgroups of the other CUs without time afterwards, so that the results in memory are complete.
    pub complete: bool,
    /// Most events to keep for the timeline; 0 keeps none.
    pub timeline: usize,
    /// Most waves whose lifetime is reported one by one.
    pub wave_reports: usize,
    /// Most instructions that a wave may execute.
    pub max_instructions: u64,
    /// Parameters that differ from the table: name and value, as [`Config::set`] has checked them. What is not a parameter has
    /// no effect.
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
    /// Sets a parameter: `name=value` with a name of [`parameters`](super::parameters).
    ///
    /// # Errors
    /// [`ParameterError`] if there is no such parameter or the value does not fit.
    pub fn set(&mut self, assignment: &str) -> Result<(), ParameterError> {
        let form = || ParameterError::Form(assignment.to_owned());
        let (name, value) = assignment.split_once('=').ok_or_else(form)?;
        let (name, value) = (name.trim(), value.trim());
        params::check(name, value)?;
        self.overrides.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Sets the parameters that a table in the form of `data/timing.tsv` has for a target, for example those that `gcn probe` has measured.
    /// What is set later beats them.
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
    /// [`ParameterError`] if a line is no row, or a value does not fit.
    pub fn read(&mut self, table: &str, target: Target) -> Result<(), ParameterError> {
        self.overrides.extend(params::read(table, target)?);
        Ok(())
    }

    /// The number of CUs that share an L2, with these parameters: a value for `simulated_cus`.
    pub fn cus_of_an_l2(&self, target: Target) -> u32 {
        let params = Params::new(target, &self.overrides);
        let cus = self.cus.map_or_else(|| params.units(target, "device.cus"), u64::from).max(1);
        let l2s = cus.div_ceil(params.units(target, "device.cus-per-l2"));
        u32::try_from(cus.div_ceil(l2s)).unwrap_or(u32::MAX)
    }

    /// Every workgroup on one CU.
    pub fn one_cu() -> Config {
        Config { cus: Some(1), ..Config::default() }
    }
}
