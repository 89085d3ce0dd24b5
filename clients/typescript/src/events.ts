/** The journal as it grows, read again after each loss of the connection. */

import { setTimeout as sleep } from "node:timers/promises";
import { CommonbookError, unavailable } from "./errors.js";
import type { operations } from "./generated/openapi.js";
import { queryOf } from "./transport.js";
import type { Schemas } from "./verbs.js";

/** What a reader of the journal asks for: kinds of events, topics, importance, and where it begins. */
export interface EventRequest extends NonNullable<operations["follow_events"]["parameters"]["query"]> {
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Milliseconds without an answer of a server after which the iteration fails; 60,000 by default. */
  patienceMs?: number;
  /** Hears that events after this sequence may be lost, as after a failover of the database: read again what you keep. */
  onGap?: (after: number) => void;
}

/** One message of the stream. */
interface StreamMessage {
  id?: string;
  event?: string;
  data: string;
}

/** The way to the stream. */
export interface EventSource {
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
  /** Milliseconds to wait after a failed attempt; `undefined` if the failure is final. */
  delayAfter(attempt: number, error: CommonbookError): number | undefined;
}

// The server sends a comment after 15 seconds without an event.
const SILENCE_MS = 45_000;
const PATIENCE_MS = 60_000;

const ENDED = unavailable("the stream of events ended", "See whether the server runs.");

/** The events after a sequence, until the signal or the reader ends the iteration. */
export async function* followEvents(
  source: EventSource, request: EventRequest, after: number,
): AsyncGenerator<Schemas["Event"], void, undefined> {
  const { signal, onGap, patienceMs = PATIENCE_MS, after: _, ...filter } = request;
  let last: string | undefined;
  let position = after;
  let answeredAt = performance.now();
  for (let attempt = 1; !signal?.aborted; attempt += 1) {
    const connection = new AbortController();
    const end = () => connection.abort();
    signal?.addEventListener("abort", end);
    const watch = setTimeout(end, SILENCE_MS).unref();
    let failure = ENDED;
    try {
      const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
      const path = `/events/stream?${queryOf({ ...filter, after: position })}`;
      const response = await source.open(path, headers, connection.signal);
      answeredAt = Infinity;
      for await (const message of readMessages(response, watch)) {
        // A notice such as `lagged` has no id: the missed events follow.
        if (message.id === undefined) continue;
        last = message.id;
        attempt = 0;
        const data = JSON.parse(message.data) as Schemas["Event"] & { after: number };
        if (message.event === "resync") {
          position = data.after;
          onGap?.(data.after);
          continue;
        }
        position = data.sequence;
        yield data;
      }
    } catch (error) {
      // Anything else is a connection that broke.
      if (error instanceof CommonbookError) failure = error;
    } finally {
      clearTimeout(watch);
      signal?.removeEventListener("abort", end);
      connection.abort();
    }
    answeredAt = Math.min(answeredAt, performance.now());
    const delay = source.delayAfter(attempt, failure);
    if (signal?.aborted) return;
    if (delay === undefined || performance.now() + delay - answeredAt > patienceMs) throw failure;
    await sleep(delay, undefined, { signal }).catch(() => undefined);
  }
}

/** The messages of a stream; each line winds up the watch for silence again. */
async function* readMessages(response: Response, watch: NodeJS.Timeout): AsyncGenerator<StreamMessage> {
  let message: StreamMessage = { data: "" };
  for await (const line of readLines(response)) {
    watch.refresh();
    if (line === "") {
      if (message.data) yield message;
      message = { data: "" };
      continue;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === "id") message.id = value;
    else if (name === "event") message.event = value;
    else if (name === "data") message.data += message.data ? `\n${value}` : value;
  }
}

async function* readLines(response: Response): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
}
