//! Checks that the modules of each crate form layers: imports between the modules that one module declares must not form a cycle, at the
//! top or in any folder.
//!
//! The sources are parsed, not compiled. An import is a path in an item, an expression or the tokens of a macro that starts with `crate`,
//! `self`, `super`, the crate's name, a submodule or an imported module. It counts as an import from the module that defines what the path
//! names, after following re-exports; at the top level also from the modules that re-export it. A module and its submodules are one unit
//! for their siblings, and may import each other. Code under `#[cfg(test)]` and links in doc comments do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// The crates that are checked, each with its root file.
const CRATES: [(&str, &str); 9] = [
    ("gcn-isa", "lib.rs"),
    ("gcn-emit", "lib.rs"),
    ("gcn-dsl", "lib.rs"),
    ("gcn-dsl-macros", "lib.rs"),
    ("gcn-sim", "lib.rs"),
    ("gcn-report", "lib.rs"),
    ("gcn-probe", "lib.rs"),
    ("gcn-cli", "main.rs"),
    ("gcn-hip", "lib.rs"),
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the repository")
}

/// The names of the modules from the crate root to a module; empty for the root.
type ModulePath = Vec<String>;

/// An imported path, and the module in which it is written.
struct Import {
    from: ModulePath,
    path: Vec<String>,
    place: String,
}

/// The modules of one crate, the names that each brings into scope, and all imports.
#[derive(Default)]
struct Crate {
    name: String,
    /// For each module, the names that `use` declares in it, with the paths that they stand for.
    modules: BTreeMap<ModulePath, BTreeMap<String, Vec<String>>>,
    /// For each module, the paths of its glob imports (`use …::*`).
    globs: BTreeMap<ModulePath, Vec<Vec<String>>>,
    /// For each module, the names of the items that it defines.
    items: BTreeMap<ModulePath, BTreeSet<String>>,
    imports: Vec<Import>,
    /// Messages about constructs that the reader cannot follow.
    faults: Vec<String>,
}

impl Crate {
    /// Reads a crate, from its root file through all `mod` declarations.
    fn read(folder: &Path, root: &str) -> Self {
        let name = folder.file_name().expect("a crate's folder").to_string_lossy().replace('-', "_");
        let mut krate = Crate { name, ..Crate::default() };
        let src = folder.join("src");
        krate.file(&src.join(root), &src, Vec::new());
        krate
    }

    fn file(&mut self, file: &Path, folder: &Path, module: ModulePath) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.text(&text, file, folder, module);
    }

    /// Reads the source text of a module; `folder` has the files of its submodules.
    fn text(&mut self, text: &str, file: &Path, folder: &Path, module: ModulePath) {
        let parsed = syn::parse_file(text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.modules.insert(module.clone(), BTreeMap::new());
        let folders = vec![folder.to_owned()];
        Reader { krate: self, file, folders, module, depth: 0 }.visit_file(&parsed);
    }

    /// All modules that a path written in `from` passes through until it reaches its item, including modules that only re-export.
    fn named(&self, from: &ModulePath, path: &[String]) -> BTreeSet<ModulePath> {
        let mut found = BTreeSet::new();
        self.follow(from, path, &mut found, 0);
        found
    }

    fn follow(&self, from: &ModulePath, path: &[String], found: &mut BTreeSet<ModulePath>, depth: usize) {
        assert!(depth < 32, "re-exports of {} in {} lead round a circle", path.join("::"), from.join("::"));
        let mut module = from.clone();
        for (at, segment) in path.iter().enumerate() {
            match segment.as_str() {
                "crate" => module.clear(),
                own if at == 0 && own == self.name => module.clear(),
                "self" => {}
                "super" => drop(module.pop()),
                name => {
                    let mut child = module.clone();
                    child.push(name.to_owned());
                    if self.modules.contains_key(&child) {
                        module = child;
                        found.insert(module.clone());
                    } else if let Some(target) = self.modules[&module].get(name) {
                        let whole: Vec<String> = target.iter().chain(&path[at + 1..]).cloned().collect();
                        // `use foo::foo` refers to a sibling module or a crate, not to itself.
                        if target.first() != Some(segment) {
                            self.follow(&module, &whole, found, depth + 1);
                        }
                        return;
                    } else {
                        return;
                    }
                }
            }
        }
    }

    /// The import edges between top-level modules, each with the locations of the imports.
    fn graph(&self) -> BTreeMap<(String, String), BTreeSet<String>> {
        let mut edges: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for import in self.imports.iter().filter(|import| self.is_own(import)) {
            let Some(from) = import.from.first() else { continue };
            for to in self.named(&import.from, &import.path) {
                if to[0] != *from {
                    edges.entry((from.clone(), to[0].clone())).or_default().insert(import.place.clone());
                }
            }
        }
        edges
    }

    fn is_own(&self, import: &Import) -> bool {
        import
            .path
            .first()
            .is_some_and(|first| ["crate", "self", "super"].contains(&first.as_str()) || *first == self.name)
    }

    /// Whether a module has an item, a submodule or an import of this name.
    fn has(&self, module: &ModulePath, name: &str, depth: usize) -> bool {
        let child = || module.iter().cloned().chain([name.to_owned()]).collect::<ModulePath>();
        self.modules[module].contains_key(name)
            || self.items.get(module).is_some_and(|items| items.contains(name))
            || self.modules.contains_key(&child())
            || self.by_glob(module, name, depth).is_some()
    }

    /// The module whose glob import brings a name into `module`.
    fn by_glob(&self, module: &ModulePath, name: &str, depth: usize) -> Option<ModulePath> {
        let globs = self.globs.get(module).filter(|_| depth < 8)?;
        let modules = globs.iter().filter_map(|path| self.definition(module, path, depth + 1));
        modules.filter(|of| of != module).find(|of| self.has(of, name, depth + 1))
    }

    /// The module that defines the item named by a path written in `from`; `None` for items of other crates.
    fn definition(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        assert!(depth < 32, "re-exports of {} in {} lead round a circle", path.join("::"), from.join("::"));
        let mut module = from.clone();
        for (at, segment) in path.iter().enumerate() {
            match segment.as_str() {
                "crate" => module.clear(),
                own if at == 0 && own == self.name => module.clear(),
                "self" => {}
                "super" => drop(module.pop()),
                name => {
                    let rest = &path[at + 1..];
                    let mut child = module.clone();
                    child.push(name.to_owned());
                    if self.modules.contains_key(&child) {
                        module = child;
                    } else if let Some(target) = self.modules[&module].get(name) {
                        if target.first() == Some(segment) {
                            return None;
                        }
                        let whole: Vec<String> = target.iter().chain(rest).cloned().collect();
                        return self.definition(&module, &whole, depth + 1);
                    } else if at == 0 {
                        return None;
                    } else if let Some(of) = self.by_glob(&module, name, depth) {
                        let there: Vec<String> = [&["self".to_owned()], &path[at..]].concat();
                        return self.definition(&of, &there, depth + 1);
                    } else {
                        return Some(module);
                    }
                }
            }
        }
        Some(module)
    }

    /// The import edges between the modules that `parent` declares, each with the locations of the imports.
    fn inside(&self, parent: &ModulePath) -> BTreeMap<(String, String), BTreeSet<String>> {
        let mut edges: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        let child = |module: &ModulePath| match module.strip_prefix(&parent[..]) {
            Some([child, ..]) => Some(child.clone()),
            _ => None,
        };
        for import in &self.imports {
            let Some(from) = child(&import.from) else { continue };
            let to = self.definition(&import.from, &import.path, 0).as_ref().and_then(child);
            if let Some(to) = to.filter(|to| *to != from) {
                edges.entry((from, to)).or_default().insert(import.place.clone());
            }
        }
        edges
    }
}

/// The syntax-tree visitor for one file. `module` and `folders` keep track of inline modules.
struct Reader<'c> {
    krate: &'c mut Crate,
    file: &'c Path,
    folders: Vec<PathBuf>,
    module: ModulePath,
    /// Nesting depth in function bodies, where `use` brings nothing into the module's scope.
    depth: usize,
}

impl Reader<'_> {
    fn place(&self, span: Span) -> String {
        let file = self.file.strip_prefix(repository()).unwrap_or(self.file);
        format!("{}:{}", file.display(), span.start().line)
    }

    fn import(&mut self, path: Vec<String>, span: Span) {
        let place = self.place(span);
        self.krate.imports.push(Import { from: self.module.clone(), path, place });
    }

    fn tree(&mut self, tree: &syn::UseTree, path: &[String]) {
        let joined = |name: &syn::Ident| path.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        let (name, path, span) = match tree {
            syn::UseTree::Path(inner) => return self.tree(&inner.tree, &joined(&inner.ident)),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(tree, path);
                }
                return;
            }
            syn::UseTree::Glob(star) => {
                let span = star.star_token.spans[0];
                if self.krate.named(&self.module, path).is_empty() && self.is_root(path) {
                    let place = self.place(span);
                    self.krate.faults.push(format!("{place}: imports all of the crate root"));
                }
                if self.depth == 0 {
                    self.krate.globs.entry(self.module.clone()).or_default().push(path.to_vec());
                }
                return self.import(path.to_vec(), span);
            }
            syn::UseTree::Name(leaf) if leaf.ident == "self" => {
                (path.last().cloned().unwrap_or_default(), path.to_vec(), leaf.ident.span())
            }
            syn::UseTree::Name(leaf) => (leaf.ident.to_string(), joined(&leaf.ident), leaf.ident.span()),
            syn::UseTree::Rename(leaf) => (leaf.rename.to_string(), joined(&leaf.ident), leaf.rename.span()),
        };
        if self.depth == 0 {
            let scope = self.krate.modules.get_mut(&self.module).expect("a module that is being read");
            scope.insert(name, path.clone());
        }
        self.import(path, span);
    }

    /// Whether a path consists only of keywords and denotes the crate root, seen from this module.
    fn is_root(&self, path: &[String]) -> bool {
        let supers = path.iter().filter(|s| *s == "super").count();
        !self.module.is_empty()
            && match path.first().map(String::as_str) {
                Some("crate") => path.len() == 1,
                Some("super") => path.len() == supers && supers == self.module.len(),
                _ => false,
            }
    }

    /// Finds paths in the tokens of a macro: `crate::a::b`, and `crate::{a, b}` in declarations that it generates.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    loop {
                        let mut ahead = tokens.clone();
                        let colons = (ahead.next(), ahead.next());
                        let colon = |t: &Option<TokenTree>| matches!(t, Some(TokenTree::Punct(p)) if p.as_char() == ':');
                        if !(colon(&colons.0) && colon(&colons.1)) {
                            break;
                        }
                        match ahead.next() {
                            Some(TokenTree::Ident(next)) => path.push(next.to_string()),
                            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                                self.group(&path, group.stream());
                            }
                            _ => break,
                        }
                        tokens = ahead;
                    }
                    self.import(path, first.span());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Finds the names in `path::{…}` in the tokens of a macro, one level deep.
    fn group(&mut self, path: &[String], tokens: TokenStream) {
        let mut starts = true;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if starts => {
                    let path = path.iter().cloned().chain([name.to_string()]).collect();
                    self.import(path, name.span());
                    starts = false;
                }
                TokenTree::Punct(comma) if comma.as_char() == ',' => starts = true,
                _ => {}
            }
        }
    }

    fn module(&mut self, declared: &syn::ItemMod) {
        let name = declared.ident.to_string();
        let folder = self.folders.last().expect("the file's folder").join(&name);
        let mut module = self.module.clone();
        module.push(name.clone());
        if let Some((_, items)) = &declared.content {
            self.krate.modules.insert(module.clone(), BTreeMap::new());
            let outer = std::mem::replace(&mut self.module, module);
            self.folders.push(folder);
            for item in items {
                self.visit_item(item);
            }
            self.folders.pop();
            self.module = outer;
            return;
        }
        let file = [folder.with_extension("rs"), folder.join("mod.rs")].into_iter().find(|f| f.is_file());
        match file {
            Some(file) => self.krate.file(&file, &folder, module),
            None => {
                let place = self.place(declared.ident.span());
                self.krate.faults.push(format!("{place}: no file of module {name}"));
            }
        }
    }
}

/// Whether an item is compiled only for tests.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Const(i) => &i.attrs,
            syn::Item::Enum(i) => &i.attrs,
            syn::Item::Fn(i) => &i.attrs,
            syn::Item::Impl(i) => &i.attrs,
            syn::Item::Macro(i) => &i.attrs,
            syn::Item::Mod(i) => &i.attrs,
            syn::Item::Static(i) => &i.attrs,
            syn::Item::Struct(i) => &i.attrs,
            syn::Item::Trait(i) => &i.attrs,
            syn::Item::Type(i) => &i.attrs,
            syn::Item::Use(i) => &i.attrs,
            _ => return visit::visit_item(self, item),
        };
        let name = match item {
            _ if is_test(attributes) || self.depth > 0 => None,
            syn::Item::Const(i) => Some(&i.ident),
            syn::Item::Enum(i) => Some(&i.ident),
            syn::Item::Fn(i) => Some(&i.sig.ident),
            syn::Item::Macro(i) => i.ident.as_ref(),
            syn::Item::Static(i) => Some(&i.ident),
            syn::Item::Struct(i) => Some(&i.ident),
            syn::Item::Trait(i) => Some(&i.ident),
            syn::Item::Type(i) => Some(&i.ident),
            _ => None,
        };
        if let Some(name) = name {
            self.krate.items.entry(self.module.clone()).or_default().insert(name.to_string());
        }
        match item {
            _ if is_test(attributes) => {}
            syn::Item::Mod(declared) => self.module(declared),
            syn::Item::Use(used) => self.tree(&used.tree, &[]),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.depth += 1;
        visit::visit_block(self, block);
        self.depth -= 1;
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            let names = path.segments.iter().map(|s| s.ident.to_string()).collect();
            self.import(names, first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.tokens(invoked.tokens.clone());
        visit::visit_macro(self, invoked);
    }

    // `pub(in path)` names an enclosing module, which is not an import.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    // Documentation may link across layers.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// The strongly connected components with more than one node.
fn cycles<'g>(edges: impl Iterator<Item = (&'g str, &'g str)>) -> Vec<BTreeSet<&'g str>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().push(to);
    }
    let reached = |from: &'g str| {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(node) = open.pop() {
            open.extend(next.get(node).into_iter().flatten().filter(|to| found.insert(**to)));
        }
        found
    };
    let reach: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|from| (*from, reached(from))).collect();
    let joined = |a: &str, b: &str| reach[a].contains(b) && reach.get(b).is_some_and(|r| r.contains(a));
    let sets: BTreeSet<BTreeSet<&str>> = reach
        .keys()
        .filter(|node| joined(node, node))
        .map(|node| reach[node].iter().copied().filter(|other| joined(node, other)).collect())
        .collect();
    sets.into_iter().collect()
}

/// Describes the cycles in a graph of modules: the modules of each, and the location of each edge between them.
fn report(whose: &str, edges: &BTreeMap<(String, String), BTreeSet<String>>) -> Vec<String> {
    let mut lines = Vec::new();
    for cycle in cycles(edges.keys().map(|(from, to)| (from.as_str(), to.as_str()))) {
        let names = cycle.iter().copied().collect::<Vec<_>>().join(", ");
        lines.push(format!("{whose}: import cycle of {} modules: {names}", cycle.len()));
        for ((from, to), places) in edges {
            if cycle.contains(from.as_str()) && cycle.contains(to.as_str()) {
                let first = places.first().expect("an edge has a place");
                let more =
                    if places.len() > 1 { format!(" and {} more", places.len() - 1) } else { String::new() };
                lines.push(format!("  {from} -> {to}  {first}{more}"));
            }
        }
    }
    lines
}

#[test]
fn no_import_cycle_between_modules() {
    let mut found = Vec::new();
    for (name, root) in CRATES {
        let krate = Crate::read(&repository().join(name), root);
        assert!(krate.modules.len() > 5 && krate.imports.len() > 20, "{name}: sources were not read");
        found.extend(krate.faults.clone());
        found.extend(report(name, &krate.graph()));
        for parent in krate.modules.keys() {
            let whose = [&[name.to_owned()], &parent[..]].concat().join("::");
            found.extend(report(&whose, &krate.inside(parent)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A crate whose root file has this text, with inline modules.
fn crate_of(text: &str) -> Crate {
    let mut krate = Crate { name: "own".to_owned(), ..Crate::default() };
    krate.text(text, Path::new("lib.rs"), Path::new("src"), Vec::new());
    krate
}

#[test]
fn imports_of_every_form_are_edges() {
    let edges = |body: &str| {
        let text = format!(
            "pub use d::deep::Item as Renamed; pub use inner::Passed;\n\
             mod a {{ {body} }}\n\
             mod b {{ pub struct B; }} mod c {{ pub fn f() {{}} }} mod d {{ pub mod deep {{ pub struct Item; }} }}\n\
             mod inner {{ pub use super::c::f as Passed; }}"
        );
        let graph = crate_of(&text).graph();
        let from_a = graph.keys().filter(|(from, _)| from == "a").map(|(_, to)| to.clone());
        from_a.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(edges("use crate::b::B;"), "b");
    assert_eq!(edges("use super::{b::{self, B}, d::deep::Item}; use crate::c::*;"), "b c d");
    assert_eq!(edges("use own::b;"), "b");
    assert_eq!(edges("mod x { mod y { use super::super::super::c; use super::super::e; } }"), "c");
    // Re-exported by the root: the edge goes to the module that defines the item, not to the modules that the defining module imports.
    assert_eq!(edges("use crate::Renamed;"), "d");
    assert_eq!(edges("fn f(x: crate::Renamed) -> Vec<crate::b::B> { crate::c::f() }"), "b c d");
    assert_eq!(edges("use crate::Passed;"), "c inner");
    // Paths in the tokens of macros.
    assert_eq!(edges("fn f() { println!(\"{}\", [crate::c::f(), super::b::B]) }"), "b c");
    assert_eq!(edges("macro_rules! m { () => { use $crate::{b::B, d}; } }"), "b d");
    // Paths that are not imports.
    assert_eq!(edges("use std::b; fn f(b: u8) { b::c(); self::b() } mod b { pub fn c() {} }"), "");
    assert_eq!(edges("/// [`crate::b`]\n pub(in crate::a) struct S;"), "");
    assert_eq!(edges("#[cfg(test)] mod tests { use crate::b; } #[test] fn f() { crate::c::f() }"), "");
    assert_eq!(edges("struct S; impl S { #[cfg(test)] fn f() { crate::c::f() } }"), "");
}

#[test]
fn imports_between_neighbours_are_edges_to_what_defines() {
    let edges = |at: &str, text: &str| {
        let graph = crate_of(text).inside(&vec![at.to_owned()]);
        graph.keys().map(|(from, to)| format!("{from}{to}")).collect::<Vec<_>>().join(" ")
    };
    let around = |body: &str| {
        format!(
            "mod m {{ mod a {{ {body} }} mod b {{ pub struct B; pub fn f() {{}} }} mod c {{ pub use super::b::*; }} pub use c::*; }}\n\
             pub use m::B; mod other {{ pub use crate::m::b::f; }}"
        )
    };
    assert_eq!(edges("m", &around("use super::b;")), "ab cb");
    // A re-export leads to the module of the definition: re-exported by name, through a glob, and by a module other than the root.
    assert_eq!(edges("m", &around("use super::B;")), "ab cb");
    assert_eq!(edges("m", &around("use super::c::B;")), "ab cb");
    assert_eq!(edges("m", &around("use crate::B;")), "ab cb");
    assert_eq!(edges("m", &around("fn g() { crate::other::f() }")), "ab cb");
    // Paths through an imported module count; names that the module defines itself, and unknown names, do not.
    assert_eq!(edges("m", &around("use crate::other; fn g() { other::f() }")), "ab cb");
    assert_eq!(edges("m", &around("mod b { pub fn f() {} } fn g() { b::f() }")), "cb");
    assert_eq!(edges("m", &around("use std::b; fn g() { b::f() }")), "cb");
}

#[test]
fn a_cycle_is_reported_with_its_places() {
    let text =
        "mod a { use crate::b; }\nmod b { use crate::c; }\nmod c { use crate::a; use crate::d; }\nmod d {}";
    let lines = [
        "own: import cycle of 3 modules: a, b, c",
        "  a -> b  lib.rs:1",
        "  b -> c  lib.rs:2",
        "  c -> a  lib.rs:3",
    ];
    let of = |text: &str| report("own", &crate_of(text).graph());
    assert_eq!(of(text), lines);
    assert_eq!(of("mod a { use crate::b; }\nmod b {}"), [""; 0]);
    assert_eq!(crate_of("mod a { use super::*; }").faults, ["lib.rs:1: imports all of the crate root"]);
    let inside = |text: &str| report("own", &crate_of(text).inside(&vec!["m".to_owned()]));
    assert_eq!(
        inside("mod m { mod a { use super::b::B; }\nmod b { use super::a; pub struct B; } }").len(),
        3
    );
    assert_eq!(inside("mod m { mod a { use super::B; } struct B; fn f() { a::g() } }"), [""; 0]);
}
