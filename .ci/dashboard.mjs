// Opens every page of the dashboard in Chromium, and does what a person would do there.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [link, shots, work] = process.argv.slice(2);
const { chromium } = createRequire(`${work}/package.json`)('playwright-core');
const axe = readFileSync(`${work}/node_modules/axe-core/axe.min.js`, 'utf8');
const program = process.env.COMMONBOOK_PROGRAM;
const root = '/dashboard/w/default';
const origin = new URL(link).origin;
const PAGES = ['now', 'memories', 'cases', 'handoffs', 'entities', 'contexts', 'knowledge', 'contradictions', 'review', 'standing',
  'agreements', 'vaults', 'agents', 'health'];
const faults = [];
let passed = 0;
// Whether the step asks for a page that is refused: the browser notes that on its console.
let refused = false;

function run(agent, ...words) {
  return execFileSync(program, words, { env: { ...process.env, COMMONBOOK_AGENT_ID: agent }, encoding: 'utf8' });
}
function check(holds, what) {
  if (holds) passed += 1; else faults.push(what);
}
function watch(page, name) {
  page.on('console', (message) => { if (message.type() === 'error' && !refused) faults.push(`${name}: console: ${message.text()}`); });
  page.on('pageerror', (error) => faults.push(`${name}: ${error.message}`));
  page.on('request', (request) => { if (!request.url().startsWith(origin)) faults.push(`${name}: a foreign request: ${request.url()}`); });
}

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: false });
const page = await context.newPage();
watch(page, 'page');
const assets = new Map();
page.on('response', async (response) => {
  if (response.url().includes('/dashboard/assets/') && response.ok()) {
    const body = await response.body().catch(() => undefined);
    if (body) assets.set(response.url(), body.length);
  }
});
await page.goto(link);
check(page.url() === `${origin}${root}/now`, `the link leads to ${page.url()}`);

// The items to look at: the first link of each list.
const open = async (path) => {
  const response = await page.goto(`${origin}${path}`);
  check(response.status() === 200, `${path}: status ${response.status()}`);
  // The scripts have begun.
  await page.locator('#palette-button').waitFor();
};
// Waits until the page at this address is shown: a link changes the address before the page is there.
const arrived = async (address) => {
  await page.waitForURL(address);
  await page.waitForFunction(() => !globalThis.navigation?.transition);
};
const firstOf = async (name, prefix) => {
  await open(`${root}/${name}`);
  return page.locator(`main a[href^="${root}/${prefix ?? name}/"]`).first().getAttribute('href');
};
const things = {};
for (const name of ['memories', 'cases', 'handoffs', 'entities', 'contexts', 'contradictions', 'standing', 'agents']) {
  things[name] = await firstOf(name);
}

// Every page: no console error, no foreign request, no text as markup, nothing that axe-core objects to.
for (const path of [...PAGES.map((name) => `${root}/${name}`), ...Object.values(things), `${root}/memories?q=payment+retries`, `${root}/memories?topic=hostile`,
  `${root}/cases/hostile`, `${root}/find?q=payment`]) {
  await open(path);
  check(await page.title() !== 'broken' && await page.locator('img').count() === 0, `${path}: a text became markup`);
  check(await page.locator('h1').count() === 1, `${path}: one heading`);
  // As a text, the debugger evaluates it: the page's own policy forbids further scripts.
  await page.evaluate(`${axe}; undefined`);
  const objections = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')}`);
  });
  check(objections.length === 0, `${path}: axe: ${objections.join('; ')}`);
}

// An event appears without a reload, and in another tab too.
await open(`${root}/now`);
const tabs = [];
for (let number = 0; number < 9; number += 1) {
  const tab = await context.newPage();
  await tab.goto(`${origin}${root}/now`);
  tabs.push(tab);
}
await page.bringToFront();
await page.locator('#live-state', { hasText: 'live' }).waitFor({ timeout: 20_000 });
run('codex', 'save', 'The teapot of the office is blue');
await page.locator('#events .row-main', { hasText: 'The teapot of the office is blue' }).waitFor({ timeout: 20_000 });
// What happens after the server made the page, and before the page follows its events, appears too.
const happensMeanwhile = (tab, text) => tab.route(`${origin}${root}/now`, async (route) => {
  const response = await route.fetch();
  const body = await response.text();
  run('codex', 'save', text);
  await route.fulfill({ response, body });
}, { times: 1 });
const late = await context.newPage();
watch(late, 'a page that comes late');
await happensMeanwhile(late, 'The spoon of the office is bent');
await late.goto(`${origin}${root}/now`);
await late.locator('#events .row-main', { hasText: 'The spoon of the office is bent' }).waitFor({ timeout: 20_000 });
await late.close();
await page.bringToFront();
const streams = JSON.parse(run('human-looks', 'stats', '--json')).bus?.followers ?? 1;
check(streams <= 2, `ten tabs have ${streams} streams`);
for (const tab of tabs) await tab.close();
passed += 1;

// So it does in a browser without shared workers, as on phones: there a page has a stream of its own, which ends with it.
const alone = await context.newPage();
watch(alone, 'a page without shared workers');
await alone.addInitScript(() => { delete globalThis.SharedWorker; });
await happensMeanwhile(alone, 'The fork of the office is lost');
await alone.goto(`${origin}${root}/now`);
await alone.locator('#events .row-main', { hasText: 'The fork of the office is lost' }).waitFor({ timeout: 20_000 });
await alone.locator('#live-state', { hasText: 'live' }).waitFor({ timeout: 20_000 });
check(await alone.evaluate(() => typeof SharedWorker) === 'undefined', 'the page has no shared workers');
run('codex', 'save', 'The sugar of the office is brown');
await alone.locator('#events .row-main', { hasText: 'The sugar of the office is brown' }).waitFor({ timeout: 20_000 });
await alone.locator('nav.pages a', { hasText: 'Memories' }).click();
await alone.locator('h1', { hasText: 'Memories' }).waitFor();
run('codex', 'save', 'The milk of the office is cold');
await alone.locator('#list .row-main', { hasText: 'The milk of the office is cold' }).waitFor({ timeout: 20_000 });
await alone.close();

// Times are ages with the exact time in their title; a table can be saved; rows are selected with the keyboard and all at once.
await open(`${root}/now`);
const firstTime = page.locator('#events time').first();
check(/ago|just now/.test(await firstTime.textContent()), `an age: ${await firstTime.textContent()}`);
check((await firstTime.getAttribute('title')).includes('UTC'), 'the title of a time is exact');
await page.locator('#rates summary', { hasText: 'By kind of event' }).click();
const [saved] = await Promise.all([page.waitForEvent('download'), page.locator('#rates > details button', { hasText: 'Save as CSV' }).click()]);
const csv = readFileSync(await saved.path(), 'utf8');
check(saved.suggestedFilename() === 'now-rates.csv' && csv.startsWith('Event,Count,Most in a step\r\n') && csv.includes('memory.saved,'), `the table as CSV: ${csv}`);
await open(`${root}/memories`);
check(await page.locator('.bulk button[type=submit]:enabled').count() === 0, 'without a selected row there is nothing to act on');
await page.keyboard.press('j');
await page.keyboard.press('x');
await page.locator('.picked', { hasText: '1 of' }).waitFor();
await page.locator('.pick-all', { hasText: 'Select none' }).click();
await page.locator('.pick-all', { hasText: 'Select all' }).click();
// Rows that come by scrolling meanwhile are not selected.
check(await page.locator('.pick input:checked').count() >= 50, 'all rows of the page are selected');
await page.locator('.pick-all', { hasText: 'Select none' }).click();
await page.locator('.picked', { hasText: '0 of' }).waitFor();
passed += 2;

// Five questions, each answered in at most two clicks from the page Now.
const answers = async (clicks, part, words) => {
  await open(`${root}/now`);
  for (const click of clicks) await page.locator(click).first().click();
  await page.locator(part, { hasText: words }).first().waitFor({ timeout: 10_000 });
};
await answers(['#contexts summary', '#contexts tr:has(td:nth-child(3):text-is("context")) a:text-is("open")'], 'section[aria-label="What it received"]', /found by the task/);
await answers(['#open a:text-is("Settle")'], '#list .line', /The payment service retries/);
check(await page.locator('#list .line mark').count() >= 2, 'the words that differ are marked on both sides');
await answers(['#open a:text-is("Who waits for whom")'], 'main', /gemini-cli → codex|gemini-cli.*codex/);
await answers(['#counts a:text-is("what changed since yesterday")'], '#list .row', /The teapot of the office is blue/);
await answers(['#counts a:text-is("is everything healthy?")'], '#home', /every check passed/);
passed += 5;

// Searches as an agent does, and by the palette with the keyboard alone.
await page.keyboard.press('Control+k');
await page.keyboard.type('teapot');
await page.locator('#palette-list li', { hasText: 'teapot' }).first().waitFor({ timeout: 20_000 });
while (!(await page.locator('#palette-list li[aria-selected=true]').textContent()).includes('teapot')) await page.keyboard.press('ArrowDown');
await page.keyboard.press('Enter');
await arrived(/memories\/mem_/);
check((await page.locator('#memory .text').textContent()).includes('teapot'), 'the palette leads to the memory');

// Asks why an agent cannot see a memory.
const privately = JSON.parse(run('codex', 'list', '--json')).items.find((memory) => memory.sharing === 'private');
refused = true;
check((await page.goto(`${origin}${root}/memories/${privately.id}`)).status() === 404, 'a private memory does not exist for the person');
await page.goBack();
refused = false;
await page.locator('#why input[name=agent]').fill('gemini-cli');
await page.locator('#why button').click();
await page.locator('#why .notice', { hasText: 'gemini-cli sees it' }).waitFor();

// Saves and edits a memory as the person.
await open(`${root}/memories`);
await page.locator('summary', { hasText: 'Save a memory' }).click();
await page.locator('details.new textarea').fill('The kettle of the office is green');
await page.locator('details.new button').click();
await arrived(/memories\/mem_/);
await page.locator('summary', { hasText: 'Edit' }).click();
await page.locator('details[open] textarea').fill('The kettle of the office is red');
await page.locator('button', { hasText: 'Save the change' }).click();
await page.locator('.history del', { hasText: 'green' }).waitFor();
check(await page.locator('.history ins', { hasText: 'red' }).count() === 1, 'the history shows the words that differ');

// Settles a contradiction, and reopens it.
await page.goto(`${origin}${things.contradictions}`);
await page.locator('input[name=context]').fill('one in tests, the other in production');
await page.locator('button', { hasText: 'Keep both' }).click();
await page.locator('.notice', { hasText: 'one in tests' }).waitFor();
await page.locator('button', { hasText: 'Reopen' }).click();
await page.locator('button', { hasText: 'Keep both' }).waitFor();
passed += 2;

// Merges an entity into another one, and takes the merge apart again.
await open(`${root}/entities?type=tool&beginning=Postgre`);
await page.locator('.row-main', { hasText: 'PostgreSQL' }).first().click();
await page.locator('input[name=merge]').fill('Postgres');
await page.locator('#merge button', { hasText: 'Find' }).click();
await page.locator('#merge button', { hasText: 'Merge Postgres server into PostgreSQL' }).click();
await page.locator('#entity .chip', { hasText: 'Postgres server' }).waitFor();
check(await page.locator('#entity h1').textContent() !== '' && await page.locator('h3', { hasText: 'History' }).count() === 1,
  'a merge is in the history of the entity');
const named = async (name) => {
  await open(`${root}/entities?type=tool&beginning=Postgre`);
  return page.locator('#entities .row-main strong', { hasText: name }).count();
};
check(await named('Postgres server') === 0 && await named('PostgreSQL') === 1, 'a merged entity is not in the registry');
await page.locator('.row-main', { hasText: 'PostgreSQL' }).first().click();
await page.locator('#merge button', { hasText: /^Take Postgres server out$/i }).click();
await page.locator('#merge li', { hasText: 'taken apart again' }).waitFor();
check(await named('Postgres server') === 1 && await named('PostgreSQL') === 1, 'after the merge is taken apart, both entities are in the registry');

// Follows a chain of handoffs from page to page, there and back.
await open(`${root}/handoffs`);
const chain = page.locator('#chains .card', { has: page.locator('.steps li:nth-child(2)') }).first();
await chain.locator('.steps li a').first().click();
await arrived(/handoffs\/hnd_/);
const firstHandoff = page.url();
check((await page.locator('#handoff .text').first().textContent()).includes('Write the press release'), 'the chain begins with its first handoff');
await page.locator('#chain .row:not(.current) .row-main').first().click();
await arrived((url) => url.href !== firstHandoff);
check((await page.locator('#handoff .text').first().textContent()).includes('Check the numbers'), 'the second handoff of the chain');
check(await page.locator('#chain .row.current .row-main[aria-current=true]').count() === 1, 'the chain marks the handoff that is shown');
await page.locator('#chain .row:not(.current) .row-main').first().click();
await arrived(firstHandoff);
passed += 1;

// Links, searches, back and forward exchange the main part of the page, and load no document.
await open(`${root}/now`);
await page.evaluate(() => { globalThis.document_of_test = true; });
const shown = () => page.evaluate(() => ({
  title: document.title,
  links: [...document.querySelectorAll('main a[href]')].map((link) => link.getAttribute('href')),
  current: document.querySelector('nav.pages [aria-current]')?.textContent,
}));
for (const name of ['memories', 'cases', 'entities', 'contradictions', 'agents']) {
  await page.locator(`nav.pages a[href="${root}/${name}"]`).click();
  await arrived(new RegExp(`/${name}$`));
  check((await page.evaluate(() => document.activeElement.id)) === 'main', `${name}: the focus is at the new page`);
}
const exchanged = await shown();
await page.goBack();
await arrived(/contradictions$/);
check((await shown()).title.startsWith('Contradictions'), 'back shows the page before');
await page.goForward();
await arrived(/agents$/);
await page.locator('.find input').fill('kettle');
await page.keyboard.press('Enter');
await arrived(/memories\?q=kettle/);
check(await page.locator('main mark, main .row').count() > 0, 'a search shows its hits');
check(await page.evaluate(() => globalThis.document_of_test === true), 'no document was loaded on the way');
await open(`${root}/agents`);
check(JSON.stringify(await shown()) === JSON.stringify(exchanged), 'a page that was exchanged is the page that is loaded');
check(await page.evaluate(() => globalThis.document_of_test === undefined), 'an address loads a document');

// The keyboard alone: no step below uses a mouse.
const focused = () => page.evaluate(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return { tag: 'BODY', text: '', isVisible: false };
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  // A node of a graph has a thicker line instead.
  const line = element.closest('svg') ? parseFloat(getComputedStyle(element.querySelector('.node')).strokeWidth) : 0;
  const at = document.elementFromPoint(box.x + Math.min(box.width / 2, 40), box.y + Math.min(box.height / 2, 10));
  return {
    tag: element.tagName, text: (element.textContent || element.value || element.name || '').trim(), name: element.name ?? '',
    // A caret shows the focus of what is typed into; everything has the outline too.
    isVisible: box.width > 0 && box.height > 0 && (line > 3 || style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2)
      && at !== null && (element.contains(at) || at.contains(element)),
  };
});
const unseen = new Set();
// Presses Tab until the focus is where the story goes on; each stop on the way shows its focus.
async function tabTo(what, fits, key = 'Tab') {
  for (let steps = 0; steps < 150; steps += 1) {
    await page.keyboard.press(key);
    const now = await focused();
    if (now.tag !== 'BODY' && !now.isVisible) unseen.add(`${what}: ${now.tag} ${now.text.slice(0, 40)}`);
    if (fits(now)) return;
  }
  throw new Error(`no key leads to ${what}`);
}
await open(`${root}/now`);
await tabTo('the way past the navigation', (now) => now.text === 'Skip to the content');
await page.keyboard.press('Enter');
check((await page.evaluate(() => document.activeElement.id)) === 'main', 'the first link leads past the navigation');
await page.keyboard.press('/');
await page.keyboard.type('kettle of the office');
await page.keyboard.press('Enter');
await arrived(/memories\?q=kettle/);
await page.keyboard.press('j');
check((await focused()).isVisible && (await focused()).text.includes('kettle'), 'j chooses the first hit, and shows it');
await page.keyboard.press('Enter');
await arrived(/memories\/mem_/);
await tabTo('the form to edit', (now) => now.tag === 'SUMMARY' && now.text === 'Edit');
await page.keyboard.press('Enter');
await tabTo('the text', (now) => now.tag === 'TEXTAREA');
await page.keyboard.press('Control+a');
await page.keyboard.type('The kettle of the office is violet');
await tabTo('the button that saves', (now) => now.text === 'Save the change');
await page.keyboard.press('Enter');
await page.locator('.history ins', { hasText: 'violet' }).waitFor();
await page.keyboard.press('g');
await page.keyboard.press('d');
await arrived(/contradictions$/);
await page.keyboard.press('j');
await page.keyboard.press('Enter');
await arrived(/contradictions\/con_/);
await tabTo('the context in which both hold', (now) => now.name === 'context');
await page.keyboard.type('one by day, the other by night');
await page.keyboard.press('Enter');
await page.locator('.notice', { hasText: 'one by day' }).waitFor();
await tabTo('reopening', (now) => now.text === 'Reopen');
await page.keyboard.press('Enter');
await page.locator('button', { hasText: 'Keep both' }).waitFor();
await page.keyboard.press('Control+k');
await page.keyboard.type('cases');
await page.keyboard.press('Enter');
await arrived(/\/cases$/);
await page.keyboard.press('?');
await page.locator('dialog#keys[open]').waitFor();
await page.keyboard.press('Escape');
check(await page.locator('dialog[open]').count() === 0, 'Escape closes the keys');
// Every stop of one whole page, to the foot and back.
for (const path of ['now', 'memories', 'handoffs', 'contradictions'].map((name) => `${root}/${name}`)) {
  await open(path);
  const last = await page.evaluate(() => {
    const stops = [...document.querySelectorAll('main a[href], main button, main summary, main input, main select, main textarea')];
    return stops.filter((element) => element.checkVisibility() && element.getBoundingClientRect().height > 0).length;
  });
  for (let steps = 0; steps < Math.min(last, 60) + 25; steps += 1) {
    await page.keyboard.press('Tab');
    const now = await focused();
    if (now.tag === 'BODY') break;
    if (!now.isVisible) unseen.add(`${path}: ${now.tag} ${now.text.slice(0, 40)}`);
  }
}
check(unseen.size === 0, `the focus is not seen at: ${[...unseen].slice(0, 12).join('; ')}`);
passed += 4;

// Equal data is an equal picture; all files of the pages are small; the first paint comes soon.
for (const path of [`${root}/handoffs`, things.entities, `${root}/entities`, `${root}/contexts`]) {
  const pictures = async () => {
    await open(path);
    return page.locator('main svg').evaluateAll((found) => found.map((one) => one.outerHTML).join());
  };
  check(await pictures() === await pictures(), `${path}: equal data, another picture`);
}
await open(`${root}/now`);
for (const name of [await page.evaluate(() => document.body.dataset.worker)]) {
  assets.set(name, (await (await page.request.get(`${origin}${name}`)).body()).length);
}
const bytes = [...assets.values()].reduce((sum, size) => sum + size, 0);
check(assets.size >= 8 && bytes <= 150_000, `${assets.size} files of ${bytes} bytes`);
console.log(`${assets.size} files of the pages, ${bytes} bytes uncompressed`);
const paints = [];
for (const name of PAGES) {
  await open(`${root}/${name}`);
  const painted = await page.evaluate(() => new Promise((done) => {
    const read = () => {
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      if (paint) done(paint.startTime); else setTimeout(read, 5);
    };
    read();
  }));
  paints.push([name, painted]);
}
paints.sort((one, other) => one[1] - other[1]);
console.log(`first paint: median ${paints[paints.length >> 1][1].toFixed(0)} ms, slowest ${paints.at(-1)[1].toFixed(0)} ms (${paints.at(-1)[0]})`);

// Signed out, no page is shown.
refused = true;
await page.locator('button', { hasText: 'Sign out' }).click();
await page.goto(`${origin}${root}/memories`).catch(() => undefined);
check(await page.locator('text=commonbook dashboard').count() > 0, 'signed out, a page asks to sign in');
refused = false;

// Screenshots: light, dark, and as on a phone.
const looks = [
  ['light', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }],
  ['dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }],
  ['tablet', { viewport: { width: 768, height: 1024 }, colorScheme: 'light' }],
  ['phone', { viewport: { width: 360, height: 740 }, colorScheme: 'light', isMobile: true, hasTouch: true }],
  ['phone-dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', isMobile: true, hasTouch: true }],
];
// What a phone shows too small, or not at all.
const tooSmall = () => {
  const found = [];
  const box = (element) => element.getBoundingClientRect();
  if (box(document.querySelector('.top')).height > 64) found.push(`a header of ${box(document.querySelector('.top')).height}`);
  const tab = box(document.querySelector('nav.pages [aria-current]') ?? document.querySelector('nav.pages'));
  if (tab.left < -1 || tab.right > innerWidth + 1) found.push('the present page is not in the strip');
  for (const cell of document.querySelectorAll('main th')) {
    if (cell.checkVisibility() && box(cell).width < 89) found.push(`a column of ${box(cell).width}: ${cell.textContent}`);
  }
  for (const time of document.querySelectorAll('main time')) if (time.getClientRects().length > 1) found.push(`a broken time: ${time.textContent}`);
  for (const target of document.querySelectorAll('.top a, .top button, .top summary, nav.pages a, main button, main select, main summary, main .row-main, main .button')) {
    if (target.matches('.score summary') || !target.checkVisibility() || box(target).height === 0) continue;
    if (box(target).height < 43.5) found.push(`a target of ${box(target).height}: ${target.textContent.trim().slice(0, 30)}`);
  }
  return found.slice(0, 5);
};
for (const [look, options] of looks) {
  const own = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  const camera = await own.newPage();
  watch(camera, look);
  await camera.goto(execFileSync(program, ['dashboard', '--no-open'], { encoding: 'utf8' }).trim());
  for (const path of [...PAGES.map((name) => `${root}/${name}`), ...Object.values(things)]) {
    await camera.goto(`${origin}${path}`);
    const wide = await camera.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 1, `${look} ${path}: ${wide} pixels wider than the screen`);
    if (options.isMobile) {
      const small = await camera.evaluate(tooSmall);
      check(small.length === 0, `${look} ${path}: ${small.join('; ')}`);
    }
    if (look === 'light' && path === `${root}/now`) {
      const end = await camera.evaluate(() => document.getElementById('contexts').getBoundingClientRect().bottom);
      check(end <= 900, `Now ends at ${end} of 900 pixels`);
    }
    const name = path.slice(root.length + 1).replace(/\/.*/, '-one');
    await camera.screenshot({ path: `${shots}/${name}-${look}.png` });
  }
  await own.close();
}
await browser.close();
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(`${passed} passed, ${faults.length} failed`);
process.exit(faults.length === 0 ? 0 : 1);
