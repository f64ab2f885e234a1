#!/usr/bin/env python3
"""check-site.py [--axe] [--shots FOLDER] [--site FOLDER] [--rules FOLDER] [PAGE...]: looks at the built site in a browser without a window.

Every page of the course, and each commit other pages of the reference, are opened as a reader has them, light and dark, at 1280 and at 360
pixels, and as they would be printed; the search is asked for words, the navigation is walked from lesson to lesson. --axe looks for what
axe-core calls serious or critical instead.
The explorers are driven to states whose figures are known.
--rules compares the explorers' rules with the vectors in FOLDER, and nothing else: tests/explorers/check-rules.sh calls it.
--shots writes pictures of the pages for people to look at. PAGE: only these, by name (ch03_padded_tiles).
Exit code 1 for findings, 2 for bad arguments, 77 when what is needed isn't here; the last line then says why.
"""
import argparse
import base64
import importlib.util
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.keys import Keys
except ImportError:
    # Debian's python3-selenium belongs to Debian's Python, which need not be the first on PATH.
    if Path("/usr/bin/python3").exists() and Path(sys.executable).resolve() != Path("/usr/bin/python3").resolve() \
            and not os.environ.get("CHECK_SITE_AGAIN"):
        os.execve("/usr/bin/python3", ["/usr/bin/python3", *sys.argv], {**os.environ, "CHECK_SITE_AGAIN": "1"})
    print("no Python here has selenium: common/scripts/run/setup.sh site-checks installs it")
    sys.exit(77)

# site.py knows which page comes from which file. (Python has a module of that name, too.)
_site = importlib.util.spec_from_file_location("tilewise_site", Path(__file__).resolve().parents[2] / "common/scripts/site/site.py")
_module = importlib.util.module_from_spec(_site)
_site.loader.exec_module(_module)
plain, sources = _module.plain, _module.sources

AXE = Path("build/tools/axe/axe.min.js")
FONTS = ("DejaVu Sans", "Liberation Sans")  # as wide as Verdana, and as narrow as Arial: most others lie between
PAPER = 718     # pixels between the margins of A4
PROSE = 75      # characters in a line

# What the search finds: (typed, address of the best, address of the best that is a lesson). A pattern may leave the section open.
SEARCHES = [
    ("bank", r"glossary\.html#bank$", r"ch03_padded_tiles\.html"),
    ("banks", r"glossary\.html#bank$", r"ch03_padded_tiles\.html"),
    ("bank conflict", r"glossary\.html#bank-conflict$", r"ch03_padded_tiles\.html$"),
    ("race", r"glossary\.html#race$", r"ch02_tiled_matmul\.html#why-two-barriers$"),
    ("padding", r"glossary\.html#padding$", r"ch03_padded_tiles\.html$"),
    ("warp", r"glossary\.html#warp$", r"ch01_naive_matmul\.html#why-what-a-warp-asks-for$"),
    ("transpose", r"glossary\.html#transpose$", r"ch04_transpose\.html$"),
    ("roofline", r"glossary\.html#roofline$", r"ch08_roofline\.html$"),
    ("why two barriers", r"ch02_tiled_matmul\.html#why-two-barriers$", r"ch02_tiled_matmul\.html#why-two-barriers$"),
    ("what is a wavefront", r"glossary\.html#wavefront$", r"ch03_padded_tiles\.html"),
    ("扇区", r"ch\d\d_\w+_zh\.html", r"ch\d\d_\w+_zh\.html"),
    ("tilewise::CublasHandle", r"classtilewise_1_1CublasHandle\.html", None),
]

# What the explorers say: (page, explorer, state in the address, figures). Each can be checked with a pencil, or is in a lesson's table.
EXPLORED = [
    ("ch01_naive_matmul", "request", "where=c32&row=4096", {"Sectors": "32", "Data passes": "32", "Cache lines": "32"}),
    ("ch01_naive_matmul", "request", "where=c32&row=4097", {"Sectors": "32", "Data passes": "1"}),
    ("ch05_coalescing", "request", "where=r32&stride=1", {"Sectors": "4", "Bytes moved": "128 bytes", "Of these used": "100 %"}),
    ("ch05_coalescing", "request", "where=r32&stride=2", {"Sectors": "8", "Bytes moved": "256 bytes", "Of these used": "50 %"}),
    ("ch05_coalescing", "request", "where=r32&stride=1&offset=1", {"Sectors": "5"}),
    ("ch05_coalescing", "request", "where=r32&stride=1&bytes=16", {"Sectors": "16", "Data passes": "4"}),
    ("ch03_padded_tiles", "banks", "where=c32&words=32&pad=0", {"Load": "32 passes", "Store": "32 passes", "Without conflicts": "1 pass"}),
    ("ch03_padded_tiles", "banks", "where=c32&words=32&pad=1", {"Load": "1 pass", "32 rows take": "4,224 bytes"}),
    ("ch03_padded_tiles", "banks", "where=c32&words=32&swizzle=1", {"Load": "1 pass", "32 rows take": "4,096 bytes"}),
    ("ch04_transpose", "banks", "where=c16&words=16&pad=1", {"Load": "2 passes", "Store": "2 passes"}),
    ("ch03_padded_tiles", "banks", "where=c32&words=32&pad=4&bytes=16", {"Load": "4 passes", "Without conflicts": "4 passes"}),
    ("ch03_padded_tiles", "banks", "where=c32&words=32&pad=1&bytes=16", {"Passes": "none: misaligned"}),
    ("ch02_tiled_matmul", "tiles", "tile=4&step=10", {"Step": "11 of 11", "Fetched from A and B": "64 words", "The naive kernel, so far": "256 words"}),
    ("ch06_csr_spmv", "reduction", "lanes=32&step=5", {"Step": "5 of 5", "Lane 0 has": "528", "Of the sum": "100 %"}),
    # as the lesson's table for `uniform`, whose 4,096 rows have 16 nonzeros each, 64 times as long as these
    ("ch06_csr_spmv", "csr", "lengths=alike&mean=16&spread=random&lanes=0", {"Load requests, all warps": "100", "Nonzeros": "1,024", "Lanes at work": "32.0 of 32"}),
    ("ch06_csr_spmv", "csr", "lengths=alike&mean=16&spread=random&lanes=32", {"Load requests, all warps": "320", "Lanes at work": "22.4 of 32"}),
    ("ch08_roofline", "occupancy", "device=h200&threads=32&registers=32&shared=0", {"Resident warps": "32 of 64", "Limited by": "blocks"}),
    ("ch08_roofline", "occupancy", "device=t4&threads=1024&registers=40&shared=0", {"Resident blocks": "1", "Occupancy": "100 %"}),
    ("ch08_roofline", "roofline", "device=h200&gflop=137.438953472&gb=0.201326592&requests=4295&passes=70866", {"L1 data": "271 ms", "Peak of DRAM": "4,814 GB/s"}),
]

# ---------------------------------------------------------------- what is asked of a page, in the page

FRAME = r"""
const said = [], all = (selector) => Array.from(document.querySelectorAll(selector));
if (!document.documentElement.lang) said.push('no lang');
if (all('h1').length !== 1) said.push(all('h1').length + ' h1');
if (!all('main').length) said.push('no main');
const first = document.querySelector('a[href], button, input');
if (!first || first.getAttribute('href') !== '#content') said.push('the first thing to reach is no skip link');
if (!document.title.trim()) said.push('no title');
const description = document.querySelector('meta[name=description]');
if (!description || description.content.length < 20) said.push('no description');
if (!document.querySelector('#search[aria-label]')) said.push('the search has no label');
if (!document.querySelector('link[rel=icon]')) said.push('no icon');
const ids = new Set();
for (const found of all('[id]')) { if (ids.has(found.id)) said.push('twice the id ' + found.id); ids.add(found.id); }
let level = 1;
for (const heading of all('main :is(h1, h2, h3, h4, h5, h6)')) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) said.push(`a heading of level ${own} after one of level ${level}: ${heading.textContent.slice(0, 40)}`);
  level = own;
}
return said;
"""

FALSE_LINKS = r"""
return Array.from(document.querySelectorAll('main .fragment a.code')).filter((link) => /^[a-z_]\w*$/.test(link.textContent))
  .map((link) => `a false link in code: ${link.textContent} leads to ${link.getAttribute('href')}`);
"""

RAW_MARKDOWN = r"""
const said = [], walker = document.createTreeWalker(document.querySelector('main') || document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
  if (node.parentElement.closest('code, pre, script, style, .fragment')) continue;
  const match = node.data.match(/.{0,30}(\*\*|`|\]\(|&quot;|\\(ref|subpage|snippet|htmlonly)).{0,30}/);
  if (match) said.push('raw Markdown: ' + match[0].trim());
}
return said;
"""

OVERFLOW = r"""
const root = document.documentElement, wide = root.scrollWidth, room = arguments[0], said = [];
if (wide > room) {
  let names = [];
  for (const found of document.querySelectorAll('body *')) {
    if (found.getBoundingClientRect().right > room + 1 && !found.closest('[data-scrolls], .fragment')) names.push(found.tagName + '.' + found.className);
  }
  said.push(`${wide} pixels wide in a window of ${room}: ${names.slice(0, 3).join(', ')}`);
}
return said;
"""

CELLS_OVER = r"""
return Array.from(document.querySelectorAll('main table.markdownTable :is(td, th)')).filter((cell) => cell.clientWidth && cell.scrollWidth > cell.clientWidth + 1)
  .slice(0, 3).map((cell) => `a table's text lies over the next column: ${cell.textContent.trim().slice(0, 40)}`);
"""

UNREACHABLE = r"""
const said = [];
for (const found of document.querySelectorAll('main *')) {
  if (found.scrollWidth <= found.clientWidth + 1 || !found.clientWidth) continue;
  const style = getComputedStyle(found);
  if (!/auto|scroll/.test(style.overflowX)) continue;
  if (found.tabIndex < 0 && !found.querySelector('a[href], button, input')) said.push(`cannot be scrolled by keyboard: ${found.tagName}.${found.className}`);
}
return said;
"""

NAVIGATION_CUT = r"""
const said = [];
for (const link of document.querySelectorAll('#site-nav a')) {
  if (link.closest('.within')) continue;  // the page's own contents, which may be elsewhere
  if (!link.getClientRects().length) said.push('not in sight: ' + link.textContent);
  else if (link.scrollWidth > link.clientWidth + 1) said.push('cut: ' + link.textContent);
}
return said;
"""

PROSE_WIDTH = r"""
const [most, font] = arguments, said = [];
document.body.style.fontFamily = font;
for (const paragraph of document.querySelectorAll('main .contents p')) {
  if (paragraph.querySelector('img') || !paragraph.getClientRects().length) continue;
  const range = document.createRange(), lines = new Map();
  range.selectNodeContents(paragraph);
  const rows = Math.round(paragraph.getBoundingClientRect().height / parseFloat(getComputedStyle(paragraph).lineHeight));
  if (rows < 5) continue;
  const mean = paragraph.textContent.replace(/\s+/g, ' ').length / (rows - 0.5);
  if (mean > most) said.push(`${Math.round(mean)} characters in a line: ${paragraph.textContent.slice(0, 40)}`);
}
document.body.style.fontFamily = '';
return said;
"""

LONG_CODE = r"""
const said = [];
for (const code of document.querySelectorAll('main .fragment')) {
  if (!code.getClientRects().length || code.scrollWidth <= code.clientWidth + 1) continue;
  const longest = code.innerText.split('\n').reduce((a, b) => (a.length < b.length ? b : a), '');
  said.push(`code scrolls in a window of 1280 pixels, ${longest.length} columns: ${longest.trim().slice(0, 50)}`);
}
return said;
"""

CUT_PICTURES = r"""
return Array.from(document.querySelectorAll('main .figure')).filter((figure) => figure.scrollWidth > figure.clientWidth + 1)
  .map((figure) => `a picture scrolls in a window of 1280 pixels: ${figure.querySelector('img').getAttribute('src')}`);
"""

SMALL_PICTURES = r"""
const [least, sizes] = arguments, said = [];
for (const image of document.querySelectorAll('main .figure img')) {
  const size = sizes[image.getAttribute('src')];
  if (!size || !image.getClientRects().length) continue;
  const shown = size[1] * image.getBoundingClientRect().width / size[0];
  if (shown < least - 0.05) said.push(`text of ${shown.toFixed(1)} pixels in ${image.getAttribute('src')}`);
}
return said;
"""

OPEN_ALL = "for (const fold of document.querySelectorAll('main details')) fold.open = true; dispatchEvent(new Event('resize'));"

PRINT_CLIPS = r"""
const room = arguments[0], said = [];
for (const found of document.querySelectorAll('main *')) {
  const box = found.getBoundingClientRect();
  if (!box.width || !box.height) continue;
  if (box.right > room + 1) said.push(`beyond the paper: ${found.tagName}.${found.className} ${found.textContent.trim().slice(0, 40)}`);
  else if (found.scrollWidth > found.clientWidth + 1 && found.clientWidth && getComputedStyle(found).overflowX !== 'visible') {
    said.push(`clipped on paper: ${found.tagName}.${found.className} ${found.textContent.trim().slice(0, 40)}`);
  }
}
return said.slice(0, 5);
"""

TEXT_OUTSIDE = r"""
const root = document.documentElement, view = root.viewBox.baseVal, said = [];
const style = document.createElementNS('http://www.w3.org/2000/svg', 'style');
style.textContent = `text, tspan { font-family: "${arguments[0]}" !important }`;
root.append(style);
for (const text of document.querySelectorAll('text')) {
  const box = text.getBoundingClientRect(), scale = root.getBoundingClientRect();
  const over = Math.max(box.right - scale.right, scale.left - box.left, box.bottom - scale.bottom, scale.top - box.top);
  if (box.width && over > 0.5) said.push(`${Math.ceil(over)} pixels of text outside with ${arguments[0]}: ${text.textContent.slice(0, 50)}`);
}
// What moves has texts at the same place, one after the other.
if (/@keyframes|<animate/.test(root.outerHTML)) { style.remove(); return said; }
const texts = Array.from(document.querySelectorAll('text'), (text) => [text, text.getBoundingClientRect()]).filter((pair) => pair[1].width);
for (let i = 0; i < texts.length; i++) {
  for (let k = i + 1; k < texts.length; k++) {
    const [a, b] = [texts[i][1], texts[k][1]];
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > -2 && down > 0.4 * Math.min(a.height, b.height)) {
      said.push(`with ${arguments[0]} this text touches another: ${texts[i][0].textContent.slice(0, 30)} | ${texts[k][0].textContent.slice(0, 30)}`);
    }
  }
}
style.remove();
return said;
"""

# axe takes minutes for the contrast of all text of all pages. What has the same place in the tree and the same things in it looks
# the same: two of each kind are enough.
TWO_OF_A_KIND = r"""
const seen = new Map(), kind = (found) => `${found.tagName}.${found.className}.${found.getAttribute('style') || ''}`;
for (const found of document.querySelectorAll(':is(main, nav) :is(p, li, tr, summary, h2, h3, h4, .line)')) {
  let key = Array.from(new Set(Array.from(found.querySelectorAll('*'), kind))).sort().join();
  for (let at = found; at; at = at.parentElement) key += '<' + kind(at);
  seen.set(key, (seen.get(key) || 0) + 1);
  if (seen.get(key) > 2) found.remove();
}
"""

RUN_AXE = r"""
const done = arguments[1];
axe.run(document, { resultTypes: ['violations'], ...arguments[0] }).then(
  (found) => done(found.violations.filter((rule) => ['serious', 'critical'].includes(rule.impact)).map(
    (rule) => `${rule.impact}, ${rule.id}: ${rule.nodes.length} times, first ${rule.nodes[0].target.join(' ')}: ${(rule.nodes[0].any[0] || rule.nodes[0].all[0] || rule.nodes[0].none[0] || {}).message || rule.help}`)),
  (error) => done(['axe failed: ' + error]));
"""


def browser_program():
    for name in ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser"):
        if shutil.which(name):
            return shutil.which(name)
    return None


def driver_program():
    folder = os.environ.get("CHROMEWEBDRIVER")  # where GitHub's machines have it
    return shutil.which("chromedriver") or (shutil.which("chromedriver", path=folder) if folder else None)


class Browser:
    """A browser without a window, and what we ask of it."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = browser_program()
        for option in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--disable-extensions",
                       "--disable-background-networking", "--no-first-run", "--force-color-profile=srgb"):
            options.add_argument(option)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # which root cannot have
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.page_load_strategy = "normal"
        self.driver = webdriver.Chrome(service=Service(driver_program()), options=options)
        self.driver.set_script_timeout(120)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def window(self, width, height=900, phone=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.command("Emulation.setTouchEmulationEnabled", enabled=phone)

    def media(self, kind="", dark=False):
        self.command("Emulation.setEmulatedMedia", media=kind,
                     features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.driver.get(path.resolve().as_uri())

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def console(self):
        return [f"console: {entry['message'][:200]}" for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def close(self):
        self.driver.quit()


class Findings:
    def __init__(self):
        self.lock = threading.Lock()
        self.lines = []

    def add(self, where, said):
        with self.lock:
            for text in said:
                line = f"{where}: {text}"
                if line not in self.lines:
                    self.lines.append(line)
                    print(line, flush=True)


def picture_sizes(site):
    """For each picture that has text: its width, and the size of its smallest text."""
    sizes = {}
    for file in site.rglob("*.svg"):
        text = file.read_text(encoding="utf-8", errors="replace")
        view = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ', text)
        fonts = [float(size) for size in re.findall(r'font-size(?:=")?:?\s*([\d.]+)', text)]
        fonts += [float(size) for size in re.findall(r"font:[^;}]*?([\d.]+)px", text)]
        if view and fonts and "<text" in text:
            sizes[str(file.relative_to(site))] = [float(view.group(1)), min(fonts)]
    return sizes


# ---------------------------------------------------------------- one page

def is_course(path):
    return '<body class="symbols">' not in path.read_text(encoding="utf-8")


def check_page(browser, path, findings, sizes):
    name = path.name
    browser.media()
    browser.window(1280)
    browser.console()
    browser.open(path)
    findings.add(name, browser.ask(FRAME))
    findings.add(name, browser.ask(RAW_MARKDOWN))
    findings.add(name, browser.ask(OVERFLOW, 1280))
    if is_course(path):
        findings.add(name, browser.ask(PROSE_WIDTH, PROSE, FONTS[1]))
        findings.add(name, browser.ask(NAVIGATION_CUT))
        if path.stem in sources():
            findings.add(name, browser.ask(FALSE_LINKS))
    browser.ask(OPEN_ALL)
    findings.add(name, browser.ask(UNREACHABLE))
    findings.add(name, browser.ask(CELLS_OVER))
    if is_course(path):
        findings.add(name, browser.ask(LONG_CODE))
        findings.add(name, browser.ask(CUT_PICTURES))
    browser.window(360, 740, phone=True)
    browser.ask(OPEN_ALL)
    findings.add(name + " at 360 pixels", browser.ask(OVERFLOW, 360))
    findings.add(name + " at 360 pixels", browser.ask(UNREACHABLE))
    findings.add(name + " at 360 pixels", browser.ask(CELLS_OVER))
    findings.add(name + " at 360 pixels", browser.ask(SMALL_PICTURES, 11, sizes))
    if is_course(path):
        browser.window(PAPER, 1000)
        browser.media("print")
        findings.add(name + " printed", browser.ask(PRINT_CLIPS, PAPER))
        findings.add(name + " printed", browser.ask(CELLS_OVER))
    findings.add(name, browser.console())


def check_page_with_axe(browser, path, findings, sizes):
    del sizes
    script = AXE.read_text(encoding="utf-8")
    browser.window(1280)
    browser.media()
    browser.open(path)
    browser.ask(OPEN_ALL)
    if path.name == "index.html":  # one page with results of the search on it
        browser.driver.find_element("id", "search").send_keys("bank")
        time.sleep(1)
    if path.name == "your_kernel.html":
        browser.driver.find_element("css selector", "#explorer-report .explorer-presets button").click()
        time.sleep(1)
    browser.ask(script)

    def ask(options):
        return browser.driver.execute_async_script(RUN_AXE, options)

    findings.add(path.name, ask({"rules": {"color-contrast": {"enabled": False}}}))
    browser.ask(TWO_OF_A_KIND)
    contrast = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    findings.add(path.name, ask(contrast))
    if is_course(path):
        browser.ask("document.documentElement.classList.replace('light-mode', 'dark-mode');")
        findings.add(path.name + " in dark mode", ask(contrast))


def shoot(browser, path, folder):
    """Pictures of the whole page: light, dark, on a phone, on paper."""
    for name, width, height, dark, media in (("light", 1280, 900, False, ""), ("dark", 1280, 900, True, ""),
                                             ("phone", 360, 740, False, ""), ("print", PAPER, 1000, False, "print")):
        browser.window(width, height, phone=name == "phone")
        browser.media(media, dark)
        browser.open(path)
        if name == "print":
            browser.ask(OPEN_ALL)
        tall = min(browser.ask("return document.documentElement.scrollHeight"), 12000)
        browser.window(width, tall, phone=name == "phone")
        time.sleep(0.2)
        data = browser.command("Page.captureScreenshot", format="png")["data"]
        (folder / f"{path.stem}-{name}.png").write_bytes(base64.b64decode(data))


# ---------------------------------------------------------------- the site as a whole

def check_search(browser, site, findings):
    """Types into the box, as a reader does."""
    browser.window(1280)
    browser.media()
    browser.open(site / "index.html")
    box = browser.driver.find_element("id", "search")
    browser.driver.find_element("tag name", "body").send_keys("/")
    if browser.ask("return document.activeElement.id") != "search":
        findings.add("search", ["the key / does not lead to it"])
    for typed, best, lesson in SEARCHES:
        box.clear()
        box.send_keys(typed)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            hits = browser.ask("return window.tilewiseSearch ? tilewiseSearch.find(arguments[0], 30).map((hit) => [hit.kind, hit.address]) : []", typed)
            shown = browser.ask("const box = document.getElementById('search-results'); return box.hidden ? [] : "
                                "Array.from(box.querySelectorAll('a'), (link) => link.getAttribute('href'))")
            if hits and shown == [hit[1] for hit in hits]:
                break
            time.sleep(0.05)
        else:
            findings.add("search", [f"'{typed}' shows {shown[:3]}, and finds {hits[:3]}"])
            continue
        if not re.match(best, shown[0]):
            findings.add("search", [f"'{typed}' finds {shown[0]} first, not {best}"])
        lessons = [address for kind, address in hits if kind == "lesson"]
        if lesson and (not lessons or not re.match(lesson, lessons[0])):
            findings.add("search", [f"'{typed}' finds {lessons[:1]} first among lessons, not {lesson}"])
        kinds = [kind for kind, _ in hits]
        if lesson and "symbol" in kinds and "symbol" in kinds[: kinds.index("symbol") + 1] and \
                any(kind != "symbol" for kind in kinds[kinds.index("symbol"):]):
            findings.add("search", [f"'{typed}' finds code before text"])
    box.clear()
    box.send_keys("qqxxzz")
    time.sleep(0.3)
    if "Nothing found" not in browser.ask("return document.getElementById('search-results').textContent"):
        findings.add("search", ["does not say that nothing was found"])
    box.clear()
    box.send_keys("padding")
    time.sleep(0.3)
    box.send_keys(Keys.ARROW_DOWN)
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    time.sleep(0.5)
    if not re.search(r"glossary\.html#padding$", browser.driver.current_url):
        findings.add("search", [f"the arrow and Enter lead to {browser.driver.current_url}"])
    # every place that the search can lead to is there
    index = json.loads(re.sub(r"^[^=]*=|;\s*$", "", (site / "search-index.js").read_text(encoding="utf-8")))
    known = {}
    for row in index:
        page, _, anchor = row[3].partition("#")
        if page not in known:
            file = site / page
            known[page] = set(re.findall(r'\bid="([^"]+)"', file.read_text(encoding="utf-8"))) if file.exists() else None
        if known[page] is None or (anchor and anchor not in known[page]):
            findings.add("search", [f"{row[3]} is not there"])


def check_navigation(browser, site, findings):
    browser.window(1280)
    browser.open(site / "index.html")
    chapters = sorted(folder.name for folder in Path("chapters").iterdir() if (folder / "README.md").exists())
    listed = browser.ask("return Array.from(document.querySelectorAll('#site-nav a:not(.within a)'), (link) => link.getAttribute('href'))")
    for chapter in chapters:
        if f"ch{chapter}.html" not in listed:
            findings.add("navigation", [f"{chapter} is not listed"])
    walked = []
    while True:  # previous and next are in sight at the end of each page, and lead through all lessons
        browser.ask("scrollTo(0, document.documentElement.scrollHeight)")
        link = browser.ask("const link = document.querySelector('.steps a.next'); if (!link) return null; const box = link.getBoundingClientRect();"
                           "return [link.getAttribute('href'), box.top >= 0 && box.bottom <= innerHeight && box.width > 0]")
        if link is None:
            break
        if not link[1]:
            findings.add("navigation", [f"next is out of sight on {browser.driver.current_url}"])
        if link[0] in walked:
            findings.add("navigation", [f"next leads in a circle at {link[0]}"])
            break
        walked.append(link[0])
        browser.open(site / link[0])
    if walked != [f"ch{chapter}.html" for chapter in chapters]:
        findings.add("navigation", [f"next leads through {walked}, and the chapters are {chapters}"])
    browser.window(360, 740, phone=True)  # the same tree on a phone
    browser.open(site / f"ch{chapters[0]}.html")
    browser.driver.find_element("id", "menu-button").click()
    findings.add("menu of a phone", browser.ask(NAVIGATION_CUT))
    on_phone = browser.ask("return Array.from(document.querySelectorAll('#site-nav a:not(.within a)'), (link) => link.getAttribute('href'))")
    if on_phone != listed:
        findings.add("menu of a phone", ["is not the menu of a wide window"])
    if browser.ask("return document.getElementById('menu-button').getAttribute('aria-expanded')") != "true":
        findings.add("menu of a phone", ["does not say that it is open"])


def check_mode(browser, site, findings):
    """The button changes the mode, and the next page keeps it."""
    browser.window(1280)
    browser.media()
    browser.open(site / "index.html")
    browser.driver.find_element("id", "mode-button").click()
    browser.open(site / "glossary.html")
    colours = browser.ask("const style = getComputedStyle(document.body); return [style.backgroundColor, getComputedStyle(document.documentElement).colorScheme]")
    if colours[1] != "dark" or sum(map(int, re.findall(r"\d+", colours[0])[:3])) > 200:
        findings.add("dark mode", [f"is not kept: {colours}"])
    browser.ask("localStorage.clear()")


def check_language(browser, site, findings):
    """The switch leads to the same section in the other language; English pages' navigation then leads to Chinese lessons, and back."""
    chinese = sorted(site.glob("ch[0-9]*_zh.html"))[0]
    english = chinese.with_name(chinese.name.replace("_zh.html", ".html"))
    browser.window(1280)
    browser.open(english)
    section = browser.ask("return document.querySelectorAll('main h2')[1].id")
    missing = browser.ask("return Array.from(document.querySelectorAll('main :is(h2, h3, h4)'), (heading) => heading.id)")
    for page, lang, first in ((english, "en", True), (chinese, "zh-CN", False), (english, "en", False)):
        if first:
            browser.ask(f"location.hash = '{section}'")
        url, said = browser.driver.current_url, browser.ask("return document.documentElement.lang")
        if not url.endswith(f"{page.name}#{section}") or said != lang:
            findings.add("language", [f"the switch leads to {url} ({said}), not to {page.name}#{section} ({lang})"])
        if page == chinese:
            there = browser.ask("return Array.from(document.querySelectorAll('main :is(h2, h3, h4)'), (heading) => heading.id)")
            if there != missing:
                findings.add("language", [f"{page.name} has other sections: {sorted(set(there) ^ set(missing))}"])
            browser.open(site / "glossary.html")
            if not browser.ask("return !!document.querySelector(`#site-nav a[href='" + chinese.name + "']`)"):
                findings.add("language", ["Chinese was chosen, and the navigation leads to English lessons"])
            browser.driver.get(f"{chinese.resolve().as_uri()}#{section}")
        browser.ask("document.getElementById('language').click()")
        time.sleep(0.7)
    browser.open(site / "glossary.html")
    browser.ask("localStorage.setItem('tilewise-language', 'en')")
    browser.open(site / "glossary.html")
    if browser.ask("return !!document.querySelector(`#site-nav a[href='" + chinese.name + "']`)"):
        findings.add("language", ["English was chosen, and the navigation leads to Chinese lessons"])
    browser.ask("localStorage.clear()")


def check_glossary(browser, site, findings):
    """A word's meaning shows at its link."""
    browser.window(1280)
    lesson = sorted(site.glob("ch03_*.html"))[0]
    browser.open(lesson)
    browser.ask("document.querySelector('main a[href=\"glossary.html#warp\"]').focus()")
    time.sleep(0.5)
    said = browser.ask("const box = document.querySelector('.meaning'); return box && box.textContent")
    if not said or "32" not in said:
        findings.add("glossary", [f"the meaning of warp is not shown at its link, but {said}"])


def check_memory(browser, site, findings):
    """What is ticked and predicted stays when one comes back, and shows elsewhere."""
    lesson = sorted(site.glob("ch[0-9]*.html"))[0]
    browser.window(1280)
    browser.open(site / "puzzles.html")
    browser.ask("localStorage.clear()")
    browser.open(site / "puzzles.html")
    key = browser.ask("const puzzle = document.querySelector('details.puzzle'); puzzle.querySelector('input').click(); return puzzle.dataset.doneKey")
    said = browser.ask("return document.querySelector('.progress').textContent")
    if not said.startswith("1 of "):
        findings.add("puzzles", [f"one is ticked, and the progress is '{said}'"])
    browser.open(lesson)
    if browser.ask("return document.querySelectorAll(`.puzzle-link[data-done-key='${arguments[0]}'][data-done]`).length", key) != 1:
        findings.add("puzzles", [f"{key} is ticked, and {lesson.name} does not say so"])
    browser.ask("const line = document.querySelector('.prediction input'); line.value = 'eight'; line.dispatchEvent(new Event('change'));"
                "document.querySelector('.lesson-done input').click()")
    browser.open(lesson)
    kept = browser.ask("return [document.querySelector('.prediction input').value, document.querySelector('.lesson-done input').checked,"
                       "document.querySelector('#site-nav [aria-current]').hasAttribute('data-done')]")
    if kept != ["eight", True, True]:
        findings.add("lessons", [f"a prediction and a tick are not kept: {kept}"])
    browser.ask("localStorage.clear()")


FACTS = r"""
return Object.fromEntries(Array.from(document.querySelectorAll(`#explorer-${arguments[0]} .explorer-facts > div`),
  (fact) => [fact.querySelector('dt').textContent, fact.querySelector('dd').textContent]));
"""

DRAWN = r"""
const picture = document.querySelector(`#explorer-${arguments[0]} svg`);
return picture ? [picture.getBoundingClientRect().width, picture.getBoundingClientRect().height, picture.querySelectorAll('rect, circle, polyline').length] : [0, 0, 0];
"""


def check_explorers(browser, site, findings):
    """Each state in the address shows its figures, wide and on a phone."""
    browser.media()
    at = None
    for page, name, state, wanted in EXPLORED:
        browser.window(1280, 800)
        if page == at:  # follows a link within the page
            browser.ask("location.hash = arguments[0]", f"explorer-{name}?{state}")
            time.sleep(0.1)
        else:
            browser.driver.get("about:blank")  # an address that differs only after the # would not load the page again
            browser.driver.get(f"{(site / page).resolve().as_uri()}.html#explorer-{name}?{state}")
        at = page
        if not browser.ask("const box = document.getElementById(arguments[0]).getBoundingClientRect(); return box.top < innerHeight && box.bottom > 0", f"explorer-{name}"):
            findings.add(f"{page}.html", [f"explorer {name} is not in sight, though the address names it"])
        for width in (1280, 360):
            browser.window(width, 800, phone=width == 360)
            time.sleep(0.1)
            said = browser.ask(FACTS, name)
            for fact, value in wanted.items():
                if said.get(fact) != value:
                    findings.add(f"{page}.html", [f"explorer {name}, {state}: {fact} is {said.get(fact)}, not {value}"])
            wide, tall, parts = browser.ask(DRAWN, name)
            if not 200 < wide <= width or not 30 < tall < 1200 or parts < 5:
                findings.add(f"{page}.html", [f"explorer {name}, {state}: a picture of {parts} parts, {wide} x {tall} pixels in a window of {width}"])
    findings.add("explorers", browser.console())


def check_explorers_by_hand(browser, site, findings):
    """By keyboard and by touch: what is typed and chosen is in the picture and in the address, and comes back with it."""
    def is_not(what, wanted):
        if what != wanted:
            findings.add("explorers", [f"{doing}: {what}, not {wanted}"])

    def there(element):
        return browser.driver.find_element("css selector", element)

    browser.media()
    browser.window(1280)
    browser.open(site / "ch05_coalescing.html")
    doing = "typing a stride"
    field = there("#explorer-request-stride")
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "8" + Keys.TAB)
    is_not(browser.ask(FACTS, "request").get("Sectors"), "32")
    doing = "an arrow on the slider"
    there("#explorer-request-stride-slider").send_keys(Keys.ARROW_LEFT)
    is_not(browser.ask("return document.getElementById('explorer-request-stride').value"), "7")
    doing = "the address after that"
    is_not(bool(re.search(r"#explorer-request\?.*\bstride=7\b", browser.driver.current_url)), True)
    doing = "a number that is too large"
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "1000" + Keys.TAB)
    is_not(browser.ask("return document.getElementById('explorer-request-stride').value"), "64")
    doing = "a button by Enter"
    there("#explorer-request .explorer-presets button:nth-child(2)").send_keys(Keys.ENTER)
    is_not(browser.ask(FACTS, "request").get("Sectors"), "8")
    doing = "a choice by keyboard"
    there("#explorer-request-bytes").send_keys("8")
    is_not(browser.ask(FACTS, "request").get("Sectors"), "16")
    doing = "the address, opened again"
    address = browser.driver.current_url
    browser.driver.get("about:blank")
    browser.driver.get(address)
    is_not([browser.ask(FACTS, "request").get("Sectors"), browser.ask("return document.getElementById('explorer-request-bytes').value")], ["16", "8"])
    doing = "an address of nonsense"
    browser.driver.get("about:blank")
    browser.driver.get((site / "ch05_coalescing.html").resolve().as_uri() + "#explorer-request?stride=x&bytes=5&%%%")
    is_not(browser.ask(FACTS, "request").get("Sectors"), "4")
    doing = "a label for each control"
    for page in {f"{page}.html" for page, *_ in EXPLORED} | {"your_kernel.html"}:
        browser.open(site / page)
        is_not(browser.ask("return Array.from(document.querySelectorAll('.explorer :is(input, select, textarea)')).filter((found) => !found.labels.length"
                           " && !found.getAttribute('aria-label')).map((found) => found.id)"), [])

    browser.window(360, 740, phone=True)
    browser.open(site / "ch06_csr_spmv.html")
    doing = "touching Next"
    browser.ask("document.getElementById('explorer-reduction').scrollIntoView()")
    box = browser.ask("const box = document.querySelector('#explorer-reduction .next').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2, box.width, box.height]")
    for kind in ("touchStart", "touchEnd"):
        browser.command("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": box[0], "y": box[1]}] if kind == "touchStart" else [])
    time.sleep(0.5)
    is_not(browser.ask(FACTS, "reduction").get("Step"), "2 of 3")
    doing = "room for a finger on Next"
    is_not(min(box[2], box[3]) >= 32, True)

    browser.window(1280)
    browser.open(site / "your_kernel.html")
    doing = "the example of a report"
    there("#explorer-report .explorer-presets button").click()
    time.sleep(1)
    rows = browser.ask("return Array.from(document.querySelectorAll('#explorer-report tbody tr'), (row) => row.textContent)")
    is_not([len(rows), any("32 sectors" in row and "196,608 bytes" in row for row in rows)], [2, True])
    doing = "a line of it, by Enter"
    there("#explorer-report tbody tr:nth-child(2) button").send_keys(Keys.ENTER)
    is_not("32 sectors of 32 bytes in 32 cache lines" in there("#explorer-report .explorer-says").text, True)
    is_not(browser.ask(DRAWN, "report")[2] > 100, True)
    doing = "something that is no report"
    there("#explorer-report summary").click()
    box = there("#explorer-report textarea")
    box.send_keys("{}" + Keys.TAB)
    is_not("no report" in there("#explorer-report .explorer-error").text, True)
    doing = "a report that is pasted"
    box.clear()
    pasted = [{"kernel": "k()", "grid": [1, 1, 1], "block": [32, 1, 1], "lines": [
        {"file": "x.cu", "line": 3, "memory": "shared", "access": "load", "bytes_per_thread": 4, "instructions": 2, "threads": 64, "wavefronts": 64,
         "wavefronts_ideal": 2, "worst_request": {"address": 0, "lanes": " ".join(str(128 * lane) for lane in range(32))}}]}]
    box.send_keys(json.dumps(pasted) + Keys.TAB)
    is_not("32 passes through shared memory, 1 without bank conflicts" in there("#explorer-report .explorer-says").text, True)
    doing = "a report and its source, chosen as files"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "report.json").write_text(json.dumps(pasted), encoding="utf-8")
        (Path(folder) / "x.cu").write_text("one\ntwo\nfloat word = tile[threadIdx.x][0];\n", encoding="utf-8")
        there("#explorer-report input[type=file]").send_keys(f"{folder}/report.json\n{folder}/x.cu")
        time.sleep(1)
        is_not(browser.ask("return Array.from(document.querySelectorAll('#explorer-report tbody code'), (code) => code.textContent)"), ["float word = tile[threadIdx.x][0];"])
    findings.add("explorers", browser.console())

    doing = "without scripts"
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(site / "ch05_coalescing.html")
    is_not(there("#explorer-request img").is_displayed(), True)
    browser.command("Emulation.setScriptExecutionDisabled", value=False)


def check_rules(folder):
    """The explorers' rules on the vectors that the simulator wrote, where there is no node."""
    example = Path("docs/explorers/example.js").read_text(encoding="utf-8")
    scripts = [Path(name).read_text(encoding="utf-8") for name in ("docs/explorers/rules.js", "tests/explorers/check-rules.js")]
    wrong, browser = 0, Browser()
    try:
        for file in sorted((folder / "vectors").glob("*.json")):
            found = browser.ask("\n".join(scripts) + "\nreturn checkRules(arguments[0]);", json.loads(file.read_text(encoding="utf-8")))
            print("\n  ".join([file.name, *found["lines"], *found["said"][:20]]))
            wrong += len(found["said"])
        # as text: Python would write some of the numbers differently
        report = (folder / "report.json").read_text(encoding="utf-8")
        if browser.ask("\n".join(scripts) + "\nreturn exampleText(JSON.parse(arguments[0]));", report) != example:
            print("docs/explorers/example.js is not what the simulator reports now: tests/explorers/check-rules.sh --write EXPLORER_VECTORS, with node")
            wrong += 1
    finally:
        browser.close()
    return 1 if wrong else 0


def check_pictures(browser, site, findings):
    """No text outside of its picture, with wide fonts and with narrow ones."""
    browser.window(1280)
    for file in sorted(site.rglob("*.svg")):
        if "<text" not in file.read_text(encoding="utf-8", errors="replace"):
            continue
        browser.open(file)
        for font in FONTS:
            findings.add(str(file.relative_to(site)), browser.ask(TEXT_OUTSIDE, font))


def check_words(site, findings):
    """Doxygen, told wrongly, eats spaces: no page has a word that is two words of its source."""
    def words(text):
        return set(re.findall(r"[A-Za-z]{3,}|\d[A-Za-z]{2,}", text))

    for name, source in sources().items():
        page = site / f"{name}.html"
        if not page.exists():
            continue
        body = re.search(r'<div class="contents">(.*)</main>', page.read_text(encoding="utf-8"), re.S).group(1)
        body = re.sub(r'<nav class="steps-end".*?</nav>|<a class="enlarge".*?</a>|<div class="fragment">.*?</div><!-- fragment -->', " ", body, flags=re.S)
        # a Chinese page has the blocks of the English one
        texts = [source, source.with_name(source.name.replace(".zh.md", ".md"))]
        known = words(" ".join(text.read_text(encoding="utf-8") for text in texts).replace("&", " "))
        for word in sorted(words(plain(body)) - known):
            halves = [(word[:cut], word[cut:]) for cut in range(1, len(word))]
            if any((left in known or left.isdigit()) and right in known for left, right in halves):
                findings.add(page.name, [f"'{word}' is two words in {source}"])


def check_size(site, findings):
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) / 1e6
    if size > 30:
        findings.add("site", [f"{size:.0f} MB, more than 30"])


# ---------------------------------------------------------------- all of it

def in_parallel(jobs, findings):
    """Two browsers take jobs until there are none."""
    waiting = queue.Queue()
    for job in jobs:
        waiting.put(job)
    failures = []

    def work():
        browser = Browser()
        try:
            while True:
                try:
                    name, job = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    job(browser)
                except WebDriverException as error:
                    findings.add(name, [f"the browser says: {str(error).splitlines()[0][:200]}"])
        finally:
            browser.close()

    def guarded():
        try:
            work()
        except Exception as error:  # a thread that dies quietly would look like a pass
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def sample(pages):
    """Of the reference, a few pages of each kind, since they are made by one program; each commit others."""
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    first = 3 * int(counted or 0)
    kinds = {}
    for page in pages:
        name = page.stem
        kind = "source" if name.endswith("_source") else "members" if name.endswith("-members") else re.match(r"[a-z]+", name).group(0)
        kind = "file" if "_8" in name and kind != "source" else kind
        kinds.setdefault(kind, []).append(page)
    return [group[(first + i) % len(group)] for group in kinds.values() for i in range(min(3, len(group)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axe", action="store_true")
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--site", type=Path, default=Path("build/docs/html"))
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    os.chdir(Path(__file__).resolve().parent.parent.parent)
    site = options.site
    if options.rules and browser_program() and driver_program():
        return check_rules(options.rules)
    if not options.rules and not (site / "index.html").exists():
        print(f"{site} has no index.html: common/scripts/run/docs.sh builds the site", file=sys.stderr)
        return 2
    if not browser_program() or not driver_program():
        print("neither Chromium nor Chrome with its driver is here: common/scripts/run/setup.sh site-checks installs them")
        return 77
    if options.axe and not AXE.exists():
        print(f"axe-core is not here ({AXE}): common/scripts/run/setup.sh site-checks fetches it")
        return 77
    every = sorted(site.glob("*.html"))
    named = [site / f"{name.removesuffix('.html')}.html" for name in options.pages]
    for page in named:
        if page not in every:
            print(f"there is no page {page}", file=sys.stderr)
            return 2
    course = [page for page in every if is_course(page)]
    if options.axe and not named:
        course = [page for page in course if page.name != "all.html"]  # repeats the others
    started, findings, sizes = time.monotonic(), Findings(), picture_sizes(site)

    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
        pages = named or course
        in_parallel([(page.name, lambda browser, page=page: shoot(browser, page, options.shots)) for page in pages], findings)
        print(f"{4 * len(pages)} pictures in {options.shots}")
        return 1 if findings.lines else 0

    look = check_page_with_axe if options.axe else check_page
    others = [page for page in every if not is_course(page)]
    pages = named or course + sample(others)
    # the longest first, so that the two browsers end together
    pages.sort(key=lambda page: -page.stat().st_size)
    jobs = [(page.name, lambda browser, page=page: look(browser, page, findings, sizes)) for page in pages]
    if not options.axe and not named:
        for check in (check_explorers, check_explorers_by_hand, check_search, check_navigation, check_mode, check_language, check_glossary, check_memory, check_pictures):
            jobs.insert(0, (check.__name__, lambda browser, check=check: check(browser, site, findings)))
        check_size(site, findings)
        check_words(site, findings)
    in_parallel(jobs, findings)
    print(f"{len(pages)} pages, {len(findings.lines)} findings, {time.monotonic() - started:.0f} s")
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main())
