/** The files and folders of Anthropic's memory tool as documents: names, places and answers. */

import type { Schemas } from "./verbs.js";

/** The names of a file or folder below the root; those of the root are none. */
export type Place = readonly string[];
type Memory = Schemas["Memory"];

/** The folder of all files. */
export const ROOT = "/memories";
/** A document of this name keeps its folder while nothing else is in it. No path of a command leads to it. */
export const KEEPER = ".";
/** What such a document says. */
export const KEEPER_TEXT = "This document keeps a folder of the memory tool, which has no files.";
const KEEPER_SEGMENT = "%2E";
/** A document is never blank: this is the text of a blank file, whose own text is in the field of the metadata. */
const BLANK_TEXT = "This file of the memory tool is empty.";
const BLANK_FIELD = "memory_tool_blank";
const LEVELS = 2;
const LINE_NUMBER_WIDTH = 6;
/** What a file system for Linux says of a folder that has few files. */
const FOLDER_SIZE = "4K";
/** A folder that no view of another one shows. */
const PACKAGES = "node_modules";
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/u;
/** Letters that are printable, and that nobody sees. */
const UNSEEN = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/u;

/** The names that a path of a command means. Fails if it leaves the root. */
export function placeOf(path: string): Place {
  if (!path.startsWith(ROOT)) throw new Error(`Path must start with ${ROOT}, got: ${path}`);
  // Above the root is a folder that has it, and whose name no path knows.
  const root = [undefined, "memories"];
  const names: (string | undefined)[] = [...root];
  for (const name of path.slice(ROOT.length).split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  if (names.length < 2 || !root.every((name, index) => names[index] === name)) {
    throw new Error(`Path ${path} would escape ${ROOT} directory`);
  }
  return names.slice(2) as string[];
}

/** The path of a file or folder, as a command could name it. */
export function nameOf(place: Place): string {
  return [ROOT, ...place].join("/");
}

/** The path of the document at a place. */
export function pathOf(place: Place): string {
  return [ROOT, ...place.map(segmentOf)].join("/");
}

/** The filter of a list that has everything of the first folder of a place. */
export function around(place: Place): string {
  return place.length ? `${pathOf(place.slice(0, 1))}*` : `${ROOT}/`;
}

/** A name as a segment of a document's path: in percent codes if a document cannot have it as it is. */
function segmentOf(name: string): string {
  if (name === KEEPER) return KEEPER_SEGMENT;
  const isKept = name === name.trim() && name === name.normalize("NFC") && !UNPRINTABLE.test(name) && !UNSEEN.test(name);
  if (isKept && !/%[0-9A-F]{2}/.test(name)) return name;
  return name.replace(/[^\w.~!"#$&'()*+,:;<=>?@[\\\]^`{|}-]/gu, encodeURIComponent);
}

/** The name that a segment stands for. */
function nameOfSegment(segment: string): string {
  try {
    const name = decodeURIComponent(segment);
    return segmentOf(name) === segment ? name : segment;
  } catch {
    return segment;
  }
}

/** The text and metadata of the document that has a file's text. */
export function documentOf(text: string, metadata: Memory["metadata"] = {}): { text: string; metadata: Memory["metadata"] } {
  const { [BLANK_FIELD]: _, ...others } = metadata;
  const kept = wellFormed(text);
  if (/[^\p{C}\p{Z}]/u.test(kept)) return { text: kept, metadata: others };
  return { text: BLANK_TEXT, metadata: { ...others, [BLANK_FIELD]: kept } };
}

/** The text of a file. */
export function textOf(memory: Memory): string {
  const blank = memory.metadata[BLANK_FIELD];
  return memory.text === BLANK_TEXT && typeof blank === "string" ? blank : memory.text;
}

/** What an answer says besides if the server has kept a text otherwise than it was sent. */
export function noteOf(text: string, memory: Memory): string {
  if (textOf(memory) === wellFormed(text)) return "";
  return "\nSecrets and control characters of the text were not kept: view the file before you edit it.";
}

/** A text as a file in UTF-8 has it. */
function wellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** The files and folders of one moment, for the user of the caller, or for none. */
export class Tree {
  readonly #user: string | undefined;
  readonly #documents = new Map<string, Memory>();
  readonly #places = new Map<string, Place>();
  readonly #names = new Map<string, Set<string>>([["", new Set()]]);

  constructor(user?: string) {
    this.#user = user;
  }

  /** Takes a document in; one about another user is left out. */
  add(memory: Memory): void {
    if ((memory.user_id ?? undefined) !== this.#user || !memory.path?.startsWith(`${ROOT}/`)) return;
    const place = memory.path.split("/").slice(2).map(nameOfSegment);
    this.#documents.set(keyOf(place), memory);
    this.#places.set(keyOf(place), place);
    for (const [length, name] of place.entries()) {
      const folder = keyOf(place.slice(0, length));
      this.#names.set(folder, (this.#names.get(folder) ?? new Set()).add(name));
    }
  }

  /** The file at a place. */
  file(place: Place): Memory | undefined {
    return this.#documents.get(keyOf(place));
  }

  /** Whether a folder is there. */
  isFolder(place: Place): boolean {
    return this.#names.has(keyOf(place));
  }

  /** Whether a file or folder is there. */
  has(place: Place): boolean {
    return this.file(place) !== undefined || this.isFolder(place);
  }

  /** Whether a folder has nothing besides. */
  hasOnly(folder: Place, name: string): boolean {
    const names = this.#names.get(keyOf(folder));
    return names?.size === 1 && names.has(name);
  }

  /** A file, or everything in a folder, with its place. */
  below(place: Place): [Place, Memory][] {
    const file = this.file(place);
    if (file) return [[place, file]];
    return [...this.#documents].map(([key, memory]): [Place, Memory] => [this.#places.get(key)!, memory])
      .filter(([other]) => isBelow(other, place)).sort(([a], [b]) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** Fails if a place is below a file, with the words of Node for it, which a model reads. */
  checkParents(place: Place): void {
    if (place.some((_, length) => this.#documents.has(keyOf(place.slice(0, length))))) {
      throw new Error(`ENOTDIR: not a directory, realpath '${nameOf(place)}'`);
    }
  }

  /** The answer to the view of a folder. */
  listing(place: Place, path: string): string {
    const what = `the files and directories up to ${LEVELS} levels deep in ${path}, excluding hidden items and ${PACKAGES}`;
    const lines = this.#entries(place, LEVELS).map(([size, name]) => `${size}\t${path}/${name}`);
    return [`Here're ${what}:`, `${FOLDER_SIZE}\t${path}`, ...lines].join("\n");
  }

  #entries(place: Place, levels: number): [size: string, name: string][] {
    const names = [...this.#names.get(keyOf(place)) ?? []].filter((name) => !name.startsWith(".") && name !== PACKAGES);
    return names.sort().flatMap((name) => {
      const inner = [...place, name];
      const file = this.file(inner);
      const entries: [string, string][] = file ? [[sizeOf(textOf(file)), name]] : [];
      if (!this.isFolder(inner)) return entries;
      const further = levels > 1 ? this.#entries(inner, levels - 1) : [];
      const below = further.map(([size, rest]): [string, string] => [size, `${name}/${rest}`]);
      return [...entries, [FOLDER_SIZE, `${name}/`], ...below];
    });
  }
}

/** Whether a place is in a folder. */
export function isBelow(place: Place, folder: Place): boolean {
  return place.length > folder.length && keyOf(place.slice(0, folder.length)) === keyOf(folder);
}

function keyOf(place: Place): string {
  return place.join("/");
}

/** The size of a file, as a folder shows it. */
function sizeOf(text: string): string {
  const count = Buffer.byteLength(text);
  const power = count ? Math.min(Math.floor(Math.log(count) / Math.log(1024)), 3) : 0;
  const size = count / 1024 ** power;
  return (Number.isInteger(size) ? String(size) : size.toFixed(1)) + "BKMG"[power];
}

/** Lines with their numbers. */
function numbered(lines: string[], first: number): string {
  return lines.map((line, index) => `${String(index + first).padStart(LINE_NUMBER_WIDTH)}\t${line}`).join("\n");
}

/** The answer to the view of a file. */
export function contentOf(text: string, path: string, range?: number[] | null): string {
  let lines = text.split("\n");
  let first = 1;
  if (range?.length === 2) {
    first = Math.max(1, range[0]!);
    lines = lines.slice(first - 1, range[1] === -1 ? lines.length : range[1]);
  }
  return `Here's the content of ${path} with line numbers:\n${numbered(lines, first)}`;
}

/** The number of the one line, from 0, that has a text. Fails if none or several have it. */
export function lineOf(text: string, old: string, path: string): number {
  const found = text.split("\n").flatMap((line, index) => (line.includes(old) ? [index] : []));
  if (found.length === 1) return found[0]!;
  if (!found.length) {
    throw new Error(`No replacement was performed, old_str \`${old}\` did not appear verbatim in ${path}.`);
  }
  const lines = found.map((index) => index + 1).join(", ");
  throw new Error(
    `No replacement was performed. Multiple occurrences of old_str \`${old}\` in lines: ${lines}. Please ensure it is unique`,
  );
}

/** The answer to a replacement in a line, counted from 0. */
export function snippetOf(text: string, changed: number): string {
  const first = Math.max(0, changed - 2);
  const shown = numbered(text.split("\n").slice(first, changed + 3), first + 1);
  return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${shown}`;
}

/** The text with a further line. Fails if it has no line of that number. */
export function inserted(text: string, line: number, added: string): string {
  const lines = text.split("\n");
  if (line < 0 || line > lines.length) {
    const range = `[0, ${lines.length}]`;
    throw new Error(`Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: ${range}`);
  }
  lines.splice(line, 0, added.replace(/\n$/, ""));
  return lines.join("\n");
}

/** What a command is answered that would overwrite what it does not know. */
export function changedError(path: string): Error {
  const advice = "View it again, then repeat the command if it still fits.";
  return new Error(`${path} has changed meanwhile, and is left as it is. ${advice}`);
}
