//! Two launches of a kernel that differ in the trip count of its loop, as input of `gcn sim --args`. The difference of
//! their times gives the loop's steady state.

use std::fmt::Write;

use gcn_dsl::BuiltKernel;

/// An argument of a launch, without its name.
#[derive(Debug, Clone, Copy)]
pub enum Arg {
    /// A number: its type and value.
    Number(&'static str, f64),
    /// A slice: the type and number of its elements.
    Slice(&'static str, u32),
}

/// A kernel to be launched on one compute unit with a short and with a long inner dimension.
#[derive(Debug, Clone, Copy)]
pub struct Steady {
    /// The short and the long inner dimension.
    pub depths: [u32; 2],
    /// The number of workgroups that run on the compute unit at the same time.
    pub workgroups: u32,
    /// The number of multiplications and additions that all workgroups execute for one step of the inner dimension.
    pub operations: u64,
    /// The named arguments for a given inner dimension.
    pub args: fn(u32) -> Vec<(&'static str, Arg)>,
}

impl Steady {
    /// The measurement for a kernel whose workgroup computes a `rows` x `columns` tile of a product.
    pub const fn of_tile(
        [rows, columns]: [u32; 2],
        depths: [u32; 2],
        args: fn(u32) -> Vec<(&'static str, Arg)>,
    ) -> Steady {
        Steady { depths, workgroups: 1, operations: 2 * rows as u64 * columns as u64, args }
    }

    /// The two launches as JSON; `object` is the code object's file name.
    pub fn json(&self, kernel: &BuiltKernel, object: &str) -> String {
        let [short, long] = self.depths;
        let operations = self.operations * u64::from(long - short);
        let [short, long] = [short, long].map(|depth| self.spec(kernel, depth));
        let name = kernel.name();
        format!(
            "{{\n  \"object\": \"{object}\",\n  \"kernel\": \"{name}\",\n  \"operations\": {operations},\n  \
             \"short\": {short},\n  \"long\": {long}\n}}\n"
        )
    }

    fn spec(&self, kernel: &BuiltKernel, depth: u32) -> String {
        let mut args = Vec::new();
        for (name, arg) in (self.args)(depth) {
            match arg {
                Arg::Number(ty, value) => args.push(format!("\"{name}\": {{\"{ty}\": {value}}}")),
                Arg::Slice(ty, count) => {
                    args.push(format!("\"{name}\": {{\"buffer\": \"{ty}\", \"count\": {count}}}"));
                    args.push(format!("\"{name}.len\": {{\"u32\": {count}}}"));
                }
            }
        }
        let [x, y, z] = kernel.signature().workgroup;
        let mut spec = String::new();
        let _ = write!(
            spec,
            "{{\"args\": {{{}}}, \"grid\": [{}, 1, 1], \"workgroup\": [{x}, {y}, {z}]}}",
            args.join(", "),
            self.workgroups
        );
        spec
    }
}
