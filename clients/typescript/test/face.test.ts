/** Every method of the face, against a real server. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Commonbook, Forbidden, Invalid, NotFound } from "commonbook";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";

let server: TemporaryServer;
let rook: Commonbook;
let jay: Commonbook;

before(async () => {
  server = await temporaryServer();
  rook = server.book("rook");
  jay = rook.acting({ agent: "jay" });
});
after(() => server.remove());

test("what one agent saves, another finds, reads and lists", async () => {
  const { memory, outcome } = await rook.save("The teapot holds four cups.", { topics: ["tea"], importance: "high" });
  assert.deepEqual([outcome, memory.owner, memory.topics, memory.source.how], ["created", "rook", ["tea"], "rest"]);
  assert.equal((await rook.save("The teapot holds four cups.", { topics: ["tea"], importance: "high" })).outcome, "repeated");
  const found = await jay.search("How much does the teapot hold?", { k: 3, topic: "tea" });
  assert.equal(found.hits[0]?.memory.id, memory.id);
  assert.equal((await jay.get(memory.id)).text, memory.text);
  const listed = await jay.list({ owner: "rook", limit: 1 });
  assert.deepEqual(listed.items.map(({ id }) => id), [memory.id]);
  assert.equal((await jay.stats()).memories, 1);
});

test("several memories are saved together", async () => {
  const { items } = await rook.saveAll([{ text: "Kettle one is blue." }, { text: "Kettle two is green." }]);
  assert.deepEqual(items.map(({ outcome }) => outcome), ["created", "created"]);
  await assert.rejects(rook.saveAll([{ text: "Kettle three is red." }, { text: "" }]), Invalid);
  assert.equal((await rook.search('"three is red"')).total, 0);
  const texts: string[] = [];
  for await (const { text } of jay.listAll({ limit: 1, topic: "kettle" })) texts.push(text);
  assert.equal(texts.length, 0);
  for await (const { text } of jay.listAll({ limit: 1, owner: "rook" })) texts.push(text);
  assert.equal(texts.length, 3);
});

test("a memory is changed, deleted and restored by its owner alone", async () => {
  const { memory: { id } } = await rook.save("The shop opens at nine.");
  await rook.update(id, { text: "The shop opens at ten.", expected_revision: 1 });
  await assert.rejects(jay.update(id, { text: "The shop opens at noon." }), Forbidden);
  assert.deepEqual((await rook.history(id)).items.map(({ memory }) => memory.text), [
    "The shop opens at nine.", "The shop opens at ten.",
  ]);
  await rook.restore(id, { revision: 1 });
  assert.equal((await jay.get(id)).text, "The shop opens at nine.");
  await rook.delete(id);
  assert.deepEqual((await rook.list({ deleted: true })).items.map((memory) => memory.id), [id]);
  await assert.rejects(jay.get(id), NotFound);
  await rook.restore(id);
  assert.equal((await jay.get(id)).deleted_at, undefined);
});

test("a private memory does not exist for others", async () => {
  const { memory: { id } } = await rook.save("The key lies below the mat.", { sharing: "private" });
  await assert.rejects(jay.get(id), NotFound);
});

test("context, briefing and learning", async () => {
  const learned = await rook.learn("All done.\n\nRemember: The oven of the bakery needs forty minutes to warm up.");
  assert.equal(learned.learnings.length, 1);
  const context = await jay.context("How long does the oven of the bakery need to warm up?", { budget: 800 });
  assert.match(context.text, /forty minutes/);
  const briefing = await jay.brief("When do I switch on the oven of the bakery?", { client_session: "jay-1" });
  assert.equal(briefing.agent, "jay");
  assert.match((await jay.brief(undefined, { client_session: "jay-2" })).text, /memor/);
});

test("a case is opened, appended to, read, marked and closed", async () => {
  const matter = rook.case("lighthouse", "The lighthouse");
  const first = await matter.append("Green paint from now on", { kind: "decision", topics: ["paint"] });
  assert.deepEqual([first.context_version, first.entries.length], [1, 1]);
  const theirs = jay.case("lighthouse");
  await theirs.appendAll([{ summary: "The ladder is too short" }, { summary: "The ladder was replaced" }]);
  assert.deepEqual((await matter.append("Too late", { expected_version: 1 })).moved, { latest: 3 });
  const read = await theirs.read({ after: 1 });
  assert.deepEqual(read.entries.map(({ position }) => position), [2, 3]);
  assert.match((await theirs.context()).text, /Green paint/);
  await theirs.markRead();
  assert.equal((await theirs.read()).entries.length, 0);
  assert.equal((await jay.changes({ case: "lighthouse" })).entries.length, 0);
  assert.ok((await jay.changes()).left >= 0 && (await jay.markRead()).position > 0);
  assert.equal((await jay.changes()).changes.length, 0);
  await matter.update({ labels: ["sea"] });
  assert.deepEqual((await matter.get()).labels, ["sea"]);
  await matter.close();
  assert.deepEqual((await jay.cases({ status: "closed" })).items.map(({ key }) => key), ["lighthouse"]);
  await matter.reopen();
  await matter.archive();
  assert.equal((await matter.get()).status, "archived");
  assert.equal((await rook.openCase({ key: "harbour", title: "The harbour" })).case.key, "harbour");
});

test("a session holds what is saved in it, and is gone on with", async () => {
  const work = await rook.session("run-7", { case: "harbour" });
  const { memory } = await work.save("The crane lifts nine tonnes.");
  assert.equal(memory.session, work.id);
  await work.touch();
  const checkpoint = await work.checkpoint({ title: "Before the storm" });
  assert.equal(checkpoint.session, work.id);
  assert.deepEqual((await work.checkpoints()).items.map(({ id }) => id), [checkpoint.id]);
  const summarised = await work.checkpointAndSummarise("The crane was measured.");
  assert.equal(summarised.checkpoint.session, work.id);
  assert.equal((await jay.getSession(work.id)).memory_count, 2);
  const again = await rook.session("run-7");
  assert.equal(again.id, work.id);
  const resumed = await rook.resume(work.id, { budget: 1000 });
  assert.match(resumed.text, /nine tonnes/);
  await work.end("Measured the crane, and nothing else.");
  const { items } = await rook.sessions({ owner: "rook", status: "completed" });
  assert.deepEqual(items.map(({ id }) => id), [work.id]);
  assert.notEqual((await rook.save("The crane is yellow.")).memory.session, work.id);
});

test("work is handed over, with its result", async () => {
  const { memory } = await rook.save("The bridge rusts at pier four.");
  const { handoff, along } = await rook.handoff("jay", "Paint the bridge", { memories: [memory.id], next_steps: ["Buy paint"] });
  assert.equal(along?.[0]?.id, memory.id);
  assert.deepEqual((await jay.handoffs()).items.map(({ id }) => id), [handoff.id]);
  assert.match((await jay.acceptHandoff(handoff.id)).text, /pier four/);
  const done = await jay.completeHandoff(handoff.id, "The bridge is red.");
  assert.equal(done.handoff.status, "completed");
  assert.equal((await rook.getHandoff(handoff.id)).handoff.status, "completed");
  const rejected = await rook.handoff("jay", "Paint the sky");
  assert.equal((await jay.rejectHandoff(rejected.handoff.id, "It is too high.")).handoff.status, "rejected");
  const withdrawn = await rook.handoff("jay", "Paint the sea");
  assert.equal((await rook.withdrawHandoff(withdrawn.handoff.id, "It is wet.")).handoff.status, "withdrawn");
  assert.equal((await rook.handoffs({ side: "sent", status: ["withdrawn"] })).items.length, 1);
});

test("any verb of the API is called by its name", async () => {
  const { items } = await rook.call("list_agents");
  assert.deepEqual((await rook.agents()).items, items);
  assert.equal(await rook.url(), server.url);
  assert.deepEqual(items.map(({ agent }) => agent).sort(), ["jay", "rook"]);
  await assert.rejects(rook.call("get_agent", { name: "rook/no one" }), NotFound);
  const stated = await rook.call("resolve_entity", { type: "tool", value: "Crane" });
  assert.equal(stated.outcome, "created");
  assert.match((await rook.health()).version, /^\d/);
});

test("names of any script, users and workspaces reach the server", async () => {
  const other = rook.acting({ agent: "müller", user: "ännchen", workspace: "café" });
  const { memory } = await other.save("I like my tea strong.", { about: "user" });
  assert.deepEqual([memory.owner, memory.workspace, memory.user_id], ["müller", "café", "ännchen"]);
  assert.equal((await rook.search("strong tea")).hits.some((hit) => hit.memory.id === memory.id), false);
  await assert.rejects(rook.acting({ agent: "a\nb" }).list(), { kind: "invalid", field: "agent" });
});
