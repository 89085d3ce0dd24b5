/** The session of OpenAI Agents over Commonbook: `await run(agent, input, { session: new CommonbookSession({ sessionId }) })`. */

import { createHash, randomUUID } from "node:crypto";
import {
  type AgentInputItem, type SessionHistoryTransaction, type SessionHistoryTransactionArgs,
  type SessionHistoryTransactionAwareSession, UserError, protocol,
} from "@openai/agents-core";
import { Commonbook } from "./book.js";
import { CommonbookError, Conflict, NotFound } from "./errors.js";
import { childOf, percentCodes } from "./names.js";
import type { Schemas } from "./verbs.js";

const NAME = "openai";
const FOLDER = "/openai-js";
/** The document that says which items a session has: its path is the first one of the session. */
const HEAD = "0";
/** An item's path has what is left to this number, so that a list of paths begins with the newest item. */
const COUNTDOWN = 9e15;
const OPERATIONS = "operations";
const PAGE_MAX = 100;
/** One call saves all or none of 100 documents, the head and an operation among them. */
const BATCH_MAX = 98;
/** A refused attempt means that another process has changed the session: as many can do so in turn. */
const ATTEMPTS_MAX = 1000;
/** The field that stands for bytes, which JSON does not have. A field of an item that is called so has one `$` more. */
const BYTES = "$bytes";

/** How a session is made. */
export interface CommonbookSessionOptions {
  /** The id of the conversation; by default a new one. */
  sessionId?: string;
  /** By default the memory of this machine under the name `openai`. */
  book?: Commonbook;
  /** The agent whose conversation it is, a child of the name of `book`: `openai/weather`. */
  agent?: string;
}

/**
 * A conversation of OpenAI Agents, kept in the memory.
 *
 * Each item is an opaque document below `/openai-js/SESSION`: it comes back as it was, belongs to the agent alone, and no search
 * finds it. A change of the items is one step, in all processes: items that are added together stay together, an item is popped
 * once, and nobody reads half of a change. A batch of more than 98 items has several of them in a document.
 *
 * Items are kept as JSON, and their bytes too: a field that is `undefined` is left out. The limits are those of documents: 4 MiB
 * for an item, 16 MiB for what is added at once, and 1,024 bytes for the path, in which a session id has percent codes for what
 * is no letter or digit. What is popped or cleared can be restored for 30 days, as any deleted memory.
 */
export class CommonbookSession implements SessionHistoryTransactionAwareSession {
  /** The memory that it is in. */
  readonly book: Commonbook;
  readonly #sessionId: string;
  readonly #acting: Commonbook;
  readonly #owner: string;
  readonly #folder: string;

  constructor({ sessionId = randomUUID(), book, agent }: CommonbookSessionOptions = {}) {
    this.book = book ?? new Commonbook({ agent: NAME });
    this.#sessionId = sessionId;
    this.#owner = childOf(this.book.agent ?? NAME, agent);
    this.#acting = this.book.acting({ agent: this.#owner });
    this.#folder = `${FOLDER}/${encodeURIComponent(sessionId).replace(/[.!'()*]/g, percentCodes)}/`;
  }

  /** The id of the conversation. */
  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** The newest `limit` items, oldest first; by default all. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && limit <= 0) return [];
    const items = (await this.#read(limit)).items;
    return limit === undefined ? items : items.slice(-limit);
  }

  /** Adds items at the end, all or none. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const texts = textsOf(items);
    if (texts.length) await this.#settled(async () => this.#append(await this.#read(0), texts));
  }

  /** Removes the last item, and returns it. */
  async popItem(): Promise<AgentInputItem | undefined> {
    return await this.#settled(async () => {
      const history = await this.#read(1);
      const items = history.items;
      if (!items.length) return undefined;
      await this.#replace(history, textsOf(items.slice(0, -1)));
      return items.at(-1);
    });
  }

  /** Removes every item, and what is known of transactions. */
  async clearSession(): Promise<void> {
    // The head comes first: without it no other document is an item.
    while (await this.#remove(this.#folder));
  }

  /**
   * Appends items, or replaces the last ones if they are those of `expectedSuffix`; once for an `operationId`, until the session
   * is cleared. Fails with `UserError`, and changes nothing, if the transaction is malformed, the last items are others, or the
   * id belongs to another transaction.
   */
  async applyHistoryTransaction({ operationId, transaction }: SessionHistoryTransactionArgs): Promise<void> {
    if (typeof operationId !== "string" || !operationId.trim()) throw new UserError("The transaction has no `operationId`.");
    const change = checked(transaction);
    const operation = this.#document(`${OPERATIONS}/${digestOf(operationId)}`, digestOf(canonical(change)), 0);
    await this.#settled(async () => {
      const applied = await this.#text(operation.path!);
      if (applied === operation.text) return;
      if (applied !== undefined) throw new UserError(`Another history transaction has the \`operationId\` ${operationId}.`);
      if (change.type === "append_items") {
        await this.#append(await this.#read(0), textsOf(change.items), [operation]);
        return;
      }
      const { expectedSuffix, replacement } = change;
      const history = await this.#read(expectedSuffix.length);
      const start = history.items.length - expectedSuffix.length;
      if (start < 0 || canonical(history.items.slice(start)) !== canonical(expectedSuffix)) {
        throw new UserError("The history does not end with the items that the transaction replaces.");
      }
      await this.#replace(history, textsOf([...history.items.slice(0, start), ...replacement]), [operation]);
    });
  }

  /** What an attempt returns that no other process has met. */
  async #settled<T>(attempt: () => Promise<T>): Promise<T> {
    for (let number = 1; ; number += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Conflict) || number === ATTEMPTS_MAX) throw error;
      }
      for (const { id } of (await this.#read(1)).remains) await this.#remove(id);
    }
  }

  /** The session with its newest items: the documents of at least `count` of them, or all. */
  async #read(count = Infinity): Promise<History> {
    const limit = Math.min(count + 1, PAGE_MAX);
    for (;;) {
      const history = new History();
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await this.#acting.list({ path: this.#folder, owner: this.#owner, limit, cursor });
        pages += 1;
        const isEnough = !page.items.every((document) => history.take(document)) || history.count >= count;
        cursor = isEnough ? undefined : page.next ?? undefined;
      } while (cursor);
      // Several pages are of one moment if the head has not changed meanwhile.
      if (pages === 1 || (await this.#read(0)).state === history.state) return history;
    }
  }

  async #append(history: History, texts: string[], others: Schemas["SaveMemory"][] = []): Promise<void> {
    const added = texts.map((text, index) => this.#document(nameOf(history.end + index), text, 0));
    await this.#write(history, history.end + texts.length, [...added, ...others]);
  }

  /** Replaces the texts of the documents that were read, with more or fewer. */
  async #replace(history: History, texts: string[], others: Schemas["SaveMemory"][] = []): Promise<void> {
    const documents = history.documents;
    const first = history.end - documents.length;
    const kept = texts.map((text, index) => this.#document(nameOf(first + index), text, documents[index]?.revision ?? 0));
    const changed = kept.filter(({ text }, index) => text !== documents[index]?.text);
    await this.#write(history, first + texts.length, [...changed, ...others]);
    // They are no items any more: one that stays here is removed by the next item.
    for (const { id } of documents.slice(texts.length)) {
      await this.#remove(id).catch((error: unknown) => {
        if (!(error instanceof CommonbookError)) throw error;
      });
    }
  }

  /** Changes documents, and with them the end. Fails with `Conflict` if the session is no longer as it was read. */
  async #write(history: History, end: number, documents: Schemas["SaveMemory"][]): Promise<void> {
    // The head changes with any document, and what has the same text would keep its revision.
    const { first, revision } = history;
    const head = this.#document(HEAD, JSON.stringify({ first, end, after_revision: revision }), revision);
    await this.#acting.saveAll([head, ...documents]);
  }

  #document(name: string, text: string, revision: number): Schemas["SaveMemory"] {
    const path = this.#folder + name;
    return { path, text, memory_type: "opaque", sharing: "private", about: "project", expected_revision: revision };
  }

  async #text(path: string): Promise<string | undefined> {
    return (await this.#acting.list({ path, owner: this.#owner })).items[0]?.text;
  }

  /** Deletes an item or the whole folder, unless another process has; returns whether more is in the folder. */
  async #remove(id: string): Promise<boolean> {
    try {
      return (await this.#acting.delete(id)).more ?? false;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }
}

/** What a list of a session's documents says: the numbers of its items from `first` to before `end`. */
class History {
  /** The revision of the head, 0 if there is none. */
  revision = 0;
  /** A session that is cleared and begins again has numbers of its own. */
  first = Date.now() * 1000;
  end = this.first;
  /** The documents of the items, oldest first. */
  documents: Schemas["Memory"][] = [];
  /** What is there although its items were popped or replaced. */
  remains: Schemas["Memory"][] = [];
  items: AgentInputItem[] = [];

  /** How many items were read. */
  get count(): number {
    return this.items.length;
  }

  /** What no two moments of a session have in common that differ in its items. */
  get state(): string {
    return `${this.revision} ${this.first}`;
  }

  /** Takes the next document of the list in; false if neither it nor any further one is of the session. */
  take(document: Schemas["Memory"]): boolean {
    const name = document.path!.slice(document.path!.lastIndexOf("/") + 1);
    if (name === HEAD) {
      const { first, end } = JSON.parse(document.text) as History;
      Object.assign(this, { first, end, revision: document.revision });
      return true;
    }
    const number = COUNTDOWN - Number(name);
    if (!this.revision || !(number >= this.first)) return false;
    if (number >= this.end) {
      this.remains.push(document);
    } else {
      this.documents.unshift(document);
      this.items.unshift(...valueOf(document.text) as AgentInputItem[]);
    }
    return true;
  }
}

/** The last segment of the path of an item. */
function nameOf(number: number): string {
  return String(COUNTDOWN - number).padStart(16, "0");
}

/** The texts of the documents for items: one for each, as long as one call can save them. */
function textsOf(items: AgentInputItem[]): string[] {
  const size = Math.ceil(items.length / BATCH_MAX);
  const texts = [];
  for (let start = 0; start < items.length; start += size) texts.push(jsonOf(items.slice(start, start + size)));
  return texts;
}

function jsonOf(value: unknown): string {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, json) {
    // `json` is what `toJSON` has made of it, which a `Buffer` has.
    const given = this[key];
    if (given instanceof Uint8Array) return { [BYTES]: Buffer.from(given).toString("base64") };
    return isRecord(json) ? renamed(json, (name) => (/^\$+bytes$/.test(name) ? `$${name}` : name)) : json;
  });
  // The control characters that JSON may have as they are.
  return text.replace(/[\x7f-\x9f]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
}

function valueOf(json: string): unknown {
  return JSON.parse(json, (_, value: unknown) => {
    if (!isRecord(value)) return value;
    if (BYTES in value) return new Uint8Array(Buffer.from(value[BYTES] as string, "base64"));
    return renamed(value, (name) => (/^\$\$+bytes$/.test(name) ? name.slice(1) : name));
  });
}

function renamed(record: Record<string, unknown>, name: (old: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([old, value]) => [name(old), value]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A transaction as it is kept. Fails with `UserError` if it is none, or has items that are none. */
function checked(transaction: SessionHistoryTransaction): SessionHistoryTransaction {
  const fields = { append_items: ["items"], replace_suffix: ["expectedSuffix", "replacement"] }[transaction?.type];
  if (!fields) throw new UserError("A history transaction is either `append_items` or `replace_suffix`.");
  const given = Object.entries(transaction).filter(([name]) => name !== "type");
  const isWhole = given.length === fields.length && given.every(([name]) => fields.includes(name));
  if (!isWhole || !given.every(([, items]) => protocol.ModelItem.array().safeParse(items).success)) {
    throw new UserError(`The history transaction ${transaction.type} needs lists of items as ${fields.join(" and ")}.`);
  }
  return valueOf(jsonOf(transaction)) as SessionHistoryTransaction;
}

/** The JSON of a value in which an object's fields are in order. */
function canonical(value: unknown): string {
  return JSON.stringify(JSON.parse(jsonOf(value)), (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
