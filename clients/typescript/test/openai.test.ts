/** The session of OpenAI Agents: equal to its own in memory, and one for several processes. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Agent, type AgentInputItem, MemorySession, OutputGuardrailTripwireTriggered, Runner, type SessionHistoryTransaction, UserError,
  tool,
} from "@openai/agents-core";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents-core/testing";
import { Commonbook, Unavailable } from "commonbook";
import { CommonbookSession } from "commonbook/openai";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";
import { chances } from "./chances.js";

let server: TemporaryServer;

before(async () => {
  server = await temporaryServer();
});
after(() => server.remove());

/** A session as another process has it: over a client of its own. */
function sessionOf(sessionId: string, agent = "ann"): CommonbookSession {
  return new CommonbookSession({ sessionId, book: server.book(agent) });
}

/** Items that differ. */
function items(...numbers: number[]): AgentInputItem[] {
  return numbers.map((number) => ({ role: "user", content: `item ${number}` }));
}

/** What a call comes to: its value, or the class of its error. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  return await call.then((value) => ({ value }), (error: Error) => ({ error: error.constructor.name }));
}

/** Acts once before a call of a method of the client, the first or a later one, while a test runs. */
async function beforeCall(
  name: "list" | "saveAll", number: number, act: () => Promise<void>, run: () => Promise<void>,
): Promise<void> {
  const prototype = Commonbook.prototype as unknown as Record<string, unknown>;
  const original = prototype[name] as (...given: unknown[]) => Promise<unknown>;
  let calls = 0;
  prototype[name] = async function (this: unknown, ...given: unknown[]): Promise<unknown> {
    if ((calls += 1) === number) {
      prototype[name] = original;
      await act();
    }
    return await original.apply(this, given);
  };
  try {
    await run();
  } finally {
    prototype[name] = original;
  }
}

const KEY = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP";
const VALUES = [
  "tea", "", "Größe 日本 😀", "\ud800", "\x00\x1b[1m", "\x7f\x9b", "e\u0301", `The key is ${KEY}`, 0, -1.5, 1e300, true, null, [],
  {}, { "": { "a b": [1, "x"] } }, { $bytes: "AAAA" }, { $$bytes: { $bytes: 1 } }, { toJSON: 1 },
  new Uint8Array([0, 255, 7]), new Uint8Array(), "x".repeat(5000),
];

const KINDS = ["add", "add", "get", "get", "get", "pop", "pop", "pop", "append", "replace", "replace", "replace", "repeat"];

test("a session equals the one of the package", async () => {
  const counts = new Map<string, number>();
  for (let seed = 1; seed <= 4; seed += 1) {
    const { pick, below } = chances(seed);
    const item = (): AgentInputItem => ({
      role: "user", content: [{ type: "input_text", text: pick(["tea", "kettle", "\ud800", ""]) }],
      providerData: { [pick(["a", "ä", "$bytes", "$$bytes"])]: pick(VALUES), z: below(3) },
    });
    const some = (): AgentInputItem[] => Array.from({ length: below(20) ? pick([0, 1, 1, 2, 3]) : 120 }, item);
    const expected = new MemorySession({ sessionId: `s${seed}` });
    const ours = [sessionOf(`s${seed}`), sessionOf(`s${seed}`)] as const;
    const transactions: { operationId: string; transaction: SessionHistoryTransaction }[] = [];
    const steps: Record<string, () => Promise<(session: MemorySession | CommonbookSession) => Promise<unknown>>> = {
      add: async () => { const added = some(); return (session) => session.addItems(added); },
      get: async () => {
        const limit = pick([undefined, 0, 1, 2, 7, 99, 1000, -1]);
        return (session) => session.getItems(limit);
      },
      pop: async () => (session) => session.popItem(),
      clear: async () => (session) => session.clearSession(),
      append: async () => {
        const args = { operationId: `op ${below(4)}`, transaction: { type: "append_items", items: some() } } as const;
        transactions.push(args);
        return (session) => session.applyHistoryTransaction(args);
      },
      replace: async () => {
        const count = pick([0, 1, 1, 2, 3, 110]);
        const expectedSuffix = below(4) ? count ? await expected.getItems(count) : [] : some();
        const transaction = { type: "replace_suffix", expectedSuffix, replacement: some() } as const;
        const args = { operationId: pick(["a", `op ${below(8)}`, `op ${below(100)}`]), transaction };
        transactions.push(args);
        return (session) => session.applyHistoryTransaction(args);
      },
      repeat: async () => {
        const blank = { operationId: " ", transaction: { type: "append_items" as const, items: [] } };
        const args = transactions.length ? pick(transactions) : blank;
        return (session) => session.applyHistoryTransaction(args);
      },
    };
    for (let number = 0; number < 60; number += 1) {
      const kind = below(120) ? pick(KINDS) : "clear";
      const step = await steps[kind]!();
      // The next step is that of another process.
      const answer = await outcome(step(ours[number % 2]!));
      assert.deepEqual(answer, await outcome(step(expected)), `${seed}, ${number}: ${kind}`);
      const how = `${kind} ${typeof answer === "object" && answer && "error" in answer ? answer.error : "ok"}`;
      counts.set(how, (counts.get(how) ?? 0) + 1);
    }
    assert.deepEqual(await ours[0].getItems(), await expected.getItems());
  }
  // Each kind has succeeded and failed often.
  for (const how of ["append ok", "append UserError", "replace ok", "replace UserError", "repeat ok", "pop ok"]) {
    assert.ok((counts.get(how) ?? 0) >= 3, `${how}: ${JSON.stringify([...counts])}`);
  }
});

test("each value comes back as it was", async () => {
  const added = VALUES.map((value): AgentInputItem => ({ role: "user", content: "tea", providerData: { value } }));
  await sessionOf("values").addItems(added);
  assert.deepEqual(await sessionOf("values").getItems(), added);
});

test("what is no transaction changes nothing", async () => {
  const session = sessionOf("malformed");
  await session.addItems(items(1));
  const append = { type: "append_items", items: items(2) };
  const malformed = [
    { operationId: "", transaction: append }, { operationId: 7, transaction: append }, { operationId: "a", transaction: null },
    { operationId: "a", transaction: { ...append, type: "prepend_items" } },
    { operationId: "a", transaction: { ...append, more: 1 } }, { operationId: "a", transaction: { ...append, items: "x" } },
    { operationId: "a", transaction: { ...append, items: [{ no: "item" }] } },
    { operationId: "a", transaction: { type: "replace_suffix", expectedSuffix: items(1) } },
  ];
  const reference = new MemorySession();
  for (const args of malformed) {
    await assert.rejects(session.applyHistoryTransaction(args as never), UserError);
    await assert.rejects(reference.applyHistoryTransaction(args as never), UserError);
  }
  assert.deepEqual(await session.getItems(), items(1));
});

test("processes that change a session at once lose nothing", async () => {
  const add = async (writer: number): Promise<void> => {
    const session = sessionOf("at once");
    for (let batch = writer * 100; batch < writer * 100 + 60; batch += 10) {
      await session.addItems(items(batch, batch + 1, batch + 2));
    }
  };
  await Promise.all([0, 1, 2, 3].map(add));
  const kept = (await sessionOf("at once").getItems()).map((item) => Number((item as { content: string }).content.slice(5)));
  for (let start = 0; start < kept.length; start += 3) {
    assert.deepEqual(kept.slice(start, start + 3), [0, 1, 2].map((part) => kept[start]! + part));
  }
  for (const writer of [0, 1, 2, 3]) {
    const own = kept.filter((number) => Math.floor(number / 100) === writer);
    assert.deepEqual(own, Array.from({ length: 18 }, (_, index) => writer * 100 + Math.floor(index / 3) * 10 + index % 3));
  }
  await sessionOf("popped").addItems(items(1, 2, 3, 4, 5, 6));
  const popped = await Promise.all(Array.from({ length: 8 }, () => sessionOf("popped").popItem()));
  assert.equal(new Set(popped.map((item) => JSON.stringify(item))).size, 7, "each of six items once, then nothing");
});

test("one of several replacements of a suffix succeeds, and one of them twice", async () => {
  const session = sessionOf("replaced");
  await session.addItems(items(1, 2, 3));
  const replace = (operationId: string, replacement: AgentInputItem[]): Promise<unknown> => outcome(sessionOf("replaced")
    .applyHistoryTransaction({ operationId, transaction: { type: "replace_suffix", expectedSuffix: items(2, 3), replacement } }));
  const calls = [replace("a", items(4)), replace("b", items(5)), replace("a", items(4)), replace("b", items(5))];
  const outcomes = await Promise.all(calls);
  const winner = (outcomes[0] as { error?: string }).error ? 1 : 0;
  const [won, lost] = [{ value: undefined }, { error: "UserError" }];
  assert.deepEqual(outcomes, winner ? [lost, won, lost, won] : [won, lost, won, lost]);
  assert.deepEqual(await session.getItems(), items(1, 4 + winner));
});

test("two replacements that keep another item each are not mixed", async () => {
  const session = sessionOf("mixed");
  await session.addItems(items(1, 2));
  const replace = (operationId: string, replacement: AgentInputItem[]): Promise<void> => sessionOf("mixed")
    .applyHistoryTransaction({ operationId, transaction: { type: "replace_suffix", expectedSuffix: items(1, 2), replacement } });
  await beforeCall("saveAll", 1, async () => replace("a", items(1, 3)), async () => {
    await assert.rejects(replace("b", items(4, 2)), UserError);
  });
  assert.deepEqual(await session.getItems(), items(1, 3));
});

test("what was replaced is not left behind, also if its deletion fails", async () => {
  const book = server.book("ann");
  const session = new CommonbookSession({ sessionId: "cut", book });
  await session.addItems(items(1, 2, 3, 4));
  const broken = new CommonbookSession({ sessionId: "cut", book });
  const { delete: remove } = Object.getPrototypeOf(book) as { delete: unknown };
  const away = async (): Promise<never> => { throw new Unavailable({ kind: "unavailable", message: "the server has gone" }); };
  Object.assign(Object.getPrototypeOf(book) as object, { delete: away });
  try {
    assert.deepEqual(await broken.popItem(), items(4)[0]);
    const transaction = { type: "replace_suffix", expectedSuffix: items(2, 3), replacement: items(5) } as const;
    await broken.applyHistoryTransaction({ operationId: "a", transaction });
  } finally {
    Object.assign(Object.getPrototypeOf(book) as object, { delete: remove });
  }
  assert.deepEqual(await session.getItems(), items(1, 5));
  await session.addItems(items(6));
  assert.deepEqual(await session.getItems(2), items(5, 6));
  await session.clearSession();
  assert.deepEqual((await book.list({ path: "/openai-js/cut/" })).items, []);
});

test("many pages and a large batch are of one moment", async () => {
  const session = sessionOf("pages");
  const many = items(...Array.from({ length: 300 }, (_, number) => number));
  await session.addItems(many);
  assert.deepEqual([await session.popItem(), await session.getItems()], [many[299], many.slice(0, 299)]);
  await session.clearSession();
  for (let start = 0; start < 120; start += 60) await session.addItems(many.slice(start, start + 60));
  await beforeCall("list", 2, async () => {
    await sessionOf("pages").clearSession();
    await sessionOf("pages").addItems(items(7, 8));
  }, async () => assert.deepEqual(await session.getItems(), items(7, 8)));
});

test("an id and an agent have a session of their own, which nobody else sees", async () => {
  const names = ["a", "A", "a/b", ".", "..", "a*", "a%2F", "%2E", " a ", "\n", "ä", "日本", "a.b", "(a)", "0", "x".repeat(900)];
  for (const [number, name] of names.entries()) await sessionOf(name).addItems(items(number));
  for (const [number, name] of names.entries()) assert.deepEqual(await sessionOf(name).getItems(), items(number), name);
  assert.deepEqual(await sessionOf("a", "eve").getItems(), []);
  const eve = server.book("eve");
  assert.deepEqual([(await eve.list({ path: "/openai-js/" })).items, (await eve.search("item")).hits], [[], []]);
  const child = new CommonbookSession({ sessionId: "child", book: server.book("ann"), agent: "weather man" });
  await child.addItems(items(1));
  const { items: documents } = await server.book("ann/weather-man").list({ path: "/openai-js/child/" });
  assert.ok(documents.length);
  for (const { owner, sharing, memory_type: type } of documents) {
    assert.deepEqual([owner, sharing, type], ["ann/weather-man", "private", "opaque"]);
  }
  assert.match(await new CommonbookSession({ book: eve }).getSessionId(), /^[0-9a-f-]{36}$/);
});

test("a run goes on where another one ended", async () => {
  const runner = new Runner({ tracingDisabled: true });
  const turns = async (sessions: (MemorySession | CommonbookSession)[]): Promise<unknown[]> => {
    const model = new ScriptedModel([[assistantMessage("It has boiled.")], [assistantMessage("96 degrees.")]]);
    const agent = new Agent({ name: "tea", model });
    await runner.run(agent, "Boil the water.", { session: sessions[0]! });
    await runner.run(agent, "How hot was it?", { session: sessions[1]! });
    return [await sessions[0]!.getItems(), model.calls.at(-1)!.request.input];
  };
  const memory = new MemorySession();
  const [kept, read] = await turns([sessionOf("turns"), sessionOf("turns")]) as [AgentInputItem[], AgentInputItem[]];
  assert.deepEqual([kept, read], await turns([memory, memory]));
  assert.deepEqual(kept.map((item) => (item as { role?: string }).role), ["user", "assistant", "user", "assistant"]);
});

test("the runner itself uses its transactions", async () => {
  const noted: string[] = [];
  const run = async (session: MemorySession | CommonbookSession): Promise<AgentInputItem[]> => {
    const apply = session.applyHistoryTransaction.bind(session);
    session.applyHistoryTransaction = async (args) => {
      noted.push(args.transaction.type);
      await apply(args);
    };
    const note = tool({
      name: "note", description: "Notes a text.", execute: async () => "noted",
      parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
    });
    const secret = assistantMessage("A secret.");
    const model = new ScriptedModel([[functionCall("note", {}, { callId: "c1" }), secret], [secret]]);
    const guard = { name: "no secrets", execute: async () => ({ tripwireTriggered: true, outputInfo: {} }) };
    const agent = new Agent({ name: "tea", model, tools: [note], outputGuardrails: [guard] });
    const ran = new Runner({ tracingDisabled: true }).run(agent, "Note it.", { session });
    await assert.rejects(ran, OutputGuardrailTripwireTriggered);
    return await session.getItems();
  };
  assert.deepEqual(await run(sessionOf("guarded")), await run(new MemorySession()));
  const [ours, theirs] = [noted.slice(0, noted.length / 2), noted.slice(noted.length / 2)];
  assert.ok(ours.length);
  assert.deepEqual(ours, theirs);
});
