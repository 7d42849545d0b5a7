//! Pages of the repository as chapters, and the check of the book's links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The repository on the web.
const WEB: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// A page of the repository as a chapter: links to its neighbours stay if `here` has them, others lead to the repository on the web.
///
/// `folder` is the page's folder in the repository.
pub fn chapter(text: &str, folder: &str, here: &BTreeSet<String>) -> String {
    let linked = |target: &str| -> String {
        let (file, anchor) =
            target.split_once('#').map_or((target, String::new()), |(f, a)| (f, format!("#{a}")));
        if file.is_empty() || file.contains("://") || here.contains(file) {
            return target.to_owned();
        }
        format!("{WEB}{}{anchor}", plain(&Path::new(folder).join(file)).display())
    };
    let mut fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let line = if fenced { line.to_owned() } else { relinked(line, &linked) };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// A line whose links, `](target)` and `[name]: target`, are replaced.
fn relinked(line: &str, linked: &dyn Fn(&str) -> String) -> String {
    if let Some((name, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
        return format!("[{name}]: {}", linked(target.trim()));
    }
    let mut parts = line.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("](");
        match part.split_once(')') {
            Some((target, rest)) => {
                out.push_str(&linked(target));
                out.push(')');
                out.push_str(rest);
            }
            None => out.push_str(part),
        }
    }
    out
}

/// The values of an attribute in a page.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!("{name}=\"");
    page.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// What is wrong with the links of a rendered book: files and headings that do not exist in `pages`, by path, or in the repository.
pub fn faults(
    pages: &BTreeMap<PathBuf, String>,
    exists: &dyn Fn(&Path) -> bool,
    repository: &Path,
) -> Vec<String> {
    let mut found = Vec::new();
    for (path, page) in pages {
        // mdBook's own pages and its page for printing repeat the others.
        for target in attributes(page, "href").into_iter().chain(attributes(page, "src")) {
            let (file, anchor) = target.split_once('#').map_or((target, ""), |(file, anchor)| (file, anchor));
            let missing = if let Some(file) = file.strip_prefix(WEB) {
                !repository.join(file).exists()
            } else if file.contains("://") || file.starts_with("data:") || file.starts_with("mailto:") {
                false
            } else {
                let at = if file.is_empty() {
                    path.clone()
                } else {
                    plain(&path.parent().unwrap_or(Path::new("")).join(file))
                };
                let heading = pages
                    .get(&at)
                    .is_some_and(|page| !anchor.is_empty() && !attributes(page, "id").contains(&anchor));
                heading || !exists(&at)
            };
            if missing {
                found.push(format!("{}: {target} leads nowhere", path.display()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_pages_outside_lead_to_the_web() {
        let here = BTreeSet::from(["host.md".to_owned()]);
        let page = "See [host](host.md#x), [sim](../../docs/sim.md#modes).\n```\n[a](b)\n```\n[m]: ../a.md\n";
        let want = format!(
            "See [host](host.md#x), [sim]({WEB}docs/sim.md#modes).\n```\n[a](b)\n```\n[m]: {WEB}gcn-dsl/a.md\n"
        );
        assert_eq!(chapter(page, "gcn-dsl/guide", &here), want);
    }

    #[test]
    fn broken_links_are_found() {
        let pages = BTreeMap::from([
            (PathBuf::from("a.html"), r#"<a href="b/c.html#x">"#.to_owned()),
            (
                PathBuf::from("b/c.html"),
                r##"<p id="x"><a href="../a.html"><a href="#y"><img src="no.svg">"##.to_owned(),
            ),
        ]);
        let exists = |path: &Path| pages.contains_key(path);
        let found = faults(&pages, &exists, Path::new("/"));
        assert_eq!(found, ["b/c.html: #y leads nowhere", "b/c.html: no.svg leads nowhere"]);
    }
}
