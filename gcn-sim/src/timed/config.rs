//! What to simulate, and with which parameters.

use crate::core::params::{self, ParameterError};

/// What to simulate, and with which parameters.
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
    /// How many of these CUs are simulated with time, from CU 0 on. The cycles of one are those of the device if the
    /// workgroups do equal work.
    pub simulated_cus: u32,
    /// Run the workgroups of the other CUs without time afterwards, so that the results in memory are complete.
    pub complete: bool,
    /// Most events to keep for the timeline; 0 keeps none.
    pub timeline: usize,
    /// Most waves whose lifetime is reported one by one.
    pub wave_reports: usize,
    /// Most instructions that a wave may execute.
    pub max_instructions: u64,
    /// Parameters that differ from the table: name and value, as [`Config::set`] has checked them. What is no parameter has
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

    /// Every workgroup on one CU.
    pub fn one_cu() -> Config {
        Config { cus: Some(1), ..Config::default() }
    }
}
