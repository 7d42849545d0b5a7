//! The code objects of a file and its containers, and the selection among them.

use std::fmt::Write as _;

use gcn_emit::object::typed_arena::Arena;
use gcn_emit::object::{CodeObject, container, read_code_object};
use gcn_emit::target_id::{Feature, TargetId};

use crate::Error;

/// Storage for unpacked compressed bundles.
pub type Unpacked = Arena<Vec<u8>>;

/// The selection of a file's code objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// Of a container, the code objects for this target; also the target of assembly that names none.
    pub target: Option<TargetId>,
    /// Of a container, the code object with this number, from 1.
    pub entry: Option<usize>,
}

/// A code object of a file.
#[derive(Clone)]
pub struct Object<'d> {
    /// The name in messages: the file, and if it has several objects, number and name of this one.
    pub name: String,
    /// Its number in the file, from 1.
    pub number: usize,
    /// The name of the bundle's entry; empty if the file is the code object itself.
    pub entry: &'d str,
    /// The target that the container names.
    pub target_id: Option<TargetId>,
    /// An ELF file.
    pub bytes: &'d [u8],
}

impl Choice {
    /// The selected code objects; at least one. `bytes` are those of an ELF file or of a container.
    ///
    /// # Errors
    /// The file cannot be read, or nothing is selected.
    pub fn select<'d>(
        &self,
        name: &str,
        bytes: &'d [u8],
        unpacked: &'d Unpacked,
    ) -> Result<Vec<Object<'d>>, Error> {
        let all = objects(name, bytes, unpacked)?;
        let wanted = |o: &&Object<'_>| self.entry.is_none_or(|n| n == o.number) && self.fits(o.target_id);
        let found: Vec<_> = all.iter().filter(wanted).cloned().collect();
        match (found.is_empty(), all.as_slice()) {
            (false, _) => Ok(self.nearest(found)),
            (true, [only]) if only.entry.is_empty() => Err(self.another(name, only)),
            (true, _) => {
                let (target, entry) = (self.target, self.entry);
                Err(Error::NoneSelected { name: name.to_owned(), target, entry, there: there(&all) })
            }
        }
    }

    /// The selected code object. If there are several, the one with `kernel`.
    ///
    /// # Errors
    /// The file cannot be read, or not exactly one is selected.
    pub fn select_one<'d>(
        &self,
        name: &str,
        bytes: &'d [u8],
        unpacked: &'d Unpacked,
        kernel: Option<&str>,
    ) -> Result<Object<'d>, Error> {
        let mut found = self.select(name, bytes, unpacked)?;
        if let Some(kernel) = kernel.filter(|_| found.len() > 1) {
            let with: Vec<_> = found.iter().filter(|o| has_kernel(o, kernel)).cloned().collect();
            found = if with.is_empty() { found } else { with };
        }
        match found.as_slice() {
            [one] => Ok(one.clone()),
            several => Err(Error::Several { name: name.to_owned(), there: there(several) }),
        }
    }

    /// Whether a code object for `id` is selected: the same target, and no feature set to opposite values.
    fn fits(&self, id: Option<TargetId>) -> bool {
        let agree = |a: Feature, b: Feature| a == b || a == Feature::Any || b == Feature::Any;
        self.target.is_none_or(|wanted| {
            id.is_some_and(|id| {
                id.target == wanted.target
                    && agree(id.xnack, wanted.xnack)
                    && agree(id.sramecc, wanted.sramecc)
            })
        })
    }

    /// The code objects of `found` whose features agree best with the target id.
    fn nearest<'d>(&self, found: Vec<Object<'d>>) -> Vec<Object<'d>> {
        let Some(wanted) = self.target else { return found };
        let same = |o: &Object<'_>| {
            let count = |a: Feature, b: Feature| u8::from(a == b && a != Feature::Any);
            o.target_id.map_or(0, |id| count(id.xnack, wanted.xnack) + count(id.sramecc, wanted.sramecc))
        };
        let most = found.iter().map(same).max().unwrap_or(0);
        found.into_iter().filter(|o| same(o) == most).collect()
    }

    /// The error for a file that is a single code object other than the selected one.
    fn another(&self, name: &str, only: &Object<'_>) -> Error {
        let name = name.to_owned();
        match (self.target, only.target_id) {
            (Some(wanted), Some(is)) if self.entry.is_none_or(|n| n == only.number) => {
                Error::OtherTarget { name, wanted, is }
            }
            _ => Error::NoEntries { name },
        }
    }
}

/// True for the formats that [`Choice::select`] reads.
pub fn holds_objects(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF") || holds_several(bytes)
}

/// True for a bundle, and for a host file that contains bundles.
pub fn holds_several(bytes: &[u8]) -> bool {
    container::is_container(bytes)
}

/// Reads a code object; errors name the file.
///
/// # Errors
/// The bytes are not a code object of a supported target.
pub fn code_object<'d>(name: &str, bytes: &'d [u8]) -> Result<CodeObject<'d>, Error> {
    read_code_object(bytes).map_err(|e| Error::Object { name: name.to_owned(), problem: e.to_string() })
}

/// The error for a kernel that the object does not have; it lists the kernels.
pub fn no_such_kernel(file: &str, name: &str, object: &CodeObject<'_>) -> Error {
    const SHOWN: usize = 8;
    let mut message = format!("{file} has no kernel `{name}`");
    let mut names: Vec<_> = object.kernels.iter().map(|k| k.name).collect();
    // The nearest name first; the stable sort keeps the object's order of names at the same distance.
    names.sort_by_cached_key(|known| strsim::damerau_levenshtein(known, name));
    if names.is_empty() {
        message += "; it has no kernels";
    } else {
        let _ = write!(message, "; it has {}", names[..names.len().min(SHOWN)].join(", "));
        if names.len() > SHOWN {
            let _ = write!(message, " and {} more", names.len() - SHOWN);
        }
    }
    Error::NoKernel(message)
}

/// The code objects for supported targets.
fn objects<'d>(name: &str, bytes: &'d [u8], unpacked: &'d Unpacked) -> Result<Vec<Object<'d>>, Error> {
    if !holds_several(bytes) {
        let host = bytes.get(18..20).is_some_and(|machine| machine != [0xe0, 0]);
        let without = "; a host file has code for GPUs in the section `.hip_fatbin`, which this one lacks";
        let target_id = match code_object(name, bytes) {
            Ok(read) => read.target_id,
            Err(Error::Object { name, problem }) if host => {
                return Err(Error::Object { name, problem: problem + without });
            }
            Err(error) => return Err(error),
        };
        let (name, entry) = (name.to_owned(), "");
        return Ok(vec![Object { name, number: 1, entry, target_id: Some(target_id), bytes }]);
    }
    let entries = container::entries(bytes, unpacked);
    let entries = entries.map_err(|e| Error::Object { name: name.to_owned(), problem: e.to_string() })?;
    let ours = entries.iter().filter(|e| e.target_id.is_some() && !e.bytes.is_empty());
    let object = |(at, e): (usize, &container::Entry<'d>)| Object {
        name: format!("{name} ({}: {})", at + 1, e.name),
        number: at + 1,
        entry: e.name,
        target_id: e.target_id,
        bytes: e.bytes,
    };
    Ok(ours.enumerate().map(object).collect())
}

fn has_kernel(object: &Object<'_>, kernel: &str) -> bool {
    read_code_object(object.bytes).is_ok_and(|o| o.kernel(kernel).is_some())
}

/// The list of code objects for a message.
fn there(objects: &[Object<'_>]) -> String {
    const SHOWN: usize = 16;
    let one = |o: &Object<'_>| {
        let target = o.target_id.map_or_else(String::new, |id| id.to_string());
        format!("{} ({target})", o.number)
    };
    let mut text = objects.iter().take(SHOWN).map(one).collect::<Vec<_>>().join(", ");
    if objects.len() > SHOWN {
        let _ = write!(text, " and {} more, which --list shows", objects.len() - SHOWN);
    }
    if text.is_empty() { "it has none".to_owned() } else { format!("it has {text}") }
}
