/** Errors have a class, a kind, the field and the next step. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Commonbook, CommonbookError, Conflict, Forbidden, Invalid, NotFound, TooLarge, Unauthenticated, Unavailable,
} from "commonbook";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";

let server: TemporaryServer;
let book: Commonbook;

before(async () => {
  server = await temporaryServer();
  book = server.book("rook");
});
after(() => server.remove());

/** The error with which a call fails. */
async function failure(call: Promise<unknown>): Promise<CommonbookError> {
  return await call.then(() => assert.fail("it succeeded"), (error: CommonbookError) => error);
}

test("each kind is a class of its own", async () => {
  const { memory } = await book.save("The gate is locked at six.");
  const table: [() => Promise<unknown>, typeof CommonbookError, string, string | undefined][] = [
    [() => book.save(""), Invalid, "invalid", "text"],
    [() => book.save("x", { memory_type: "no type" }), Invalid, "invalid", "memory_type"],
    [() => book.get("mem_00000000000000000000000000"), NotFound, "not_found", undefined],
    [() => book.update(memory.id, { text: "Seven", expected_revision: 9 }), Conflict, "conflict", undefined],
    [() => book.acting({ agent: "jay" }).delete(memory.id), Forbidden, "forbidden", undefined],
    [() => book.save("x".repeat(70_000)), TooLarge, "too_large", "text"],
    [() => book.get(""), Invalid, "invalid", "id"],
  ];
  for (const [call, Class, kind, field] of table) {
    const error = await failure(call());
    assert.ok(error instanceof Class && error instanceof CommonbookError, `${kind}: ${error}`);
    assert.deepEqual([error.kind, error.name], [kind, Class.name]);
    if (field) assert.equal(error.field, field);
    assert.ok(error.hint, `${kind} has a hint`);
  }
});

test("an error has the code, the status and the id of the request", async () => {
  const { memory } = await book.save("The fence is blue.");
  const error = await failure(book.acting({ agent: "jay" }).update(memory.id, { text: "It is red." }));
  assert.deepEqual([error.code, error.status, error.details.owner], ["ownership_mismatch", 403, "rook"]);
  assert.match(error.requestId ?? "", /^req_/);
  assert.ok(!("field" in error) && !("retryAfter" in error), "what it lacks is not there");
});

test("a server that does not answer is unavailable", async () => {
  const gone = new Commonbook({ url: "http://127.0.0.1:1", retry: { attempts: 2, firstDelayMs: 1 } });
  const error = await failure(gone.health());
  assert.ok(error instanceof Unavailable);
  assert.equal(error.status, 0);
  assert.ok(error.hint);
  await assert.rejects(Commonbook.connect({ url: "http://127.0.0.1:1", retry: { attempts: 1 } }), Unavailable);
});

test("a URL is checked, and an error does not repeat its password", () => {
  for (const url of ["book.example", "ftp://book.example", "https://ann:hunter2@book.example"]) {
    assert.throws(() => new Commonbook({ url }), (error: Invalid) => error.field === "url" && !String(error).includes("hunter2"));
  }
});

test("a call ends with its signal", async () => {
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(book.list({}, { signal }), /enough/);
});

test("a wrong token is refused", async () => {
  const wrong = server.book("rook", { token: "cbk_wrong" });
  assert.ok(await failure(wrong.list()) instanceof Unauthenticated);
});
