"""Gathers the chapters of the book, runs the notebooks for it, builds it and checks its links."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbconvert
import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

CONFIG = """[book]
title = "Fairdisk"
language = "en"
src = "src"

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
no-section-label = true

[output.html.search]
limit-results = 20
"""


def main(work: Path, out: Path) -> None:
    """Builds the book in `out`, by way of `work`."""
    book = work / "book"
    source = book / "src"
    source.mkdir(parents=True)
    (book / "book.toml").write_text(CONFIG)
    chapters = [chapter(Path("docs") / name, source / name) for name in names()]
    (source / "index.md").write_text(linked(Path("README.md").read_text(), Path("."), source))
    chapter(Path("DESIGN.md"), source / "design.md")
    summary = (source / "SUMMARY.md").read_text().replace(
        "# Summary\n", "# Summary\n\n[Fairdisk](index.md)\n", 1
    )
    summary += "- [Design](design.md)\n- [Notebooks]()\n"
    for path in sorted(Path("python/notebooks").glob("*.ipynb")):
        title = notebook(path, source, work)
        summary += f"  - [{title}](notebook-{path.stem}.md)\n"
    (source / "SUMMARY.md").write_text(summary)
    subprocess.run(["mdbook", "build", "--dest-dir", out, book], check=True)
    faults = broken(out)
    print("\n".join(faults), file=sys.stderr)
    print(f"made {out}: {len(chapters)} pages, {len(faults)} broken links")
    sys.exit(bool(faults))


def names() -> list[str]:
    """The names of the documents."""
    return sorted(path.name for path in Path("docs").glob("*.md"))


def chapter(path: Path, to: Path) -> Path:
    """Copies a document, with its links as they are in the book."""
    to.write_text(linked(path.read_text(), path.parent, to.parent))
    return to


def linked(text: str, here: Path, source: Path) -> str:
    """The text with links to chapters, and to copies of files that are none."""

    def link(match: re.Match[str]) -> str:
        target, _, anchor = match.group(1).partition("#")
        path = (here / target).resolve()
        root = Path.cwd()
        if not target or "://" in target or not path.is_relative_to(root) or not path.exists():
            return match.group(0)
        inside = path.relative_to(root)
        if inside.parent == Path("docs") and inside.suffix == ".md":
            to = inside.name
        elif inside == Path("DESIGN.md"):
            to = "design.md"
        elif path.is_dir():
            return match.group(0)
        else:
            # A file that is no chapter is shown as it is.
            to = f"files/{inside.with_suffix('.txt') if inside.suffix == '.md' else inside}"
            anchor = ""
            copy = source / to
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        return f"]({to}{'#' + anchor if anchor else ''})"

    return re.sub(r"\]\(([^)\s]+)\)", link, text)


def notebook(path: Path, source: Path, work: Path) -> str:
    """Runs a notebook and makes a chapter of it; returns its title."""
    cells = nbformat.read(path, as_version=4)
    place = work / path.stem
    place.mkdir()
    ExecutePreprocessor(timeout=300).preprocess(cells, {"metadata": {"path": str(place)}})
    for cell in cells.cells:
        if cell.cell_type == "code":
            cell.source = "\n".join(
                line for line in cell.source.splitlines() if not line.startswith("%")
            )
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
            assert cell.outputs, f"{path}: a cell shows nothing:\n{cell.source}"
    text, resources = nbconvert.MarkdownExporter().from_notebook_node(cells)
    for name, data in (resources.get("outputs") or {}).items():
        own = f"{path.stem}-{name}"
        (source / own).write_bytes(data)
        text = text.replace(f"({name})", f"({own})")
    (source / f"notebook-{path.stem}.md").write_text(text)
    return re.search(r"^# (.*)$", text, re.MULTILINE).group(1)


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := known.get(key))}
        self.links += [value for key in ("href", "src") if (value := known.get(key))]


def broken(out: Path) -> list[str]:
    """The links that lead nowhere, each with its page."""
    pages = {path: Page(path.read_text(errors="replace")) for path in out.rglob("*.html")}
    faults = []
    for path, page in pages.items():
        # It gathers all chapters, and its links are theirs.
        if path.name in ("print.html", "404.html", "toc.html"):
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                faults.append(f"{path.name}: {link} leads nowhere")
            elif parts.fragment and target in pages:
                if unquote(parts.fragment) not in pages[target].anchors:
                    faults.append(f"{path.name}: {link}: no such place there")
    return sorted(set(faults))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
