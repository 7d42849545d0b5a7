//! Finds the code objects in a file or container, and selects among them.

use std::borrow::Cow;
use std::fmt::Write as _;

use gcn_emit::object::{CodeObject, ObjectError, container, read_code_object};
use gcn_emit::target_id::{Feature, TargetId};
use gcn_isa::WaveSize;

use crate::Error;

/// Criteria for selecting a file's code objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// In a container, the target of the code objects to select; also the target of assembly that does not specify one. A single object and
    /// assembly that specifies a target must agree with it. `None` selects code objects for any target.
    pub target: Option<TargetId>,
    /// The wave size of assembly that does not specify one; `None` means the usual size on the target.
    pub wave: Option<WaveSize>,
    /// In a container, the number of the code object to select, from 1; `None` selects code objects with any number.
    pub entry: Option<usize>,
}

/// A code object of a file.
#[derive(Clone)]
pub struct Object<'d> {
    /// The name for messages: the file and, if it contains several objects, the number and name of this one.
    pub name: String,
    /// Its number in the file, from 1.
    pub number: usize,
    /// The name of the bundle's entry; empty if the file is the code object itself.
    pub entry: Cow<'d, str>,
    /// The target that the container states, or that of the code object itself if the file is not a container.
    pub target_id: Option<TargetId>,
    /// An ELF file.
    pub bytes: Cow<'d, [u8]>,
}

impl Object<'_> {
    /// The same object with owned data.
    fn into_owned(self) -> Object<'static> {
        let (entry, bytes) = (self.entry.into_owned().into(), self.bytes.into_owned().into());
        Object { entry, bytes, ..self }
    }
}

impl Choice {
    /// Calls `visit` for the selected code objects, of which there is at least one. `bytes` are the contents of an ELF file or of a
    /// container, whose bundles are unpacked one at a time.
    ///
    /// If the file cannot be read or nothing is selected; also the errors that `visit` returns.
    pub fn each<E: From<Error>>(
        &self,
        name: &str,
        bytes: &[u8],
        mut visit: impl FnMut(Object<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !holds_several(bytes) {
            let only = single(name, bytes)?;
            return if self.wants(&only) { visit(only) } else { Err(self.another(name, &only).into()) };
        }
        let damaged = |number: usize, error: ObjectError| Error::Object {
            name: name.to_owned(),
            problem: format!("bundle {number}: {error}"),
        };
        let (mut before, mut found) = (Vec::new(), false);
        let bundles = container::bundles(bytes).map_err(|error| damaged(1, error))?;
        for (bundle, number) in bundles.zip(1..) {
            if self.entry.is_some_and(|entry| entry <= before.len()) {
                break;
            }
            let bundle = bundle.map_err(|error| damaged(number, error))?;
            let entries = bundle.entries().map_err(|error| damaged(number, error))?;
            let ours = entries.iter().filter(|e| e.target_id.is_some() && !e.bytes.is_empty());
            let objects = ours.zip(before.len() + 1..).map(|(entry, number)| Object {
                name: format!("{name} ({number}: {})", entry.name),
                number,
                entry: entry.name.into(),
                target_id: entry.target_id,
                bytes: entry.bytes.into(),
            });
            let objects: Vec<_> = objects.collect();
            before.extend(objects.iter().map(Listed::of));
            for object in self.nearest(objects.into_iter().filter(|o| self.wants(o)).collect()) {
                found = true;
                visit(object)?;
            }
        }
        if found {
            return Ok(());
        }
        let (name, target, entry) = (name.to_owned(), self.target, self.entry);
        Err(Error::NoneSelected { name, target, entry, there: there(&before) }.into())
    }

    /// The selected code object; if there are several, the one that contains `kernel`.
    ///
    /// If the file cannot be read, or if the selection is not exactly one code object.
    pub fn select_one<'d>(
        &self,
        name: &str,
        bytes: &'d [u8],
        kernel: Option<&str>,
    ) -> Result<Object<'d>, Error> {
        if !holds_several(bytes) {
            let only = single(name, bytes)?;
            return if self.wants(&only) { Ok(only) } else { Err(self.another(name, &only)) };
        }
        // The first candidate, and the first candidate that contains the kernel.
        let mut firsts: [Option<Object<'static>>; 2] = [None, None];
        let mut listed: [Vec<Listed>; 2] = [Vec::new(), Vec::new()];
        self.each(name, bytes, |object| {
            let has_it = kernel.is_some_and(|kernel| has_kernel(&object, kernel));
            let fits = [true, has_it];
            for ((first, listed), _) in firsts.iter_mut().zip(&mut listed).zip(fits).filter(|(_, fits)| *fits)
            {
                listed.push(Listed::of(&object));
                if first.is_none() {
                    *first = Some(object.clone().into_owned());
                }
            }
            Ok::<_, Error>(())
        })?;
        let ([first, first_with], [all, with]) = (firsts, listed);
        let (one, several) = if with.is_empty() { (first, all) } else { (first_with, with) };
        match one.filter(|_| several.len() == 1) {
            Some(one) => Ok(one),
            None => Err(Error::Several { name: name.to_owned(), there: there(&several) }),
        }
    }

    /// True if the criteria select this code object.
    fn wants(&self, object: &Object<'_>) -> bool {
        self.entry.is_none_or(|n| n == object.number) && self.fits(object.target_id)
    }

    /// True if a code object for `id` is selected: it has the same target, and no feature with the opposite setting.
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

    /// The code objects of a bundle whose feature settings agree best with the target ID. Each bundle contains the code of one source file,
    /// and the loader selects one object from each.
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

/// True for the formats that [`Choice::each`] reads.
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

/// The code object in a file that is not a container.
fn single<'d>(name: &str, bytes: &'d [u8]) -> Result<Object<'d>, Error> {
    if !bytes.is_empty() && !holds_objects(bytes) && std::str::from_utf8(bytes).is_ok() {
        let problem = "this is text, not a code object; if it is assembly, `gcn asm` assembles it".to_owned();
        return Err(Error::NotCode { name: name.to_owned(), problem });
    }
    let host = bytes.starts_with(b"\x7fELF") && bytes.get(18..20).is_some_and(|machine| machine != [0xe0, 0]);
    let without = "; a host file has code for GPUs in the section `.hip_fatbin`, which this one lacks";
    let target_id = match code_object(name, bytes) {
        Ok(read) => read.target_id,
        Err(Error::Object { name, problem }) if host => {
            return Err(Error::Object { name, problem: problem + without });
        }
        Err(error) => return Err(error),
    };
    let (name, entry) = (name.to_owned(), "".into());
    Ok(Object { name, number: 1, entry, target_id: Some(target_id), bytes: bytes.into() })
}

fn has_kernel(object: &Object<'_>, kernel: &str) -> bool {
    read_code_object(&object.bytes).is_ok_and(|o| o.kernel(kernel).is_some())
}

/// The description of a code object for messages.
struct Listed {
    number: usize,
    target_id: Option<TargetId>,
}

impl Listed {
    fn of(object: &Object<'_>) -> Listed {
        Listed { number: object.number, target_id: object.target_id }
    }
}

/// A list of code objects for a message.
fn there(objects: &[Listed]) -> String {
    const SHOWN: usize = 16;
    let one = |o: &Listed| {
        let target = o.target_id.map_or_else(String::new, |id| id.to_string());
        format!("{} ({target})", o.number)
    };
    let mut text = objects.iter().take(SHOWN).map(one).collect::<Vec<_>>().join(", ");
    if objects.len() > SHOWN {
        let _ = write!(text, " and {} more, which --list shows", objects.len() - SHOWN);
    }
    if text.is_empty() { "it has none".to_owned() } else { format!("it has {text}") }
}
