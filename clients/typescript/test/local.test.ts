/** The server of this machine is found or started, in the workspace of the project. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Commonbook, Forbidden, Unauthenticated, Unavailable } from "commonbook";
import { temporaryServer } from "commonbook/testing";

const program = process.env.COMMONBOOK_PROGRAM ?? "commonbook";
const folder = mkdtempSync(join(tmpdir(), "commonbook-local-"));
const shop = join(folder, "tea-shop");
const home = join(folder, "home");
const began = process.cwd();

before(() => {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith("COMMONBOOK_") && name !== "COMMONBOOK_PROGRAM") delete process.env[name];
  }
  process.env.COMMONBOOK_EMBEDDER = "off";
  process.env.COMMONBOOK_HOME = home;
  mkdirSync(join(shop, ".git"), { recursive: true });
  process.chdir(shop);
});
after(() => {
  process.chdir(began);
  rmSync(folder, { recursive: true, force: true });
});

const addressFile = join(home, "server.json");

test("a server is started, used by others, and ends with its book", async () => {
  const book = await Commonbook.connect({ agent: "rook" });
  const { memory } = await book.save("The kettle whistles at 96 degrees.");
  assert.match(memory.workspace, /^tea-shop-/);
  const listed = execFileSync(program, ["list", "--json"], { encoding: "utf8" });
  assert.equal(JSON.parse(listed).items[0].id, memory.id);

  const address = readFileSync(addressFile, "utf8");
  const other = new Commonbook({ agent: "jay" });
  assert.equal((await other.get(memory.id)).text, memory.text);
  assert.equal(readFileSync(addressFile, "utf8"), address);
  // The newest server of the file was killed: the one before it is found, and none is started.
  const killed = JSON.stringify({ address: "127.0.0.1:9", id: "x", others: [JSON.parse(address)] });
  writeFileSync(addressFile, killed);
  assert.equal((await new Commonbook({ agent: "jay" }).get(memory.id)).text, memory.text);
  assert.equal(readFileSync(addressFile, "utf8"), killed);
  writeFileSync(addressFile, address);
  // A program in another project uses the same server, and its own workspace.
  mkdirSync(join(folder, "bakery", ".git"), { recursive: true });
  process.chdir(join(folder, "bakery"));
  assert.match((await new Commonbook().save("The oven is warm.")).memory.workspace, /^bakery-/);
  process.chdir(shop);
  await other.close();
  await book.close();
  assert.equal(existsSync(addressFile), false);

  // The book that is left starts the next server.
  assert.equal((await other.get(memory.id)).text, memory.text);
  await other.close();
});

test("a program that ends takes its server with it", async () => {
  const script = 'import { Commonbook } from "commonbook"; console.log((await new Commonbook().save("Tea is hot.")).outcome);';
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: began, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const part of child.stdout) printed += part;
  assert.equal(printed, "created\n");
  // The next book finds no server that answers, or waits for none that ends.
  const book = new Commonbook();
  assert.equal((await book.list()).items.length, 1);
  await book.close();
});

test("the environment names the caller, and never the one of other programs", async () => {
  process.env.COMMONBOOK_AGENT_ID = "rook";
  try {
    const book = new Commonbook();
    assert.equal((await book.save("The tray is round.")).memory.owner, "rook");
    const { address } = JSON.parse(readFileSync(addressFile, "utf8"));
    const nameless = new Commonbook({ url: `http://${address}`, agent: "" });
    assert.equal((await nameless.save("The tray is oval.")).memory.owner, "anonymous");
    await book.close();
  } finally {
    delete process.env.COMMONBOOK_AGENT_ID;
  }
});

test("where Commonbook is off, nothing is written", async () => {
  const fresh = join(folder, "fresh");
  process.env.COMMONBOOK = "off";
  try {
    await assert.rejects(new Commonbook({ home: fresh }).save("Not here."), Forbidden);
  } finally {
    delete process.env.COMMONBOOK;
  }
  assert.equal(existsSync(fresh), false);
});

test("the server of a project precedes the home, and a URL of the environment both", async () => {
  await using server = await temporaryServer();
  await using second = await temporaryServer();
  mkdirSync(home, { recursive: true });
  const file = join(home, "servers.json");
  const headers = { "x-proxy": "1" };
  writeFileSync(file, JSON.stringify({ projects: { [shop]: { url: `${server.url}/mcp`, headers, agent: "rook" } } }));
  try {
    mkdirSync(join(shop, "src"), { recursive: true });
    process.chdir(join(shop, "src"));
    const { memory } = await new Commonbook().save("The cups are white.");
    assert.equal(memory.owner, "rook");
    const read = await server.book("rook", { workspace: memory.workspace }).get(memory.id);
    assert.equal(read.text, memory.text);
    process.env.COMMONBOOK_URL = second.url;
    assert.equal((await new Commonbook().list()).items.length, 0);
    delete process.env.COMMONBOOK_URL;
    writeFileSync(file, "{");
    assert.throws(() => new Commonbook(), { kind: "conflict" });
  } finally {
    delete process.env.COMMONBOOK_URL;
    process.chdir(shop);
    rmSync(file);
  }
});

test("a token proves its agent", async () => {
  await using server = await temporaryServer();
  const created = execFileSync(program, ["token", "create", "rook", "--json", "--home", server.home], {
    encoding: "utf8",
    env: { ...process.env, COMMONBOOK_PERSON: "1" },
  });
  const { secret: token } = JSON.parse(created) as { secret: string };
  await assert.rejects(server.book().list(), Unauthenticated);
  assert.equal((await server.book("rook", { token }).save("The tin is full.")).memory.owner, "rook");
  const local = new Commonbook({ home: server.home, token, workspace: "tests" });
  assert.equal((await local.list()).items.length, 1);
});

test("a program that is missing or does not start says so", async () => {
  await assert.rejects(new Commonbook({ home: join(folder, "no"), program: "/no/such/program" }).list(), Unavailable);
  writeFileSync(join(folder, "file"), "");
  const wrong = new Commonbook({ home: join(folder, "file"), workspace: "tests" });
  await assert.rejects(wrong.list(), (error: Unavailable) => /did not start: .*\S/s.test(error.message));
});
