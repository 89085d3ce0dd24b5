/** LangGraph's checkpointer: the answers of its own in memory, real graphs, and what several processes do. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, Command, DeltaChannel, END, START, StateGraph, interrupt } from "@langchain/langgraph";
import {
  BaseCheckpointSaver, type ChannelVersions, type Checkpoint, type CheckpointMetadata, type CheckpointTuple, DeltaSnapshot, ERROR,
  INTERRUPT, JsonPlusSerializer, MemorySaver, RESUME, TASKS, emptyCheckpoint,
} from "@langchain/langgraph-checkpoint";
import { Commonbook, NotFound, type Schemas, Unavailable } from "commonbook";
import { CommonbookSaver } from "commonbook/langgraph";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";
import { chances } from "./chances.js";
import { THREAD, orderGraph } from "./order.js";

type Values = Record<string, unknown>;

const NAMES = ["", ".", "..", "a/b", "~", "%", "%7E", " a ", "a\u200b", "e\u0301", "日本", "tab\t", "child:1|x:2", "A", "a"];
const METADATA: CheckpointMetadata = { source: "loop", step: 0, parents: {} };

let server: TemporaryServer;
let workspace = "";
let count = 0;

before(async () => {
  server = await temporaryServer();
});
after(() => server.remove());

/** A test in a workspace of its own. */
function inWorkspace(name: string, act: () => Promise<void>): void {
  void test(name, async () => {
    workspace = `saver-${count += 1}`;
    await act();
  });
}

/** A checkpointer as another process has it: over a client of its own. */
function saverOf(agent = "tea"): CommonbookSaver {
  return new CommonbookSaver({ book: server.book("langgraph", { workspace }), agent });
}

/** A config. */
function thread(name = "tuesday", namespace = "", id?: string): RunnableConfig {
  return { configurable: { thread_id: name, checkpoint_ns: namespace, ...(id && { checkpoint_id: id }) } };
}

/** A checkpoint that changes these values of the one before, and the versions that it has anew. */
function checkpointOf(
  saver: BaseCheckpointSaver, values: Values, previous?: Checkpoint, changed = Object.keys(values),
): [Checkpoint, ChannelVersions] {
  const known = previous?.channel_versions ?? {};
  // As LangGraph does: what changes in one step has one version.
  const version = saver.getNextVersion(Object.values(known).sort().at(-1) as number | undefined);
  const versions = Object.fromEntries(changed.map((channel) => [channel, version]));
  return [{ ...emptyCheckpoint(), channel_values: values, channel_versions: { ...known, ...versions } }, versions];
}

/** Puts a checkpoint; returns it and its config. */
async function put(
  saver: BaseCheckpointSaver, values: Values, config = thread(), previous?: Checkpoint, changed?: string[],
): Promise<[Checkpoint, RunnableConfig]> {
  const [made, versions] = checkpointOf(saver, values, previous, changed);
  return [made, await saver.put(config, made, METADATA, versions)];
}

/** The documents of the agent by their paths. */
async function documents(path = "/checkpoints/"): Promise<Map<string, Schemas["Memory"]>> {
  const found = await all(server.book("langgraph/tea", { workspace }).listAll({ path }));
  return new Map(found.map((memory) => [memory.path!, memory]));
}

async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const values = [];
  for await (const value of found) values.push(value);
  return values;
}

/** What a checkpoint tuple says, of any saver. */
function told(found: CheckpointTuple | undefined): unknown {
  return found && [
    found.config.configurable, found.parentConfig?.configurable, found.checkpoint, found.metadata, found.pendingWrites,
  ];
}

async function valuesOf(saver: BaseCheckpointSaver, config = thread()): Promise<Values | undefined> {
  return (await saver.getTuple(config))?.checkpoint.channel_values;
}

/** Acts before some calls of a method of the client while a test runs; the number of the call is from 1. */
async function beforeCalls(
  name: "saveAll" | "update", act: (number: number) => Promise<void>, run: () => Promise<void>,
): Promise<void> {
  const prototype = Commonbook.prototype as unknown as Record<string, unknown>;
  const original = prototype[name] as (...given: unknown[]) => Promise<unknown>;
  let calls = 0;
  prototype[name] = async function (this: unknown, ...given: unknown[]): Promise<unknown> {
    await act(calls += 1);
    return await original.apply(this, given);
  };
  try {
    await run();
  } finally {
    prototype[name] = original;
  }
}

/** Calls of a seed, made to two savers. */
class Calls {
  readonly chances: ReturnType<typeof chances>;
  readonly #savers: readonly [BaseCheckpointSaver, BaseCheckpointSaver];
  readonly #puts: [Checkpoint, RunnableConfig][] = [];

  constructor(seed: number, ...savers: [BaseCheckpointSaver, BaseCheckpointSaver]) {
    this.chances = chances(seed);
    this.#savers = savers;
  }

  async put(): Promise<void> {
    const { below, pick } = this.chances;
    let config = thread(pick(["a", "b"]), pick(["", "", "child:1"]));
    const { thread_id: name, checkpoint_ns: namespace } = config.configurable!;
    const earlier = this.#puts.filter(([, { configurable: other }]) =>
      other!.thread_id === name && other!.checkpoint_ns === namespace);
    let previous: Checkpoint | undefined;
    if (earlier.length) [previous, config] = pick(earlier.slice(-3));
    const changes = Object.fromEntries(Array.from({ length: below(4) }, () => [pick([..."vwxyz"]), this.#value()]));
    const emptied = Object.keys(previous?.channel_values ?? {}).filter(() => !below(10));
    const kept = Object.entries({ ...previous?.channel_values, ...changes }).filter(([channel]) => !emptied.includes(channel));
    const changed = [...Object.keys(changes), ...emptied, "none"];
    const [made, versions] = checkpointOf(this.#savers[0], Object.fromEntries(kept), previous, changed);
    const metadata = { source: pick(["input", "loop"] as const), step: this.#puts.length, parents: {}, run_id: pick([..."rst"]) };
    let stored = config;
    for (let again = pick([1, 1, 1, 2]); again; again -= 1) {
      for (const saver of this.#savers) stored = await saver.put(config, made, metadata, versions);
    }
    this.#puts.push([made, stored]);
  }

  async write(): Promise<void> {
    const { below, pick } = this.chances;
    const [, config] = pick(this.#puts.slice(-4));
    const task = pick(["t1", "t2", "t3"]);
    const channels = below(10) < 3 ? [ERROR, INTERRUPT, RESUME].slice(below(2)) : [..."vwx"].slice(below(4));
    const writes = channels.map((channel): [string, unknown] => [channel, this.#value()]);
    for (const saver of this.#savers) await saver.putWrites(config, writes, task, `~path ${task.at(-1)}`);
  }

  /** What each saver answers to the same questions. */
  async answers(): Promise<unknown[]> {
    const questions: ((saver: BaseCheckpointSaver) => Promise<(CheckpointTuple | undefined)[]>)[] = [];
    const named = ["a", "b", "c"].flatMap((name) => ["", "child:1"].map((namespace) => thread(name, namespace)));
    for (const config of [...named, ...this.#puts.slice(-6).map(([, config]) => config)]) {
      questions.push(async (saver) => [await saver.getTuple(config)]);
    }
    const [, whole] = this.chances.pick(this.#puts);
    const { thread_id: name, checkpoint_ns: namespace } = whole.configurable!;
    const options = [
      {}, { limit: 2 }, { before: whole }, { filter: { run_id: "r" } }, { filter: { source: "loop", run_id: "s" }, limit: 1 },
      { filter: { none: 1 } }, { limit: 0 },
    ];
    for (const chosen of options) questions.push((saver) => all(saver.list(thread(name, namespace), chosen)));
    questions.push((saver) => all(saver.list(whole)));
    // The order of several namespaces is open.
    const inOrder = async (found: AsyncIterable<CheckpointTuple>): Promise<CheckpointTuple[]> =>
      (await all(found)).sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? 1 : -1));
    for (const configurable of [{}, { thread_id: name }, { checkpoint_ns: namespace }]) {
      questions.push((saver) => inOrder(saver.list({ configurable })));
    }
    return await Promise.all(this.#savers.map(async (saver) => {
      const answers = [];
      for (const question of questions) answers.push((await question(saver)).map(told));
      return answers;
    }));
  }

  #value(): unknown {
    return this.chances.pick([
      null, true, 7, 2.5, "tea", "long ".repeat(300), [], { degrees: [96, 100] }, { bytes: new Uint8Array([0, 255]) },
      new Set([1, 2]), new Map([["a", { b: 1 }]]), new HumanMessage({ content: "Tea, please.", id: "m1" }),
    ]);
  }
}

for (const seed of [1, 2]) {
  inWorkspace(`a seed of calls has the answers of the saver in memory: ${seed}`, async () => {
    const savers = [saverOf(), new MemorySaver()] as const;
    const calls = new Calls(seed, ...savers);
    for (let number = 0; number < 40; number += 1) {
      await (number === 0 || calls.chances.below(2) ? calls.put() : calls.write());
      if (number % 13 < 12) continue;
      const [ours, theirs] = await calls.answers();
      assert.deepEqual(ours, theirs);
    }
    for (const saver of savers) await saver.deleteThread("a");
    const [ours, theirs] = await calls.answers();
    assert.deepEqual(ours, theirs);
  });
}

inWorkspace("a put writes what changed, and again nothing", async () => {
  const saver = saverOf();
  let values: Values = { messages: ["hello"], notes: { kettle: 96 }, count: 1, name: "tea", story: "long ".repeat(300) };
  const [first, config] = await put(saver, values);
  // One for the checkpoint, and one for the values that are not small.
  assert.equal((await documents()).size, 2);
  values = { ...values, messages: ["hello", "again"], count: 2 };
  const [made, versions] = checkpointOf(saver, values, first, ["messages", "count"]);
  for (let turn = 0; turn < 2; turn += 1) {
    await saver.put(config, made, METADATA, versions);
    const kept = [...(await documents()).values()];
    assert.deepEqual(kept.map(({ revision }) => revision), [1, 1, 1, 1]);
  }
  assert.deepEqual([await valuesOf(saver), await valuesOf(saver, config)], [values, first.channel_values]);
  // A change to the values of one is none to those of the other.
  const [newer, older] = (await all(saver.list(thread()))).map(({ checkpoint }) => checkpoint.channel_values.notes);
  assert.deepEqual(newer, older);
  assert.notEqual(newer, older);
  await saver.put(config, made, { ...METADATA, step: 2 }, versions);
  assert.equal((await saver.getTuple(thread()))?.metadata?.step, 2);
});

inWorkspace("a put is one request, and the newest checkpoint two", async () => {
  const saver = saverOf();
  const { fetch } = globalThis;
  const methods: unknown[] = [];
  const methodsOf = async (run: () => Promise<unknown>): Promise<unknown[]> => {
    await run();
    return methods.splice(0);
  };
  await saver.getTuple(thread());
  globalThis.fetch = async (url, init) => {
    methods.push(init?.method);
    return await fetch(url, init);
  };
  try {
    const [first, config] = await put(saver, { messages: ["hello"], count: 1 });
    assert.deepEqual(methods.splice(0), ["POST"]);
    assert.deepEqual(await methodsOf(() => put(saver, { messages: ["again"], count: 1 }, config, first, ["messages"])), ["POST"]);
    assert.deepEqual(await methodsOf(() => saver.getTuple(thread())), ["GET", "GET"]);
    assert.deepEqual(await methodsOf(() => saver.putWrites(config, [["messages", "one"], ["count", 2]], "task")), ["POST"]);
    assert.deepEqual(await methodsOf(() => saver.putWrites(config, [], "task")), []);
    await put(saver, { count: 1, name: "tea", none: null }, thread("friday"));
    methods.splice(0);
    assert.deepEqual(await methodsOf(() => saver.getTuple(thread("friday"))), ["GET"]);
  } finally {
    globalThis.fetch = fetch;
  }
});

inWorkspace("any name is one segment and comes back", async () => {
  const saver = saverOf();
  for (const name of NAMES) {
    const [, config] = await put(saver, { name: [name] }, thread(`t${name}`, name));
    await saver.putWrites(config, [["name", name]], name);
  }
  for (const name of NAMES) {
    const [found, ...others] = await all(saver.list({ configurable: { thread_id: `t${name}` } }));
    assert.deepEqual(others, []);
    assert.equal(found?.config.configurable?.checkpoint_ns, name);
    assert.deepEqual([found?.checkpoint.channel_values, found?.pendingWrites], [{ name: [name] }, [[name, "name", name]]]);
  }
  assert.equal((await all(saver.list({ configurable: {} }))).length, NAMES.length);
  await assert.rejects(saver.put({}, emptyCheckpoint(), METADATA, {}), /names no thread/);
  await assert.rejects(saver.putWrites(thread(), [["a", 1]], "task"), /names no checkpoint/);
});

inWorkspace("what is larger than a document is kept in parts", async () => {
  const saver = saverOf();
  const [, config] = await put(saver, { messages: ["hello"] });
  const large = "c".repeat(3_200_000);
  await saver.putWrites(config, [[INTERRUPT, large]], "task");
  // Its end may change.
  await saver.putWrites(config, [[INTERRUPT, `${large}!`], ["first", 1]], "task");
  assert.deepEqual((await saver.getTuple(config))?.pendingWrites, [["task", INTERRUPT, `${large}!`], ["task", "first", 1]]);
  for (const path of (await documents("/checkpoints/tuesday/steps/")).keys()) {
    if (path.endsWith("/000000")) await server.book("langgraph/tea", { workspace }).delete(path);
  }
  await assert.rejects(saver.getTuple(config), NotFound);
  await assert.rejects(all(saver.list(thread())), /has lost a part/);
});

inWorkspace("a put of several calls that breaks off leaves no checkpoint", async () => {
  const saver = saverOf();
  const values = Object.fromEntries(Array.from({ length: 120 }, (_, number) => [`channel ${number}`, [number]]));
  const [made] = checkpointOf(saver, values);
  made.channel_versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, saver.getNextVersion(undefined)]));
  const breakOff = async (number: number): Promise<void> => {
    if (number === 2) throw new Unavailable({ kind: "unavailable", message: "broken" });
  };
  const puts = (): Promise<unknown> => saver.put(thread(), made, METADATA, made.channel_versions);
  await beforeCalls("saveAll", breakOff, () => assert.rejects(puts(), Unavailable));
  assert.equal((await documents()).size, 100);
  assert.deepEqual([await saver.getTuple(thread()), await all(saver.list({ configurable: {} }))], [undefined, []]);
  await puts();
  assert.deepEqual(await valuesOf(saver), values);
});

inWorkspace("a serializer that encrypts", async () => {
  const inner = new JsonPlusSerializer();
  const serde = {
    dumpsTyped: async (value: unknown): Promise<[string, Uint8Array]> => {
      const [kind, data] = await inner.dumpsTyped(value);
      const salt = Math.floor(Math.random() * 255) + 1;
      return [`${kind}+salted`, new Uint8Array([salt, ...data.map((byte) => byte ^ salt)])];
    },
    loadsTyped: async (kind: string, data: Uint8Array | string): Promise<unknown> => {
      const [salt, ...bytes] = data as Uint8Array;
      return await inner.loadsTyped(kind.replace("+salted", ""), new Uint8Array(bytes.map((byte) => byte ^ salt!)));
    },
  };
  const saver = new CommonbookSaver({ book: server.book("langgraph", { workspace }), agent: "tea", serde });
  const values = { messages: ["hello"], count: 1 };
  const [made, config] = await put(saver, values);
  await saver.put(thread(), made, METADATA, made.channel_versions);
  assert.deepEqual(await valuesOf(saver, config), values);
  for (const { text } of (await documents()).values()) assert.match(text, /^json\+salted /);
});

inWorkspace("a thread belongs to its agent alone", async () => {
  await put(saverOf(), { messages: ["hello"] });
  const other = saverOf("eve");
  assert.deepEqual([await other.getTuple(thread()), await all(other.list({ configurable: {} }))], [undefined, []]);
  const eve = server.book("eve", { workspace });
  assert.deepEqual([(await eve.list({ path: "/checkpoints/" })).items, (await eve.search("hello")).hits], [[], []]);
  for (const { owner, sharing, memory_type: type } of (await documents()).values()) {
    assert.deepEqual([owner, sharing, type], ["langgraph/tea", "private", "opaque"]);
  }
  // A user of the client changes nothing.
  const book = server.book("langgraph", { workspace, user: "sue" });
  const ofSue = new CommonbookSaver({ book, agent: "tea" });
  assert.deepEqual(await valuesOf(ofSue), { messages: ["hello"] });
  await put(ofSue, { messages: ["again"] });
  assert.equal((await all(saverOf().list(thread()))).length, 2);
});

inWorkspace("processes that write at once lose nothing", async () => {
  const savers = [saverOf(), saverOf()] as const;
  const [first, config] = await put(savers[0], { messages: [] });
  await Promise.all(savers.flatMap((saver, process) => [...Array(6).keys()].map(async (number) => {
    await saver.putWrites(config, [[`${process}${number}`, number]], `task ${number % 3}`, "");
    await saver.putWrites(config, [[[ERROR, INTERRUPT, RESUME][number % 3]!, number % 3]], "both");
    await put(saver, { messages: [process, number] }, config, first, ["messages"]);
  })));
  const writes = (await saverOf().getTuple(config))!.pendingWrites!;
  assert.deepEqual(writes.filter(([task]) => task === "both"), [["both", RESUME, 2], ["both", INTERRUPT, 1], ["both", ERROR, 0]]);
  // The first write of a number stays.
  assert.deepEqual(writes.filter(([task]) => task !== "both").map(([task, channel]) => [task, channel.length]),
    [["task 0", 2], ["task 1", 2], ["task 2", 2]]);
  const tuples = await all(saverOf().list(thread()));
  const branches = tuples.map(({ checkpoint }) => JSON.stringify(checkpoint.channel_values.messages));
  const expected = [0, 1].flatMap((process) => [...Array(6).keys()].map((number) => `[${process},${number}]`));
  assert.deepEqual(branches.sort(), [...expected, "[]"].sort());
});

inWorkspace("what another process writes between reading and writing stays", async () => {
  const [saver, other] = [saverOf(), saverOf()];
  const [, config] = await put(saver, { messages: ["hello"] });
  await saver.putWrites(config, [["messages", "one"]], "task");
  const write = async (number: number): Promise<void> => {
    if (number === 1) await other.putWrites(config, [[ERROR, "broken"]], "task");
  };
  await beforeCalls("update", write, () => saver.putWrites(config, [[INTERRUPT, "sure?"]], "task"));
  const writes = (await saver.getTuple(config))!.pendingWrites!.map(([, channel, value]) => [channel, value]);
  assert.deepEqual(writes, [[INTERRUPT, "sure?"], [ERROR, "broken"], ["messages", "one"]]);
  // A graph whose versions are numbers may give one number to two channels.
  for (const [process, channel] of [[saver, "a"], [other, "b"], [saver, "a"]] as const) {
    const made = { ...emptyCheckpoint(), channel_values: { [channel]: [channel] }, channel_versions: { [channel]: 1 } };
    const stored = await process.put(thread("numbers"), made, METADATA, { [channel]: 1 });
    assert.deepEqual(await valuesOf(process, stored), { [channel]: [channel] });
  }
  assert.equal((await documents("/checkpoints/numbers/values/")).size, 1);
});

inWorkspace("writes wait for their checkpoint, and a thread may go while it is read", async () => {
  const saver = saverOf();
  const [first, config] = await put(saver, { messages: ["hello"] });
  const [made, versions] = checkpointOf(saver, { messages: ["again"] }, first);
  const next = thread("tuesday", "", made.id);
  await saver.putWrites(next, [["messages", "then"]], "task");
  assert.deepEqual((await saver.getTuple(thread()))?.config, config);
  assert.deepEqual([await saver.getTuple(next), (await all(saver.list(thread()))).length], [undefined, 1]);
  await saver.put(config, made, METADATA, versions);
  assert.deepEqual((await saver.getTuple(thread()))?.pendingWrites, [["task", "messages", "then"]]);
  const found = saver.list(thread());
  assert.deepEqual((await found.next()).value?.parentConfig, config);
  await saver.deleteThread("tuesday");
  assert.deepEqual(await all(found), []);
});

inWorkspace("a deleted thread leaves nothing, and what has lost a value says so", async () => {
  const saver = saverOf();
  for (const name of ["tuesday", "tuesday2"]) {
    const [, config] = await put(saver, { messages: ["hello"] }, thread(name));
    await saver.putWrites(config, [["messages", "again"]], "task");
    await put(saver, { messages: ["hello"] }, thread(name, "child:1"));
  }
  await saver.deleteThread("tuesday");
  await saver.deleteThread("tuesday");
  assert.deepEqual(new Set([...(await documents()).keys()].map((path) => path.split("/")[2])), new Set(["tuesday2"]));
  assert.equal((await all(saver.list({ configurable: {} }))).length, 2);
  const [value] = await documents("/checkpoints/tuesday2/values/");
  await server.book("langgraph/tea", { workspace }).delete(value![0]);
  await assert.rejects(saver.getTuple(thread("tuesday2")), NotFound);
});

test("a server that does not answer is unavailable", async () => {
  const book = new Commonbook({ url: "http://127.0.0.1:1", agent: "ann", workspace: "tests", retry: { attempts: 1 } });
  await assert.rejects(new CommonbookSaver({ book }).getTuple(thread()), Unavailable);
});

// Graphs

inWorkspace("another process resumes an interrupted graph whose own one is gone", async () => {
  const program = fileURLToPath(new URL("order.js", import.meta.url));
  const run = (...answer: string[]): [string, unknown] => {
    const given = [program, server.url, workspace, ...answer];
    const { stdout, stderr, signal } = spawnSync(process.execPath, given, { encoding: "utf8" });
    return [stdout + stderr, signal];
  };
  assert.deepEqual(run(), ["asks: Serve a tea?\n", "SIGKILL"]);
  assert.deepEqual(run("yes"), ["A tea, please. Serve a tea? The tea is served.\n", "SIGKILL"]);
  const state = await orderGraph(saverOf()).getState(THREAD);
  assert.deepEqual([state.values.approved, state.next], ["yes", []]);
});

for (const durability of ["sync", "async", "exit"] as const) {
  inWorkspace(`a graph goes back in time: ${durability}`, async () => {
    const go = async (saver: BaseCheckpointSaver): Promise<unknown> => {
      const graph = orderGraph(saver);
      await graph.invoke({ messages: [new HumanMessage("A tea, please.")] }, { ...THREAD, durability });
      await graph.invoke(new Command({ resume: "yes" }), { ...THREAD, durability });
      const history = await all(graph.getStateHistory(THREAD));
      const asking = history.find(({ next }) => next[0] === "ask")!;
      // Another answer at the same question, then another state before it.
      await graph.invoke(new Command({ resume: "no" }), { ...asking.config, durability } as never);
      const fork = await graph.updateState(asking.config, { approved: "perhaps" }, "ask");
      // The copy of a checkpoint changes none of its values, also that of the first one.
      const copies = [];
      for (const { config } of [asking, history.at(-1)!]) copies.push(await graph.updateState(config, null, "__copy__"));
      const states = [...history];
      for (const config of [fork, ...copies, history[0]!.config]) states.push(await graph.getState(config));
      return states.map(({ values, next, metadata }) => [
        values.messages?.map(({ text }: HumanMessage) => text), values.approved, next, metadata?.source, metadata?.step,
      ]);
    };
    const ours = await go(saverOf());
    assert.deepEqual(ours, await go(new MemorySaver()));
    assert.ok(JSON.stringify(ours).includes('"perhaps"'));
    await saverOf().deleteThread("tuesday");
    assert.deepEqual((await orderGraph(saverOf()).getState(THREAD)).values, {});
    assert.equal((await documents()).size, 0);
  });
}

inWorkspace("a graph inside a graph has a namespace of its own", async () => {
  const saver = saverOf();
  const State = Annotation.Root({ items: Annotation<string[]>, approved: Annotation<string> });
  const inner = new StateGraph(State).addNode("inner", () => ({ approved: interrupt<string, string>("Sure?") }))
    .addEdge(START, "inner").addEdge("inner", END).compile();
  const graph = new StateGraph(State).addNode("outer", inner).addEdge(START, "outer").addEdge("outer", END)
    .compile({ checkpointer: saver });
  await graph.invoke({ items: ["tea"] }, thread());
  const { tasks } = await graph.getState(thread(), { subgraphs: true });
  assert.equal(tasks[0]?.interrupts[0]?.value, "Sure?");
  assert.deepEqual((tasks[0]?.state as { values: unknown }).values, { items: ["tea"] });
  const namespaces = [...(await documents("/checkpoints/tuesday/steps/")).keys()].map((path) => path.split("/")[4]);
  assert.equal(new Set(namespaces).size, 2);
  assert.equal((await graph.invoke(new Command({ resume: "yes" }), thread())).approved, "yes");
});

inWorkspace("a channel of differences is rebuilt", async () => {
  const added = (known: string[], lines: string[][]): string[] => [...known, ...lines.flat()];
  const State = Annotation.Root({
    lines: () => new DeltaChannel<string[], string[]>(added, { snapshotFrequency: 4, initialValueFactory: () => [] }),
    count: Annotation<number>,
  });
  const histories = [];
  for (const saver of [saverOf(), new MemorySaver()]) {
    const graph = new StateGraph(State).addNode("write", ({ count }) => ({ lines: [`line ${count}`], count: count + 1 }))
      .addEdge(START, "write").addEdge("write", END).compile({ checkpointer: saver });
    for (let number = 0; number < 7; number += 1) await graph.invoke({ lines: [`input ${number}`], count: number }, thread());
    const history = await all(graph.getStateHistory(thread()));
    const channels = ["lines", "count", "none"];
    const found = await saver.getDeltaChannelHistory({ config: thread(), channels });
    const deltas = channels.map((channel) => [found[channel]!.seed, found[channel]!.writes.map(([, , value]) => value)]);
    const none = await saver.getDeltaChannelHistory({ config: thread(), channels: [] });
    histories.push([history.map(({ values }) => values), deltas, none]);
  }
  assert.deepEqual(histories[0], histories[1]);
  assert.equal((histories[0] as [{ lines: string[] }[]])[0][0]!.lines.length, 14);
});

inWorkspace("many graphs at once", async () => {
  const graph = orderGraph(saverOf());
  const configs = Array.from({ length: 8 }, (_, number) => thread(String(number)));
  await Promise.all(configs.map((config) => graph.invoke({ messages: [new HumanMessage("A tea, please.")] }, config)));
  const done = await Promise.all(configs.map((config, number) => graph.invoke(new Command({ resume: String(number) }), config)));
  const expected = configs.map((_, number) => [String(number), 3]);
  assert.deepEqual(done.map(({ approved, messages }) => [approved, messages.length]), expected);
});

// The Python client

/** The documents of a thread as a client has written them, which the tests of both clients read. */
type Recorded = Record<string, Pick<Schemas["Memory"], "text" | "metadata">>;

async function recorded(client: "python" | "typescript"): Promise<Recorded> {
  return JSON.parse(await readFile(new URL(`../../../../clients/threads/${client}.json`, import.meta.url), "utf8")) as Recorded;
}

const IDS = ["1f1eca4e-fcbb-6f8d-8000-cc34c32ffc78", "1f1eca4e-fd0e-680b-8001-70c712544a23"] as const;
const HUMAN = new HumanMessage({ content: "Tea, please.", id: "m1" });
const ASSISTANT = new AIMessage({
  content: "I boil it.", id: "m2", tool_calls: [{ name: "boil", args: { degrees: 80 }, id: "c1", type: "tool_call" }],
  usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
});
const TOOL = new ToolMessage({ content: "It has boiled.", id: "m3", tool_call_id: "c1", status: "success" });

/** What is compared of messages. */
function saidIn(messages: unknown): unknown {
  return (messages as BaseMessage[]).map((message) => [
    message.getType(), message.text, message.id, message.name, (message as AIMessage).tool_calls,
    (message as AIMessage).usage_metadata, (message as ToolMessage).tool_call_id,
  ]);
}

inWorkspace("a thread of the Python client is read, and a graph goes on with it", async () => {
  const book = server.book("langgraph/tea", { workspace });
  for (const [path, { text, metadata }] of Object.entries(await recorded("python"))) {
    await book.save(text, { path, metadata, memory_type: "opaque", about: "project" });
  }
  const saver = saverOf();
  const [newest, oldest, ...others] = await all(saver.list(thread("tea")));
  assert.deepEqual(others, []);
  assert.deepEqual([newest?.checkpoint.id, newest?.parentConfig, newest?.metadata, oldest?.parentConfig],
    [IDS[1], thread("tea", "", IDS[0]), { source: "loop", step: 1, parents: {} }, undefined]);
  const { messages, ...values } = newest!.checkpoint.channel_values;
  assert.deepEqual(saidIn(messages), saidIn([HUMAN, ASSISTANT, TOOL]));
  assert.deepEqual(values, {
    "branch:to:ask": null,
    count: 2,
    notes: {
      bytes: new Uint8Array([0, 255]), set: new Set([1, 2]), uuid: "00000000-0000-0000-0000-000000000007", decimal: "1.50",
      time: "2026-11-30T05:24:48+00:00", numbers: [-1, -200, -70000, -(2 ** 40), 200, 70000, 2 ** 40, 2 ** 63, 0.5],
      texts: ["", "Größe 日本 😀", "x".repeat(40), "y".repeat(300)], none: null, truth: [true, false],
      keys: { 7: "seven" }, list: [...Array(20).keys()], record: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [n, n])),
    },
  });
  assert.deepEqual(saidIn(oldest?.checkpoint.channel_values.messages), saidIn([HUMAN]));
  const interrupted = { value: { question: "Serve?" }, id: "i1", response_schema: null };
  assert.deepEqual(newest?.pendingWrites, [
    ["t1", INTERRUPT, [interrupted]], ["t2", "log", new DeltaSnapshot([1])], ["t2", TASKS, { node: "serve", args: { cup: 1 } }],
  ]);
  // The graph answers the question that one of Python has asked.
  const state = await orderGraph(saver).invoke(new Command({ resume: "yes" }), thread("tea"));
  assert.deepEqual(state.messages.map(({ text }) => text), ["Tea, please.", "I boil it.", "It has boiled.", "The tea is served."]);
  assert.equal(state.approved, "yes");
});

inWorkspace("what has no form here is refused", async () => {
  const packed = { "gaF41AbA": /has an array of NumPy/, "gaF4wQ==": /is no MessagePack: 0xc1/ };
  const saver = saverOf();
  await put(saver, { messages: ["hello"] });
  const [{ id }] = await documents("/checkpoints/tuesday/steps/").then((found) => [...found.values()]) as [Schemas["Memory"]];
  for (const [data, error] of Object.entries(packed)) {
    await server.book("langgraph/tea", { workspace }).update(id, { text: `msgpack ${data}`, memory_type: "opaque" });
    await assert.rejects(saver.getTuple(thread()), error);
  }
});

inWorkspace("a thread is written as the test of the Python client reads it", async () => {
  const saver = saverOf();
  const made = (id: string, version: string, values: Values): Checkpoint => ({
    v: 4, id, ts: "2026-11-30T05:24:48.000Z", channel_values: values, versions_seen: {},
    channel_versions: { messages: version, count: version, notes: "1" },
  });
  const notes = {
    text: "Größe 日本 😀", none: null, number: 0.5, list: [1, "a"], bytes: new Uint8Array([0, 255]), set: new Set([1]),
    map: new Map([["a", 1]]),
  };
  const first = made(IDS[0], "1", { messages: [HUMAN], count: 1, notes });
  const config = await saver.put(thread("tea"), first, { ...METADATA, source: "input", step: 0 }, first.channel_versions);
  const second = made(IDS[1], "2", { messages: [HUMAN, ASSISTANT, TOOL], count: 2, notes });
  const next = await saver.put(config, second, { ...METADATA, step: 1 }, { messages: "2", count: "2" });
  await saver.putWrites(next, [[INTERRUPT, [{ value: { question: "Serve?" }, id: "i1" }]]], "t1", "~__pregel_pull, ask");
  const written = Array.from(await documents(), ([path, { text, metadata }]) => [path, { text, metadata }]);
  assert.deepEqual(Object.fromEntries(written), await recorded("typescript"),
    `clients/threads/typescript.json differs; if that is meant, it is now: ${JSON.stringify(Object.fromEntries(written))}`);
});
