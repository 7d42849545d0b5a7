//! User objects, which graphs keep alive until they are destroyed.

use std::collections::BTreeMap;

use crate::abi::{Code, Out, call, with};
use crate::error::{Error, Result};
use crate::host::{HostCall, Ptr};
use crate::state::{Object, State, lock};

/// `hipUserObjectNoDestructorSync`, the only supported flag, which is required.
const NO_SYNC: u32 = 1;
/// `hipGraphUserObjectMove`: the caller's references are transferred to the graph.
const MOVE: u32 = 1;

/// Checks a number of references, which must be at least 1 and fit in an `int`.
fn references(object: u64, count: u32) -> Result<u64> {
    let right = object != 0 && (1..=i32::MAX as u32).contains(&count);
    right.then_some(count.into()).ok_or(Error::InvalidValue)
}

pub(crate) extern "C" fn user_object_create(
    object: Out<u64>,
    data: Ptr,
    destroy: Option<extern "C" fn(Ptr)>,
    count: u32,
    flags: u32,
) -> Code {
    with(|s| {
        object.check()?;
        let destroy = destroy.filter(|_| flags == NO_SYNC).ok_or(Error::InvalidValue)?;
        let references = references(1, count)?;
        let destroy = HostCall::Plain(destroy, data);
        object.set(s.objects.add(Object { destroy, references, graphs: BTreeMap::new() }))
    })
}

pub(crate) extern "C" fn user_object_retain(object: u64, count: u32) -> Code {
    with(|s| {
        let count = references(object, count)?;
        s.objects.get_mut(object).into_iter().for_each(|found| found.references += count);
        Ok(())
    })
}

/// Releases references. If these were the last ones, calls the destructor, without holding the lock because the destructor may use the
/// runtime.
fn release(object: u64, count: u32, release: impl FnOnce(&mut State, u64) -> Option<HostCall>) -> Code {
    call(|| {
        let count = references(object, count)?;
        let last = release(&mut lock(), count);
        last.into_iter().for_each(HostCall::call);
        Ok(())
    })
}

pub(crate) extern "C" fn user_object_release(object: u64, count: u32) -> Code {
    release(object, count, |s, count| s.release(object, count))
}

pub(crate) extern "C" fn graph_retain_user_object(graph: u64, object: u64, count: u32, flags: u32) -> Code {
    with(|s| {
        let count = references(object, count)?;
        s.graphs.graphs.get(graph).ok_or(Error::InvalidValue)?;
        if flags & !MOVE != 0 {
            return Err(Error::InvalidValue);
        }
        if let Some(found) = s.objects.get_mut(object) {
            found.references += if flags == MOVE { 0 } else { count };
            *found.graphs.entry(graph).or_default() += count;
        }
        Ok(())
    })
}

pub(crate) extern "C" fn graph_release_user_object(graph: u64, object: u64, count: u32) -> Code {
    if lock().graphs.graphs.get(graph).is_none() {
        return call(|| Err(Error::InvalidValue));
    }
    release(object, count, |s, count| s.release_of_graph(graph, object, count))
}
