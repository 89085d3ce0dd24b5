// A scripted model on loopback, for clients of others: no network, no key, no dependencies. It speaks
// Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent.
//   node model.mjs SCRIPT.json LOG
// prints its address. The script is a list of parts: `when` (words of the user's text that select the
// part), `steps` ([tool, arguments] each, one after another) and `say` (the last message). The model
// plays the first part that fits. LOG gets one line of JSON for each request with tools: the part, the
// system text, the text of the user, the results of the calls so far, and the step that the model makes then. A call of
// a strict tool has every field of its schema, as OpenAI's models must send it: a third item of the step has what such a
// model chooses where it may leave out nothing.
import fs from "node:fs";
import http from "node:http";

const [script, log] = process.argv.slice(2);

/** The client's own name for one of our tools: mcp__commonbook__save_memory and the like. */
const ownName = (tools, tool) => tools.find((name) => name === tool || new RegExp(`[_-]${tool}$`).test(name));

/** The next step, from what the client sent. Requests without tools are for titles and the like. */
function next({ system, said, tools, results, strict = {} }) {
  if (!tools.length) return { say: "A title" };
  const parts = JSON.parse(fs.readFileSync(script));
  const part = parts.find(({ when }) => said.includes(when));
  const step = stepOf(part ?? { say: "NOTHING TO DO" }, { system, said, tools, results, strict });
  fs.appendFileSync(log, `${JSON.stringify({ part: part?.when, system, said, results, tools, step })}\n`);
  return step;
}
function stepOf({ steps = [], say }, { system, said, tools, results, strict }) {
  if (results.length >= steps.length) return { say: say ?? "DONE" };
  const [tool, given, chosen] = steps[results.length];
  const name = ownName(tools, tool);
  if (!name) return { say: `NO TOOL ${tool} AMONG ${tools.join(" ")}` };
  const input = filled(given, [system, said, ...results]);
  return { name, input: strict[name] ? { ...leastOf(strict[name]), ...chosen, ...input } : input };
}

/** The least that a schema permits, which is what a model sends where it has nothing to say. */
function leastOf(schema) {
  const permitted = schema.anyOf ?? list(schema.type).map((type) => ({ ...schema, type }));
  if (permitted.some(({ type }) => type === "null")) return null;
  const [{ type, enum: words, minimum = 0, properties = {} }] = permitted;
  if (words) return words[0];
  if (type === "object") return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, leastOf(field)]));
  return { string: "", array: [], boolean: false, integer: minimum, number: minimum }[type];
}
/** The schemas of the strict tools, by name. */
const strictOf = (tools) => Object.fromEntries(tools.filter(({ strict }) => strict).map(({ name, parameters }) => [name, parameters]));

/** The arguments with each `{{field}}` replaced by the last value of that field in a result, and `{{#kind}}` by
 *  the handle of the last item of that kind in a block of Commonbook, `{{hnd_}}` by the handle in the text of
 *  an accepted handoff. */
function filled(input, texts) {
  const seen = texts.join("\n");
  const last = (pattern) => [...seen.matchAll(new RegExp(pattern, "g"))].at(-1)?.[1] ?? "";
  const value = (_, mark, field) =>
    field.endsWith("_") ? last("hands work over to you \\(#(\\w{8})") : mark ? last(`#(\\w{6,26}) [^\n]*, ${field}\\b`) : last(`${field}\\\\?": ?\\\\?"([^"\\\\]+)`);
  return JSON.parse(JSON.stringify(input).replace(/\{\{(#?)(\w+)\}\}/g, value));
}

let count = 0;
const id = () => `call_${++count}`;
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));
const list = (value) => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
/** The text of a message, or of its parts. */
const textOf = (content) =>
  list(content).map((part) => (typeof part === "string" ? part : (part.text ?? ""))).join("\n");

function plain(response, body) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
function stream(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  for (const [name, data] of events) response.write(`${name ? `event: ${name}\n` : ""}data: ${text(data)}\n\n`);
  response.end();
}

function anthropic(body, response) {
  const messages = body.messages ?? [];
  const blocks = messages.flatMap(({ role, content }) =>
    list(content).map((block) => ({ role, ...(typeof block === "string" ? { type: "text", text: block } : block) })));
  const of = (wanted) =>
    blocks.filter(({ role, type }) => role === wanted && type === "text").map((block) => block.text).join("\n");
  const step = next({
    system: `${textOf(body.system)}\n${of("system")}`,
    said: of("user"),
    tools: list(body.tools).map((tool) => tool.name),
    results: blocks.filter(({ type }) => type === "tool_result").map((block) => text(block.content)),
  });
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
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  stream(response, events.map((event) => [event.type, event]));
}

function responses(body, response) {
  // Codex puts the tools of an MCP server in a namespace of that server.
  const tools = list(body.tools).flatMap((tool) =>
    tool.type === "namespace"
      ? tool.tools.map((inner) => ({ name: inner.name, namespace: tool.name }))
      : [{ name: tool.name ?? "" }]);
  const input = list(body.input);
  const of = (role) => input.filter((item) => item.role === role).map(({ content }) => textOf(content));
  const step = next({
    system: [body.instructions ?? "", ...of("system"), ...of("developer")].join("\n"),
    said: of("user").join("\n"),
    tools: tools.map((tool) => tool.name),
    strict: strictOf(list(body.tools)),
    results: input.filter((item) => item.type === "function_call_output").map((item) => text(item.output)),
  });
  const item = step.name
    ? {
        type: "function_call", id: id(), call_id: id(), status: "completed",
        ...tools.find((tool) => tool.name === step.name), arguments: JSON.stringify(step.input),
      }
    : {
        type: "message", id: id(), role: "assistant", status: "completed",
        content: [{ type: "output_text", text: step.say, annotations: [] }],
      };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const whole = { id: id(), object: "response", created_at: 1, status: "completed", model: body.model, output: [item], usage };
  if (!body.stream) return plain(response, whole);
  const events = [
    { type: "response.created", response: { ...whole, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  ];
  stream(response, events.map((event, sequence_number) => [event.type, { ...event, sequence_number }]));
}

function completions(body, response) {
  const messages = body.messages ?? [];
  const of = (role) => messages.filter((message) => message.role === role).map(({ content }) => textOf(content));
  const step = next({
    system: [...of("system"), ...of("developer")].join("\n"),
    said: of("user").join("\n"),
    tools: list(body.tools).map((tool) => tool.function?.name ?? ""),
    strict: strictOf(list(body.tools).map((tool) => tool.function ?? {})),
    results: of("tool"),
  });
  const call = { id: id(), type: "function", function: { name: step.name, arguments: JSON.stringify(step.input) } };
  const message = step.name
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: step.say };
  const finish_reason = step.name ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const whole = { id: id(), created: 1, model: body.model, usage };
  if (!body.stream) {
    return plain(response, { ...whole, object: "chat.completion", choices: [{ index: 0, message, finish_reason }] });
  }
  const delta = step.name ? { ...message, tool_calls: [{ index: 0, ...call }] } : message;
  const chunk = (choice) => ["", { ...whole, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] }];
  stream(response, [
    chunk({ delta, finish_reason: null }), chunk({ delta: {}, finish_reason }), ["", "[DONE]"],
  ]);
}

function gemini(body, response, streamed) {
  const contents = body.contents ?? [];
  const parts = contents.filter(({ role }) => role !== "model").flatMap((content) => content.parts ?? []);
  const step = next({
    system: textOf(body.systemInstruction?.parts),
    said: parts.map((part) => part.text ?? "").join("\n"),
    tools: list(body.tools).flatMap((tool) => tool.functionDeclarations ?? []).map((tool) => tool.name),
    results: parts.flatMap((part) => (part.functionResponse ? [text(part.functionResponse.response)] : [])),
  });
  const part = step.name ? { functionCall: { name: step.name, args: step.input } } : { text: step.say };
  const whole = {
    candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [part] } }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  if (streamed) stream(response, [["", whole]]);
  else plain(response, whole);
}

const server = http.createServer((request, response) => {
  const path = request.url.split("?")[0];
  let sent = "";
  request.on("data", (part) => (sent += part));
  request.on("end", () => {
    let body = {};
    try { body = JSON.parse(sent || "{}"); } catch { /* not JSON: not for us */ }
    if (/count_?tokens$/i.test(path)) return plain(response, { input_tokens: 1, totalTokens: 1 });
    if (path.endsWith("/messages")) return anthropic(body, response);
    if (path.endsWith("/responses")) return responses(body, response);
    if (path.endsWith("/completions")) return completions(body, response);
    if (/:(stream)?generateContent$/i.test(path)) return gemini(body, response, path.includes(":stream"));
    if (path.endsWith("/models")) return plain(response, { object: "list", data: [], models: [] });
    response.writeHead(404, { "content-type": "application/json" });
    response.end('{"error":{"message":"not here"}}');
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
