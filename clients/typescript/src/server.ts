/** Where the server of a book is: at a URL, or on this machine, where it is found or started. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type ErrorDetail, errorOf, unavailable } from "./errors.js";

/** The address of a server, with the headers that it needs: a token, or what a proxy asks for. */
export interface ServerAddress {
  url: string;
  headers: Record<string, string>;
  /** The agent as which the server knows this client, if the home names one. */
  agent?: string;
}

/** Finds the server of a book, and finds another one when the first is lost. */
export interface ServerFinder {
  find(): Promise<ServerAddress>;
  /** Says that the server at this address does not answer. */
  lose(address: ServerAddress): void;
  /** The workspace of calls that name none; `undefined` is the server's own choice. */
  workspace(): Promise<string | undefined>;
  /** Ends the server if this process has started it. */
  close(): Promise<void>;
}

/** Where a server on this machine is looked for. */
export interface LocalOptions {
  /** The folder of all data; `COMMONBOOK_HOME`, else `~/.commonbook`. */
  home?: string;
  /** The path of the program; `COMMONBOOK_PROGRAM`, else that of the npm package, else `commonbook` on the `PATH`. */
  program?: string;
}

const HEALTH_TIMEOUT_MS = 2_000;
const START_TIMEOUT_MS = 60_000;

// Who calls is said by each request, and never by the process that happened to start the server.
const CALLER_VARIABLES = [
  "COMMONBOOK_AGENT_ID", "COMMONBOOK_USER_ID", "COMMONBOOK_WORKSPACE", "COMMONBOOK_SESSION", "COMMONBOOK_URL", "COMMONBOOK_TOKEN",
];

/** A server at a URL. */
export class RemoteServer implements ServerFinder {
  constructor(private readonly address: ServerAddress) {}

  async find(): Promise<ServerAddress> {
    return this.address;
  }

  lose(): void {}

  async workspace(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {}
}

/** The server of a home on this machine: the one that runs, else one that this process starts. */
export class LocalServer implements ServerFinder {
  private found?: Promise<ServerAddress>;
  private url?: string;
  private project?: Promise<string>;
  private child?: ChildProcess;
  private readonly home: string;

  constructor(private readonly options: LocalOptions) {
    this.home = homeFolder(options.home);
  }

  find(): Promise<ServerAddress> {
    this.found ??= this.findOrStart().catch((error: unknown) => {
      this.found = undefined;
      throw error;
    });
    return this.found;
  }

  lose(address: ServerAddress): void {
    // Another call may have found the next server already.
    if (address.url === this.url) this.found = undefined;
  }

  /** The workspace of the project around this folder, as the commands choose it. */
  workspace(): Promise<string> {
    this.project ??= askWorkspace(findProgram(this.options.program), this.home).catch((error: unknown) => {
      this.project = undefined;
      throw error;
    });
    return this.project;
  }

  async close(): Promise<void> {
    const { child } = this;
    this.child = this.found = undefined;
    if (child) await stop(child);
  }

  private async findOrStart(): Promise<ServerAddress> {
    this.url = await runningServer(this.home) ?? await this.start();
    return { url: this.url, headers: {} };
  }

  private async start(): Promise<string> {
    const arguments_ = ["serve", "--port", "0", "--home", this.home];
    const { child, url } = await launch(findProgram(this.options.program), arguments_, withoutCaller());
    this.child = child;
    endWithProcess(child);
    return url;
  }
}

/** The server that a book uses by its options and the environment, as the commands choose it. */
export function chooseServer(options: LocalOptions & { url?: string; token?: string }): ServerFinder {
  const given = options.url ?? (options.home ? undefined : process.env.COMMONBOOK_URL) ?? "";
  const token = options.token ?? process.env.COMMONBOOK_TOKEN;
  const mapped = given || options.home ? undefined : projectServer(homeFolder());
  const headers = { ...mapped?.headers };
  if (token) headers.authorization ??= `Bearer ${token}`;
  if (given) return new RemoteServer({ url: baseUrl(given), headers });
  if (mapped) return new RemoteServer({ ...mapped, url: baseUrl(mapped.url), headers });
  const local = new LocalServer(options);
  return token ? withHeaders(local, headers) : local;
}

function withHeaders(local: LocalServer, headers: Record<string, string>): ServerFinder {
  return {
    find: async () => ({ ...await local.find(), headers }),
    lose: (address) => local.lose(address),
    workspace: () => local.workspace(),
    close: () => local.close(),
  };
}

/** The base URL, without `/mcp` and `/` at its end. Fails with `invalid`, without the URL, which may contain a password. */
function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.username || url.password || url.search) {
    throw errorOf({
      kind: "invalid", field: "url", message: "the address is no http(s) URL without user and query",
      hint: "Write it like `https://book.example`.",
    });
  }
  return url.href.replace(/\/+$/, "").replace(/\/mcp$/, "").replace(/\/+$/, "");
}

function homeFolder(home?: string): string {
  const chosen = home || process.env.COMMONBOOK_HOME || "~/.commonbook";
  return chosen.replace(/^~(?=$|\/)/, homedir());
}

/** The server that `commonbook setup --http` has chosen for the project around this folder. */
function projectServer(home: string): ServerAddress | undefined {
  const file = join(home, "servers.json");
  if (!existsSync(file)) return undefined;
  let projects: Record<string, ServerAddress>;
  try {
    projects = JSON.parse(readFileSync(file, "utf8")).projects ?? {};
  } catch (cause) {
    // The error of the parser could repeat a token.
    const message = `${file} is damaged`;
    throw errorOf({ kind: "conflict", message, hint: "Repair the file, or remove it and run `commonbook setup` again." });
  }
  for (let folder = realpathSync("."); ; folder = dirname(folder)) {
    const found = projects[folder];
    if (found) return found;
    if (existsSync(join(folder, ".git")) || folder === dirname(folder)) return undefined;
  }
}

/** A server in the file `server.json` of a home. */
interface ServerRecord {
  address: string;
  id?: string;
}

/** The address of a running server of a home; `undefined` if none answers. */
async function runningServer(home: string): Promise<string | undefined> {
  let servers: ServerRecord[];
  try {
    const newest = JSON.parse(readFileSync(join(home, "server.json"), "utf8")) as ServerRecord & { others?: ServerRecord[] };
    servers = [newest, ...(newest.others ?? [])];
  } catch {
    return undefined;
  }
  for (const server of servers) {
    const url = await answeringUrl(server);
    if (url) return url;
  }
  return undefined;
}

/** The URL of a server of `server.json`, if it answers as the one that wrote that. */
async function answeringUrl({ address, id }: ServerRecord): Promise<string | undefined> {
  try {
    // A server that listens on every address has none of its own.
    const url = `http://${address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:")}`;
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    const health = await response.json() as { version?: string };
    // A server of another home may have the port of one that was killed.
    const same = !id || response.headers.get("x-commonbook-server") === id;
    return same && health.version ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The path of the program. */
export function findProgram(program?: string): string {
  const chosen = program || process.env.COMMONBOOK_PROGRAM;
  if (chosen) return chosen;
  const name = process.platform === "win32" ? "commonbook.exe" : "commonbook";
  try {
    return createRequire(import.meta.url).resolve(`@commonbook/${process.platform}-${process.arch}/${name}`);
  } catch {
    return name;
  }
}

async function askWorkspace(program: string, home: string): Promise<string> {
  const env = { ...process.env };
  // The project may have its memories on a server, which is not this one.
  delete env.COMMONBOOK_URL;
  delete env.COMMONBOOK_TOKEN;
  try {
    const { stdout } = await promisify(execFile)(program, ["stats", "--json", "--home", home], { env });
    return (JSON.parse(stdout) as { workspace: string }).workspace;
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    // The program says, for example, that Commonbook is switched off here.
    const line = stderr.split("\n").find((line) => line.startsWith('{"error":'));
    if (line) throw errorOf((JSON.parse(line) as { error: ErrorDetail }).error);
    throw noProgram(program, cause);
  }
}

function noProgram(program: string, cause: unknown): Error {
  return unavailable(
    `the program ${program} does not start: ${(cause as Error).message}`,
    "Install it, name it in `program`, or give the `url` of a server.",
    { cause },
  );
}

/** Starts a server, and waits until it says where it listens. Fails with `unavailable` and what it logged. */
export async function launch(
  program: string, arguments_: string[], env: NodeJS.ProcessEnv,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(program, arguments_, { env, stdio: ["ignore", "pipe", "pipe"] });
  const late = setTimeout(() => child.kill("SIGKILL"), START_TIMEOUT_MS);
  let printed = "";
  let logged = "";
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.once("error", (cause) => reject(noProgram(program, cause)));
      child.once("exit", () => reject(unavailable(
        `the server did not start: ${logged.trim().slice(-2_000) || "it printed nothing"}`,
        "Run `commonbook serve` to see why.",
      )));
      child.stderr.on("data", (part: Buffer) => { logged = (logged + part).slice(-10_000); });
      child.stdout.on("data", (part: Buffer) => {
        printed += part;
        const found = /http:\/\/\S+/.exec(printed);
        if (found && printed.includes("\n")) resolve(found[0]);
      });
    });
    for (const pipe of [child.stdout, child.stderr]) (pipe as typeof pipe & { unref(): void }).unref();
    return { child, url };
  } finally {
    clearTimeout(late);
  }
}

/** Lets a server end with this process, and not keep it alive. */
export function endWithProcess(child: ChildProcess): void {
  child.unref();
  const end = () => child.kill();
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
}

/** Ends a server, and waits until it has ended. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  await new Promise((resolve) => {
    child.once("exit", resolve);
    child.kill(signal);
  });
}

/** The environment without what names a caller. */
export function withoutCaller(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !CALLER_VARIABLES.includes(name)));
}
