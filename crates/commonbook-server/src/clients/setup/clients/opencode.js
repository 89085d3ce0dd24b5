// Written by `commonbook setup opencode`; `commonbook setup opencode --undo` removes it.
// Passes each event to `commonbook hook opencode EVENT` and applies the response. If that fails, the
// turn goes on without it.
import { spawn } from "node:child_process";

const program = "commonbook-program";
const home = "commonbook-home";
const timeout = 2500; // milliseconds
const running = new Set(); // the hooks that have not answered yet

function run(event, given) {
  return new Promise((resolve) => {
    try {
      const child = spawn(program, ["hook", "opencode", event, ...home], { stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => child.kill(), timeout);
      let output = "";
      child.stdout.on("data", (part) => (output += part));
      child.stdin.on("error", () => {});
      child.on("error", () => resolve({}));
      child.on("close", () => {
        clearTimeout(timer);
        try {
          resolve(JSON.parse(output || "{}"));
        } catch {
          resolve({});
        }
      });
      child.stdin.end(JSON.stringify(given));
    } catch {
      resolve({});
    }
  });
}

function hook(event, given) {
  const answer = run(event, given);
  running.add(answer);
  return answer.finally(() => running.delete(answer));
}

export const Commonbook = async ({ directory }) => {
  const parents = new Map(); // by session of a sub-agent: the session of the main agent, and its role
  const prompts = new Map(); // by session: the last prompt of the user
  const messages = new Map(); // by session: the last text of its agent
  const sessions = new Set(); // the sessions of the main agent that this process has worked in
  const users = new Set(); // the messages of the user
  const about = (sessionID) => ({ sessionID, directory, ...(parents.get(sessionID) ?? {}) });

  return {
    event: async ({ event }) => {
      const { info, part, sessionID = info?.id } = event.properties ?? {};
      if (event.type === "message.updated" && info?.role === "user") users.add(info.id);
      if (event.type === "message.part.updated" && part?.type === "text" && !users.has(part.messageID)) {
        messages.set(part.sessionID, part.text);
      }
      if (!["session.created", "session.idle", "session.deleted"].includes(event.type) || !sessionID) return;
      if (event.type === "session.created" && info?.parentID) {
        const parentID = parents.get(info.parentID)?.parentID ?? info.parentID;
        parents.set(sessionID, { parentID, agent: info.agent });
      }
      const idle = event.type === "session.idle";
      const turn = idle ? { last_message: messages.get(sessionID), prompt: prompts.get(sessionID) } : {};
      await hook(`event:${event.type}`, { ...about(sessionID), info, ...turn });
      if (idle) messages.delete(sessionID);
      if (event.type !== "session.deleted") return;
      [parents, prompts, messages, sessions].forEach((each) => each.delete(sessionID));
    },

    // A briefing becomes part of the user's message: so it stays where it is in later turns.
    "chat.message": async (input, output) => {
      const { sessionID } = input;
      const parts = output?.parts ?? [];
      messages.delete(sessionID);
      if (output?.message?.id) users.add(output.message.id);
      if (parents.has(sessionID)) return;
      const source = sessions.has(sessionID) ? undefined : "startup";
      sessions.add(sessionID);
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = texts.map((part) => part.text).join("\n");
      prompts.set(sessionID, prompt);
      const { context } = await hook("chat.message", { ...about(sessionID), prompt, source });
      const last = parts.at(-1);
      if (!context || !last) return;
      const { id, messageID } = last;
      parts.push({ id: `${id}c`, sessionID, messageID, type: "text", text: context, synthetic: true });
    },

    "experimental.session.compacting": async (input) => {
      await hook("experimental.session.compacting", about(input.sessionID));
    },

    "tool.execute.before": async (input, output) => {
      if (input.tool !== "task" && !input.tool.startsWith("commonbook_")) return;
      const answer = await hook("tool.execute.before", { ...about(input.sessionID), input, args: output.args });
      if (answer.args) Object.assign(output.args, answer.args);
    },

    "tool.execute.after": async (input, output) => {
      if (input.tool !== "task") return;
      await hook("tool.execute.after", { ...about(input.sessionID), input, output: output?.output });
    },

    // opencode closes: what has begun is finished first.
    dispose: async () => {
      await Promise.allSettled(running);
      await Promise.allSettled([...sessions].map((sessionID) => hook("dispose", about(sessionID))));
    },
  };
};
