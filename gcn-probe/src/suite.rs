//! The suites: the tasks of each on a target, and how one task is run.

use std::fmt::Debug;

use gcn_examples::Lesson;
use gcn_isa::Target;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bench::Surroundings;
use crate::clock::{self, result::Experiment};
use crate::device::Gpu;
use crate::form::{Form, Forms};
use crate::judge;
use crate::kernels::{self, Effort as KernelEffort};
use crate::matrix;
use crate::report::{FormResult, KernelResult, RuleResult, Status, Verdict};
use crate::waits::measure::{Effort, Task};

/// The settings from which a task can be reproduced.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The seed of the random generator.
    pub seed: u64,
    /// True for a short run.
    pub quick: bool,
}

/// The reason why a task produced no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The child process ended.
    Failed,
    /// The time limit passed.
    Hung,
}

/// A list of independent tasks, each of which gets a result even if its process crashes or hangs.
pub trait Suite {
    /// A task.
    type Task;
    /// A task's result.
    type Outcome: Serialize + DeserializeOwned + Debug;
    /// The name of the suite.
    const NAME: &'static str;

    /// All tasks of a target.
    fn tasks(target: Target) -> Vec<Self::Task>;
    /// The name of a task, which its result contains as well.
    fn name(task: &Self::Task) -> String;
    /// Runs a task.
    fn run(task: &Self::Task, target: Target, settings: Settings, gpu: &Gpu) -> Self::Outcome;
    /// The result of a task whose process ended or hung.
    fn lost(task: &Self::Task, lost: Lost, message: String) -> Self::Outcome;
    /// The name of the task that produced this result.
    fn named(outcome: &Self::Outcome) -> &str;
    /// True if the task may have left the process unable to use the GPU.
    fn has_failed(outcome: &Self::Outcome) -> bool;
}

/// A suite that tests what instructions compute.
pub trait Computes {
    /// The name of the suite.
    const NAME: &'static str;
    /// The number of programs for each form, in a long and in a short run.
    const VARIANTS: [u32; 2];

    /// The instruction forms that the suite tests on a target.
    fn forms(target: Target) -> Vec<Form>;
}

/// The suite `values`: the results of instructions that work on single values.
#[derive(Debug)]
pub struct Values;

impl Computes for Values {
    const NAME: &'static str = "values";
    const VARIANTS: [u32; 2] = [4, 1];

    fn forms(target: Target) -> Vec<Form> {
        Forms::of(target).run
    }
}

/// The suite `matrix`: the results of matrix instructions.
#[derive(Debug)]
pub struct Matrix;

impl Computes for Matrix {
    const NAME: &'static str = "matrix";
    const VARIANTS: [u32; 2] = [16, 2];

    fn forms(target: Target) -> Vec<Form> {
        matrix::forms(target)
    }
}

impl<T: Computes> Suite for T {
    type Task = Form;
    type Outcome = FormResult;
    const NAME: &'static str = T::NAME;

    fn tasks(target: Target) -> Vec<Form> {
        T::forms(target)
    }

    fn name(task: &Form) -> String {
        task.name()
    }

    fn run(task: &Form, _: Target, settings: Settings, gpu: &Gpu) -> FormResult {
        let [long, short] = T::VARIANTS;
        let variants = if settings.quick { short } else { long };
        judge::form(*task, settings.seed, variants, &mut gpu.runner())
    }

    fn lost(task: &Form, lost: Lost, message: String) -> FormResult {
        let status = if lost == Lost::Hung { Status::Hung } else { Status::Failed };
        FormResult { form: task.name(), cases: 0, status, differing: 0, first: None, message }
    }

    fn named(outcome: &FormResult) -> &str {
        &outcome.form
    }

    fn has_failed(outcome: &FormResult) -> bool {
        outcome.status == Status::Failed
    }
}

/// The suite `waits`: the wait states that two instructions need in between.
#[derive(Debug)]
pub struct Waits;

impl Suite for Waits {
    type Task = Task;
    type Outcome = RuleResult;
    const NAME: &'static str = "waits";

    fn tasks(target: Target) -> Vec<Task> {
        Task::all(target)
    }

    fn name(task: &Task) -> String {
        task.name().to_owned()
    }

    fn run(task: &Task, target: Target, settings: Settings, gpu: &Gpu) -> RuleResult {
        let effort = match settings.quick {
            true => Effort { pairs: 1, repeats: gpu.repeats(4), around: &[Surroundings::Alone] },
            false => Effort { pairs: 3, repeats: gpu.repeats(100), around: &Surroundings::ALL },
        };
        task.measure(target, settings.seed, effort, &mut gpu.runner())
    }

    fn lost(task: &Task, lost: Lost, message: String) -> RuleResult {
        let verdict = if lost == Lost::Hung { Verdict::Hung } else { Verdict::Failed };
        task.without_result(verdict, message)
    }

    fn named(outcome: &RuleResult) -> &str {
        &outcome.rule
    }

    fn has_failed(outcome: &RuleResult) -> bool {
        outcome.verdict == Verdict::Failed
    }
}

/// The suite `kernels`: the results of kernels, and their times.
#[derive(Debug)]
pub struct Kernels;

impl Suite for Kernels {
    type Task = &'static Lesson;
    type Outcome = KernelResult;
    const NAME: &'static str = "kernels";

    fn tasks(_: Target) -> Vec<&'static Lesson> {
        kernels::tasks()
    }

    fn name(task: &&'static Lesson) -> String {
        task.name.to_owned()
    }

    fn run(task: &&'static Lesson, _: Target, settings: Settings, gpu: &Gpu) -> KernelResult {
        let effort = if settings.quick { KernelEffort::QUICK } else { KernelEffort::LONG };
        let effort = KernelEffort { repeats: gpu.repeats(effort.repeats), ..effort };
        kernels::kernel(task, &gpu.as_device(), effort)
    }

    fn lost(task: &&'static Lesson, lost: Lost, message: String) -> KernelResult {
        let status = if lost == Lost::Hung { Status::Hung } else { Status::Failed };
        KernelResult { kernel: task.name.to_owned(), status, sizes: Vec::new(), message }
    }

    fn named(outcome: &KernelResult) -> &str {
        &outcome.kernel
    }

    fn has_failed(outcome: &KernelResult) -> bool {
        outcome.status == Status::Failed
    }
}

/// The suite `clock`: the parameters of the timed mode.
#[derive(Debug)]
pub struct Clock;

impl Suite for Clock {
    type Task = clock::Task;
    type Outcome = Experiment;
    const NAME: &'static str = "clock";

    fn tasks(target: Target) -> Vec<clock::Task> {
        clock::tasks(target)
    }

    fn name(task: &clock::Task) -> String {
        task.name.to_owned()
    }

    fn run(task: &clock::Task, target: Target, settings: Settings, gpu: &Gpu) -> Experiment {
        clock::run(*task, target, gpu.repeats(if settings.quick { 1 } else { 3 }), &mut gpu.runner())
    }

    fn lost(task: &clock::Task, _: Lost, message: String) -> Experiment {
        Experiment {
            experiment: task.name.to_owned(),
            measured: Vec::new(),
            curves: Vec::new(),
            message,
            failed: true,
        }
    }

    fn named(outcome: &Experiment) -> &str {
        &outcome.experiment
    }

    fn has_failed(outcome: &Experiment) -> bool {
        outcome.failed
    }
}
