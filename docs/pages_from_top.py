"""Pages of the site that lie at the top of the repository, where people look for them there."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

TOP = Path(__file__).resolve().parents[1]
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """What MkDocs asks before it reads the pages."""
    for source, page in PAGES.items():
        text = (TOP / source).read_text(encoding="utf-8").replace("](docs/", "](")
        for other, name in PAGES.items():
            text = text.replace(f"]({other}", f"]({name}")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "icon.svg", content=(TOP / "static/icon.svg").read_bytes()))
    return files
