// Two agents, one memory: what the first one saves the second finds, and the work goes from one to the other with what belongs to it.
//
//   npm install commonbook && node two-agents.ts        node 22.18 or newer runs TypeScript as it is

import { Commonbook } from "commonbook";

const planner = await Commonbook.connect({ agent: "planner" });
const builder = planner.acting({ agent: "builder" });

await planner.save("The payment service retries three times, then waits for a person.", { memory_type: "decision" });
const { hits } = await builder.search("What happens when a payment fails?");
console.log(`${hits[0]?.memory.owner} says: ${hits[0]?.memory.text}`);

// The builder hears of it while it happens; the stream goes on after a lost connection.
const events = planner.events({ events: ["handoff.completed"] });
const completed = events.next();

const { handoff } = await planner.handoff("builder", "Let the payment service retry", { next_steps: ["Read the decision"] });
const { text } = await builder.acceptHandoff(handoff.id);
console.log(`For the builder's model, ${text.length} characters that begin with: ${text.split("\n")[1]}`);
await builder.completeHandoff(handoff.id, "It retries, and a test proves it.");

const { value } = await completed;
console.log(`${value?.actor}: ${value?.kind}`);
await events.return();

// Who may change a memory, and what to do instead, is in the error.
const refused = await builder.update(hits[0]!.memory.id, { text: "It retries twice." }).catch((error: Error) => error);
console.log(refused);

await planner.close();
