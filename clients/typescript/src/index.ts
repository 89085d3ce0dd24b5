/** The client of Commonbook, the memory that many AI agents hold in common. */

export { Case, Commonbook, Session } from "./book.js";
export type { CallerOptions, CommonbookOptions, EntryFields, SaveFields } from "./book.js";
export {
  CommonbookError, Conflict, Forbidden, Internal, Invalid, NotFound, RateLimited, TooLarge, Unauthenticated, Unavailable,
} from "./errors.js";
export type { ErrorDetail, ErrorKind } from "./errors.js";
export type { EventRequest } from "./events.js";
export type { RetryPolicy } from "./transport.js";
export type { CallOptions, OtherFields, Schemas, Verb, VerbAnswer, VerbFields } from "./verbs.js";
