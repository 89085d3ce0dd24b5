/** A proxy before a server that loses answers, breaks connections and answers in its place. */

import { EventEmitter, once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the proxy does with a request. */
export type Fault =
  /** The request reaches the server, and its answer is lost. */
  | { kind: "lose answer" }
  /** The connection breaks before the request reaches the server. */
  | { kind: "break" }
  /** The proxy answers in the place of the server. */
  | { kind: "answer"; status: number; body?: string; headers?: Record<string, string> };

/** A request as the proxy has seen it. */
export interface SeenRequest {
  method: string;
  path: string;
  key?: string;
  lastEventId?: string;
}

/** The proxy. Faults are taken one for each request, then requests pass. */
export class FaultyProxy {
  readonly seen: SeenRequest[] = [];
  private readonly faults: Fault[] = [];
  private readonly streams = new Set<ServerResponse>();
  private readonly opened = new EventEmitter();

  private constructor(private readonly server: http.Server, private readonly target: string) {}

  static async start(target: string): Promise<FaultyProxy> {
    const server = http.createServer();
    const proxy = new FaultyProxy(server, target);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => void proxy.serve(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Lets the next requests fail. */
  fail(...faults: Fault[]): void {
    this.seen.length = 0;
    this.faults.push(...faults);
  }

  /** Breaks every open stream of events. */
  breakStreams(): void {
    for (const response of this.streams) response.destroy();
  }

  /** Waits until the server has opened the next stream of events. */
  async nextStream(): Promise<void> {
    await once(this.opened, "stream");
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const header = (name: string) => request.headers[name] as string | undefined;
    const { method = "", url = "" } = request;
    this.seen.push({ method, path: url, key: header("idempotency-key"), lastEventId: header("last-event-id") });
    const fault = this.faults.shift();
    if (fault?.kind === "break") return void response.destroy();
    if (fault?.kind === "answer") {
      return void response.writeHead(fault.status, fault.headers).end(fault.body);
    }
    const headers = { ...request.headers, host: new URL(this.target).host };
    const forwarded = http.request(this.target + url, { method, headers });
    forwarded.on("error", () => response.destroy());
    forwarded.end(Buffer.concat(parts));
    forwarded.on("response", (answer) => {
      answer.on("error", () => response.destroy());
      if (fault?.kind === "lose answer") {
        answer.resume().on("end", () => response.destroy());
        return;
      }
      if (url.startsWith("/events/stream")) {
        this.streams.add(response);
        response.on("close", () => {
          this.streams.delete(response);
          forwarded.destroy();
        });
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      if (this.streams.has(response)) this.opened.emit("stream");
      answer.pipe(response);
    });
  }
}
