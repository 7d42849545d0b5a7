"""Puts the module, the scripts and the examples into one page: page.py MODULE.wasm OUT.html [LIMIT].

The module must not have more bytes than the limit when it is compressed.
"""

import base64
import gzip
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).parent
SCRIPTS = ["engine", "history", "editor", "find", "complete", "diff", "views", "state", "files", "main"]


def examples():
    """Each has its title in the first line of its text."""
    for text in sorted((ROOT / "examples").glob("*.s")):
        source = text.read_text()
        spec = text.with_suffix(".json")
        yield {"title": source.splitlines()[0].lstrip("; "), "text": source, "spec": spec.read_text() if spec.exists() else ""}


def main(module, out, limit=None):
    packed = gzip.compress(pathlib.Path(module).read_bytes(), 9, mtime=0)
    if limit and len(packed) > int(limit):
        sys.exit(f"error: the module has {len(packed):,} bytes compressed, and may have {int(limit):,}: are debug sections left in it?")
    page = ROOT / "page"
    script = "\n".join((page / f"{name}.js").read_text() for name in SCRIPTS)
    parts = {
        "style": (page / "style.css").read_text(),
        "worker": (page / "worker.js").read_text(),
        # `</` would end the script element.
        "examples": json.dumps(list(examples())).replace("</", "<\\/"),
        "module": base64.b64encode(packed).decode(),
        "script": f'"use strict";\n{script}',
    }
    html = (page / "index.html").read_text()
    for name, text in parts.items():
        html = html.replace("{{" + name + "}}", text)
    out = pathlib.Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(html)
    whole = len(gzip.compress(html.encode(), 9))
    print(f"{out}: {len(html):,} bytes, {whole:,} as a server would compress it; the module alone {len(packed):,} compressed")


main(*sys.argv[1:])
