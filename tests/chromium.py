"""Whether there is a Chromium. Without one the tests that need it are skipped; where `CI` is set they fail instead.

Run as a program it says so, in one line, before any test runs.
"""

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "install one: apt install chromium fonts-liberation"
NEEDED = "tests/browser and tests/senses/adapters/pages/test_browser.py need a Chromium and there is none"


def find_chromium() -> str | None:
    given = os.environ.get("WEIGHBEAM_TEST_BROWSER")
    return next(filter(None, map(shutil.which, (given,) if given else NAMES)), None)


def need_chromium() -> str:
    """The program's path; skips this test (or module) if there is none."""
    import pytest

    found = find_chromium()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"no Chromium is found; {INSTALL}")
        pytest.skip(f"no Chromium is found; {INSTALL}", allow_module_level=True)
    return found


def tell_missing() -> int:
    if find_chromium() is not None:
        return 0
    fails = bool(os.environ.get("CI"))
    print(f"{NEEDED}: {'that fails where CI is set' if fails else 'skipped'}; {INSTALL}")
    return int(fails)


if __name__ == "__main__":
    sys.exit(tell_missing())
