/** Requests over HTTP: each verb by its route, tried again where that is safe. */

import { setTimeout as sleep } from "node:timers/promises";
import { type CommonbookError, type ErrorDetail, errorOf, unavailable } from "./errors.js";
import { ROUTES } from "./generated/routes.js";
import type { ServerAddress, ServerFinder } from "./server.js";
import type { CallOptions, Verb } from "./verbs.js";

/** How failed calls are tried again. */
export interface RetryPolicy {
  /** Attempts of one call, the first among them; 5 by default. */
  attempts: number;
  /** Milliseconds before the second attempt, 100 by default. Each further delay is twice as long, up to 5 seconds. */
  firstDelayMs: number;
  /** Milliseconds that the client waits at most because a server says so (`Retry-After`); 60,000 by default. */
  longestWaitMs: number;
  /** Milliseconds until an attempt counts as failed; 120,000 by default. */
  timeoutMs: number;
}

/** Who calls, as headers. */
export type CallerHeaders = Record<string, string>;

/** What a failed attempt leaves. */
interface FailedAttempt {
  error: CommonbookError;
  /** Whether the server has certainly written nothing. */
  isUnwritten: boolean;
  /** Whether the connection failed, so that another server may have to be found. */
  isLost: boolean;
}

const DEFAULT_POLICY: RetryPolicy = { attempts: 5, firstDelayMs: 100, longestWaitMs: 60_000, timeoutMs: 120_000 };
const LONGEST_DELAY_MS = 5_000;

// A repeated step of a handoff has the same answer, and a repeated context is the same text.
const REPEATABLE = new Set<Verb>([
  "accept_handoff", "complete_handoff", "reject_handoff", "withdraw_handoff", "get_context",
]);

// The codes of connections that were never made: the server has seen nothing of the request.
const UNREACHED = new Set([
  "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT",
]);

/** The way to the server of a book. */
export class Transport {
  readonly policy: RetryPolicy;

  constructor(readonly finder: ServerFinder, policy: Partial<RetryPolicy> = {}) {
    this.policy = { ...DEFAULT_POLICY, ...policy };
  }

  /**
   * Calls a verb. A call is tried again after a lost connection and after the statuses 429 and 5xx, if it reads, has an
   * idempotency key, or the server says that nothing was written.
   */
  async call(verb: Verb, request: object, caller: CallerHeaders, options: CallOptions = {}): Promise<unknown> {
    const { path, init } = routeRequest(verb, request);
    const isRepeatable = init.method === "GET" || ROUTES[verb].keyed || REPEATABLE.has(verb);
    for (let attempt = 1; ; attempt += 1) {
      const address = await this.finder.find();
      const answer = await this.attempt(address, path, init, caller, options);
      if (!("error" in answer)) return answer.json;
      if (answer.isLost) this.finder.lose(address);
      const delay = this.delayAfter(attempt, answer.error);
      if (!(isRepeatable || answer.isUnwritten) || delay === undefined || attempt >= this.policy.attempts) {
        throw answer.error;
      }
      await sleep(delay, undefined, { signal: options.signal });
    }
  }

  /** Opens a stream of server-sent events; fails with the error of the server, or `unavailable`. */
  async openStream(path: string, caller: CallerHeaders, signal: AbortSignal): Promise<Response> {
    const address = await this.finder.find();
    try {
      const headers = { ...caller, ...address.headers, accept: "text/event-stream" };
      const response = await fetch(address.url + path, { headers, signal });
      if (response.ok) return response;
      throw (await readAnswer(response) as FailedAttempt).error;
    } catch (error) {
      if (isCommonbookError(error)) throw error;
      this.finder.lose(address);
      throw lost(address, error).error;
    }
  }

  /**
   * Milliseconds to wait after a failed attempt; `undefined` if the failure is final. Half of a delay is by chance, so that
   * clients that failed together do not come back together.
   */
  delayAfter(attempt: number, error: CommonbookError): number | undefined {
    if (!["unavailable", "rate_limited", "internal"].includes(error.kind)) return undefined;
    if (error.retryAfter !== undefined) {
      const wait = error.retryAfter * 1_000;
      return wait <= this.policy.longestWaitMs ? wait : undefined;
    }
    const delay = Math.min(this.policy.firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
    return delay * (0.5 + Math.random() / 2);
  }

  private async attempt(
    address: ServerAddress, path: string, init: RequestInit, caller: CallerHeaders, { signal }: CallOptions,
  ): Promise<{ json: unknown } | FailedAttempt> {
    const timeout = AbortSignal.timeout(this.policy.timeoutMs);
    try {
      const response = await fetch(address.url + path, {
        ...init,
        headers: { ...caller, ...address.headers, ...init.headers as CallerHeaders },
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      return await readAnswer(response);
    } catch (error) {
      signal?.throwIfAborted();
      return lost(address, error);
    }
  }
}

/** The request to the route of a verb: the fields of the path, and the others in the query or the body. */
function routeRequest(verb: Verb, request: object): { path: string; init: RequestInit } {
  const { method, path, keyed } = ROUTES[verb];
  const headers: CallerHeaders = {};
  if (Array.isArray(request)) {
    headers["idempotency-key"] = crypto.randomUUID();
    headers["content-type"] = "application/json";
    return { path, init: { method, headers, body: JSON.stringify(request) } };
  }
  const { idempotency_key: key, ...given } = request as { idempotency_key?: string } & Record<string, unknown>;
  if (keyed) headers["idempotency-key"] = headerValue("idempotency-key", key ?? crypto.randomUUID());
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields[name];
    delete fields[name];
    if (value === undefined || value === "") {
      throw errorOf({ kind: "invalid", field: name, message: `${verb} needs \`${name}\``, hint: "Name it in the call." });
    }
    return encodeURIComponent(String(value));
  });
  if (method === "GET" || method === "DELETE") {
    const query = queryOf(fields);
    return { path: query ? `${filled}?${query}` : filled, init: { method, headers } };
  }
  headers["content-type"] = "application/json";
  return { path: filled, init: { method, headers, body: JSON.stringify(fields) } };
}

/** A text as a header carries it: its bytes in UTF-8. Fails with `invalid` for what would be more than one line. */
export function headerValue(name: string, text: string): string {
  if (/[\x00-\x1f\x7f]/.test(text)) {
    const field = name.replace("x-commonbook-", "").replaceAll("-", "_");
    throw errorOf({
      kind: "invalid", field, message: `${field} contains control characters`, hint: "Leave them out.",
    });
  }
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Fields as a query: a list item by item, an object as JSON. */
export function queryOf(fields: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === undefined || item === null) continue;
      query.append(name, typeof item === "object" ? JSON.stringify(item) : String(item));
    }
  }
  return query.toString();
}

async function readAnswer(response: Response): Promise<{ json: unknown } | FailedAttempt> {
  const text = await response.text();
  const json = parseJson(text);
  if (response.ok && json !== undefined) return { json };
  const sent = (json as { error?: ErrorDetail } | undefined)?.error;
  const retryAfter = Number(response.headers.get("retry-after")) || undefined;
  if (sent?.kind && sent.message) {
    // Our errors of these kinds say that nothing was written.
    const isUnwritten = ["rate_limited", "unavailable", "internal"].includes(sent.kind);
    const error = errorOf({ ...(retryAfter && { retry_after: retryAfter }), ...sent }, response.status);
    return { error, isUnwritten, isLost: false };
  }
  // What stands between the client and the server has answered.
  const detail: ErrorDetail = {
    kind: kindOfStatus(response.status),
    message: `${new URL(response.url).origin} answered ${response.status} without an error of Commonbook`,
    hint: "Check the URL, and the proxy before the server.",
    ...(retryAfter && { retry_after: retryAfter }),
  };
  return { error: errorOf(detail, response.status), isUnwritten: response.status === 429, isLost: false };
}

function kindOfStatus(status: number): ErrorDetail["kind"] {
  if (status === 429) return "rate_limited";
  if (status === 401) return "unauthenticated";
  if (status === 403) return "forbidden";
  if (status === 404) return "not_found";
  return status >= 400 && status < 500 ? "invalid" : "unavailable";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The failure of a connection. */
function lost(address: ServerAddress, cause: unknown): FailedAttempt {
  const { code, message } = ((cause as Error).cause ?? cause) as { code?: string; message?: string };
  const reason = code ?? message ?? String(cause);
  const error = unavailable(
    `${address.url} does not answer (${reason})`,
    "Start the server with `commonbook serve`, or check the URL.",
    { cause },
  );
  return { error, isUnwritten: UNREACHED.has(code ?? ""), isLost: true };
}

function isCommonbookError(error: unknown): error is CommonbookError {
  return error instanceof Error && "kind" in error;
}
