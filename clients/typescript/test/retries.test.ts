/** Calls are tried again where that is safe, and what is written is written once. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Commonbook, RateLimited, Unavailable } from "commonbook";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";
import { FaultyProxy } from "./proxy.js";

const UNAVAILABLE = JSON.stringify({ error: { kind: "unavailable", message: "the store is locked", hint: "Wait." } });

let server: TemporaryServer;
let proxy: FaultyProxy;
let book: Commonbook;

before(async () => {
  server = await temporaryServer();
  proxy = await FaultyProxy.start(server.url);
  book = new Commonbook({ url: proxy.url, agent: "rook", workspace: "tests", retry: { firstDelayMs: 1 } });
});
after(async () => {
  await proxy.stop();
  await server.remove();
});

test("a save whose answer is lost is written once", async () => {
  proxy.fail({ kind: "lose answer" }, { kind: "break" });
  const { outcome, memory } = await book.save("The ferry leaves at seven.");
  assert.equal(outcome, "repeated");
  assert.equal(proxy.seen.length, 3);
  assert.equal(new Set(proxy.seen.map(({ key }) => key)).size, 1);
  const { items } = await book.history(memory.id);
  assert.equal(items.length, 1);
  assert.equal((await book.list()).items.length, 1);
});

test("a batch and an appended entry are written once", async () => {
  proxy.fail({ kind: "lose answer" });
  await book.saveAll([{ text: "Buoy one is red." }]);
  assert.equal((await book.list()).items.length, 2);
  proxy.fail({ kind: "lose answer" });
  const appended = await book.case("ferry", "The ferry").append("It sails on Sundays too");
  assert.equal(appended.context_version, 1);
});

test("the author's own idempotency key is sent", async () => {
  proxy.fail();
  await book.save("The pier is wet.", { idempotency_key: "tide-1" });
  await book.acting({ agent: "rook" }).save("The pier is wet.", { idempotency_key: "tide-1" });
  assert.deepEqual(proxy.seen.map(({ key }) => key), ["tide-1", "tide-1"]);
});

test("429 and 5xx are tried again, after the time that the server names", async () => {
  const limited = JSON.stringify({ error: { kind: "rate_limited", message: "slow down", retry_after: 1 } });
  proxy.fail(
    { kind: "answer", status: 429, body: limited },
    { kind: "answer", status: 503, body: UNAVAILABLE },
    { kind: "answer", status: 502, body: "<html>" },
  );
  const begun = performance.now();
  await book.list();
  assert.ok(performance.now() - begun >= 1_000, "the second attempt waits for a second");
  assert.equal(proxy.seen.length, 4);
});

test("a server that asks for a long wait is not waited for", async () => {
  proxy.fail({ kind: "answer", status: 429, headers: { "retry-after": "3600" }, body: "" });
  await assert.rejects(book.list(), (error: RateLimited) => error instanceof RateLimited && error.retryAfter === 3600);
  assert.equal(proxy.seen.length, 1);
});

test("a call without a key is sent once if it may have been written, else again", async () => {
  const purge = () => book.call("purge_since", { since: "2026-01-01", dry_run: true });
  proxy.fail({ kind: "lose answer" });
  await assert.rejects(purge(), Unavailable);
  assert.equal(proxy.seen.length, 1);
  proxy.fail({ kind: "answer", status: 502, body: "<html>" });
  await assert.rejects(purge(), Unavailable);
  assert.equal(proxy.seen.length, 1);
  proxy.fail({ kind: "answer", status: 503, body: UNAVAILABLE });
  await purge();
  assert.equal(proxy.seen.length, 2);
});

test("a step of a handoff whose answer is lost is made again", async () => {
  const { handoff } = await book.handoff("jay", "Tie the boat");
  proxy.fail({ kind: "lose answer" });
  assert.equal((await book.acting({ agent: "jay" }).acceptHandoff(handoff.id)).handoff.status, "accepted");
  assert.equal(proxy.seen.length, 2);
});

test("attempts end", async () => {
  proxy.fail(...Array.from({ length: 5 }, () => ({ kind: "break" }) as const));
  await assert.rejects(book.list(), Unavailable);
  assert.equal(proxy.seen.length, 5);
});

test("a refusal is final", async () => {
  proxy.fail();
  await assert.rejects(book.save(""), { kind: "invalid" });
  assert.equal(proxy.seen.length, 1);
});
