/** LangGraph's store: the answers of its own in memory, and what several agents make of one memory. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import {
  InMemoryStore, InvalidNamespaceError, type Item, type ListNamespacesOperation, type MatchCondition, type Operation,
  type PutOperation, type SearchItem, type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { Commonbook, Conflict, Forbidden, Invalid, TooLarge, Unavailable } from "commonbook";
import { CommonbookStore, type CommonbookStoreOptions } from "commonbook/langgraph";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";
import { chances } from "./chances.js";

const SECRET = { token: "ghp_abcdefghijklmnopqrstuvwxyz0123456789" };
const KETTLE = { text: "The kettle of the tea shop whistles at 96 degrees." };
const LABELS = ["a", "b", "ab", "a b", "é", "a_b", "a%", "v1"];
const KEYS = ["1", "tea", "tea/green", "日本", "a.b", "x:y", ""];
const TEXTS = ["", "tea", "kettle", "Größe", "it's", "null", "two\nlines", "😀", "\\", '"', "\ud800", "\u200b"];

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
    workspace = `store-${count += 1}`;
    await act();
  });
}

/** A store of an agent, over a client of its own. */
function storeOf(agent = "ann", { user, place = workspace, ...options }: Options = {}): CommonbookStore {
  return new CommonbookStore({ ...options, agent, book: server.book("langgraph", { workspace: place, user }) });
}

type Options = Omit<CommonbookStoreOptions, "book" | "agent"> & { user?: string; place?: string };

/** The client of the agent ann, who owns the items. */
function ann(): Commonbook {
  return server.book("langgraph/ann", { workspace });
}

function keys(items: Item[]): string[] {
  return items.map(({ key }) => key);
}

/** What is compared of an item. */
function told(item: Item | null): string {
  return JSON.stringify(item && [item.namespace, item.key, item.value]);
}

function isSearch(operation: Operation): operation is SearchOperation {
  return "namespacePrefix" in operation;
}

function isListing(operation: Operation): operation is ListNamespacesOperation {
  return "matchConditions" in operation;
}

/** Operations of a seed. Each value has a number `n`, so that a filter compares it. */
class Operations {
  readonly #chances: ReturnType<typeof chances>;

  constructor(seed: number) {
    this.#chances = chances(seed);
  }

  /** The operations of the next batch. */
  batch(): Operation[] {
    return Array.from({ length: this.#chances.pick([1, 1, 1, 2, 3, 8]) }, () => this.#next());
  }

  #next(): Operation {
    const { below, pick } = this.#chances;
    const kind = below(23);
    if (kind < 8) {
      const index = pick<false | undefined>([undefined, undefined, false]);
      return { namespace: this.#namespace(1), key: pick(KEYS), value: this.#object(), index };
    }
    if (kind < 11) return { namespace: this.#namespace(1), key: pick(KEYS), value: null };
    if (kind < 16) return { namespace: this.#namespace(1), key: pick(KEYS) };
    if (kind < 21) {
      const namespacePrefix = this.#namespace(0);
      return { namespacePrefix, filter: this.#filter(), limit: pick([1, 3, 10, 1000, 1000]), offset: pick([0, 0, 0, 1, 5, 20]) };
    }
    const kinds = (["prefix", "suffix"] as const).filter(() => below(10) < 4);
    const matchConditions = kinds.map((matchType): MatchCondition => ({
      matchType, path: this.#namespace(1).map((label) => (below(10) < 3 ? "*" : label)),
    }));
    const maxDepth = pick([undefined, undefined, 1, 2, 3]);
    return { matchConditions, maxDepth, limit: pick([2, 10, 100]), offset: pick([0, 0, 1, 5]) };
  }

  #namespace(least: number): string[] {
    const { pick } = this.#chances;
    const length = pick([least, 1, 1, 2, 2, 3]);
    return Array.from({ length }, () => pick(length === 1 ? LABELS : LABELS.slice(0, 2)));
  }

  #object(): Record<string, unknown> {
    const { below, pick } = this.#chances;
    const others = Array.from({ length: below(4) }, () => [pick(["s", "t", "Größe", "a.b", ""]), this.#value(2)]);
    return { n: pick([...Array(15).keys(), -3, 0.5, 1e10, 2 ** 53 + 2]), ...Object.fromEntries(others) };
  }

  #value(depth: number): unknown {
    const { below, pick } = this.#chances;
    if (depth === 0 || below(10) < 7) return pick([null, true, false, 0, 1, 1.5, ...TEXTS]);
    const length = below(4);
    if (below(2)) return Array.from({ length }, () => this.#value(depth - 1));
    return Object.fromEntries(Array.from({ length }, () => [pick(TEXTS), this.#value(depth - 1)]));
  }

  #filter(): Record<string, unknown> | undefined {
    const { below, pick } = this.#chances;
    const number = below(15) - 3;
    const operator = pick(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]);
    return pick<Record<string, unknown> | undefined>([
      undefined, undefined, { n: number }, { n: { [operator]: number } }, { n: { $gt: number - 4, $lte: number } },
      { s: pick(TEXTS) }, { s: pick(TEXTS), n: { [operator]: number } }, { t: { $ne: pick(TEXTS) } }, { s: { [operator]: 1 } },
      { n: { $in: [number, number + 1] } }, { t: { $nin: pick([[null, true], ["tea", 1], []]) } }, { s: {} }, { t: { $is: 1 } },
    ]);
  }
}

/**
 * `InMemoryStore`, but for two things: it still lists a namespace whose items are all deleted, and a get returns the item itself,
 * which a put of the same batch then changes.
 */
class Reference extends InMemoryStore {
  override async batch(operations: never): Promise<never> {
    const given = structuredClone<Operation[]>(operations);
    const reads = given.filter((operation) => !("value" in operation));
    const found = structuredClone(await super.batch(reads)) as unknown[];
    await super.batch(given.filter((operation) => "value" in operation));
    const { data } = this as unknown as { data: Map<string, Map<string, Item>> };
    for (const [namespace, items] of data) if (!items.size) data.delete(namespace);
    return given.map((operation) => ("value" in operation ? null : found.shift())) as never;
  }
}

inWorkspace("2,000 generated operations get the answers of the store in memory", async () => {
  await Promise.all([1, 2].map(async (seed) => {
    const reference = new Reference();
    const stores = [1, 2].map(() => storeOf("ann", { place: `${workspace}-${seed}` }));
    const generated = new Operations(seed);
    for (let done = 0, turn = 0; done < 1000; turn += 1) {
      const operations = generated.batch();
      // The next batch is that of another process.
      const answers = await stores[turn % 2]!.batch(operations) as unknown[];
      const expected = await reference.batch(operations.map((operation) =>
        (isSearch(operation) ? { ...operation, limit: 10_000, offset: 0 } : operation)) as never) as unknown[];
      for (const [index, operation] of operations.entries()) {
        const at = `seed ${seed}, operation ${done + index}: ${JSON.stringify(operation)}`;
        if (isListing(operation)) {
          assert.deepEqual(answers[index], expected[index], at);
        } else if (isSearch(operation)) {
          const { limit = 10, offset = 0 } = operation;
          const [page, whole] = [answers[index] as SearchItem[], expected[index] as SearchItem[]];
          const [found, known] = [page.map(told), new Set(whole.map(told))];
          assert.equal(found.length, Math.min(limit, Math.max(known.size - offset, 0)), at);
          assert.equal(new Set(found).size, found.length, at);
          assert.deepEqual(found.filter((item) => !known.has(item)), [], at);
          // The order of a search is the store's own: the last change comes first.
          assert.ok(page.every(({ updatedAt }, place) => place === 0 || updatedAt <= page[place - 1]!.updatedAt), at);
        } else {
          assert.equal(told(answers[index] as Item | null), told(expected[index] as Item | null), at);
        }
      }
      done += operations.length;
    }
    const [ours, theirs] = await Promise.all([stores[0]!, reference].map((store) => store.search([], { limit: 10_000 })));
    assert.deepEqual(ours!.map(told).sort(), theirs!.map(told).sort());
    assert.ok(ours!.length > 30);
  }));
});

inWorkspace("batches at once lose nothing", async () => {
  const batch = (number: number): Operation[] => [
    ...(number % 10 ? [] : [{ namespace: ["last"], key: String(number % 20), value: { n: number } }]),
    ...[0, 1].map((part) => ({ namespace: ["n", String(number % 10)], key: `${number}-${part}`, value: { n: number } })),
    { namespace: ["n", "0"], key: "0-0" },
  ];
  const stores = Array.from({ length: 5 }, () => storeOf());
  await Promise.all(Array.from({ length: 200 }, (_, number) => stores[number % 5]!.batch(batch(number))));
  const found = await storeOf().search(["n"], { limit: 1000 });
  const expected = Array.from({ length: 400 }, (_, number) => `${Math.floor(number / 2)}-${number % 2}`);
  assert.deepEqual(keys(found).sort(), expected.sort());
  for (const { key, value } of found) assert.deepEqual(value, { n: Number(key.split("-")[0]) });
  const last = await storeOf().search(["last"]);
  assert.deepEqual(last.map(({ key, value }) => [key, value.n % 20]).sort(), [["0", 0], ["10", 10]]);
});

inWorkspace("an item is a document that other doors read and change", async () => {
  const store = storeOf();
  await store.put(["notes", "u1"], "tea", { text: "Green tea wants 80 degrees." });
  const document = await ann().get("/langgraph/store/notes/u1/tea");
  assert.deepEqual([document.text, document.owner], ['{"text":"Green tea wants 80 degrees."}', "langgraph/ann"]);
  assert.deepEqual([document.sharing, document.about], ["shared", "project"]);
  assert.equal((await ann().search("green tea degrees")).hits[0]?.memory.id, document.id);
  const texts = {
    '{"degrees": 80}': { degrees: 80 }, "Green tea, 80 degrees.": { text: "Green tea, 80 degrees." }, "[80]": { text: "[80]" },
  };
  for (const [text, value] of Object.entries(texts)) {
    await ann().update(document.id, { text });
    assert.deepEqual((await store.get(["notes", "u1"], "tea"))?.value, value);
  }
  const item = (await store.get(["notes", "u1"], "tea"))!;
  assert.equal(item.createdAt.getTime(), new Date(document.recorded_at).getTime());
  assert.ok(item.updatedAt > item.createdAt);
});

inWorkspace("the Python client has the same paths, and other documents are no items", async () => {
  const store = storeOf();
  // The paths that `commonbook.langgraph.path_of` gives.
  const paths = {
    "a b": "a%20b", "Größe 日本": "Größe%20日本", "e\u0301": "e%CC%81", "\ud800": "%ED%A0%80", "\u3164": "%E3%85%A4", "": "%",
    "..": "%2E%2E", "a/b:c@d+e=f~g": "a%2Fb:c@d+e=f~g", "%2E!*'()": "%252E%21%2A%27%28%29", "😀": "%F0%9F%98%80",
  };
  for (const key of Object.keys(paths)) await store.put(["notes"], key, { key });
  const documents = (await ann().list({ path: "/langgraph/store/", limit: 100 })).items;
  const expected = Object.values(paths).map((path) => `/langgraph/store/notes/${path}`);
  assert.deepEqual(documents.map(({ path }) => path).sort(), expected.sort());
  assert.ok(documents.every(({ metadata }) => metadata.langgraph_index === true));
  for (const path of ["/notes/x", "/storehouse/notes/x", "/store/notes/c d", "/store/%FF/%zz"].map((path) => `/langgraph${path}`)) {
    await ann().save("No item.", { path });
  }
  const items = await store.search([], { limit: 100 });
  assert.deepEqual(new Map(items.map(({ key, value }) => [key, value])), new Map(Object.keys(paths).map((key) => [key, { key }])));
  assert.deepEqual(await store.search([], { query: "No item" }), []);
  assert.deepEqual(await store.listNamespaces(), [["notes"]]);
});

inWorkspace("a search without a query has the last change first, with a query the best hit", async () => {
  const store = storeOf();
  for (const key of ["tea", "coffee", "milk"]) await store.put(["notes"], key, { n: 1 });
  await store.put(["notes"], "tea", { n: 2 });
  assert.deepEqual(keys(await store.search(["notes"])), ["tea", "milk", "coffee"]);
  await store.put(["notes", "a"], "kettle", KETTLE);
  await store.put(["notes", "a"], "lid", { text: "The lid is loose." });
  const [found] = await store.search(["notes"], { query: "When does the kettle whistle?", limit: 1 });
  assert.deepEqual([found?.key, found?.namespace, found?.value], ["kettle", ["notes", "a"], KETTLE]);
  assert.ok(found!.score! > 0.5 && found!.score! <= 1);
  assert.deepEqual(await store.search(["notes", "b"], { query: "kettle" }), []);
  assert.deepEqual(await store.search(["notes"], { query: "kettle", filter: { text: "The lid is loose." } }), []);
  const query = `"kettle" owner:eve -tea ${"日本 ".repeat(5000)}`;
  assert.deepEqual(keys(await store.search([], { query, limit: 1 })), ["kettle"]);
  await store.batch(Array.from({ length: 110 }, (_, n) => ({ namespace: ["many"], key: String(n), value: { text: "spoon", n } })));
  const many = await store.search(["many"], { query: "spoon", filter: { n: { $gte: 0 } }, limit: 1000 });
  assert.deepEqual(keys(many).map(Number).sort((a, b) => a - b), [...Array(110).keys()]);
  assert.deepEqual(keys(await store.search(["many"], { query: "spoon", limit: 7, offset: 98 })), keys(many).slice(98, 105));
});

inWorkspace("an item without an index is left out of searches with a query", async () => {
  const store = storeOf();
  await store.put(["notes"], "kettle", KETTLE, false);
  assert.deepEqual([keys(await store.search([], { query: "kettle" })), keys(await store.search([]))], [[], ["kettle"]]);
  assert.equal((await ann().search("kettle")).total, 1);
  await store.put(["notes"], "kettle", KETTLE);
  assert.deepEqual(keys(await store.search([], { query: "kettle" })), ["kettle"]);
});

inWorkspace("agents have items of their own and read what another shares", async () => {
  const [mine, other, secret] = [storeOf("ann"), storeOf("eve"), storeOf("ann", { sharing: "private" })];
  await mine.put(["notes"], "tea", { of: "ann" });
  await other.put(["notes"], "tea", { of: "eve" });
  await secret.put(["notes", "own"], "secret", { of: "ann" });
  assert.deepEqual((await mine.search([])).length, 2);
  assert.deepEqual((await other.search([], { query: "ann eve" })).map(({ value }) => value), [{ of: "eve" }]);
  const reader = storeOf("eve", { owner: "langgraph/ann" });
  assert.deepEqual((await reader.get(["notes"], "tea"))?.value, { of: "ann" });
  assert.equal(await reader.get(["notes", "own"], "secret"), null);
  assert.deepEqual(keys(await reader.search([], { query: "ann" })), ["tea"]);
  assert.deepEqual(await reader.listNamespaces(), [["notes"]]);
  await assert.rejects(reader.put(["notes"], "tea", {}), Forbidden);
  await assert.rejects(reader.delete(["notes"], "tea"), Forbidden);
  assert.deepEqual((await mine.get(["notes"], "tea"))?.value, { of: "ann" });
});

inWorkspace("items belong to no user, and to one workspace", async () => {
  await storeOf("ann", { user: "u1" }).put(["notes"], "tea", { n: 1 });
  await storeOf("ann", { user: "u2" }).put(["notes"], "tea", { n: 2 });
  for (const user of [undefined, "u1"]) {
    assert.deepEqual((await storeOf("ann", { user }).search([])).map(({ value }) => value), [{ n: 2 }]);
  }
  const [store, everywhere] = [storeOf(), storeOf("ann", { place: "global" })];
  await everywhere.put(["notes"], "kettle", KETTLE);
  assert.deepEqual([await store.get(["notes"], "kettle"), await store.search([], { query: "kettle" })], [null, []]);
  await store.delete(["notes"], "kettle");
  assert.deepEqual((await everywhere.get(["notes"], "kettle"))?.value, KETTLE);
  await everywhere.delete(["notes"], "kettle");
});

inWorkspace("what the memory does not keep is refused, and its call with it", async () => {
  const store = storeOf();
  const put = (key: string, value: object | null, more: object = {}): PutOperation =>
    ({ namespace: ["notes"], key, value, ...more });
  await store.batch([put("there", { n: 1 })]);
  await assert.rejects(store.batch([put("there", { n: 2 }), put("new", {}), put("secret", SECRET)]),
    /keeps no secrets, and \/langgraph\/store\/notes\/secret would/);
  await assert.rejects(store.put(["notes"], "there", SECRET), /keeps no secrets/);
  await assert.rejects(store.put(["notes"], SECRET.token, {}), Invalid);
  const large = { text: "x".repeat(102_389) };
  await store.put(["notes"], "large", large);
  await assert.rejects(store.batch([put("new", {}), put("large", { text: `${large.text}x` })]), TooLarge);
  await assert.rejects(store.batch([put("new", {}), put("there", {}, { index: ["text"] })]), /no index of single fields/);
  for (const value of [undefined, "tea", [1]]) {
    await assert.rejects(store.batch([put("new", {}), put("there", value as never)]), /The value of an item is an object/);
  }
  for (const operation of [{ ...put("a", {}), namespace: [] }, { namespace: ["a.b"], key: "a" }, { namespacePrefix: ["a", ""] }]) {
    await assert.rejects(store.batch([put("new", {}), operation]), InvalidNamespaceError);
  }
  await assert.rejects(store.put([..."abcdefghijklmnopqr"], "key", {}), Invalid);
  assert.deepEqual(keys(await store.search([])), ["large", "there"]);
  assert.deepEqual((await store.get(["notes"], "there"))?.value, { n: 1 });
  assert.deepEqual((await store.get(["notes"], "large"))?.value, large);
});

inWorkspace("a put that another one overtakes is repeated", async () => {
  const [store, other] = [storeOf(), storeOf()];
  await store.put(["notes"], "tea", { n: 0 });
  const prototype = Commonbook.prototype as unknown as Record<string, unknown>;
  const { saveAll } = Commonbook.prototype;
  let overtaken = 0;
  prototype.saveAll = async function (this: Commonbook, documents: never): Promise<unknown> {
    if (documents[0]!["text"] === '{"n":9}' && overtaken < 3) {
      overtaken += 1;
      await (overtaken === 2 ? other.delete(["notes"], "tea") : other.put(["notes"], "tea", { n: overtaken }));
    }
    return await saveAll.call(this, documents);
  };
  try {
    await store.put(["notes"], "tea", { n: 9 });
    assert.equal(overtaken, 3);
    assert.deepEqual((await other.get(["notes"], "tea"))?.value, { n: 9 });
    prototype.saveAll = async () => { throw new Conflict({ kind: "conflict", message: "taken" }); };
    await assert.rejects(store.put(["notes"], "tea", { n: 10 }), Conflict);
  } finally {
    prototype.saveAll = saveAll;
  }
});

inWorkspace("a graph has the store", async () => {
  const State = Annotation.Root({ text: Annotation<string> });
  const note = async ({ text }: typeof State.State, { store }: LangGraphRunnableConfig): Promise<{ text: string }> => {
    await Promise.all([store!.put(["notes"], "kettle", { text }), store!.put(["notes"], "lid", { text: "loose" })]);
    const [found] = await store!.search(["notes"], { query: "kettle" });
    return { text: found!.value.text as string };
  };
  const graph = new StateGraph(State).addNode("note", note).addEdge(START, "note").addEdge("note", END)
    .compile({ store: storeOf() });
  assert.deepEqual(await graph.invoke({ text: "a kettle" }), { text: "a kettle" });
  assert.deepEqual(keys(await storeOf().search(["notes"])).sort(), ["kettle", "lid"]);
});

test("a server that does not answer is unavailable", async () => {
  const book = new Commonbook({ url: "http://127.0.0.1:1", agent: "ann", workspace: "tests", retry: { attempts: 1 } });
  await assert.rejects(new CommonbookStore({ book }).search([]), Unavailable);
});
