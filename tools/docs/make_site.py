"""Build the site: the pages, and what they link to outside docs/, put beside each other and given to Zensical.

python tools/docs/make_site.py [FOLDER]        FOLDER/docs is written, FOLDER/site is the site; `make site` names build
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OUTSIDE = "files"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def stage(folder: Path) -> Path:
    """Everything that is built, in a new folder; gives the pages' own."""
    staged = folder / "docs"
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(DOCS, staged)
    shutil.copy(ROOT / "zensical.toml", folder)
    for page in sorted(DOCS.rglob("*.md")):
        place(page, staged / page.relative_to(DOCS), staged)
    return staged


def place(source: Path, target: Path, staged: Path) -> None:
    """One page, whose links out of docs/ lead to copies: what is linked is on the site as it is in the tree."""
    target.parent.mkdir(parents=True, exist_ok=True)

    def lead(match: re.Match[str]) -> str:
        mark, text, link, anchor = match[1], match[2], match[3], match[4] or ""
        aim = (source.parent / link).resolve()
        if "://" in link:
            return match[0]
        if not aim.exists():
            raise SystemExit(f"{source.relative_to(ROOT)} links to {link}, which is not there")
        if aim.is_dir():
            return text
        inside = aim.is_relative_to(DOCS)
        found = staged / aim.relative_to(DOCS) if inside else staged / OUTSIDE / aim.relative_to(ROOT)
        if not inside and not found.exists():
            copy(aim, found, staged)
        return f"{mark}[{text}]({Path(os.path.relpath(found, target.parent)).as_posix()}{anchor})"

    target.write_text(LINK.sub(lead, source.read_text("utf-8")), "utf-8")


def copy(aim: Path, found: Path, staged: Path) -> None:
    found.parent.mkdir(parents=True, exist_ok=True)
    found.touch()
    if aim.suffix == ".md":
        place(aim, found, staged)
    else:
        shutil.copy(aim, found)


def build(folder: Path) -> str:
    """The site in `folder/site`; gives what Zensical said."""
    folder.mkdir(parents=True, exist_ok=True)
    stage(folder)
    shutil.rmtree(folder / "site", ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    if done.returncode != 0:
        raise SystemExit(said)
    return said


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")))
