// Written by `commonbook setup opencode`; `commonbook setup opencode --undo` removes it.
// Passes each event to `commonbook hook opencode EVENT` and applies the response. If that fails, the
// turn goes on without it.
import { spawn } from "node:child_process";

const program = "commonbook-program";
const home = "commonbook-home";
const timeout = 2500; // milliseconds

function hook(event, given) {
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

export const Commonbook = async ({ directory }) => {
  const parents = new Map(); // by session of a sub-agent: its parent session and its role
  const prompts = new Map(); // by session: the last prompt of the user
  const contexts = new Map(); // by session: the context for that prompt
  const about = (sessionID) => ({ sessionID, directory, ...(parents.get(sessionID) ?? {}) });

  return {
    event: async ({ event }) => {
      const { info, sessionID = info?.id } = event.properties ?? {};
      if (!["session.created", "session.idle", "session.deleted"].includes(event.type) || !sessionID) return;
      if (event.type === "session.created" && info?.parentID) {
        parents.set(sessionID, { parentID: info.parentID, agent: info.agent });
      }
      await hook(`event:${event.type}`, { ...about(sessionID), info });
      if (event.type === "session.deleted") [parents, prompts, contexts].forEach((map) => map.delete(sessionID));
    },

    "chat.message": async (input, output) => {
      const texts = (output?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic);
      prompts.set(input.sessionID, texts.map((part) => part.text).join("\n"));
      contexts.delete(input.sessionID);
    },

    // Called with every step of an answer; the context of a prompt stays the same.
    "experimental.chat.system.transform": async (input, output) => {
      const { sessionID } = input;
      if (!sessionID || parents.has(sessionID)) return;
      if (!contexts.has(sessionID)) {
        const prompt = prompts.get(sessionID);
        const answer = await hook("experimental.chat.system.transform", { ...about(sessionID), prompt });
        contexts.set(sessionID, answer.context ?? "");
      }
      if (contexts.get(sessionID)) output.system.push(contexts.get(sessionID));
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
  };
};
