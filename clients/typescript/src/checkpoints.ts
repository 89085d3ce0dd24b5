/** The documents of LangGraph's checkpointer: their paths, their content, and how several processes write one. */

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Commonbook } from "./book.js";
import { callsOf, unlessOvertaken } from "./calls.js";
import { type CommonbookError, Conflict, errorOf } from "./errors.js";
import { jsonOfMsgpack } from "./msgpack.js";
import { percentCodes, withoutPercentCodes } from "./names.js";
import type { Schemas } from "./verbs.js";

type Memory = Schemas["Memory"];
type SaveMemory = Schemas["SaveMemory"];

/** The folder of all threads. */
export const ROOT = "/checkpoints";
/** The name of a checkpoint in its folder, behind those of its tasks in the order of paths. */
export const CHECKPOINT = "~";
/** The segment of an empty name, which no other name has. */
const EMPTY = "%";
const STEP_SEGMENTS = "/checkpoints/THREAD/steps/NAMESPACE/ID/NAME".split("/").length;
const PAGE_COUNT = 20;
/** What one document and one call of the server may have. */
const PART_LETTERS = 4 * 1024 * 1024;
const CALL_LETTERS = 12 * 1024 * 1024;

/** What a document is to have; if it is there, `merged(there, content)`. */
export interface Item {
  path: string;
  content: object;
  merged: (there: never, wanted: never) => object;
}

/** The documents of a checkpoint, and of the tasks that have written at it. */
export interface Step {
  thread: string;
  namespace: string;
  id: string;
  document: Memory;
  tasks: Memory[];
}

/** A name as a segment of a path, which no document refuses; `nameOf` has the name. */
export function segmentOf(name: string): string {
  return name.replace(/[^\w:|-]/gu, percentCodes) || EMPTY;
}

/** The name that a segment stands for. */
export function nameOf(segment: string): string {
  return segment === EMPTY ? "" : withoutPercentCodes(segment);
}

/** An id as a segment: the greater the id, the earlier it is in the order of paths. */
export function newestFirst(id: string): string {
  return `${Buffer.from(Buffer.from(id).map((byte) => 255 - byte)).toString("hex")}~`;
}

/** The id that a segment stands for. */
export function idOf(segment: string): string {
  return Buffer.from(Buffer.from(segment.slice(0, -1), "hex").map((byte) => 255 - byte)).toString();
}

/** The folder of a thread. */
export function threadPath(thread: string): string {
  return `${ROOT}/${segmentOf(thread)}`;
}

/** The folder of the checkpoints of a namespace. */
export function namespacePath(thread: string, namespace: string): string {
  return `${threadPath(thread)}/steps/${segmentOf(namespace)}`;
}

/** The folder of a checkpoint and of the writes at it. */
export function stepPath(thread: string, namespace: string, id: string): string {
  return `${namespacePath(thread, namespace)}/${newestFirst(id)}`;
}

/** The document of the values that changed with a version. */
export function valuesPath(thread: string, namespace: string, version: string | number): string {
  return `${threadPath(thread)}/values/${segmentOf(namespace)}/${segmentOf(String(version))}`;
}

/** The error for what a thread should have and has not. */
export function lostError(message: string): CommonbookError {
  return errorOf({ kind: "not_found", message, hint: "Delete the thread, or restore what was deleted of it." });
}

/** The opaque documents of an agent, with contents of a serializer. */
export class CheckpointDocuments {
  readonly #book: Commonbook;
  readonly #agent: string;
  readonly #serde: SerializerProtocol;

  constructor(book: Commonbook, agent: string, serde: SerializerProtocol) {
    this.#book = book;
    this.#agent = agent;
    this.#serde = serde;
  }

  /** The agent's own documents below a path, in the order of paths; what another agent shares there is not part of a thread. */
  below(path: string): AsyncGenerator<Memory> {
    return this.#book.listAll({ path, owner: this.#agent, limit: PAGE_COUNT });
  }

  /** The checkpoints below a path, in its order. One whose document is not there yet is left out. */
  async *steps(path: string): AsyncGenerator<Step> {
    let folder = "";
    let tasks: Memory[] = [];
    for await (const memory of this.below(path)) {
      const segments = memory.path!.split("/");
      if (segments.length !== STEP_SEGMENTS) continue;
      const [, , thread, , namespace, id, name] = segments;
      const around = segments.slice(0, -1).join("/");
      if (around !== folder) [folder, tasks] = [around, []];
      if (name === CHECKPOINT) {
        yield { thread: nameOf(thread!), namespace: nameOf(namespace!), id: idOf(id!), document: memory, tasks };
      } else {
        tasks.push(memory);
      }
    }
  }

  /** One checkpoint, if it is there. */
  async step(thread: string, namespace: string, id: string): Promise<Step | undefined> {
    return await firstOf(this.steps(`${stepPath(thread, namespace, id)}/`));
  }

  /** The newest checkpoint of a namespace, if it has any. */
  async newest(thread: string, namespace: string): Promise<Step | undefined> {
    const folder = `${namespacePath(thread, namespace)}/`;
    const document = (await this.#book.list({ path: folder, owner: this.#agent, limit: 1 })).items[0];
    if (!document) return undefined;
    const [segment, name] = document.path!.slice(folder.length).split("/");
    const id = idOf(segment!);
    // No task has written.
    if (name === CHECKPOINT) return { thread, namespace, id, document, tasks: [] };
    return await this.step(thread, namespace, id) ?? await firstOf(this.steps(folder));
  }

  /** The document at a path. Fails with `NotFound` if there is none. */
  async at(path: string): Promise<Memory> {
    return await this.#book.get(path);
  }

  /** The content of a document. Fails with `NotFound` if a part of it is not there. */
  async load<Content>({ path, text, metadata }: Memory): Promise<Content> {
    const parts = [text];
    if (metadata.parts !== undefined) {
      for await (const part of this.below(`${path}/${metadata.parts as string}/`)) parts.push(part.text);
      if (parts.length !== Number(metadata.count) + 1) throw lostError(`${path} has lost a part.`);
    }
    return await this.#contentOf(parts.join(""));
  }

  /** Writes documents in this order, in one call unless they are large. One that is there is merged. */
  async store(items: Item[]): Promise<void> {
    // All are serialised at once, before a graph goes on and changes what it has put.
    const texts = await Promise.all(items.map(({ content }) => this.#textOf(content)));
    try {
      const documents = items.flatMap(({ path }, index) => documentsOf(path, texts[index]!));
      for (const call of callsOf(documents, CALL_LETTERS)) await this.#book.saveAll(call);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      for (const [index, item] of items.entries()) await this.#merge(item, texts[index]!);
    }
  }

  /** Deletes the documents below a path. */
  async deleteBelow(path: string): Promise<void> {
    while ((await this.#book.delete(path).catch(unlessOvertaken))?.more);
  }

  async #textOf(content: unknown): Promise<string> {
    const [kind, data] = await this.#serde.dumpsTyped(content);
    return `${kind} ${Buffer.from(data).toString("base64")}`;
  }

  async #contentOf<Content>(text: string): Promise<Content> {
    const end = text.indexOf(" ");
    const kind = text.slice(0, end);
    const data = Buffer.from(text.slice(end + 1), "base64");
    // The Python client writes MessagePack, which no serializer of LangGraph reads here.
    if (kind === "msgpack") return await this.#serde.loadsTyped("json", jsonOfMsgpack(data)) as Content;
    return await this.#serde.loadsTyped(kind, data) as Content;
  }

  /** Writes a document that may be there, and that another process may write meanwhile. */
  async #merge({ path, merged }: Item, text: string): Promise<void> {
    for (;;) {
      const there = (await this.#book.list({ path, owner: this.#agent })).items[0];
      let wanted = text;
      if (there) {
        const known = await this.load<object>(there);
        const content = merged(known as never, await this.#contentOf<never>(text));
        if (content === known) return;
        wanted = await this.#textOf(content);
      }
      const parts = documentsOf(path, wanted);
      const document = parts.pop()!;
      if (there?.text === document.text && isDeepStrictEqual(there.metadata, document.metadata)) return;
      // A part that is there has the same text.
      for (const part of parts) await this.#book.saveAll([part]).catch(unlessOvertaken);
      const { text: first, memory_type, metadata } = document;
      const written = there
        ? this.#book.update(there.id, { text: first, memory_type, metadata, expected_revision: there.revision })
        : this.#book.saveAll([document]);
      if (await written.catch(unlessOvertaken)) return;
    }
  }
}

/** The documents that have a text: the parts for which one has no room, under a name of their own, and then it. */
function documentsOf(path: string, text: string): SaveMemory[] {
  const parts = [];
  for (let start = 0; start < text.length; start += PART_LETTERS) parts.push(text.slice(start, start + PART_LETTERS));
  const first = parts.shift()!;
  if (!parts.length) return [documentOf(path, first, {})];
  const name = createHash("sha256").update(text).digest("hex");
  const others = parts.map((part, number) => documentOf(`${path}/${name}/${String(number).padStart(6, "0")}`, part, {}));
  return [...others, documentOf(path, first, { parts: name, count: parts.length })];
}

function documentOf(path: string, text: string, metadata: Memory["metadata"]): SaveMemory {
  return { path, text, metadata, memory_type: "opaque", about: "project" };
}

async function firstOf<T>(found: AsyncGenerator<T>): Promise<T | undefined> {
  for await (const value of found) return value;
  return undefined;
}
