// A graph of LangGraph in one memory with a coding agent: it reads what that saved, asks a person, and goes on in another process.
// What it knows of its thread belongs to it alone; what it puts into its store is found by the others.
//
//   npm install commonbook @langchain/langgraph @langchain/core && node langgraph.ts        a script stands for the model

import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Annotation, Command, END, INTERRUPT, type LangGraphRunnableConfig, START, StateGraph, interrupt, isInterrupted,
} from "@langchain/langgraph";
import { Commonbook } from "commonbook";
import { CommonbookSaver, CommonbookStore } from "commonbook/langgraph";

const THREAD = { configurable: { thread_id: "samovar" } };
const State = Annotation.Root({ task: Annotation<string>, known: Annotation<string>, answer: Annotation<string> });
type Update = Partial<typeof State.State>;

/** Searches, asks, and keeps what the model says. */
function graphOf(book: Commonbook) {
  const tea = book.acting({ agent: "langgraph/tea" });
  const search = async ({ task }: typeof State.State): Promise<Update> => {
    const [hit] = (await tea.search(task)).hits;
    return { known: `${hit?.memory.owner} says: ${hit?.memory.text}` };
  };
  const ask = async ({ known }: typeof State.State): Promise<Update> => ({ answer: interrupt(`Lower it, although ${known}?`) });
  const act = async ({ answer }: typeof State.State, { store }: LangGraphRunnableConfig): Promise<Update> => {
    // Yours is new ChatOpenAI(…).
    const model = new FakeListChatModel({ responses: ["The samovar is lowered to 88 degrees."] });
    const { text } = await model.invoke(`The answer is ${answer}. What is to be noted?`);
    await store!.put(["notes", "samovar"], "heat", { text });
    return {};
  };
  return new StateGraph(State)
    .addNode("search", search).addNode("ask", ask).addNode("act", act)
    .addEdge(START, "search").addEdge("search", "ask").addEdge("ask", "act").addEdge("act", END)
    .compile({ checkpointer: new CommonbookSaver({ book, agent: "tea" }), store: new CommonbookStore({ book, agent: "tea" }) });
}

const book = await Commonbook.connect({ agent: "langgraph" });
const coder = book.acting({ agent: "claude-code" });
await coder.save("The samovar of the tea shop hums at 93 degrees.");
const asked = await graphOf(book).invoke({ task: "When does the samovar hum?" }, THREAD);
if (isInterrupted<string>(asked)) console.log(asked[INTERRUPT][0]?.value);

// Another process has the thread, and goes on with it.
await graphOf(new Commonbook({ agent: "langgraph" })).invoke(new Command({ resume: "yes" }), THREAD);
const { hits } = await coder.search("What was the samovar lowered to?", { k: 1 });
console.log(hits.map(({ memory }) => `${memory.owner} (${memory.path}): ${memory.text}`).join("\n"));
const ofThread = await book.acting({ agent: "langgraph/tea" }).list({ path: "/checkpoints/samovar/" });
const seen = await coder.list({ path: "/checkpoints/" });
console.log(`${ofThread.items[0]?.owner} has documents of its thread, and claude-code sees ${seen.items.length} of them.`);
await book.close();
