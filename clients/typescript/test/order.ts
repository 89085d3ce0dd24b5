/**
 * A graph that takes an order, asks a person, and serves, with a script as its model. As a program it goes as far as it can, prints
 * what it asks or has said, and is killed: `node order.js URL WORKSPACE [ANSWER]`.
 */

import { fileURLToPath } from "node:url";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Annotation, Command, END, INTERRUPT, MessagesAnnotation, START, StateGraph, interrupt, isInterrupted,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { Commonbook } from "commonbook";
import { CommonbookSaver } from "commonbook/langgraph";

export const THREAD = { configurable: { thread_id: "tuesday" } } satisfies RunnableConfig;
const SCRIPT = ["Serve a tea?", "The tea is served."];

const State = Annotation.Root({ ...MessagesAnnotation.spec, approved: Annotation<string> });

/** The graph over a checkpointer. */
export function orderGraph(checkpointer: BaseCheckpointSaver) {
  const think = async ({ messages }: typeof State.State) => {
    const turn = messages.filter((message) => AIMessage.isInstance(message)).length;
    return { messages: [await new FakeListChatModel({ responses: [SCRIPT[turn]!] }).invoke(messages)] };
  };
  const ask = async ({ messages }: typeof State.State) => ({ approved: interrupt<string, string>(messages.at(-1)!.text) });
  return new StateGraph(State)
    .addNode("think", think).addNode("ask", ask)
    .addEdge(START, "think").addEdge("ask", "think")
    .addConditionalEdges("think", ({ approved }) => (approved === undefined ? "ask" : END), ["ask", END])
    .compile({ checkpointer });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [url, workspace, answer] = process.argv.slice(2);
  const book = new Commonbook({ url: url!, agent: "langgraph", workspace: workspace! });
  const graph = orderGraph(new CommonbookSaver({ book, agent: "tea" }));
  const order = { messages: [new HumanMessage("A tea, please.")] };
  const state = await (answer ? graph.invoke(new Command({ resume: answer }), THREAD) : graph.invoke(order, THREAD));
  console.log(isInterrupted<string>(state)
    ? `asks: ${state[INTERRUPT][0]?.value}`
    : state.messages.map(({ text }) => text).join(" "));
  process.kill(process.pid, "SIGKILL");
}
