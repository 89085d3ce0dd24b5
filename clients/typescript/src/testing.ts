/** A server with an empty memory, for tests of programs that use Commonbook. */

import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Commonbook, type CommonbookOptions } from "./book.js";
import { findProgram, launch, stop, withoutCaller } from "./server.js";

/** How a server for tests is started. */
export interface TestServerOptions {
  /** The path of the program; found as `Commonbook` finds it by default. */
  program?: string;
  /** Further arguments of `commonbook serve`. */
  arguments?: string[];
  /** Further variables of its environment. By default searches compare words alone, which needs no model. */
  env?: Record<string, string>;
}

/** A server on a free port, with a temporary home that goes with it. */
export class TestServer {
  private constructor(
    private child: ChildProcess,
    /** The URL of the server. It stays the same when the server is restarted. */
    readonly url: string,
    /** The folder of its data. */
    readonly home: string,
    private readonly options: TestServerOptions,
  ) {}

  /** Starts a server. Fails with `Unavailable` if the program is missing, or says what it logged. */
  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const home = await mkdtemp(join(tmpdir(), "commonbook-"));
    try {
      const { child, url } = await serve(home, "0", options);
      return new TestServer(child, url, home, options);
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      throw error;
    }
  }

  /** A book at this server, in the workspace `test` if no other is named. */
  book(options: Omit<CommonbookOptions, "url" | "home" | "program"> = {}): Commonbook {
    return new Commonbook({ workspace: "test", ...options, url: this.url });
  }

  /** Kills the server and starts it again, with the same home and URL. */
  async restart(): Promise<void> {
    await stop(this.child, "SIGKILL");
    const { child } = await serve(this.home, new URL(this.url).port, this.options);
    this.child = child;
  }

  /** Ends the server and removes its home. */
  async stop(): Promise<void> {
    await stop(this.child);
    await rm(this.home, { recursive: true, force: true });
  }

  /** Stops the server at the end of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function serve(home: string, port: string, options: TestServerOptions): Promise<{ child: ChildProcess; url: string }> {
  const env = { ...withoutCaller(), COMMONBOOK_EMBEDDER: "off", ...options.env };
  const arguments_ = ["serve", "--home", home, "--port", port, ...options.arguments ?? []];
  const started = await launch(findProgram(options.program), arguments_, env);
  const end = () => started.child.kill();
  process.once("exit", end);
  started.child.once("exit", () => process.off("exit", end));
  started.child.unref();
  return started;
}
