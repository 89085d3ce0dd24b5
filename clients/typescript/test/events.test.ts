/** Events come once and in order, whatever happens to the connection. */

import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Commonbook, Invalid, Unavailable } from "commonbook";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";
import { FaultyProxy } from "./proxy.js";

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

const SAVES = { events: ["memory.saved" as const] };

test("a stream goes on after a cut and a restart, without a gap or a repetition", async () => {
  const writer = server.book("jay", { retry: { firstDelayMs: 1 } });
  const saved: string[] = [];
  const save = async (text: string) => saved.push((await writer.save(text)).memory.id);
  await save("The first lamp is lit.");
  const events = book.events({ ...SAVES, after: 0 });
  const read: string[] = [];
  const next = async () => {
    const { value } = await events.next();
    read.push(value?.subject ?? "the stream ended");
  };
  await next();
  proxy.breakStreams();
  await save("The second lamp is lit.");
  await save("The third lamp is lit.");
  await next();
  await server.stop("SIGKILL");
  await server.start();
  await save("The fourth lamp is lit.");
  await next();
  await next();
  assert.deepEqual(read, saved);
  assert.ok(proxy.seen.some(({ lastEventId }) => lastEventId), "it went on by Last-Event-ID");
  await events.return();
  assert.equal((await events.next()).done, true);
});

test("a stream that breaks before its first event misses none", async () => {
  const events = book.events(SAVES);
  const opened = proxy.nextStream();
  const first = events.next();
  await opened;
  proxy.fail({ kind: "break" });
  proxy.breakStreams();
  const { memory } = await server.book("jay").save("The tide comes in at noon.");
  assert.equal((await first).value?.subject, memory.id);
  await events.return();
});

test("filters choose events, and a loop ends with its signal", async () => {
  const stop = new AbortController();
  const kinds: string[] = [];
  const loop = (async () => {
    for await (const event of book.events({ after: 0, events: ["case.opened"], signal: stop.signal })) {
      kinds.push(event.kind);
      stop.abort();
    }
  })();
  await server.book("jay").openCase({ key: "lamp", title: "The lamp" });
  await loop;
  assert.deepEqual(kinds, ["case.opened"]);
  assert.equal((await book.events({ signal: AbortSignal.abort() }).next()).done, true);
});

test("a stream that ends at once is opened again, not faster and faster", async () => {
  let opened = 0;
  const fake = http.createServer((_, response) => {
    opened += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(opened < 3 ? "" : 'id: 1\ndata: {"sequence":1}\n\n');
  });
  await new Promise<void>((resolve) => fake.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
  const events = new Commonbook({ url, retry: { firstDelayMs: 1 } }).events({ after: 0 });
  assert.equal((await events.next()).value?.sequence, 1);
  assert.equal(opened, 3);
  await events.return();
  const hasty = new Commonbook({ url, retry: { firstDelayMs: 1_000 } }).events({ after: 0, patienceMs: 0 });
  await hasty.next();
  await assert.rejects(hasty.next(), Unavailable);
  fake.closeAllConnections();
  fake.close();
});

test("what the server refuses, and a server that never answers, are errors", async () => {
  await assert.rejects(book.events({ events: ["no.such" as never] }).next(), Invalid);
  const gone = new Commonbook({ url: "http://127.0.0.1:1", retry: { firstDelayMs: 1 } });
  await assert.rejects(gone.events({ after: 0, patienceMs: 20 }).next(), Unavailable);
});

test("a notice that events were lost is heard, and is no event", async () => {
  const frames = [
    'event: lagged\ndata: {"missed":2}\n\n', 'id: 3.00000002\nevent: resync\ndata: {"after":3}\n\n',
    ': keep-alive\r\n\r\n', 'id: 4.00000002\nevent: memory.saved\r\ndata: {"sequence":4,\ndata: "kind":"memory.saved"}\n\n',
  ];
  const fake = http.createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    // Byte by byte, as a network may deliver it.
    for (const byte of frames.join("")) response.write(byte);
  });
  await new Promise<void>((resolve) => fake.listen(0, "127.0.0.1", resolve));
  const heard: number[] = [];
  const book = new Commonbook({ url: `http://127.0.0.1:${(fake.address() as AddressInfo).port}` });
  const events = book.events({ after: 9, onGap: (position) => heard.push(position) });
  assert.equal((await events.next()).value?.sequence, 4);
  assert.deepEqual(heard, [3]);
  await events.return();
  fake.closeAllConnections();
  fake.close();
});
