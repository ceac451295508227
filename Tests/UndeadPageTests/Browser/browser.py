"""Opens pages of undead in headless Chromium and uses them as people do. `scripts/check/page` runs it.

Talks the DevTools protocol over two pipes, so that nothing beside Python and Chromium is needed.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


class Browser:
    """One Chromium with one page."""

    def __init__(self, chromium):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()

        # Chromium reads commands from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_child} 4>&{from_child}', "bash", chromium,
             "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", "--no-first-run", f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.rest = b""
        self.number = 0
        self.events = []
        self.session = None
        self.has_scripts = True
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            part = os.read(self.read_end, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while True:
            for position, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(position)
            self.events.append(self.read())

    # What a person does and sees.

    def open(self, path, fragment=""):
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.wait("Page.loadEventFired")
        self.events.clear()
        start = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        self.wait("Page.loadEventFired")
        self.settle()
        return time.monotonic() - start

    def settle(self):
        """Until what was asked for is on the screen."""
        if self.has_scripts:
            self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def ask(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]) + "\nin " + script)
        return result["result"].get("value")

    def press(self, key, text=None):
        known = {"Escape": 27, "Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39}
        common = {"key": key, "windowsVirtualKeyCode": known.get(key, 0)}
        text = text if text is not None else key if len(key) == 1 else "\r" if key == "Enter" else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        for character in text:
            self.press(character)

    def click(self, selector):
        spot = self.ask(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{ block: "center", behavior: "instant" }});
            const box = element.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=1)

    def scripts(self, are_on):
        self.has_scripts = are_on
        self.call("Emulation.setScriptExecutionDisabled", value=not are_on)

    def media(self, kind="", scheme=""):
        self.call("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def problems(self):
        """Errors of scripts and policies, and whatever was loaded beside the page itself."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append("exception: " + parameters["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
                found.append("console: " + str(parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append("log: " + parameters["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                found.append("dialog: " + parameters["message"])
        requests = [event["params"]["request"]["url"] for event in self.events
                    if event.get("method") == "Network.requestWillBeSent"]
        return found + [f"loads {url}" for url in requests[1:]]


class Checks:
    def __init__(self):
        self.failures = []
        self.count = 0

    def expect(self, is_right, what, seen=""):
        self.count += 1
        if not is_right:
            self.failures.append(f"{what}: {seen}" if seen != "" else what)
            print(f"page: FAILED {self.failures[-1]}", flush=True)


# The contrast of a text with what is behind it, as WCAG 2 counts it.
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    if (a < 250) return null;
    const part = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = light(getComputedStyle(at).backgroundColor);
      if (found !== null) return found;
    }
    return 1;
  };
  const weak = [];
  for (const selector of %s) {
    const element = Array.from(document.querySelectorAll(selector)).find((one) => one.checkVisibility());
    if (!element) continue;
    const [a, b] = [light(getComputedStyle(element).color) ?? 0, behind(element)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.push(`${selector} ${ratio.toFixed(2)}`);
  }
  return weak;
})()"""
TEXTS = ["h1", "h1 .verdict", ".subject", ".tile span", ".tile b", "small", "td .type", ".field", ".place", ".badge",
         ".badge.bad", ".badge.doubtful", ".advice", ".advice code", ".facts dt", ".figures", "th", "th[aria-sort] button",
         ".boxes .part", ".boxes .root", ".tip", ".legend", ".foot", ".frames .system code", ".theme span", "a"]
SHOWN = "Array.from(document.querySelectorAll({})).filter((one) => one.checkVisibility()).length"


def shown(browser, selector):
    return browser.ask(SHOWN.format(json.dumps(selector)))


def check_any(browser, checks, path, shots):
    """What holds for every page."""
    name = os.path.basename(path)[: -len(".html")]
    browser.media()
    browser.size(1280, 900)
    seconds = browser.open(path)
    print(f"page: {name}: {os.path.getsize(path) // 1024} KB, usable after {seconds * 1000:.0f} ms")
    checks.expect(not browser.problems(), f"{name}: problems", browser.problems())
    checks.expect(seconds < 3, f"{name}: is usable within 3 s", seconds)

    colours = []
    for scheme in ("light", "dark"):
        browser.media(scheme=scheme)
        colours.append(browser.ask("getComputedStyle(document.body).backgroundColor"))
        weak = browser.ask(CONTRAST % json.dumps(TEXTS))
        checks.expect(not weak, f"{name}: texts are readable in {scheme}", weak)
        if shots:
            browser.screenshot(os.path.join(shots, f"{name}-{scheme}.png"))
    checks.expect(colours[0] != colours[1], f"{name}: follows the system's colours", colours)
    browser.click("#theme-light + span")
    checks.expect(browser.ask("getComputedStyle(document.body).backgroundColor") == colours[0], f"{name}: light by choice")
    browser.media(scheme="light")
    browser.press("t")
    checks.expect(browser.ask("getComputedStyle(document.body).backgroundColor") == colours[1], f"{name}: dark by key")
    browser.press("t")

    browser.press("?")
    checks.expect(browser.ask("document.querySelector('dialog')?.open === true"), f"{name}: keys are told")
    browser.press("Escape")
    checks.expect(browser.ask("!document.querySelector('dialog')?.open"), f"{name}: keys go away")

    browser.size(390, 800)
    wide = browser.ask("document.scrollingElement.scrollWidth - innerWidth")
    checks.expect(wide <= 0, f"{name}: fits a telephone", wide)
    if shots:
        browser.screenshot(os.path.join(shots, f"{name}-narrow.png"))
    browser.size(1280, 900)

    pdf = base64.b64decode(browser.call("Page.printToPDF")["data"])
    checks.expect(pdf.startswith(b"%PDF") and len(pdf) > 5000, f"{name}: can be printed", len(pdf))

    browser.scripts(False)
    browser.open(path)
    checks.expect(shown(browser, "main h1") == 1, f"{name}: has a heading without script")
    checks.expect(shown(browser, ".script, #icicle, #detail") == 0, f"{name}: shows nothing that needs a script")
    browser.click("#theme-dark + span")
    checks.expect(browser.ask("getComputedStyle(document.body).backgroundColor") == colours[1],
                  f"{name}: dark by choice without script")
    browser.media(kind="print")
    hidden = browser.ask("Array.from(document.querySelectorAll('.frames li'))"
                         ".filter((one) => one.getBoundingClientRect().height === 0).length")
    checks.expect(hidden == 0, f"{name}: whole stacks on paper", hidden)
    checks.expect(browser.ask("getComputedStyle(document.documentElement).colorScheme") == "light", f"{name}: paper is light")
    browser.media()
    browser.scripts(True)


def check_report(browser, checks, path):
    browser.open(path)
    total = shown(browser, "article.finding")
    browser.press("/")
    browser.type("Player")
    found = browser.ask("Array.from(document.querySelectorAll('article.finding'))"
                        ".filter((one) => one.checkVisibility()).map((one) => one.textContent.includes('Player'))")
    checks.expect(found and all(found) and len(found) < total, "report: search", found)
    rows = browser.ask("Array.from(document.querySelectorAll('#index tbody tr'))"
                       ".filter((one) => one.checkVisibility()).length")
    checks.expect(rows == len(found), "report: search in the table", (rows, len(found)))
    browser.press("Escape")
    checks.expect(shown(browser, "article.finding") == total, "report: end of search")

    browser.click("#index thead th:nth-last-child(2) button")
    values = browser.ask("Array.from(document.querySelectorAll('#index tbody tr'))"
                         ".map((row) => Number(row.cells[row.cells.length - 2].dataset.value))")
    checks.expect(values == sorted(values, reverse=True), "report: sorted by bytes", values)
    browser.click("#index thead th:nth-last-child(2) button")
    values = browser.ask("Array.from(document.querySelectorAll('#index tbody tr'))"
                         ".map((row) => Number(row.cells[row.cells.length - 2].dataset.value))")
    checks.expect(values == sorted(values), "report: sorted the other way", values)

    browser.press("c")
    checks.expect(shown(browser, "article .body") == 0, "report: all folded")
    browser.press("e")
    checks.expect(shown(browser, "article > details > .body") == total, "report: all unfolded")
    browser.press("j")
    first = browser.ask("document.activeElement.id")
    browser.press("j")
    second = browser.ask("document.activeElement.id")
    browser.press("k")
    checks.expect(first and second and first != second and browser.ask("document.activeElement.id") == first,
                  "report: next and previous", (first, second))
    browser.press("o")
    checks.expect(not browser.ask("document.activeElement.firstElementChild.open"), "report: folded by key")

    browser.press("c")
    browser.click("#index tbody tr:last-child a")
    browser.settle()
    checks.expect(browser.ask("document.activeElement.firstElementChild?.open === true"), "report: a link unfolds")
    overlap = browser.ask("""(() => {
        const off = [];
        for (const drawing of document.querySelectorAll("svg.cycle")) {
          const frame = drawing.viewBox.baseVal;
          for (const text of drawing.querySelectorAll("text")) {
            const box = text.getBBox();
            if (box.x < -1 || box.y < -1 || box.x + box.width > frame.width + 1 || box.y + box.height > frame.height + 1)
              off.push(text.textContent);
          }
          for (const group of drawing.querySelectorAll(".box")) {
            const rect = group.querySelector("rect").getBBox();
            for (const text of group.querySelectorAll("text")) {
              const box = text.getBBox();
              if (box.x < rect.x || box.x + box.width > rect.x + rect.width) off.push(text.textContent);
            }
          }
        }
        return off;
    })()""")
    checks.expect(not overlap, "report: texts of drawings are inside of them", overlap)
    checks.expect(shown(browser, ".arrow.culprit") > 0, "report: a culprit is marked")


def check_heap(browser, checks, path, shots):
    browser.open(path)
    rows = "#type-table tbody tr"
    names = lambda: browser.ask(f"Array.from(document.querySelectorAll('{rows}')).map((row) => row.cells[0].textContent)")
    everything = names()
    browser.press("/")
    browser.type("session")
    checks.expect(names() and all("session" in name.lower() for name in names()), "heap: search", names())
    browser.press("Escape")
    checks.expect(names() == everything, "heap: end of search")

    browser.click("#type-table th:first-child button")
    checks.expect(names() == browser.ask(f"{json.dumps(names())}.sort((a, b) => a.localeCompare(b))") != everything,
                  "heap: by name", names()[:5])
    browser.click("#type-table th:nth-child(2) button")
    counts = browser.ask(f"Array.from(document.querySelectorAll('{rows}'))"
                         ".map((row) => Number(row.cells[1].textContent.replaceAll(',', '')))")
    checks.expect(counts == sorted(counts, reverse=True), "heap: by count", counts)
    before = len(names())
    browser.click(".more-rows")
    checks.expect(len(names()) > before, "heap: more rows")
    browser.press("f")
    checks.expect(any("Storage" in name for name in names()), "heap: storage apart", names()[:5])
    browser.press("f")

    browser.press("/")
    browser.type("App.Session")
    browser.press("Escape", "")
    browser.open(path)
    browser.ask("Array.from(document.querySelectorAll('#type-table a')).find((a) => a.textContent === 'App.Session').click()")
    browser.settle()
    checks.expect(browser.ask("document.querySelector('#detail h3')?.textContent") == "App.Session", "heap: details of a type")
    parts = browser.ask("Array.from(document.querySelectorAll('#detail h4')).map((one) => one.firstChild.textContent)")
    checks.expect(parts == ["What keeps them", "Allocated", "Held by", "Refers to", "Largest instances"],
                  "heap: parts of the details", parts)
    text = browser.ask("document.querySelector('#detail').textContent")
    for word in ("App.cache", ".sessions[value]", "Cache.swift:35", "0x"):
        checks.expect(word in text, f"heap: details tell {word}", text[:300])
    if shots:
        browser.screenshot(os.path.join(shots, "heap-details.png"))
    browser.ask("Array.from(document.querySelectorAll('#detail td a')).find((a) => a.textContent.includes('String')).click()")
    browser.settle()
    checks.expect("String" in browser.ask("document.querySelector('#detail h3').textContent"), "heap: on to another type")
    browser.ask("new Promise((done) => { addEventListener('hashchange', () => setTimeout(done, 0), { once: true }); history.back(); })")
    checks.expect(browser.ask("document.querySelector('#detail h3')?.textContent") == "App.Session", "heap: and back")
    browser.press("Escape")
    checks.expect(shown(browser, "#detail") == 0, "heap: details closed")

    boxes = shown(browser, ".boxes .part")
    checks.expect(boxes > 5, "heap: picture of what is retained", boxes)
    outside = browser.ask("""(() => {
        const whole = document.querySelector(".boxes").getBoundingClientRect();
        return Array.from(document.querySelectorAll(".boxes .part")).filter((one) => {
          const box = one.getBoundingClientRect();
          return box.left < whole.left - 1 || box.right > whole.right + 1;
        }).length;
    })()""")
    checks.expect(outside == 0, "heap: parts lie inside of the picture", outside)
    browser.ask("document.querySelector('.boxes .part').focus()")
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    checks.expect(browser.ask("document.activeElement.textContent") not in ("", "memory"), "heap: down by key")
    browser.press("Enter")
    crumbs = shown(browser, ".crumbs button")
    checks.expect(crumbs > 1, "heap: into a part", crumbs)
    browser.press("Escape")
    for _ in range(crumbs):
        browser.press("u")
    checks.expect(shown(browser, ".crumbs button") == 1 and shown(browser, ".boxes .part") == boxes, "heap: out again")
    checks.expect(not browser.problems(), "heap: problems", browser.problems())

    browser.scripts(False)
    browser.open(path)
    checks.expect(shown(browser, rows) == min(100, browser.ask(f"document.querySelectorAll('{rows}').length")),
                  "heap: table of types without script", shown(browser, rows))
    checks.expect(shown(browser, ".tree li") > 5, "heap: tree without script")
    checks.expect(shown(browser, "#sites tbody tr") > 3, "heap: sites without script")
    if shots:
        browser.screenshot(os.path.join(shots, "heap-no-script.png"))
    browser.scripts(True)


def main():
    chromium, shots, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
    checks = Checks()
    # A browser that hangs must not hang whoever waits for it.
    signal.alarm(30 + 20 * len(pages))
    browser = Browser(chromium)
    try:
        for path in pages:
            check_any(browser, checks, path, shots)
            name = os.path.basename(path)
            if name == "report.html":
                check_report(browser, checks, path)
            elif name == "heap.html":
                check_heap(browser, checks, path, shots)
    finally:
        browser.close()
    print(f"page: {checks.count} checks, {len(checks.failures)} failed")
    sys.exit(1 if checks.failures else 0)


if __name__ == "__main__":
    main()
