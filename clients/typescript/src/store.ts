/** LangGraph's store over Commonbook. */

import { isDeepStrictEqual } from "node:util";
import {
  BaseStore, type Item, type ListNamespacesOperation, type MatchCondition, type Operation, type OperationResults,
  type PutOperation, type SearchItem, type SearchOperation, validateNamespace,
} from "@langchain/langgraph-checkpoint";
import { Commonbook } from "./book.js";
import { callsOf, unlessOvertaken } from "./calls.js";
import { Conflict, errorOf } from "./errors.js";
import { childOf, percentCodes, withoutPercentCodes } from "./names.js";
import type { Schemas } from "./verbs.js";

type Memory = Schemas["Memory"];
type SaveMemory = Schemas["SaveMemory"];
/** The labels of a namespace, and a key. */
type Place = readonly string[];
type Hit = readonly [score: number | undefined, memory: Memory];

const NAME = "langgraph";
const ROOT = "/langgraph/store";
/** The field of a document's metadata that is false if a search with a query leaves it out. */
const INDEX_FIELD = "langgraph_index";
/** What an empty key is: no letter is written so. */
const EMPTY_SEGMENT = "%";
const PAGE = 100;
/** What the puts of one call may have: the server judges each of them before it answers. */
const CALL_LETTERS = 200_000;
/** How often a write is repeated that another one overtook. */
const ATTEMPTS = 100;
/** The server takes 16,384 bytes, and with them the path. */
const QUERY_LETTERS = 3500;
/** Letters that nobody sees. */
const UNSEEN = "\u115f\u1160\u3164\uffa0";
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;

/** How a store is made. */
export interface CommonbookStoreOptions {
  /** By default the memory of this machine under the name `langgraph`. */
  book?: Commonbook;
  /** The agent that writes, a child of the name of `book`: `langgraph/weather`. */
  agent?: string;
  /** The full name of another agent: the store then has the items that this one shares, and a put fails with `Forbidden`. */
  owner?: string;
  /** Who besides the agent may read new items; `shared` by default. */
  sharing?: Schemas["Sharing"];
}

/**
 * The long-term memory of a graph as documents: the item `tea` of `["notes", "u1"]` is `/langgraph/store/notes/u1/tea`.
 *
 * The text of a document is the item's value as JSON, so that other agents find it with a search, and every door reads it. Items
 * belong to the agent that put them, and to no user: their namespace says whose they are. Each process of an agent has the same
 * items, those of the Python client among them.
 *
 * Reads of a batch see what was there before its puts, and the last put of a key counts. Up to 100 puts of a batch, of 200,000
 * letters together, happen all or not at all; deletions follow one by one.
 *
 * - Without a query a search returns the items that changed last first. It reads everything below its prefix.
 * - With a query it returns what the server finds for these words, best first, with the relevance (0 to 1) as `score`; among the
 *   first 1,000 hits `filter` chooses. An item that was put with `index: false` is not among them; other doors still find it.
 *   Nothing in a query is an operator, and its first 3,500 letters count.
 * - A put with a list of fields as `index` fails: the whole value is searched.
 * - A put with something that the server takes for a secret fails, and nothing of its call is kept: Commonbook keeps no secrets.
 * - A value has at most 102,400 bytes as JSON; a namespace at most 17 labels, and with its key 1,000 bytes, none of which may look
 *   like a secret. More fails with a `CommonbookError`.
 */
export class CommonbookStore extends BaseStore {
  /** The memory that the items are in. */
  readonly book: Commonbook;
  readonly #acting: Commonbook;
  readonly #agent: string;
  readonly #owner: string;
  readonly #sharing: Schemas["Sharing"] | undefined;

  constructor({ book, agent, owner, sharing }: CommonbookStoreOptions = {}) {
    super();
    this.book = book ?? new Commonbook({ agent: NAME });
    this.#agent = childOf(this.book.agent ?? NAME, agent);
    this.#owner = owner ?? this.#agent;
    this.#acting = this.book.acting({ agent: this.#agent });
    this.#sharing = sharing;
  }

  /** Does the operations: all reads, then the puts and deletions. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    const puts = new Map<string, PutOperation>();
    for (const operation of operations) {
      if ("namespace" in operation) validateNamespace(operation.namespace, { allowReservedRoot: true });
      let result: unknown = null;
      if ("namespacePrefix" in operation) result = await this.#search(operation);
      else if ("value" in operation) puts.set(pathOf([...operation.namespace, operation.key]), operation);
      else if ("key" in operation) result = await this.#get([...operation.namespace, operation.key]);
      else result = await this.#listNamespaces(operation);
      results.push(result);
    }
    if (puts.size && this.#owner !== this.#agent) {
      throw errorOf({
        kind: "forbidden", message: `The items belong to ${this.#owner}: you can read them, and not change them.`,
        hint: "Put into a store without `owner`.",
      });
    }
    const documents: SaveMemory[] = [];
    const deleted: string[] = [];
    for (const [path, put] of puts) {
      if (put.value === null) deleted.push(path);
      else documents.push(this.#document(path, put));
    }
    for (const call of callsOf(documents, CALL_LETTERS)) await this.#save(call);
    for (const path of deleted) await this.#delete(path);
    return results as OperationResults<Op>;
  }

  async #get(place: Place): Promise<Item | null> {
    const memory = await this.#find(pathOf(place));
    return memory ? itemOf(memory) : null;
  }

  async #search({ namespacePrefix: prefix, filter, query, limit = 10, offset = 0 }: SearchOperation): Promise<SearchItem[]> {
    if (prefix.length) validateNamespace(prefix, { allowReservedRoot: true });
    const words = wordsOf(query ?? "");
    const end = offset + limit;
    const count = filter ? PAGE : Math.min(Math.max(end, 1), PAGE);
    const items: SearchItem[] = [];
    for await (const [score, memory] of words ? this.#hits(prefix, words, count) : this.#newest(prefix)) {
      if (items.length >= end) break;
      const item = { ...itemOf(memory), score };
      if (Object.entries(filter ?? {}).every(([name, wanted]) => matches(item.value[name], wanted))) items.push(item);
    }
    return items.slice(offset);
  }

  /** What is below a prefix, the latest change first. */
  async *#newest(prefix: Place): AsyncGenerator<Hit> {
    const memories: [time: string, memory: Memory][] = [];
    for await (const memory of this.#below(prefix)) memories.push([sortableTime(memory.revised_at), memory]);
    for (const [, memory] of memories.sort(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0))) yield [undefined, memory];
  }

  /** What the server finds below a prefix, best first, in pages of a count. */
  async *#hits(prefix: Place, words: string, count: number): AsyncGenerator<Hit> {
    let cursor: string | undefined;
    do {
      const query = `path:${pathOf(prefix)}/* ${words}`;
      const page = await this.#acting.search(query, { owner: this.#owner, k: count, cursor });
      for (const { memory, relevance } of page.hits) {
        // A search also reads other workspaces, such as `global`. The first one is the caller's.
        const isOwn = memory.workspace === page.workspaces[0];
        if (isOwn && isItem(memory) && memory.metadata[INDEX_FIELD] !== false) yield [relevance, memory];
      }
      cursor = page.next ?? undefined;
    } while (cursor);
  }

  async #listNamespaces(
    { matchConditions: conditions = [], maxDepth, limit = Infinity, offset = 0 }: ListNamespacesOperation,
  ): Promise<string[][]> {
    let known: Place = [];
    for (const { matchType, path } of conditions) {
      const labels = path.slice(0, [...path, "*"].indexOf("*"));
      if (matchType === "prefix" && labels.length > known.length) known = labels;
    }
    const found = new Map<string, string[]>();
    for await (const memory of this.#below(known)) {
      const namespace = placeOf(memory.path!).slice(0, -1);
      if (!conditions.every((condition) => fits(namespace, condition))) continue;
      const labels = namespace.slice(0, maxDepth);
      found.set(JSON.stringify(labels), labels);
    }
    const sorted = [...found.values()].sort((a, b) => a.join(":").localeCompare(b.join(":")));
    return sorted.slice(offset, offset + limit);
  }

  /** Every document that is an item below a prefix. */
  async *#below(prefix: Place): AsyncGenerator<Memory> {
    for await (const memory of this.#acting.listAll({ path: `${pathOf(prefix)}/`, owner: this.#owner, limit: PAGE })) {
      if (isItem(memory)) yield memory;
    }
  }

  async #find(path: string): Promise<Memory | undefined> {
    // A read by a path would also find what lies there in the workspace `global`.
    return (await this.#acting.list({ path, owner: this.#owner })).items[0];
  }

  /** The document of a put. */
  #document(path: string, { value, index }: PutOperation): SaveMemory {
    if (index) throw new Error("CommonbookStore has no index of single fields: leave out `index`.");
    if (!isRecord(value)) throw new TypeError("The value of an item is an object; put another one into a field of it.");
    // Without metadata a save leaves those of the document that it replaces.
    const metadata = { [INDEX_FIELD]: index !== false };
    return { path, text: textOf(value), metadata, about: "project", sharing: this.#sharing };
  }

  /** Saves new documents, or new revisions of those that are there: all or none. */
  async #save(documents: SaveMemory[]): Promise<void> {
    const saved = await this.#saved(documents);
    const changed = saved.find(({ memory }, index) => memory.text !== documents[index]!.text);
    if (!changed) return;
    for (const result of saved) await this.#undo(result);
    throw new Error(`Commonbook keeps no secrets, and ${changed.memory.path} would have one: nothing of these puts is kept.`);
  }

  async #saved(documents: SaveMemory[]): Promise<Schemas["SaveResult"][]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#acting.saveAll(documents)).items;
      } catch (error) {
        if (!(error instanceof Conflict) || attempt === ATTEMPTS) throw error;
      }
      for (const document of documents) document.expected_revision = (await this.#find(document.path!))?.revision ?? 0;
    }
  }

  /** Takes a save back, unless another one followed it. */
  async #undo({ outcome, memory: { id, revision } }: Schemas["SaveResult"]): Promise<void> {
    const expected = { expected_revision: revision };
    if (outcome === "created") await this.#acting.delete(id, expected).catch(unlessOvertaken);
    if (outcome === "replaced") await this.#acting.restore(id, { ...expected, revision: revision - 1 }).catch(unlessOvertaken);
  }

  async #delete(path: string): Promise<void> {
    const memory = await this.#find(path);
    if (memory) await this.#acting.delete(memory.id).catch(unlessOvertaken);
  }
}

/** A label or key as a segment of a path: what a path or a query could not have is in percent codes. */
function segmentOf(name: string): string {
  if (/^\.*$/.test(name)) return name.replaceAll(".", "%2E") || EMPTY_SEGMENT;
  const isKept = name === name.normalize("NFC");
  return name.replace(/[^\w.:@+=~-]/gu, (letter) =>
    (isKept && /[\p{L}\p{N}]/u.test(letter) && !UNSEEN.includes(letter) ? letter : percentCodes(letter)));
}

/** The path of the document at a place. */
function pathOf(place: Place): string {
  return [ROOT, ...place.map(segmentOf)].join("/");
}

/** The place of a document. Fails with `URIError` if its path is that of no item. */
function placeOf(path: string): string[] {
  const segments = path.slice(ROOT.length + 1).split("/");
  return segments.map((segment) => (segment === EMPTY_SEGMENT ? "" : withoutPercentCodes(segment)));
}

/** Whether the path of a document below the root is that of an item; another door may write others. */
function isItem({ path }: Memory): boolean {
  try {
    return pathOf(placeOf(path!)) === path;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/** A value as JSON, in which letters that nobody sees have their codes. */
function textOf(value: object): string {
  return JSON.stringify(value).replace(UNPRINTABLE, (letter) =>
    letter.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""));
}

/** A document as an item. A text that is no JSON object, of another door, is a value with that `text`. */
function itemOf({ path, text, recorded_at: recorded, revised_at: revised }: Memory): Item {
  const place = placeOf(path!);
  return {
    namespace: place.slice(0, -1),
    key: place.at(-1)!,
    value: valueOf(text),
    createdAt: new Date(recorded),
    updatedAt: new Date(revised),
  };
}

function valueOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Another door has changed it.
  }
  return { text };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A time of the server, whose fraction of a second has as many digits as it needs, in the order of times. */
function sortableTime(text: string): string {
  const [seconds, fraction = ""] = text.replace("Z", "").split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}

/** The words of a query, in which nothing is an operator of the server's, cut to its limit. */
function wordsOf(query: string): string {
  const letters = Array.from(query).slice(0, QUERY_LETTERS).join("");
  return letters.replace(/[":=>]|(?<!\S)-+/g, " ").trim().replace(/\s+/g, " ");
}

/** Whether a namespace begins or ends with the labels of a condition, in which `*` is any label. */
function fits(namespace: Place, { matchType, path }: MatchCondition): boolean {
  const start = matchType === "prefix" ? 0 : namespace.length - path.length;
  return namespace.length >= path.length && path.every((label, index) => label === "*" || namespace[start + index] === label);
}

const OPERATORS: Record<string, (value: unknown, operand: unknown) => boolean> = {
  $eq: (value, operand) => isDeepStrictEqual(value, operand),
  $ne: (value, operand) => !isDeepStrictEqual(value, operand),
  $gt: (value, operand) => Number(value) > Number(operand),
  $gte: (value, operand) => Number(value) >= Number(operand),
  $lt: (value, operand) => Number(value) < Number(operand),
  $lte: (value, operand) => Number(value) <= Number(operand),
  $in: (value, operand) => Array.isArray(operand) && operand.some((one) => isDeepStrictEqual(value, one)),
  $nin: (value, operand) => !(Array.isArray(operand) && operand.some((one) => isDeepStrictEqual(value, one))),
};

/** Whether a value of an item is what a filter wants: an equal one, or one for which each of its operators holds. */
function matches(value: unknown, wanted: unknown): boolean {
  const operators = isRecord(wanted) ? Object.entries(wanted) : [];
  if (isRecord(wanted) && operators.every(([operator]) => Object.hasOwn(OPERATORS, operator))) {
    return operators.every(([operator, operand]) => OPERATORS[operator]!(value, operand));
  }
  return isDeepStrictEqual(value, wanted);
}
