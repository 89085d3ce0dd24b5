// A scripted model on loopback: it makes a client call save_memory, then search_memory, and then
// says what the search brought. No network, no key, no dependencies.
//   node model.mjs TEXT   speaks Anthropic's messages and OpenAI's responses on a free port, and
// prints it. What it was asked goes to standard error.
//   node model.mjs SCRIPT.json   does what the script says instead: a list of parts, each with the
// words `when` that the user's text has (none: always), the `steps` it takes and what it says last
// (`say`). The first part that fits is played. What the user said to a part goes to standard error.
import fs from "node:fs";
import http from "node:http";

const [marker] = process.argv.slice(2);
const parts = marker.endsWith(".json")
  ? JSON.parse(fs.readFileSync(marker, "utf8"))
  : [{ steps: [
      ["save_memory", { text: marker, topics: ["conformance"] }],
      ["search_memory", { query: marker }],
    ] }];

/** The client's own name for one of our tools: mcp__commonbook__save_memory and the like. */
const named = (tools, tool) => tools.find((name) => name === tool || name.endsWith(`_${tool}`));

/** What to do next, from what the user said, the tools that are offered and the results so far. */
function next(said, tools, results) {
  const part = parts.find(({ when }) => !when || said.includes(when));
  const { steps = [], say } = part ?? { say: "NOTHING TO DO" };
  if (!results.length) console.error(`SAID ${JSON.stringify(said)}`);
  if (results.length >= steps.length) return { say: say ?? `DONE ${results.at(-1)?.replace(/\s+/g, " ")}` };
  const [tool, input] = steps[results.length];
  const name = named(tools, tool);
  return name ? { name, input } : { say: `NO TOOL ${tool} AMONG ${tools.join(" ")}` };
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
let count = 0;
const id = () => `call_${++count}`;

const events = (response, list) => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  for (const [name, data] of list) {
    if (name) response.write(`event: ${name}\n`);
    response.write(`data: ${text(data)}\n\n`);
  }
  response.end();
};
const plain = (response, body) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

function anthropic(body, response) {
  const tools = (body.tools ?? []).map((tool) => tool.name);
  const results = (body.messages ?? [])
    .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    .filter((block) => block.type === "tool_result")
    .map((block) => text(block.content));
  const said = (body.messages ?? [])
    .filter((message) => message.role === "user")
    .flatMap((message) => (Array.isArray(message.content) ? message.content : [{ type: "text", text: message.content }]))
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");
  // Requests without our tools are for titles and the like.
  const step = tools.length ? next(said, tools, results) : { say: "A title" };
  const block = step.name
    ? { type: "tool_use", id: id(), name: step.name, input: step.input }
    : { type: "text", text: step.say };
  const stop = step.name ? "tool_use" : "end_turn";
  const message = {
    id: id(), type: "message", role: "assistant", model: body.model, content: [block],
    stop_reason: stop, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
  };
  if (!body.stream) return plain(response, message);
  const start = step.name ? { ...block, input: {} } : { type: "text", text: "" };
  const delta = step.name
    ? { type: "input_json_delta", partial_json: JSON.stringify(step.input) }
    : { type: "text_delta", text: step.say };
  events(response, [
    ["message_start", { type: "message_start", message: { ...message, content: [], stop_reason: null } }],
    ["content_block_start", { type: "content_block_start", index: 0, content_block: start }],
    ["content_block_delta", { type: "content_block_delta", index: 0, delta }],
    ["content_block_stop", { type: "content_block_stop", index: 0 }],
    ["message_delta", { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } }],
    ["message_stop", { type: "message_stop" }],
  ]);
}

function responses(body, response) {
  // Codex puts the tools of an MCP server in a namespace of that server.
  const tools = (body.tools ?? []).flatMap((tool) =>
    tool.type === "namespace"
      ? tool.tools.map((inner) => ({ name: inner.name, namespace: tool.name }))
      : [{ name: tool.name ?? "" }],
  );
  const results = (body.input ?? [])
    .filter((item) => item.type === "function_call_output")
    .map((item) => text(item.output));
  const said = (body.input ?? [])
    .filter((item) => item.role === "user")
    .flatMap((item) => (Array.isArray(item.content) ? item.content : [{ text: item.content }]))
    .map((block) => block.text ?? "")
    .join("\n");
  const step = next(said, tools.map((tool) => tool.name), results);
  const item = step.name
    ? {
        type: "function_call", id: id(), call_id: id(), status: "completed",
        ...tools.find((tool) => tool.name === step.name), arguments: JSON.stringify(step.input),
      }
    : { type: "message", id: id(), role: "assistant", status: "completed", content: [{ type: "output_text", text: step.say, annotations: [] }] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const whole = { id: id(), object: "response", status: "completed", model: body.model, output: [item], usage };
  if (!body.stream) return plain(response, whole);
  const list = [
    { type: "response.created", response: { ...whole, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  ];
  events(response, list.map((event, sequence_number) => [event.type, { ...event, sequence_number }]));
}

const server = http.createServer((request, response) => {
    const path = request.url.split("?")[0];
    let sent = "";
    request.on("data", (part) => (sent += part));
    request.on("end", () => {
      let body = {};
      try { body = JSON.parse(sent || "{}"); } catch { /* not JSON: not for us */ }
      console.error(request.method, request.url, sent.length);
      if (path.endsWith("/count_tokens")) return plain(response, { input_tokens: 1 });
      if (path.endsWith("/messages")) return anthropic(body, response);
      if (path.endsWith("/responses")) return responses(body, response);
      if (path.endsWith("/models")) return plain(response, { object: "list", data: [], models: [] });
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"error":{"message":"not here"}}');
    });
  });
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
