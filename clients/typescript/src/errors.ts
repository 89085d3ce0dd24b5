/** The errors of the client: a class for each kind, with the field that is wrong and the next step. */

import type { Schemas } from "./verbs.js";

/** The kind of an error; docs/api.md has the meaning of each. */
export type ErrorKind = Schemas["ErrorKind"];

/** What an error consists of, as the server sends it. */
export type ErrorDetail = Schemas["ErrorDetail"];

/** A refused or failed call. `instanceof` one of the classes below tells the kind. */
export class CommonbookError extends Error {
  /** The kind: `not_found`, `conflict` … */
  readonly kind: ErrorKind;
  /** A more specific code than the kind: `ownership_mismatch`. */
  declare readonly code?: string;
  /** The field of the request that is wrong: `memories[2].topics[1]`. */
  declare readonly field?: string;
  /** The next step. */
  declare readonly hint?: string;
  /** The seconds to wait before a further attempt, if the server knows. */
  declare readonly retryAfter?: number;
  /** The id of the request, as in the log of the server. */
  declare readonly requestId?: string;
  /** The status of the response; 0 if none arrived. */
  readonly status: number;
  /** The whole error, as the server sent it. */
  readonly details: ErrorDetail;

  constructor(details: ErrorDetail, status = 0, options?: ErrorOptions) {
    super(details.message, options);
    this.name = new.target.name;
    this.kind = details.kind;
    this.status = status;
    this.details = details;
    // A field without a value stays away, so that an error prints what it has.
    const { code, field, hint, retry_after: retryAfter, request_id: requestId } = details;
    const known = Object.entries({ code, field, hint, retryAfter, requestId });
    Object.assign(this, Object.fromEntries(known.filter(([, value]) => value !== undefined)));
  }
}

/** The request is wrong; `field` names what. */
export class Invalid extends CommonbookError {}
/** The caller is not identified: a token is missing or wrong. */
export class Unauthenticated extends CommonbookError {}
/** The caller may not do this, for example change another agent's memory. */
export class Forbidden extends CommonbookError {}
/** It does not exist, or the caller may not see it. */
export class NotFound extends CommonbookError {}
/** It has changed meanwhile, or the idempotency key belongs to another request. */
export class Conflict extends CommonbookError {}
/** A part of the request exceeds its limit. */
export class TooLarge extends CommonbookError {}
/** Too many requests in a short time; `retryAfter` has the seconds to wait. */
export class RateLimited extends CommonbookError {}
/** No server answers, or its store cannot answer now. */
export class Unavailable extends CommonbookError {}
/** A bug in Commonbook; nothing was written. */
export class Internal extends CommonbookError {}

const CLASSES: Record<ErrorKind, typeof CommonbookError> = {
  invalid: Invalid,
  unauthenticated: Unauthenticated,
  forbidden: Forbidden,
  not_found: NotFound,
  conflict: Conflict,
  too_large: TooLarge,
  rate_limited: RateLimited,
  unavailable: Unavailable,
  internal: Internal,
};

/** The error of its kind; one of a kind that this version does not know is a `CommonbookError`. */
export function errorOf(details: ErrorDetail, status?: number, options?: ErrorOptions): CommonbookError {
  const Class = CLASSES[details.kind] ?? CommonbookError;
  return new Class(details, status, options);
}

/** The error for what does not answer. */
export function unavailable(message: string, hint: string, options?: ErrorOptions): CommonbookError {
  return errorOf({ kind: "unavailable", message, hint }, undefined, options);
}
