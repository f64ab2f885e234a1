// node docs/explorers/stills.js [--check]: the explorers' pictures at the state in which pages show them, for readers without
// JavaScript and for the edition on one page. --check says which are not up to date, with exit code 1.
'use strict';
const fs = require('fs'), path = require('path');
const WIDTH = 700, EDGE = 12;

const here = (name) => path.join(__dirname, name);
require(here('rules.js'));
require(here('library.js'));
const { known, valid, read } = globalThis.tilewiseExplorers;
const css = fs.readFileSync(here('explorers.css'), 'utf8');
const part = (name) => css.split(`/* [${name}] */`)[1].split(`/* [/${name}] */`)[0].trim();
const style = `<style>${part('pictures')}\n${part('light')}\n.explorer-picture .page { fill: var(--ex-page); }\n`
  + `@media (prefers-color-scheme: dark) { .explorer-picture { ${part('dark')} } }</style>`;

// The first page that has an explorer decides in which state it is drawn.
function markers() {
  const chapters = path.join(__dirname, '../../chapters'), found = new Map();
  for (const chapter of fs.readdirSync(chapters).sort()) {
    for (const page of ['README.md', 'deeper.md']) {
      const file = path.join(chapters, chapter, page);
      if (!fs.existsSync(file)) continue;
      for (const [, name, state] of fs.readFileSync(file, 'utf8').matchAll(/^<!-- explorer: ([a-z]+)(?: (\S+))? -->$/gm)) {
        found.set(`${name}${found.has(name) && state ? `-${chapter.slice(0, 2)}` : ''}`, [name, state]);
      }
    }
  }
  return found;
}

let stale = 0;
for (const file of fs.readdirSync(__dirname)) if (/\.js$/.test(file) && !['rules.js', 'library.js', 'stills.js', 'report.js', 'example.js'].includes(file)) require(here(file));
for (const [as, [name, state]] of markers()) {
  const spec = known[name];
  if (!spec) throw new Error(`a page asks for an explorer ${name}, and there is none`);
  const seen = spec.view(valid(spec, read(state)), WIDTH);
  const inner = seen.picture.replace(/^<svg[^>]*>/, '').replace(/<\/svg>$/, ''), height = Number(/ height="(\d+)"/.exec(seen.picture)[1]);
  const label = /aria-label="([^"]*)"/.exec(seen.picture)[1], wide = WIDTH + 2 * EDGE, high = height + 2 * EDGE;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" class="explorer-picture" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" role="img" aria-label="${label}">${style}`
    + `<rect class="page" x=".5" y=".5" width="${wide - 1}" height="${high - 1}" rx="8"/><g transform="translate(${EDGE} ${EDGE})">${inner}</g></svg>\n`;
  const file = here(`${as}.svg`);
  if (process.argv.includes('--check')) {
    if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) continue;
    stale++;
    console.log(`docs/explorers/${as}.svg is not up to date: node docs/explorers/stills.js`);
  } else fs.writeFileSync(file, text);
}
process.exit(stale ? 1 : 0);
