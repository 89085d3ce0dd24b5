// What Chromium measures of the dashboard: paints, frames and interactions. `commonbook-bench dashboard` runs it.
//
// node browser.mjs LINK MODULES CHROMIUM EACH SECONDS: signs in by the link, loads playwright-core from MODULES, repeats each
// act EACH times, watches frames for SECONDS, and prints one object of JSON: rows of `{what, times}`, in ms, and `notes`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const [link, modules, executablePath, eachText, secondsText] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/package.json`)('playwright-core');
const each = Number(eachText);
const seconds = Number(secondsText);
const PAINTED = ['now', 'memories', 'memories?q=release+notes', 'cases', 'handoffs', 'entities', 'contexts', 'knowledge',
  'contradictions', 'review', 'standing', 'agents', 'health'];
const rows = new Map();
const notes = [];
const note = (what, time) => rows.set(what, [...(rows.get(what) ?? []), time]);

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
// From the press of a key to the next paint, as the browser itself counts: in steps of 8 ms, and nothing below 16 ms is counted.
await context.addInitScript(() => {
  globalThis.benchEvents = [];
  new PerformanceObserver((list) => globalThis.benchEvents.push(...list.getEntries()
    .map((entry) => ({ name: entry.name, duration: entry.duration }))))
    .observe({ type: 'event', durationThreshold: 16, buffered: true });
});
const page = await context.newPage();
await page.goto(link);
const root = page.url().replace(/\/now.*/, '');
const open = (path) => page.goto(`${root}/${path}`);
const frame = () => page.evaluate(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
}));
const firstPaint = () => page.evaluate(() => new Promise((done) => {
  const read = () => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    if (paint) done(paint.startTime); else setTimeout(read, 5);
  };
  read();
}));

// First paints, from the start of the navigation: the server's time is part of them. A page of one word is what the browser needs itself.
const word = createServer((_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>hi</title><p>hi');
}).listen(0, '127.0.0.1');
await once(word, 'listening');
for (let turn = 0; turn < each; turn += 1) {
  await page.goto(`http://127.0.0.1:${word.address().port}/`);
  note('first paint of a page "hi"', await firstPaint());
  for (const path of PAINTED) {
    await open(path);
    note(`first paint of ${path}`, await firstPaint());
  }
}

word.close();
word.closeAllConnections();

// Interactions that stay on a page: the slowest event of each.
async function interact(what, act) {
  await frame();
  await page.evaluate(() => { globalThis.benchEvents.length = 0; });
  await act();
  await frame();
  await frame();
  const durations = await page.evaluate(() => globalThis.benchEvents.map((event) => event.duration));
  // An interaction without an entry took less than the 16 ms that the browser counts from.
  note(what, Math.max(8, ...durations));
}
for (let turn = 0; turn < each; turn += 1) {
  await open('memories');
  await page.locator('#palette-button:not([hidden])').waitFor();
  await interact('palette: opened', () => page.keyboard.press('Control+k'));
  await interact('palette: a letter typed', () => page.keyboard.press('r'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  const results = page.evaluate(() => new Promise((done) => {
    const list = document.getElementById('palette-list');
    let begun;
    addEventListener('keydown', () => { begun = performance.now(); }, { capture: true });
    new MutationObserver(() => {
      const isFound = [...list.querySelectorAll('.kind')].some((kind) => kind.textContent === 'memory');
      if (isFound && document.activeElement.value === 'release') requestAnimationFrame(() => done(performance.now() - begun));
    }).observe(list, { childList: true });
  }));
  for (const letter of 'release') await page.keyboard.press(letter);
  note('palette: results shown, after the last letter', await results);
  await page.keyboard.press('Escape');
  await interact('row chosen with j', () => page.keyboard.press('j'));
  await interact('form unfolded', () => page.locator('details.new summary').press('Enter'));
  await interact('colours changed', () => page.locator('#theme-button').press('Enter'));

  // Interactions that lead to another page: from the key until the frame with its main part is painted.
  const leads = async (what, path) => {
    await page.evaluate((address) => { globalThis.benchPainted = new Promise((done) => {
      let begun;
      addEventListener('keydown', (event) => { if (event.key === 'Enter') begun = event.timeStamp; }, { capture: true });
      new MutationObserver((_, observer) => {
        if (!begun || !location.href.includes(address)) return;
        observer.disconnect();
        // The second frame begins when the first one is painted.
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
      }).observe(document.getElementById('main').parentElement, { childList: true });
    }); }, path);
    await page.keyboard.press('Enter');
    note(what, await page.evaluate(() => globalThis.benchPainted));
  };
  await open('memories');
  await page.locator('.row .row-main').first().waitFor();
  await page.keyboard.press('j');
  await leads('row opened: the memory painted', '/memories/mem_');
  await open('now');
  await page.keyboard.press('/');
  await page.keyboard.type('settings of release');
  await leads('search sent: the hits painted', '/memories?q=');
}

// Frames of the live page, and how often it read itself again.
const tabs = [];
for (let number = 0; number < 9; number += 1) {
  const tab = await context.newPage();
  await tab.goto(`${root}/now`);
  tabs.push(tab);
}
let reads = 0;
await page.bringToFront();
await open('now');
await page.locator('#live-state', { hasText: 'live' }).waitFor({ timeout: 20_000 });
page.on('request', (request) => { if (request.resourceType() === 'fetch' && request.url().endsWith('/now')) reads += 1; });
const shown = () => page.evaluate(() => document.querySelector('#events .row')?.id ?? '');
const first = await shown();
const deltas = await page.evaluate((milliseconds) => new Promise((done) => {
  const times = [];
  let last = performance.now();
  const end = last + milliseconds;
  const step = () => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    if (now < end) requestAnimationFrame(step); else done(times);
  };
  requestAnimationFrame(step);
}), seconds * 1000);
rows.set('frame of now, ten tabs open', deltas);
const number = (id) => Number(id.replace('event-', '')) || 0;
notes.push(`frames over 100 ms in ${seconds} s: ${deltas.filter((delta) => delta > 100).length} of ${deltas.length}`);
notes.push(`now read itself again ${reads} times; its newest event went on by ${number(await shown()) - number(first)}`);
for (const tab of tabs) await tab.close();
await browser.close();
console.log(JSON.stringify({ rows: [...rows].map(([what, times]) => ({ what, times })), notes }));
