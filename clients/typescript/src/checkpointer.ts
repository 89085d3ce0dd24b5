/** LangGraph's checkpointer over Commonbook. */

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver, type ChannelVersions, type Checkpoint, type CheckpointListOptions, type CheckpointMetadata,
  type CheckpointPendingWrite, type CheckpointTuple, type DeltaChannelHistory, type PendingWrite, type SerializerProtocol, TASKS,
  WRITES_IDX_MAP, compareWritesSortKeys, getCheckpointId, maxChannelVersion, writesSortKey,
} from "@langchain/langgraph-checkpoint";
import { Commonbook } from "./book.js";
import {
  CHECKPOINT, CheckpointDocuments, type Item, ROOT, type Step, lostError, namespacePath, segmentOf, stepPath, threadPath,
  valuesPath,
} from "./checkpoints.js";
import { NotFound } from "./errors.js";
import { childOf } from "./names.js";
import type { Schemas } from "./verbs.js";

const NAME = "langgraph";
/** A text up to this size stands in each checkpoint; a longer one, or what may grow, has a document of its own. */
const INLINE_LETTERS = 1024;
/** The version of checkpoints from which on the tasks that a checkpoint sends stand among its own values. */
const SENDS_VERSION = 4;

/** How a checkpointer is made. */
export interface CommonbookSaverOptions {
  /** By default the memory of this machine under the name `langgraph`. */
  book?: Commonbook;
  /** The agent whose threads they are, a child of the name of `book`: `langgraph/weather`. */
  agent?: string;
  /** A serializer of LangGraph, such as one that encrypts. */
  serde?: SerializerProtocol;
}

type Values = Record<string, unknown>;

/** The document of a checkpoint. */
interface CheckpointContent {
  checkpoint: Omit<Checkpoint, "channel_values">;
  /** The values that stand in the checkpoint. */
  values: Values;
  /** The channels whose values are in the documents of their versions. */
  apart: string[];
  metadata: CheckpointMetadata;
  parent: string | null;
}

/** The document of what a task has written. */
interface WritesContent {
  task: string;
  writes: [index: number, channel: string, value: unknown, path: string][];
}

/**
 * A checkpointer whose threads are opaque documents of an agent, which no other agent reads and no search finds.
 *
 * A thread is below `/checkpoints/THREAD`. A checkpoint is one document, written last; the values of its channels are another
 * one for each version of them, so that a `put` writes what has changed; the writes of a task are one more. Processes of the
 * agent have the same threads, those of the Python client among them: what that has packed is read (`msgpack.ts` says what is
 * different then), and what is written here is JSON, which it reads.
 *
 * Limits: a path has 1,024 bytes, which the names of thread, namespace and task share. The server has no filter for metadata:
 * `list` with `filter` reads what it chooses from. Every method fails with a `CommonbookError` if the server does not answer or
 * refuses, and with `NotFound` if a checkpoint has lost a value.
 */
export class CommonbookSaver extends BaseCheckpointSaver {
  /** The memory that the threads are in. */
  readonly book: Commonbook;
  readonly #acting: Commonbook;
  readonly #agent: string;

  constructor({ book, agent, serde }: CommonbookSaverOptions = {}) {
    super(serde);
    this.book = book ?? new Commonbook({ agent: NAME });
    this.#agent = childOf(this.book.agent ?? NAME, agent);
    this.#acting = this.book.acting({ agent: this.#agent });
  }

  /** The checkpoint that `config` names, by default the newest of its thread and namespace; nothing if there is none. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    let missing: string | undefined;
    for (;;) {
      const step = await this.#find(config);
      if (!step) return undefined;
      try {
        return await this.#tupleOf(step, await this.#documents.load<CheckpointContent>(step.document));
      } catch (error) {
        // Either the thread was deleted meanwhile, or the checkpoint has lost a value.
        if (!(error instanceof NotFound) || missing === step.document.id) throw error;
        missing = step.document.id;
      }
    }
  }

  /**
   * The checkpoints of a thread, newest first: of one namespace as they are read, of several after all are read. Without a
   * thread in `config` those of every thread.
   */
  async *list(
    config: RunnableConfig, { filter = {}, before, limit = Infinity }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const end = before && getCheckpointId(before);
    const known = new Map<string, Schemas["Memory"]>();
    let count = 0;
    for await (const step of this.#chosen(config)) {
      if (count >= limit) return;
      if (end && step.id >= end) continue;
      let found: CheckpointTuple | undefined;
      try {
        const content = await this.#documents.load<CheckpointContent>(step.document);
        const metadata: Values = content.metadata;
        if (!Object.entries(filter).every(([name, value]) => isDeepStrictEqual(metadata[name], value))) continue;
        found = await this.#tupleOf(step, content, known);
      } catch (error) {
        const isDeleted = error instanceof NotFound && !await this.#documents.step(step.thread, step.namespace, step.id);
        if (!isDeleted) throw error;
        continue;
      }
      count += 1;
      yield found;
    }
  }

  /** Keeps a checkpoint, after the values that `newVersions` names; again it changes nothing. */
  async put(
    config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace } = placeOf(config);
    const { channel_values: given, ...others } = checkpoint;
    const content: CheckpointContent = {
      checkpoint: others, values: {}, apart: [], metadata, parent: getCheckpointId(config) || null,
    };
    const unknown = content.parent === null ? await this.#unknown(thread, namespace, checkpoint, newVersions) : undefined;
    const changed = new Map<string, Values>();
    for (const [channel, value] of Object.entries(given)) {
      const version = checkpoint.channel_versions[channel];
      if (unknown?.has(channel)) continue;
      if (version === undefined || isSmall(value)) {
        content.values[channel] = value;
        continue;
      }
      content.apart.push(channel);
      if (!Object.hasOwn(newVersions, channel)) continue;
      const path = valuesPath(thread, namespace, version);
      changed.set(path, { ...changed.get(path), [channel]: value });
    }
    await this.#documents.store([
      ...Array.from(changed, ([path, values]): Item => ({ path, content: values, merged: mergedValues })),
      { path: `${stepPath(thread, namespace, checkpoint.id)}/${CHECKPOINT}`, content, merged: replaced },
    ]);
    return configOf(thread, namespace, checkpoint.id);
  }

  /** Keeps the writes of a task of a checkpoint: each once, those to LangGraph's own channels as they were last. */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ""): Promise<void> {
    const { thread, namespace } = placeOf(config);
    const id = getCheckpointId(config);
    if (!id) throw new Error("The config of the writes names no checkpoint: `configurable` needs a `checkpoint_id`.");
    if (!writes.length) return;
    const rows = writes.map(([channel, value], index): WritesContent["writes"][number] =>
      [WRITES_IDX_MAP[channel] ?? index, channel, value, taskPath]);
    const content = mergedWrites({ task: taskId, writes: [] }, { task: taskId, writes: rows });
    const path = `${stepPath(thread, namespace, id)}/${segmentOf(taskId)}`;
    await this.#documents.store([{ path, content, merged: mergedWrites }]);
  }

  /** Deletes a thread, in all its namespaces. */
  async deleteThread(threadId: string): Promise<void> {
    const folder = threadPath(String(threadId));
    // No checkpoint may be there without its values.
    await this.#documents.deleteBelow(`${folder}/steps/`);
    await this.#documents.deleteBelow(`${folder}/`);
  }

  /** What rebuilds channels at a checkpoint: the writes at its ancestors, oldest first, since the one that has the value. */
  override async getDeltaChannelHistory(
    { config, channels }: { config: RunnableConfig; channels: string[] },
  ): Promise<Record<string, DeltaChannelHistory>> {
    const writes = new Map<string, CheckpointPendingWrite[]>(channels.map((channel) => [channel, []]));
    const seeds = new Map<string, unknown>();
    const step = channels.length ? await this.#find(config) : undefined;
    for await (const [ancestor, content] of step ? this.#ancestors(step) : []) {
      for (const write of (await this.#writesOf(ancestor)).reverse()) {
        if (!seeds.has(write[1])) writes.get(write[1])?.push(write);
      }
      const wanted = channels.filter((channel) => !seeds.has(channel));
      const values = await this.#valuesOf(ancestor, content, wanted);
      for (const [channel, value] of Object.entries(values)) seeds.set(channel, value);
      if (seeds.size === writes.size) break;
    }
    return Object.fromEntries(Array.from(writes, ([channel, found]) =>
      [channel, { writes: found.reverse(), ...(seeds.has(channel) && { seed: seeds.get(channel) }) }]));
  }

  /**
   * A version greater than `current`, which no other process gives. It is a text, which LangGraph takes as well; its types of
   * graphs know numbers alone.
   */
  override getNextVersion(current: number | undefined): number {
    const number = current === undefined ? 0 : parseInt(String(current), 10);
    const version = `${String(number + 1).padStart(32, "0")}.${randomUUID().replaceAll("-", "")}`;
    return version as unknown as number;
  }

  // LangGraph may give a saver another serializer.
  get #documents(): CheckpointDocuments {
    return new CheckpointDocuments(this.#acting, this.#agent, this.serde);
  }

  /** The checkpoint that a config names, or the newest. */
  async #find(config: RunnableConfig): Promise<Step | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined;
    const { thread, namespace } = placeOf(config);
    const id = getCheckpointId(config);
    return id ? await this.#documents.step(thread, namespace, id) : await this.#documents.newest(thread, namespace);
  }

  /** What a list chooses from, newest first. */
  async *#chosen(config: RunnableConfig): AsyncGenerator<Step> {
    const { thread_id: thread, checkpoint_ns: namespace } = config.configurable ?? {};
    const id = getCheckpointId(config);
    if (thread !== undefined && namespace !== undefined) {
      yield* this.#documents.steps(`${id ? stepPath(thread, namespace, id) : namespacePath(thread, namespace)}/`);
      return;
    }
    const steps: Step[] = [];
    for await (const step of this.#documents.steps(`${thread === undefined ? ROOT : `${threadPath(thread)}/steps`}/`)) {
      if ((namespace === undefined || step.namespace === namespace) && (!id || step.id === id)) steps.push(step);
    }
    yield* steps.sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /** The checkpoints from which one comes, newest first. */
  async *#ancestors({ thread, namespace, id, document }: Step): AsyncGenerator<[Step, CheckpointContent]> {
    const documents = this.#documents;
    const seen = new Set([id]);
    let { parent } = await documents.load<CheckpointContent>(document);
    while (parent !== null && !seen.has(parent)) {
      const found = await documents.step(thread, namespace, parent);
      if (!found) return;
      const content = await documents.load<CheckpointContent>(found.document);
      yield [found, content];
      seen.add(parent);
      parent = content.parent;
    }
  }

  /** A checkpoint as LangGraph has it. */
  async #tupleOf(
    step: Step, content: CheckpointContent, known?: Map<string, Schemas["Memory"]>,
  ): Promise<CheckpointTuple> {
    const { thread, namespace, id } = step;
    const { metadata, parent } = content;
    const channels = [...Object.keys(content.values), ...content.apart];
    const checkpoint = { ...content.checkpoint, channel_values: await this.#valuesOf(step, content, channels, known) };
    if (checkpoint.v < SENDS_VERSION && parent !== null) {
      const before = await this.#documents.step(thread, namespace, parent);
      const sends = (before ? await this.#writesOf(before) : []).filter(([, channel]) => channel === TASKS);
      const versions = Object.values(checkpoint.channel_versions);
      const version = versions.length ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
      checkpoint.channel_values[TASKS] = sends.map(([, , value]) => value);
      checkpoint.channel_versions = { ...checkpoint.channel_versions, [TASKS]: version };
    }
    return {
      config: configOf(thread, namespace, id),
      checkpoint,
      metadata,
      ...(parent !== null && { parentConfig: configOf(thread, namespace, parent) }),
      pendingWrites: await this.#writesOf(step),
    };
  }

  /** The values that a checkpoint has of some channels; `known` then has their documents. Fails with `NotFound` if one is lost. */
  async #valuesOf(
    { thread, namespace, id }: Step, { checkpoint, values, apart }: CheckpointContent, channels: string[],
    known = new Map<string, Schemas["Memory"]>(),
  ): Promise<Values> {
    const documents = this.#documents;
    const pathOf = (channel: string): string => valuesPath(thread, namespace, checkpoint.channel_versions[channel]!);
    const paths = new Set(channels.filter((channel) => apart.includes(channel)).map(pathOf));
    for (const path of known.keys()) if (!paths.has(path)) known.delete(path);
    const contents = new Map(await Promise.all(Array.from(paths, async (path) => {
      const document = known.get(path) ?? await documents.at(path);
      known.set(path, document);
      return [path, await documents.load<Values>(document)] as const;
    })));
    const found: [string, unknown][] = [];
    for (const channel of channels) {
      const content = apart.includes(channel) ? contents.get(pathOf(channel))! : values;
      if (Object.hasOwn(content, channel)) found.push([channel, content[channel]]);
      else if (content !== values) throw lostError(`The checkpoint ${id} has lost the value of the channel ${channel}.`);
    }
    return Object.fromEntries(found);
  }

  /** The writes at a checkpoint, in the order in which they are applied. */
  async #writesOf({ tasks }: Step): Promise<CheckpointPendingWrite[]> {
    const documents = this.#documents;
    const contents = await Promise.all(tasks.map((task) => documents.load<WritesContent>(task)));
    const rows = contents.flatMap(({ task, writes }) => writes.map(([index, channel, value, path]) =>
      ({ key: writesSortKey(path, task, index), write: [task, channel, value] as CheckpointPendingWrite })));
    return rows.sort((a, b) => compareWritesSortKeys(a.key, b.key)).map(({ write }) => write);
  }

  /**
   * The channels of a checkpoint without a parent that it does not change, and of whose versions no other checkpoint has a value.
   * The copy of a thread's first checkpoint changes none, and has the values of all.
   */
  async #unknown(
    thread: string, namespace: string, { channel_values: values, channel_versions: versions }: Checkpoint,
    newVersions: ChannelVersions,
  ): Promise<Set<string>> {
    const unknown = new Set(Object.keys(versions).filter((channel) =>
      Object.hasOwn(values, channel) && !Object.hasOwn(newVersions, channel)));
    if (!unknown.size) return unknown;
    for await (const { document } of this.#documents.steps(`${namespacePath(thread, namespace)}/`)) {
      const other = await this.#documents.load<CheckpointContent>(document);
      for (const channel of [...Object.keys(other.values), ...other.apart]) {
        if (other.checkpoint.channel_versions[channel] === versions[channel]) unknown.delete(channel);
      }
      if (!unknown.size) break;
    }
    return unknown;
  }
}

/** The thread and the namespace of a config. Fails if it names no thread. */
function placeOf({ configurable }: RunnableConfig): { thread: string; namespace: string } {
  const { thread_id: thread, checkpoint_ns: namespace } = configurable ?? {};
  if (thread === undefined) throw new Error("The config names no thread: `configurable` needs a `thread_id`.");
  return { thread: String(thread), namespace: namespace ?? "" };
}

/** The config that names a checkpoint. */
function configOf(thread: string, namespace: string, id: string): RunnableConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } };
}

/** Whether a value stands in each checkpoint: it is small, and will be so if it did not change. */
function isSmall(value: unknown): boolean {
  return value === null || ["undefined", "boolean", "number"].includes(typeof value) ||
    (typeof value === "string" && value.length <= INLINE_LETTERS);
}

/** A checkpoint: what is there goes. */
function replaced(_: CheckpointContent, wanted: CheckpointContent): CheckpointContent {
  return wanted;
}

/** Values of one version: what is there stays. */
function mergedValues(there: Values, wanted: Values): Values {
  return Object.keys(wanted).every((channel) => Object.hasOwn(there, channel)) ? there : { ...wanted, ...there };
}

/** Writes of one task: what is there stays, but for those to LangGraph's own channels, which have numbers below 0. */
function mergedWrites(there: WritesContent, wanted: WritesContent): WritesContent {
  const rows = new Map(there.writes.map((row) => [row[0], row]));
  const changes = wanted.writes.filter(([index]) => index < 0 || !rows.has(index));
  if (!changes.length) return there;
  for (const row of changes) rows.set(row[0], row);
  return { ...there, writes: [...rows.values()] };
}
