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
  'agents', 'health'];
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
await page.goto(link);
check(page.url() === `${origin}${root}/now`, `the link leads to ${page.url()}`);

// The items to look at: the first link of each list.
const open = async (path) => {
  const response = await page.goto(`${origin}${path}`);
  check(response.status() === 200, `${path}: status ${response.status()}`);
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
const streams = JSON.parse(run('human-looks', 'stats', '--json')).bus?.followers ?? 1;
check(streams <= 2, `ten tabs have ${streams} streams`);
for (const tab of tabs) await tab.close();
passed += 1;

// Searches as an agent does, and by the palette with the keyboard alone.
await page.keyboard.press('Control+k');
await page.keyboard.type('teapot');
await page.locator('#palette-list li', { hasText: 'teapot' }).first().waitFor({ timeout: 20_000 });
while (!(await page.locator('#palette-list li[aria-selected=true]').textContent()).includes('teapot')) await page.keyboard.press('ArrowDown');
await page.keyboard.press('Enter');
await page.waitForURL(/memories\/mem_/);
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
await page.waitForURL(/memories\/mem_/);
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

// Signed out, no page is shown.
refused = true;
await page.locator('button', { hasText: 'Sign out' }).click();
await page.goto(`${origin}${root}/memories`).catch(() => undefined);
check(await page.locator('text=commonbook dashboard').count() > 0, 'signed out, a page asks to sign in');
refused = false;

// Screenshots: light, dark, and as on a phone.
const looks = [
  ['light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ['dark', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' }],
  ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true }],
];
for (const [look, options] of looks) {
  const own = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  const camera = await own.newPage();
  watch(camera, look);
  await camera.goto(execFileSync(program, ['dashboard', '--no-open'], { encoding: 'utf8' }).trim());
  for (const path of [...PAGES.map((name) => `${root}/${name}`), ...Object.values(things)]) {
    await camera.goto(`${origin}${path}`);
    const wide = await camera.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 1, `${look} ${path}: ${wide} pixels wider than the screen`);
    const name = path.slice(root.length + 1).replace(/\/.*/, '-one');
    await camera.screenshot({ path: `${shots}/${name}-${look}.png` });
  }
  await own.close();
}
await browser.close();
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(`${passed} passed, ${faults.length} failed`);
process.exit(faults.length === 0 ? 0 : 1);
