"""A real Chromium that reaches this machine alone, and pages that are watched while they are used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, expect, sync_playwright

SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
DRAWN_MS = 30_000
AUDIT = Path(__file__).with_name("audit.js").read_text("utf-8").partition("\n")[2]
NOTE_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => window.violations.push(
  `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""


@contextmanager
def open_browser(program: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(SWITCHES))
        yield browser
        browser.close()


class Window:
    """One page and all it does: what it asks for, and what goes wrong. `faults` must stay empty."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.page: Page = context.new_page()
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda fault: self.faults.append(f"error: {fault}"))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def go(self, path: str, status: int = 200) -> Response:
        response = self.page.goto(f"{self.url}{path}")
        assert response is not None
        assert response.status == status, f"{path}: {response.status}"
        return response

    def see_charts(self) -> int:
        """Wait until every chart is drawn; gives how many there are."""
        expect(self.page.locator("figure.chart:not(.drawn)")).to_have_count(0, timeout=DRAWN_MS)
        return self.page.locator("figure.chart").count()

    def run(self, script: str, given: Any = None) -> Any:
        return self.page.evaluate(script, given)

    def check(self) -> None:
        """Nothing went wrong, nothing was refused by the policy, nothing was asked of anybody else."""
        faults = [*self.faults, *self.run("() => window.violations")]
        assert not faults, f"{self.page.url}: {faults}"
        own = urlsplit(self.url).netloc
        foreign = [one for one in self.asked if urlsplit(one).netloc != own]
        assert not foreign, f"{self.page.url} asked for {foreign}"

    def audit(self) -> None:
        """Everybody can use it, and nothing in it can run that is not ours."""
        faults = self.run(AUDIT)
        assert not faults, f"{self.page.url}: {faults}"

    def check_width(self) -> None:
        wide, seen = self.run("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide <= seen, f"{self.page.url} is {wide} wide, {seen} are seen; {self.run(FIND_WIDE)}"

    def _note(self, url: str) -> None:
        if not url.startswith("data:"):
            self.asked.append(url)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text} ({message.location.get('url')})")


FIND_WIDE = """() => [...document.querySelectorAll("main *, header *, footer *")]
  .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .slice(0, 5).map((one) => one.outerHTML.slice(0, 120))"""


@contextmanager
def open_window(browser: Browser, url: str, dark: bool = False, **more: Any) -> Iterator[Window]:
    """A window of a fresh visitor; closed with all it kept."""
    scheme = "dark" if dark else "light"
    with browser.new_context(**{"viewport": DESKTOP, "color_scheme": scheme, **more}) as context:
        context.add_init_script(NOTE_VIOLATIONS)
        yield Window(context, url)
