#!/usr/bin/env python3
"""check-report.py [--shots FOLDER] [REPORT.html]: looks at the page that `make tour` writes, in a browser without a window.

At 1280 and at 360 pixels, light and dark, with everything unfolded: nothing is wider than the window or cut, charts show what differs,
reasons of skipped rows have the rest of their row, each table says whether it is normal, each lesson leads to its page. With
axe-core (common/scripts/run/setup.sh site-checks) also what it calls serious or critical.
Exit code 1 for findings, 2 for bad arguments, 77 when what is needed isn't here; the last line then says why.
"""
import argparse
import importlib.util
import base64
import os
import sys
import time
from pathlib import Path

# check-site.py has the browser; it ends with 77 where there is none for Python.
_site = importlib.util.spec_from_file_location("check_site", Path(__file__).resolve().parent / "check-site.py")
check_site = importlib.util.module_from_spec(_site)
_site.loader.exec_module(check_site)

CUT = r"""
const said = [];
for (const found of document.querySelectorAll('main *')) {
  if (!found.getClientRects().length) continue;
  const name = `${found.tagName}.${found.className} ${found.textContent.trim().slice(0, 40)}`;
  if (found.clientWidth && found.scrollWidth > found.clientWidth + 1 && getComputedStyle(found).display !== 'inline') said.push('cut or scrolled: ' + name);
  if (found.getBoundingClientRect().right > arguments[0] + 1) said.push('beyond the window: ' + name);
}
return said.slice(0, 5);
"""

CHARTS = r"""
const said = [];
for (const chart of document.querySelectorAll('figure.bars')) {
  const section = chart.closest('section').id, widths = Array.from(chart.querySelectorAll('.bar i'), (bar) => Math.round(bar.getBoundingClientRect().width));
  if (widths.length < 2 || new Set(widths).size < 2) said.push(`${section}: a chart of bars of one length, ${chart.dataset.measure}`);
  for (const text of chart.querySelectorAll('.bar b, .bar span')) {
    if (text.getBoundingClientRect().width && text.scrollWidth > text.clientWidth + 1) said.push(`${section}: cut in a chart: ${text.textContent}`);
  }
}
return said;
"""

SKIPPED = r"""
const said = [];
for (const row of document.querySelectorAll('tr.SKIP')) {
  const reason = row.querySelector('td.reason');
  if (!reason) said.push('a skipped row without a reason: ' + row.textContent.slice(0, 50));
  else if (Math.abs(reason.getBoundingClientRect().right - row.getBoundingClientRect().right) > 2) said.push('a reason that ends within its row: ' + row.textContent.slice(0, 50));
}
return said;
"""

TABLES = r"""
const said = [];
for (const section of document.querySelectorAll('section[id]')) {
  if (!/^\d\d_/.test(section.id)) continue;
  if (!section.querySelector('h2 a[href]')) said.push(`${section.id}: no link to the lesson`);
  const tables = section.querySelectorAll('table').length, verdicts = section.querySelectorAll('.normal').length;
  if (tables !== verdicts) said.push(`${section.id}: ${tables} tables, and ${verdicts} of them say whether they are normal`);
  for (const table of section.querySelectorAll('table')) {
    const rows = Array.from(table.querySelectorAll('tbody tr'));
    if (rows.length < 2) continue;
    Array.from(table.querySelectorAll('thead th')).forEach((title, column) => {
      const cells = rows.map((row) => row.cells[column]).filter((cell) => cell && !cell.classList.contains('reason')).map((cell) => cell.textContent);
      if (cells.length > 1 && cells.length === rows.length && new Set(cells).size === 1 && title.textContent !== 'kernel') {
        said.push(`${section.id}: a column of one value, ${title.textContent} ${cells[0]}`);
      }
    });
  }
}
return said;
"""

# What the lesson about banks is about: on the simulator its first chart shows wavefronts, and a tile without padding has more.
BANKS = r"""
const chart = document.querySelector('section[id^="03_"] figure.bars');
if (!chart) return ['the lesson about banks has no chart'];
const length = (kernel) => {
  const bar = chart.querySelector(`.bar[data-kernel="${kernel}"]`);
  return bar ? bar.querySelector('i').getBoundingClientRect().width : 0;
};
const tile = length('running_sums_tile'), padded = length('running_sums_padded'), counted = !chart.dataset.measure.startsWith('figure');
if (!tile || !padded) return ['the chart of the lesson about banks has not both tiles'];
if (counted ? tile < 2 * padded : padded < 1.2 * tile) return [`the chart of the lesson about banks does not tell the tiles apart: ${tile} and ${padded} pixels`];
return [];
"""

UNFOLD = "for (const fold of document.querySelectorAll('details')) fold.open = true;"


def look(browser, report, findings, shots):
    for width in (1280, 360):
        for dark in (False, True):
            name = f"{'dark' if dark else 'light'}, {width} pixels"
            browser.window(width, 900, phone=width == 360)
            browser.media("", dark)
            browser.console()
            browser.open(report)
            browser.ask(UNFOLD)
            findings.add(name, browser.console())
            findings.add(name, browser.ask(check_site.OVERFLOW, width))
            findings.add(name, browser.ask(CUT, width))
            findings.add(name, browser.ask(CHARTS))
            findings.add(name, browser.ask(SKIPPED))
            if shots:
                tall = min(browser.ask("return document.documentElement.scrollHeight"), 12000)
                browser.window(width, tall, phone=width == 360)
                time.sleep(0.2)
                data = browser.command("Page.captureScreenshot", format="png")["data"]
                (shots / f"report-{'dark' if dark else 'light'}-{width}.png").write_bytes(base64.b64decode(data))
            if width == 1280:
                if check_site.AXE.exists():
                    browser.ask(check_site.AXE.read_text(encoding="utf-8"))
                    browser.ask(check_site.TWO_OF_A_KIND)
                    findings.add(name, browser.driver.execute_async_script(check_site.RUN_AXE, {}))
    browser.window(1280)
    browser.open(report)
    browser.ask(UNFOLD)
    findings.add("the report", browser.ask(TABLES))
    findings.add("the report", browser.ask(BANKS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shots", type=Path)
    parser.add_argument("report", nargs="?", type=Path, default=Path("build/report/index.html"))
    options = parser.parse_args()
    os.chdir(Path(__file__).resolve().parent.parent.parent)
    if not options.report.exists():
        print(f"there is no {options.report}: make tour writes it", file=sys.stderr)
        return 2
    if not check_site.browser_program() or not check_site.driver_program():
        print("neither Chromium nor Chrome with its driver is here: common/scripts/run/setup.sh site-checks installs them")
        return 77
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    started, findings, browser = time.monotonic(), check_site.Findings(), check_site.Browser()
    try:
        look(browser, options.report, findings, options.shots)
    finally:
        browser.close()
    print(f"{len(findings.lines)} findings, {time.monotonic() - started:.0f} s")
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main())
