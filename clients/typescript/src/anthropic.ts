/** Anthropic's memory tool over Commonbook: `tools: [betaMemoryTool(new CommonbookMemoryTool({ agent: "weather" }))]`. */

import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Commonbook } from "./book.js";
import { Conflict, Forbidden, Invalid, NotFound, TooLarge } from "./errors.js";
import {
  KEEPER, KEEPER_TEXT, type Place, ROOT, Tree, around, changedError, contentOf, documentOf, inserted, isBelow, lineOf, nameOf,
  noteOf, pathOf, placeOf, snippetOf, textOf,
} from "./files.js";
import { childOf } from "./names.js";
import type { Schemas } from "./verbs.js";

type Memory = Schemas["Memory"];
type Command<K extends keyof MemoryToolHandlers> = Parameters<MemoryToolHandlers[K]>[0];

const NAME = "anthropic";

/** How a memory tool is made. */
export interface CommonbookMemoryToolOptions {
  /** By default the memory of this machine under the name `anthropic`. */
  book?: Commonbook;
  /** The agent that writes, a child of the name of `book`: `anthropic/weather`. */
  agent?: string;
  /** The full name of another agent: the tool then shows what that agent shares, and changes nothing. */
  owner?: string;
  /** The user whose files they are; by default that of `book`. */
  user?: string;
  /** Who besides the agent may read new files; `shared` by default. */
  sharing?: Schemas["Sharing"];
}

/**
 * The handlers of Anthropic's memory tool whose files are documents of Commonbook: `/memories/plan.md` is the document of that
 * path.
 *
 * The answers are those of the SDK's own tool for local files, with its texts and errors. The files belong to the agent that
 * wrote them, and those of a caller with a user to that user: other agents find what is shared with a search, and read it with
 * `owner`. Every process of an agent has the same files, those of the Python client among them. A file that another process
 * changed after this tool showed it is not edited: the model is asked to view it again. Each edit is a revision.
 *
 * What stays different: the server keeps no secret and no control character of a text, and the answer says so; a file has at most
 * 102,400 bytes, a path 20 names and 1,024 bytes; a folder has the size `4K`; a folder is renamed or deleted file by file; and an
 * error of a path below a file names the path without the folder of the machine.
 */
export class CommonbookMemoryTool implements MemoryToolHandlers {
  /** The memory that the files are in. */
  readonly book: Commonbook;
  readonly #acting: Commonbook;
  readonly #agent: string;
  readonly #owner: string;
  readonly #kept: Pick<Schemas["SaveMemory"], "about" | "sharing">;
  /** The id and the revision of each file as the model knows it. */
  readonly #seen = new Map<string, string>();

  constructor({ book, agent, owner, user, sharing }: CommonbookMemoryToolOptions = {}) {
    this.book = book ?? new Commonbook({ agent: NAME });
    this.#agent = childOf(this.book.agent ?? NAME, agent);
    this.#owner = owner ?? this.#agent;
    this.#acting = this.book.acting({ agent: this.#agent, ...(user && { user }) });
    this.#kept = { about: this.#acting.user ? "user" : "project", ...(sharing && { sharing }) };
  }

  /** Shows a file with the numbers of its lines, or what is in a folder. */
  async view({ path, view_range: range }: Command<"view">): Promise<string> {
    return await this.#answer(path, false, async () => {
      const place = placeOf(path);
      const tree = await this.#tree(place);
      const file = tree.file(place);
      if (file) {
        this.#see(place, file);
        return contentOf(textOf(file), path, range);
      }
      if (tree.isFolder(place)) return tree.listing(place, path);
      throw new Error(`The path ${path} does not exist. Please provide a valid path.`);
    });
  }

  /** Creates a file where none is. */
  async create({ path, file_text: text }: Command<"create">): Promise<string> {
    return await this.#answer(path, true, async () => {
      const place = placeOf(path);
      const tree = await this.#tree(place);
      const document = documentOf(text);
      const saved = tree.has(place) ? undefined : await this.#save(place, document);
      if (!saved) throw new Error(`File ${path} already exists`);
      this.#see(place, saved);
      return `File created successfully at: ${path}${noteOf(text, saved)}`;
    });
  }

  /** Replaces a part of the one line of a file that has it. */
  async str_replace({ path, old_str: old, new_str: added }: Command<"str_replace">): Promise<string> {
    return await this.#answer(path, true, async () => {
      const [place, file] = await this.#file(path);
      const line = lineOf(textOf(file), old, path);
      const changed = textOf(file).replace(old, () => added);
      const kept = await this.#edit(place, file, changed);
      return snippetOf(textOf(kept), line) + noteOf(changed, kept);
    });
  }

  /** Inserts a text behind a line of a file. */
  async insert({ path, insert_line: line, insert_text: added }: Command<"insert">): Promise<string> {
    return await this.#answer(path, true, async () => {
      const [place, file] = await this.#file(path);
      const changed = inserted(textOf(file), line, added);
      const kept = await this.#edit(place, file, changed);
      return `The file ${path} has been edited.${noteOf(changed, kept)}`;
    });
  }

  /** Deletes a file, or a folder with all that is in it. */
  async delete({ path }: Command<"delete">): Promise<string> {
    return await this.#answer(path, true, async () => {
      const place = placeOf(path);
      const tree = await this.#tree(place);
      if (!place.length) throw new Error(`Cannot delete the ${ROOT} directory itself`);
      if (!tree.has(place)) throw new Error(`The path ${path} does not exist`);
      await this.#keepParent(tree, place);
      for (const [inner, { id, revision }] of tree.below(place)) {
        await this.#acting.delete(id, { expected_revision: revision });
        this.#seen.delete(pathOf(inner));
      }
      return `Successfully deleted ${path}`;
    });
  }

  /** Gives a file or a folder another path, at which nothing is. */
  async rename({ old_path: oldPath, new_path: newPath }: Command<"rename">): Promise<string> {
    return await this.#answer(oldPath, true, async () => {
      const old = placeOf(oldPath);
      const tree = await this.#tree(old);
      const target = placeOf(newPath);
      await this.#tree(target, tree);
      if (!old.length) throw new Error(`Cannot rename the ${ROOT} directory itself`);
      if (tree.has(target)) throw new Error(`The destination ${newPath} already exists`);
      const isInside = isBelow(target, old);
      if (isInside || !tree.has(old)) {
        // As locally, the folder of the destination is made before.
        if (!tree.isFolder(target.slice(0, -1))) await this.#keep(target.slice(0, -1));
        if (isInside) throw new Error(`EINVAL: invalid argument, rename '${nameOf(old)}' -> '${nameOf(target)}'`);
        throw new Error(`The path ${oldPath} does not exist`);
      }
      if (pathOf(target.slice(0, old.length - 1)) !== pathOf(old.slice(0, -1))) await this.#keepParent(tree, old);
      for (const [place, { id, revision }] of tree.below(old)) {
        const path = pathOf([...target, ...place.slice(old.length)]);
        await this.#acting.update(id, { new_path: path, expected_revision: revision });
        this.#seen.delete(pathOf(place));
        this.#seen.delete(path);
      }
      return `Successfully renamed ${oldPath} to ${newPath}`;
    });
  }

  /** What a command is answered; errors that the model can mend are in its words. */
  async #answer(path: string, isChange: boolean, act: () => Promise<string>): Promise<string> {
    if (isChange && this.#owner !== this.#agent) {
      throw new Error(`The files belong to ${this.#owner}: you can view them, and not change them.`);
    }
    try {
      return await act();
    } catch (error) {
      if (error instanceof Conflict || error instanceof NotFound) throw changedError(path);
      if (error instanceof Invalid || error instanceof Forbidden || error instanceof TooLarge) throw new Error(error.message);
      throw error;
    }
  }

  /** The files around a place, beside those of another tree. Fails if the place is below a file. */
  async #tree(place: Place, tree = new Tree(this.#acting.user)): Promise<Tree> {
    for await (const memory of this.#acting.listAll({ path: around(place), owner: this.#owner })) tree.add(memory);
    tree.checkParents(place);
    return tree;
  }

  /** The document of a file that the model knows as it is now. */
  async #file(path: string): Promise<[Place, Memory]> {
    const place = placeOf(path);
    const tree = await this.#tree(place);
    const file = tree.file(place);
    if (!file && tree.isFolder(place)) throw new Error(`The path ${path} is not a file.`);
    if (!file) throw new Error(`The path ${path} does not exist. Please provide a valid path.`);
    const known = stateOf(file);
    if ((this.#seen.get(pathOf(place)) ?? known) !== known) throw changedError(path);
    return [place, file];
  }

  /** Makes a document; nothing if the user has one at the place. */
  async #save(place: Place, document: { text: string; metadata?: Memory["metadata"] }): Promise<Memory | undefined> {
    const { text, ...others } = document;
    const fields = { ...others, ...this.#kept };
    const saved = await this.#acting.save(text, { ...fields, path: pathOf(place) }).catch(unlessConflict);
    if (saved) return saved.memory;
    // A save also meets a document about nobody, or about others where the caller has no user. A move does not.
    const { memory: { id } } = await this.#acting.save(text, { ...fields, path: `${ROOT}.new/${crypto.randomUUID()}` });
    const moved = await this.#acting.update(id, { new_path: pathOf(place) }).catch(unlessConflict);
    if (!moved) await this.#acting.delete(id);
    return moved;
  }

  async #edit(place: Place, file: Memory, text: string): Promise<Memory> {
    const document = documentOf(text, file.metadata);
    const updated = await this.#acting.update(file.id, { ...document, expected_revision: file.revision });
    this.#see(place, updated);
    return updated;
  }

  /** Keeps the folder around a place that is about to be left, if it has nothing besides. */
  async #keepParent(tree: Tree, place: Place): Promise<void> {
    const folder = place.slice(0, -1);
    if (tree.hasOnly(folder, place.at(-1)!)) await this.#keep(folder);
  }

  /** Keeps a folder that has no files, unless another process does; the root needs nothing. */
  async #keep(folder: Place): Promise<void> {
    if (folder.length) await this.#save([...folder, KEEPER], { text: KEEPER_TEXT });
  }

  #see(place: Place, file: Memory): void {
    this.#seen.set(pathOf(place), stateOf(file));
  }
}

function stateOf({ id, revision }: Memory): string {
  return `${id} ${revision}`;
}

function unlessConflict(error: unknown): undefined {
  if (!(error instanceof Conflict)) throw error;
}
