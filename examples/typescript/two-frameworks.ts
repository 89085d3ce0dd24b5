// Two frameworks, one memory: Claude's memory tool writes a file, and an agent of OpenAI Agents finds it, with its author.
//
//   npm install commonbook @anthropic-ai/sdk @openai/agents-core && node two-frameworks.ts        scripts stand for the models

import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Agent, Runner, tool } from "@openai/agents-core";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents-core/testing";
import { Commonbook } from "commonbook";
import { CommonbookMemoryTool } from "commonbook/anthropic";
import { CommonbookSession } from "commonbook/openai";

const book = await Commonbook.connect({ agent: "shop" });

// A model sends these commands: client.beta.messages.toolRunner({ …, tools: [memory] })
const memory = betaMemoryTool(new CommonbookMemoryTool({ book, agent: "claude" }));
await memory.run({ command: "create", path: "/memories/kettle.md", file_text: "The kettle whistles at 96 degrees.\n" });
console.log(await memory.run({ command: "view", path: "/memories/kettle.md" }));

const search = tool({
  name: "search_memory", description: "Finds what other agents have saved.", strict: false,
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"], additionalProperties: true },
  execute: async (input) => {
    const { hits } = await book.acting({ agent: "shop/tea" }).search((input as { query: string }).query);
    return hits.map(({ memory }) => `${memory.owner} (${memory.path}): ${memory.text}`).join("\n");
  },
});
const model = new ScriptedModel([
  [functionCall("search_memory", { query: "When does the kettle whistle?" }, { callId: "c1" })],
  [assistantMessage("At 96 degrees, says Claude.")],
  [assistantMessage("As I said: at 96 degrees.")],
]);
const agent = new Agent({ name: "tea", model, tools: [search] });
for (const words of ["When does the kettle whistle?", "When?"]) {
  // Each run could be in a process of its own: the session has what was said before.
  const session = new CommonbookSession({ book, agent: "tea", sessionId: "alex-42" });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, words, { session });
  console.log(`${model.calls.at(-1)?.request.input.length} items read: ${finalOutput}`);
}
console.log(JSON.stringify(model.calls[1]?.request.input.slice(-1)));

await book.close();
