//! The order of the stages of a build, from the kernel's body to the code object.

use gcn_emit::encode::Encoded;
use gcn_emit::kernel::{KernelSpec, MAX_WORKGROUP};
use gcn_emit::object::ObjectError;
use gcn_emit::target_id::TargetId;
use gcn_isa::hazards::Config;
use gcn_isa::{Program, Target, check, delay};

use super::error::{BuildCause, BuildError};
use super::passes::Passes;
use super::registers::{self, Registers};
use super::{BuildOptions, Built, BuiltKernel, limits};
use crate::ir;
use crate::ir::mark::Mark;
use crate::ir::pipeline::Pipelined;
use crate::kernel::debug::Debug;
use crate::kernel::{spec, variables};
use crate::lang::{self, Arguments, Signature};
use crate::lower;
use crate::mir;
use crate::regalloc;
use crate::sched;
use crate::sched::islands;
use crate::sched::wait::{self, Inserted, WaitOptions};

/// Builds the kernel of this signature; `trace` runs the kernel's body. This function is not generic, so that a user's
/// crate does not compile the passes again for each kernel.
pub(crate) fn build(
    signature: Signature,
    trace: &dyn Fn(&mut Arguments),
    target: Target,
    options: &BuildOptions,
    observe: &mut dyn FnMut(&'static str),
) -> Result<BuiltKernel, BuildError> {
    let failed = BuildError::of(&signature.name);
    let (signature, ir) = traced(signature, trace, target, options).map_err(&failed)?;
    observe("trace");
    compiled(signature, ir, target, options, observe).map_err(failed)
}

/// Runs the kernel's body with `trace`, and returns its IR and the signature with its effective register limits.
pub(super) fn traced(
    mut signature: Signature,
    trace: &dyn Fn(&mut Arguments),
    target: Target,
    options: &BuildOptions,
) -> Result<(Signature, ir::Kernel), BuildCause> {
    signature.registers = signature.registers.replaced_by(options.registers);
    check_signature(&signature, target)?;
    let workgroup = signature.workgroup;

    // The macro has turned the kernel's tokens into Rust code, which `trace` runs to generate IR.
    let body = || trace(&mut Arguments::default());
    let stated = signature.wave_on(target);
    if let (Some(says), Some(asked)) = (stated, options.wave)
        && says != asked
    {
        return Err(BuildCause::OtherWave { says: says.lanes(), asked: asked.lanes() });
    }
    let wave = stated.or(options.wave);
    if let Some(wave) = wave.filter(|wave| !target.instruction_set().has_wave(*wave)) {
        return Err(BuildCause::Wave { target, lanes: wave.lanes(), has: target.wave_size() });
    }
    let tracing = lang::Tracing { wave, ..options.tracing() };
    let ir = lang::trace_with(&signature.name, target, workgroup, tracing, body)?;
    Ok((signature, ir))
}

/// Builds the kernel of this signature from the IR that the kernel's body generated.
pub(super) fn compiled(
    signature: Signature,
    mut ir: ir::Kernel,
    target: Target,
    options: &BuildOptions,
    observe: &mut dyn FnMut(&'static str),
) -> Result<BuiltKernel, BuildCause> {
    let (bytes, limit) = (ir.lds_bytes(), target.lds_per_cu());
    if bytes > limit {
        return Err(BuildCause::Lds { bytes, limit, target });
    }
    let mut passes = Passes::new(target, &signature, options);
    passes.run(&mut ir)?;
    let pipelines = passes.pipelines;
    observe("ir");
    from_ir(signature, ir, pipelines, target, options, observe)
}

/// Builds the kernel of this signature from IR on which the passes have already run.
pub(super) fn from_ir(
    signature: Signature,
    ir: ir::Kernel,
    pipelines: Vec<Pipelined>,
    target: Target,
    options: &BuildOptions,
    observe: &mut dyn FnMut(&'static str),
) -> Result<BuiltKernel, BuildCause> {
    let workgroup = signature.workgroup;
    let bytes = ir.lds_bytes();
    let room = limits::lds_room(&signature, target, &ir);
    // Instruction selection: IR to machine instructions.
    let (mut function, inputs) = lower::lower(&ir, target, workgroup)?;
    mir::dce::run(&mut function);
    mir::constants::run(&mut function);
    observe("lower");
    let limits = limits::of(&signature, target, ir.wave(), bytes)?;
    let mut scheduled = options.schedule.then(|| function.clone());
    if let Some(scheduled) = &mut scheduled {
        sched::list::schedule(scheduled)?;
        sched::priority::run(scheduled);
        sched::priority::run(&mut function);
    }
    observe("schedule");
    let lds = registers::Lds { room, workgroup };
    let Registers { mut allocated, inputs } = registers::assign(scheduled, function, inputs, &limits, lds)?;
    observe("registers");
    let mut program = allocated.program;
    let registers = allocated.values;
    regalloc::two_address::run(&mut program, &allocated.long);
    if options.schedule {
        sched::dual::run(&mut program, &mut allocated.marks, &allocated.named);
    }
    sched::cold::run(&mut program, &mut allocated.marks);
    sched::manual::resolve(&mut program, &mut allocated.marks)?;
    let target_id = TargetId { xnack: options.xnack, ..TargetId::any(target) };
    let rules = options.rules.with_xnack(target_id.may_replay());
    let (mut program, inserted) = with_waits(&program, &allocated.marks, options, rules, observe);
    let memory_model = check::MemoryModel::Strict;
    let waits = check::Options { rules, errata: false, memory_model };
    if let Some(finding) = check::check_with(&program, waits).findings.first() {
        return Err(BuildCause::Hazard(Box::new(finding.clone())));
    }

    observe("check");

    // Encoding: machine instructions to bytes.
    if !ir.constants.is_empty() {
        lower::constants::resolve(&mut program).map_err(Box::new)?;
    }
    let mut spec = spec::describe(&signature, &ir, inputs, program);
    spec.xnack = options.xnack;
    spec.source_lines = options.has_source_lines();
    spec.variables = variables::variables(&spec.program, &registers, &ir);
    spec.lds_bytes = spec.lds_bytes.max(allocated.spills.lds_end());
    limits::check(&signature, &spec)?;
    let (object, code) = emit(&spec)?;
    let debug = Debug::of(&spec.program, &code.offsets, &ir.debug);
    observe("emit");
    let built = Built {
        signature,
        ir,
        usage: allocated.usage,
        pressure: allocated.pressure,
        spills: allocated.spills,
        limits,
        pipelines,
        inserted,
        spec,
        code,
        object,
        debug,
    };
    Ok(built.into())
}

/// The program with waits and `s_delay_alu`, and with islands where branches would not reach their targets otherwise.
fn with_waits(
    program: &Program,
    marks: &[(usize, Mark)],
    options: &BuildOptions,
    rules: Config,
    observe: &mut dyn FnMut(&'static str),
) -> (Program, Vec<Inserted>) {
    // The size of the waits is known only after they have been inserted, and they depend on the islands, as on all branches.
    let mut reach = islands::REACH;
    loop {
        let (mut program, mut marks) = (program.clone(), marks.to_vec());
        islands::place(&mut program, &mut marks, reach);
        let fill = (options.schedule && options.fill).then(|| sched::fence::fences(&program, &marks));
        let mut inserted =
            wait::insert_waits(&mut program, &WaitOptions { fill, rules, ..WaitOptions::default() });
        observe("waits");
        if options.delays {
            delay::insert_delays(&mut program, &mut inserted);
        }
        observe("delays");
        if reach < islands::REACH / 8 || islands::suffices(&program) {
            return (program, inserted);
        }
        reach -= reach / 5;
    }
}

/// Writes the code object of a kernel, and returns it with the encoded instructions.
pub(super) fn emit(spec: &KernelSpec) -> Result<(Vec<u8>, Encoded), BuildCause> {
    match gcn_emit::object::write_with_code(std::slice::from_ref(spec)) {
        Ok(mut written) => Ok((written.object, written.code.swap_remove(0))),
        Err(ObjectError::Encode { error, .. }) => Err(error.into()),
        Err(error) => Err(Box::new(error).into()),
    }
}

/// Checks that the kernel is written for the target, and that the target permits workgroups of its size.
pub(crate) fn check_signature(signature: &Signature, target: Target) -> Result<(), BuildCause> {
    if !signature.targets.contains(target) {
        let listed: Vec<&str> = signature.targets.targets().map(Target::name).collect();
        return Err(BuildCause::Target { target, listed: listed.join(", ") });
    }
    let [x, y, z] = signature.workgroup;
    let items = u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z));
    if items == 0 || items > MAX_WORKGROUP.into() {
        return Err(BuildCause::Workgroup { x, y, z });
    }
    Ok(())
}
