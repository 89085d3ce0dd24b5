// The official TypeScript SDK as a client: node sdk.mjs stdio PROGRAM HOME | http URL, with the calls in
// CALLS. It prints what each call brought, as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [way, target, home] = process.argv.slice(2);
const transport = way === "stdio"
  ? new StdioClientTransport({ command: target, args: ["mcp", "--home", home], env: process.env })
  : new StreamableHTTPClientTransport(new URL(`${target}/mcp`));
const client = new Client({ name: "typescript-sdk", version: "1" });
await client.connect(transport);
// With the list the client knows the output schemas, and checks answers against them.
await client.listTools();
const found = {};
for (const [name, tool, args] of JSON.parse(process.env.CALLS)) {
  const answer = await client.callTool({ name: tool, arguments: args });
  found[name] = { error: answer.isError ?? false, text: answer.content.map((part) => part.text).join("\n") };
}
console.log(JSON.stringify(found));
await client.close();
