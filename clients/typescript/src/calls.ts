/** The calls by which LangGraph's faces write documents. */

import { Conflict, NotFound } from "./errors.js";
import type { Schemas } from "./verbs.js";

/** One call saves all or none of 100 documents. */
const DOCUMENTS = 100;

/** Documents as those of one call each, in their order; a call has at most this number of letters, or one document. */
export function callsOf(documents: Schemas["SaveMemory"][], letters: number): Schemas["SaveMemory"][][] {
  const calls: Schemas["SaveMemory"][][] = [];
  let size = Infinity;
  for (const document of documents) {
    size += document.text.length;
    if (size > letters || calls.at(-1)!.length === DOCUMENTS) {
      calls.push([]);
      size = document.text.length;
    }
    calls.at(-1)!.push(document);
  }
  return calls;
}

/** What a change comes to that another process has overtaken: nothing. */
export function unlessOvertaken(error: unknown): undefined {
  if (!(error instanceof Conflict || error instanceof NotFound)) throw error;
}
