// Takes the pictures of the documentation: a few pages of the dashboard, as WebP of at most 120,000 bytes.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [folder, work] = process.argv.slice(2);
const { chromium } = createRequire(`${work}/package.json`)('playwright-core');
const program = process.env.COMMONBOOK_PROGRAM;
const BYTES_MAX = 120_000;
const light = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' };
const dark = { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' };
const phone = { viewport: { width: 390, height: 780 }, colorScheme: 'light', isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
// A name, its look, the page, the row to open on it, what to do there, and what to show at the top.
const PICTURES = [
  ['now', light, 'now'],
  ['memories', light, 'memories?q=how+often+does+the+payment+service+retry', undefined, (page) => page.locator('.score summary').first().click()],
  ['why', light, 'memories?topic=payment', 'retries three times', async (page) => {
    await page.locator('#why input[name=agent]').fill('gemini-cli');
    await page.locator('#why button').click();
    await page.locator('#why .notice').waitFor();
  }],
  ['context', light, 'contexts', 'claude-code/engineer'],
  ['handoffs', dark, 'handoffs'],
  ['entity', light, 'entities?beginning=PostgreSQL', 'PostgreSQL', (page) => page.locator('#graph').evaluate((graph) => graph.scrollIntoView())],
  ['contradiction', light, 'contradictions', /./],
  ['phone', phone, 'now'],
];

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
for (const [name, look, path, row, act] of PICTURES) {
  const context = await browser.newContext({ ...look, reducedMotion: 'reduce', timezoneId: 'UTC', locale: 'en-GB' });
  const page = await context.newPage();
  await page.goto(execFileSync(program, ['dashboard', '--no-open'], { encoding: 'utf8' }).trim());
  await page.goto(page.url().replace(/now.*/, path));
  if (row) {
    await page.locator('main .row-main, main .row a', { hasText: row }).first().click();
    await page.waitForLoadState();
  }
  await act?.(page);
  await page.waitForTimeout(300);
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  const picture = Buffer.from(data, 'base64');
  if (picture.length > BYTES_MAX) throw new Error(`${name}: ${picture.length} bytes, at most ${BYTES_MAX} are wanted`);
  writeFileSync(`${folder}/${name}.webp`, picture);
  console.log(`${name}.webp: ${picture.length} bytes`);
  await context.close();
}
await browser.close();
