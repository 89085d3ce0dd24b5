/** A server with an empty memory, for tests of programs that use Commonbook. */

import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Commonbook, type CommonbookOptions } from "./book.js";
import { endWithProcess, findProgram, launch, stop, withoutCaller } from "./server.js";

/** How a server for tests is started. */
export interface TemporaryServerOptions {
  /** The path of the program; found as `Commonbook` finds it by default. */
  program?: string;
  /** Variables of the server's environment. Unless one names an embedder, searches compare words alone, which starts fast. */
  environment?: Record<string, string>;
}

/** A server on a free port, with a home of its own. */
export class TemporaryServer {
  private child?: ChildProcess;
  private address = "";

  /** Is made by `temporaryServer`. */
  constructor(
    /** The folder of its data. */
    readonly home: string,
    private readonly options: TemporaryServerOptions,
  ) {}

  /** The URL of the server; the same after `stop` and `start`. */
  get url(): string {
    return this.address;
  }

  /** Starts the server, after `stop` at the same URL. Fails with `Unavailable` and what it logged. */
  async start(): Promise<void> {
    if (this.child) return;
    const { COMMONBOOK_DATABASE: _, ...own } = withoutCaller();
    const environment = { ...own, COMMONBOOK_EMBEDDER: "off", ...this.options.environment };
    const port = this.address ? new URL(this.address).port : "0";
    const serve = ["serve", "--home", this.home, "--port", port];
    const { child, url } = await launch(findProgram(this.options.program), serve, environment);
    endWithProcess(child);
    this.child = child;
    this.address = url;
  }

  /** Ends the server; with `SIGKILL` as a crash would. Its data stays. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child) await stop(child, signal);
  }

  /** Ends the server and removes its data. */
  async remove(): Promise<void> {
    await this.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  /** A book at this server, for the agent `tester` in the workspace `tests` if no other is named. */
  book(agent = "tester", options: Omit<CommonbookOptions, "agent" | "url" | "home" | "program"> = {}): Commonbook {
    return new Commonbook({ workspace: "tests", ...options, agent, url: this.url });
  }

  /** Removes all of it at the end of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

/** Starts a server with an empty memory. `remove` it at the end, or say `await using server = await temporaryServer()`. */
export async function temporaryServer(options: TemporaryServerOptions = {}): Promise<TemporaryServer> {
  const server = new TemporaryServer(await mkdtemp(join(tmpdir(), "commonbook-")), options);
  try {
    await server.start();
    return server;
  } catch (error) {
    await server.remove();
    throw error;
  }
}
