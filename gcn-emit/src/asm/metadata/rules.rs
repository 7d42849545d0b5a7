//! The required contents of metadata (guide, *Code Object Metadata*).
//!
//! The rules are those of LLVM's assembler: a missing or ill-typed key is an error, an unknown key is accepted. In addition, the types of
//! some keys are checked that LLVM's assembler ignores but readers need (`amdhsa.target`, `.agpr_count`, `.kind`).

use super::yaml::implicit;
use crate::metadata::Node;

/// A violation of a rule.
pub(super) struct Broken {
    /// The path of keys to the value.
    pub path: String,
    pub problem: &'static str,
}

/// The required type of a value.
enum Want {
    Text,
    Int,
    Bool,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A sequence of this many integers.
    Ints(usize),
    Texts,
    /// A sequence of maps.
    Maps(&'static [Rule]),
}

/// A key, whether it is required, and its value.
type Rule = (&'static str, bool, Want);

static ROOT: [Rule; 4] = [
    ("amdhsa.version", true, Want::Ints(2)),
    ("amdhsa.target", false, Want::Text),
    ("amdhsa.printf", false, Want::Texts),
    ("amdhsa.kernels", true, Want::Maps(&KERNEL)),
];

static KERNEL: [Rule; 25] = [
    (".name", true, Want::Text),
    (".symbol", true, Want::Text),
    (".kind", false, Want::Text),
    (".language", false, Want::OneOf(&["OpenCL C", "OpenCL C++", "HCC", "HIP", "OpenMP", "Assembler"])),
    (".language_version", false, Want::Ints(2)),
    (".args", false, Want::Maps(&ARGUMENT)),
    (".reqd_workgroup_size", false, Want::Ints(3)),
    (".workgroup_size_hint", false, Want::Ints(3)),
    (".vec_type_hint", false, Want::Text),
    (".device_enqueue_symbol", false, Want::Text),
    (".kernarg_segment_size", true, Want::Int),
    (".group_segment_fixed_size", true, Want::Int),
    (".private_segment_fixed_size", true, Want::Int),
    (".uses_dynamic_stack", false, Want::Bool),
    (".workgroup_processor_mode", false, Want::Int),
    (".kernarg_segment_align", true, Want::Int),
    (".wavefront_size", true, Want::Int),
    (".sgpr_count", true, Want::Int),
    (".vgpr_count", true, Want::Int),
    (".agpr_count", false, Want::Int),
    (".max_flat_workgroup_size", true, Want::Int),
    (".sgpr_spill_count", false, Want::Int),
    (".vgpr_spill_count", false, Want::Int),
    (".uniform_work_group_size", false, Want::Int),
    (".cluster_dims", false, Want::Ints(3)),
];

const ACCESS: &[&str] = &["read_only", "write_only", "read_write"];

static ARGUMENT: [Rule; 13] = [
    (".name", false, Want::Text),
    (".type_name", false, Want::Text),
    (".size", true, Want::Int),
    (".offset", true, Want::Int),
    (".value_kind", true, Want::OneOf(VALUE_KINDS)),
    (".pointee_align", false, Want::Int),
    (".address_space", false, Want::OneOf(&["private", "global", "constant", "local", "generic", "region"])),
    (".access", false, Want::OneOf(ACCESS)),
    (".actual_access", false, Want::OneOf(ACCESS)),
    (".is_const", false, Want::Bool),
    (".is_restrict", false, Want::Bool),
    (".is_volatile", false, Want::Bool),
    (".is_pipe", false, Want::Bool),
];

const VALUE_KINDS: &[&str] = &[
    "by_value",
    "global_buffer",
    "dynamic_shared_pointer",
    "sampler",
    "image",
    "pipe",
    "queue",
    "hidden_block_count_x",
    "hidden_block_count_y",
    "hidden_block_count_z",
    "hidden_group_size_x",
    "hidden_group_size_y",
    "hidden_group_size_z",
    "hidden_remainder_x",
    "hidden_remainder_y",
    "hidden_remainder_z",
    "hidden_global_offset_x",
    "hidden_global_offset_y",
    "hidden_global_offset_z",
    "hidden_grid_dims",
    "hidden_none",
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
    "hidden_heap_v1",
    "hidden_default_queue",
    "hidden_completion_action",
    "hidden_multigrid_sync_arg",
    "hidden_dynamic_lds_size",
    "hidden_private_base",
    "hidden_shared_base",
    "hidden_queue_ptr",
];

/// Checks a document. A string that was tagged as a string becomes a number or boolean where the schema requires one.
pub(super) fn check(root: &mut Node) -> Result<(), Broken> {
    map(root, &ROOT, "the document")
}

fn map(node: &mut Node, rules: &[Rule], path: &str) -> Result<(), Broken> {
    let Node::Map(entries) = node else { return Err(broken(path, "has to be a map")) };
    for (key, required, want) in rules {
        let path = format!("{path}: {key}");
        match entries.iter_mut().find(|(name, _)| matches!(name, Node::Text(name) if name == key)) {
            Some((_, value)) => check_value(value, want, &path)?,
            None if *required => return Err(broken(&path, "is missing")),
            None => {}
        }
    }
    Ok(())
}

fn check_value(node: &mut Node, want: &Want, path: &str) -> Result<(), Broken> {
    match want {
        Want::Text if matches!(node, Node::Text(_)) => Ok(()),
        Want::Text => Err(broken(path, "has to be a text; write `!str` in front of it")),
        Want::Int => {
            reread(node);
            match node {
                Node::UInt(number) if u32::try_from(*number).is_ok() => Ok(()),
                // Neither the loader nor our own reader accepts larger values.
                Node::UInt(_) | Node::Int(_) => Err(broken(path, "has to be from 0 to 4294967295")),
                _ => Err(broken(path, "has to be an integer")),
            }
        }
        Want::Bool => {
            reread(node);
            if matches!(node, Node::Bool(_)) {
                Ok(())
            } else {
                Err(broken(path, "has to be `true` or `false`"))
            }
        }
        Want::OneOf(texts) => match node {
            Node::Text(text) if texts.contains(&text.as_str()) => Ok(()),
            _ => Err(broken(path, "has none of the values that it may have")),
        },
        Want::Ints(count) => {
            items(node, Some(*count), path, |item, path| check_value(item, &Want::Int, path))
        }
        Want::Texts => items(node, None, path, |item, path| check_value(item, &Want::Text, path)),
        Want::Maps(rules) => items(node, None, path, |item, path| map(item, rules, path)),
    }
}

fn reread(node: &mut Node) {
    if let Node::Text(text) = node {
        *node = implicit(text);
    }
}

fn items(
    node: &mut Node,
    count: Option<usize>,
    path: &str,
    mut check: impl FnMut(&mut Node, &str) -> Result<(), Broken>,
) -> Result<(), Broken> {
    let Node::Seq(items) = node else { return Err(broken(path, "has to be a sequence")) };
    if count.is_some_and(|count| count != items.len()) {
        return Err(broken(path, "has another number of items"));
    }
    items.iter_mut().enumerate().try_for_each(|(i, item)| check(item, &format!("{path}[{i}]")))
}

fn broken(path: &str, problem: &'static str) -> Broken {
    Broken { path: path.trim_start_matches("the document: ").to_owned(), problem }
}
