/** Anthropic's memory tool: the answers of the SDK's own for local files, and what several agents make of one memory. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { BetaLocalFilesystemMemoryTool, betaMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { Commonbook, Unavailable } from "commonbook";
import { CommonbookMemoryTool, type CommonbookMemoryToolOptions } from "commonbook/anthropic";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";
import { chances } from "./chances.js";

type Command = { command: string } & Record<string, unknown>;
type Tool = CommonbookMemoryTool | BetaLocalFilesystemMemoryTool;

const KINDS = [
  "view", "view", "create", "create", "create", "str_replace", "str_replace", "insert", "insert", "delete", "rename",
];
const FOLDERS = [
  "", "d/", "d/", "d/e/", "d/e/f/", "notes/", "notes/.old/", "tea shop/", "node_modules/", "d//e/./", "notes/../d/",
];
const NAMES = [
  "a.txt", "a.txt", "b.md", "B.md", "e", "d", "notes", ".hidden", "node_modules", "Größe ä.md", "日本語.md", "a*b", "a*", "a%",
  "a_b", "x%41", "%2E", "...", "~", "q'\"`\\", "NOTES", "e\u0301", "é", " blank ", "a\u200bb", "\u2764\ufe0f",
  "\u{1f469}\u200d\u{1f680}",
  "tab\t", "a.txt/", "a.txt/below", "a.txt/further/below",
];
const ODD = [
  "/memories", "/memories/", "/memories/.", "/memories/d/..", "/memories/..", "/memories/../x", "/memories/d/../../x",
  "/memories/../memories", "/memories/../memories/a.txt", "/memories/../../../../../etc/passwd", "/memoriesa.txt",
  "/memories../x", "/memory/a.txt", "memories/a.txt", "", "/", "/memories/none/../a.txt", "/memories/a.txt/../b.md",
  "/memories/a.txt/x/y",
];
const RANGES = [[1, 2], [2, 3], [2, -1], [0, 1], [-3, 2], [3, 1], [1, -2], [9, 99], [1], []];
const PARTS = [
  "kettle", "tea", "96 degrees", "Tee für zwei", "日本", "😀", "\t", " ", "  ", "", "aa", "aaa", "a", "- [ ] buy", "`x`", "<b>",
  "\r", "\u2028", "$&", "$1", "\\n", "'\"",
];

let server: TemporaryServer;
let folder: string;
let workspace = "";
let count = 0;

before(async () => {
  server = await temporaryServer();
  folder = await mkdtemp(join(tmpdir(), "memory-tool-"));
});
after(async () => {
  await server.remove();
  await rm(folder, { recursive: true });
});

/** A test in a workspace of its own. */
function inWorkspace(name: string, act: () => Promise<void>): void {
  void test(name, async () => {
    workspace = `memory-tool-${count += 1}`;
    await act();
  });
}

/** A client of an agent. */
function bookOf(agent = "ann"): Commonbook {
  return server.book(agent, { workspace });
}

/** A memory tool of an agent. */
function toolOf(agent = "ann", options: Omit<CommonbookMemoryToolOptions, "book"> = {}): CommonbookMemoryTool {
  return new CommonbookMemoryTool({ ...options, book: bookOf(agent) });
}

/** What the model reads, as the SDK's runner sends it. */
async function answer(tool: Tool, command: Command): Promise<string> {
  try {
    return await betaMemoryTool(tool).run(command as never) as string;
  } catch (error) {
    // Errors of the file system name the folder of the machine.
    return `Error: ${(error as Error).message.replaceAll(folder, "")}`;
  }
}

async function done(tool: Tool, command: string, path: string, fields: object = {}): Promise<string> {
  const given = await answer(tool, { command, path, ...fields });
  assert.ok(!given.startsWith("Error: "), given);
  return given;
}

async function refused(tool: Tool, command: string, path: string, fields: object = {}): Promise<string> {
  const given = await answer(tool, { command, path, ...fields });
  assert.ok(given.startsWith("Error: "), given);
  return given.slice("Error: ".length);
}

/** The answer to the view of a file of one line. */
function viewOf(text: string, path = "/memories/a.md"): string {
  return `Here's the content of ${path} with line numbers:\n     1\t${text}`;
}

/** Commands of a seed; the files of the local tool have the texts that a replacement finds. */
async function* commands(seed: number): AsyncGenerator<Command> {
  const { below, pick } = chances(seed);
  const files = join(folder, "memories");
  const line = (): string => Array.from({ length: below(6) }, () => pick(PARTS)).join("");
  const text = (): string => {
    const lines = Array.from({ length: pick([0, 1, 2, 4, 8]) }, line).join(pick(["\n", "\n", "\n", "\r\n"]));
    return lines.repeat(below(6) ? 1 : 40) + pick(["", "\n", "\n", "\n\n", "\r\n"]);
  };
  const pathOf = async (known: number): Promise<string> => {
    if (!below(12)) return pick(ODD);
    const there = (await readdir(files, { recursive: true })).sort();
    if (there.length && below(10) < known) return `/memories/${pick(there)}`;
    return `/memories/${pick(FOLDERS)}${pick(below(10) < 3 ? NAMES : NAMES.slice(0, 6))}`;
  };
  const oldOf = async (path: string): Promise<string> => {
    const kept = await readFile(join(files, path.slice("/memories".length)), "utf8").catch(() => undefined);
    if (!below(4) || !kept || path.includes("..")) return pick(PARTS);
    const chosen = below(8) ? pick(kept.split("\n")) : kept;
    const start = below(chosen.length);
    return chosen.slice(start, start + 1 + below(12));
  };
  for (;;) {
    const command = pick(KINDS);
    const path = await pathOf(command === "create" ? 0 : 6);
    switch (command) {
      case "view":
        yield { command, path, ...(below(2) && { view_range: pick(RANGES) }) };
        break;
      case "create":
        yield { command, path, file_text: text() };
        break;
      case "str_replace":
        yield { command, path, old_str: await oldOf(path), new_str: pick([pick(PARTS), text()]) };
        break;
      case "insert":
        yield { command, path, insert_line: below(8) - 1, insert_text: pick([pick(PARTS), text()]) };
        break;
      case "delete":
        yield { command, path };
        break;
      default:
        yield { command, old_path: path, new_path: below(10) ? await pathOf(0) : `${path}/${pick(["in", "in/it"])}` };
    }
  }
}

inWorkspace("the answers are those of the tool for local files", async () => {
  const local = await BetaLocalFilesystemMemoryTool.init(folder);
  const ours = toolOf();
  const { size } = await stat(folder);
  // Not every file system says what ext4 does of a folder.
  const sized = (given: string): string => (size === 4096 || !given.startsWith("Here're") ? given
    : given.replace(/^\S+(?=\t.*\/$)/gm, "4K").replace(/(?<=node_modules:\n)\S+/, "4K"));
  const counts = new Map<string, number>();
  const odd = { path: "/memories/odd", file_text: "half a letter: \ud800" };
  for (const command of ["create", "view", "delete"]) {
    assert.equal(await answer(ours, { command, ...odd }), await answer(local, { command, ...odd }));
  }
  let number = 0;
  for await (const command of commands(2026)) {
    const expected = sized(await answer(local, command));
    assert.equal(await answer(ours, command), expected, `${number}: ${JSON.stringify(command)}`);
    const kind = `${command.command} ${expected.startsWith("Error: ") ? "fails" : "succeeds"}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if ((number += 1) === 1000) break;
  }
  const there = (await readdir(join(folder, "memories"), { recursive: true })).map((name) => `/memories/${name}`);
  for (const path of ["/memories", ...there]) {
    const view = { command: "view", path };
    assert.equal(await answer(ours, view), sized(await answer(local, view)), path);
  }
  // Each kind has succeeded and failed often.
  assert.ok(counts.size === 12 && Math.min(...counts.values()) >= 15, JSON.stringify([...counts]));
});

inWorkspace("a file is a document that other doors read and change", async () => {
  const [ours, ann] = [toolOf(), bookOf()];
  await done(ours, "create", "/memories/notes/tea.md", { file_text: "Green tea wants 80 degrees.\n" });
  const document = await ann.get("/memories/notes/tea.md");
  assert.deepEqual([document.text, document.owner], ["Green tea wants 80 degrees.\n", "ann"]);
  assert.equal((await bookOf("eve").search("green tea degrees")).hits[0]?.memory.id, document.id);
  await ann.save("Black tea wants 96 degrees.", { path: "/memories/notes/black.md", metadata: { sure: true } });
  await done(ours, "insert", "/memories/notes/black.md", { insert_line: 0, insert_text: "# Black" });
  assert.deepEqual((await ann.get("/memories/notes/black.md")).metadata, { sure: true });
  await done(ours, "rename", "", { old_path: "/memories/notes", new_path: "/memories/tea" });
  assert.equal((await ann.get("/memories/tea/tea.md")).id, document.id);
});

inWorkspace("a name that a document cannot have is in the percent codes of the Python client", async () => {
  const names = {
    " a": "%20a", "e\u0301": "e%CC%81", "a\u200b": "a%E2%80%8B", "%2E": "%252E", "100 %": "100 %", "ä日": "ä日", "a*\t": "a*%09",
  };
  const ours = toolOf();
  for (const name of Object.keys(names)) await done(ours, "create", `/memories/${name}`, { file_text: "tea" });
  const { items } = await bookOf().list({ path: "/memories/", limit: 100 });
  assert.deepEqual(items.map(({ path }) => path).sort(), Object.values(names).map((segment) => `/memories/${segment}`).sort());
});

inWorkspace("a blank file and an empty folder are kept", async () => {
  const [ours, ann] = [toolOf(), bookOf()];
  await done(ours, "create", "/memories/d/a.md", { file_text: " \n" });
  assert.equal(await done(ours, "view", "/memories/d/a.md"), viewOf(" \n     2\t", "/memories/d/a.md"));
  await ann.update("/memories/d/a.md", { text: "tea" });
  assert.equal(await done(ours, "view", "/memories/d/a.md"), viewOf("tea", "/memories/d/a.md"));
  await done(ours, "delete", "/memories/d/a.md");
  assert.deepEqual((await ann.list({ path: "/memories/" })).items.map(({ path }) => path), ["/memories/d/%2E"]);
  assert.match(await done(ours, "view", "/memories"), /\n4K\t\/memories\/d\/$/);
  await done(ours, "delete", "/memories/d");
  assert.deepEqual((await ann.list({ path: "/memories/" })).items, []);
});

inWorkspace("agents and users have files of their own", async () => {
  const [ann, eve] = [toolOf("ann"), toolOf("eve")];
  await done(ann, "create", "/memories/a.md", { file_text: "of ann" });
  await done(eve, "create", "/memories/a.md", { file_text: "of eve" });
  await done(toolOf("ann", { sharing: "private" }), "create", "/memories/secret.md", { file_text: "of ann alone" });
  const reader = toolOf("eve", { owner: "ann" });
  assert.equal(await done(reader, "view", "/memories/a.md"), viewOf("of ann"));
  assert.equal(await done(eve, "view", "/memories/a.md"), viewOf("of eve"));
  assert.match(await refused(reader, "view", "/memories/secret.md"), /does not exist/);
  const changes = { create: { file_text: "x" }, delete: {}, insert: { insert_line: 0, insert_text: "x" } };
  for (const [kind, fields] of Object.entries(changes)) {
    const refusal = await refused(reader, kind, "/memories/a.md", fields);
    assert.equal(refusal, "The files belong to ann: you can view them, and not change them.");
  }
  for (const user of ["alex", "bert"]) {
    const tool = toolOf("ann", { user });
    await done(tool, "create", "/memories/a.md", { file_text: `for ${user}` });
    assert.equal(await refused(tool, "create", "/memories/a.md", { file_text: "x" }), "File /memories/a.md already exists");
    assert.equal(await done(toolOf("ann", { user }), "view", "/memories/a.md"), viewOf(`for ${user}`));
  }
  assert.equal(await done(ann, "view", "/memories/a.md"), viewOf("of ann"));
  await done(toolOf("ann", { agent: "weather man" }), "create", "/memories/child.md", { file_text: "tea" });
  assert.equal((await bookOf("ann/weather-man").get("/memories/child.md")).owner, "ann/weather-man");
});

inWorkspace("a file that another process changed is not overwritten", async () => {
  const [first, second] = [toolOf(), toolOf()];
  await done(first, "create", "/memories/a.md", { file_text: "one\ntwo\n" });
  await done(second, "str_replace", "/memories/a.md", { old_str: "one", new_str: "zero\none" });
  const insert = { insert_line: 1, insert_text: "between one and two" };
  assert.match(await refused(first, "insert", "/memories/a.md", insert), /has changed meanwhile/);
  await done(first, "view", "/memories/a.md");
  await done(first, "insert", "/memories/a.md", { ...insert, insert_line: 2 });
  await done(second, "delete", "/memories/a.md");
  await done(second, "create", "/memories/a.md", { file_text: "two" });
  const replace = { old_str: "two", new_str: "three" };
  assert.match(await refused(first, "str_replace", "/memories/a.md", replace), /has changed meanwhile/);
  // What this tool itself has moved or deleted is no change of others.
  await done(first, "delete", "/memories/a.md");
  await done(first, "create", "/memories/b.md", { file_text: "b" });
  await done(first, "rename", "", { old_path: "/memories/b.md", new_path: "/memories/a.md" });
  await done(first, "str_replace", "/memories/a.md", { old_str: "b", new_str: "c" });
});

inWorkspace("a change between reading and writing is not overwritten", async () => {
  const [ours, ann] = [toolOf(), bookOf()];
  const path = "/memories/a.md";
  const edits = [
    ["insert", { insert_line: 0, insert_text: "x" }], ["str_replace", { old_str: "tea", new_str: "x" }], ["delete", {}],
    ["rename", { old_path: path, new_path: "/memories/b.md" }],
  ] as const;
  const prototype = Object.getPrototypeOf(ann) as Record<string, unknown>;
  for (const [kind, fields] of edits) {
    await done(ours, "create", path, { file_text: "tea" });
    const verb = { insert: "update", str_replace: "update", delete: "delete", rename: "update" }[kind];
    const original = prototype[verb] as (...given: unknown[]) => Promise<unknown>;
    prototype[verb] = async function (this: unknown, ...given: unknown[]): Promise<unknown> {
      prototype[verb] = original;
      await ann.update(path, { text: "of another process" });
      return await original.apply(this, given);
    };
    assert.match(await refused(ours, kind, path, fields), /^\/memories\/a\.md has changed meanwhile, and is left as it is/);
    assert.equal(await done(ours, "view", path), viewOf("of another process"));
    await done(ours, "delete", path);
  }
});

inWorkspace("an answer says when a text is kept otherwise, and what a document cannot have", async () => {
  const ours = toolOf();
  const note = "\nSecrets and control characters of the text were not kept: view the file before you edit it.";
  const key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP";
  const created = await done(ours, "create", "/memories/a.md", { file_text: `The key is ${key}` });
  assert.equal(created, `File created successfully at: /memories/a.md${note}`);
  assert.equal(await done(ours, "view", "/memories/a.md"), viewOf("The key is [redacted:anthropic-key]"));
  const large = { file_text: "x".repeat(102_401) };
  assert.equal(await refused(ours, "create", "/memories/b.md", large), "text: 102401 bytes; the maximum is 102400");
  assert.match(await refused(ours, "create", `/memories${"/d".repeat(20)}`, { file_text: "tea" }), /segments/);
  await refused(ours, "create", "/memories/c.md");
  assert.match(await done(ours, "view", "/memories"), /:\n4K\t\/memories\n35B\t\/memories\/a.md$/);
});

inWorkspace("a model uses it in the SDK's own runner", async () => {
  const inputs = [
    { command: "create", path: "/memories/tea.md", file_text: "80 degrees" }, { command: "view", path: "/memories/tea.md" },
    { command: "view", path: "/memories/coffee.md" },
  ];
  const read: { messages: { content: { content: string; is_error?: boolean }[] }[]; tools: unknown }[] = [];
  const model = async (_: unknown, request?: { body?: unknown }): Promise<Response> => {
    const step = read.push(JSON.parse(String(request?.body))) - 1;
    const input = inputs[step];
    return Response.json({
      id: "m", type: "message", role: "assistant", model: "scripted", stop_sequence: null,
      stop_reason: input ? "tool_use" : "end_turn", usage: { input_tokens: 1, output_tokens: 1 },
      content: [input ? { type: "tool_use", id: `t${step}`, name: "memory", input } : { type: "text", text: "Done." }],
    });
  };
  const client = new Anthropic({ apiKey: "none", baseURL: "http://model.invalid", fetch: model as typeof fetch });
  await client.beta.messages.toolRunner({
    model: "scripted", max_tokens: 99, messages: [{ role: "user", content: "Note 80 degrees" }],
    tools: [betaMemoryTool(toolOf())],
  });
  assert.deepEqual(read[0]?.tools, [{ type: "memory_20250818", name: "memory" }]);
  const results = read.slice(1).map(({ messages }) => messages.at(-1)?.content[0]);
  assert.deepEqual(results.map((result) => [result?.content, result?.is_error ?? false]), [
    ["File created successfully at: /memories/tea.md", false], [viewOf("80 degrees", "/memories/tea.md"), false],
    ["Error: The path /memories/coffee.md does not exist. Please provide a valid path.", true],
  ]);
});

test("a server that does not answer is unavailable", async () => {
  const book = new Commonbook({ url: "http://127.0.0.1:1", agent: "ann", workspace: "tests", retry: { attempts: 1 } });
  await assert.rejects(new CommonbookMemoryTool({ book }).view({ command: "view", path: "/memories" }), Unavailable);
});
