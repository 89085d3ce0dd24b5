/** The requests and answers of verbs, read off the types of the OpenAPI document. */

import type { components, operations } from "./generated/openapi.js";

/** The data types of the API by their names: `Schemas["Memory"]`. */
export type Schemas = components["schemas"];

/** The name of a verb that has a route: `save_memory`. */
export type Verb = Exclude<keyof operations, "follow_events">;

type FieldsOf<T> = [NonNullable<T>] extends [never] ? unknown : Exclude<NonNullable<T>, readonly unknown[]>;
type PathFields<V extends Verb> = operations[V] extends { parameters: { path: infer P } } ? P : unknown;
type QueryFields<V extends Verb> =
  operations[V] extends { parameters: { query?: infer Q } } ? FieldsOf<Q> : unknown;
type BodyFields<V extends Verb> =
  operations[V] extends { requestBody?: { content: { "application/json": infer B } } } ? FieldsOf<B> : unknown;
type JsonOf<R> = R extends { content: { "application/json": infer J } } ? J : never;

/**
 * The fields of a verb's request, with the names of the API: those of path, query and body together.
 * `idempotency_key` is any text: for 24 hours a request with the same key and the same content runs once. Without one the
 * client makes one for each call.
 */
export type VerbFields<V extends Verb> =
  PathFields<V> & QueryFields<V> & BodyFields<V> & { idempotency_key?: string };

/** The fields of a verb's request but for those that a method names. */
export type OtherFields<V extends Verb, Named extends PropertyKey> = Omit<VerbFields<V>, Named>;

/** The answer of a verb. */
export type VerbAnswer<V extends Verb> =
  operations[V]["responses"] extends infer R
    ? JsonOf<R extends { 200: infer A } ? A : R extends { 201: infer A } ? A : never>
    : never;

/** What a call has beside its fields. */
export interface CallOptions {
  /** Ends the call, with the signal's reason as error. */
  signal?: AbortSignal;
}
