/**
 * LangGraph's own suite for checkpointers, with what it leaves out unless asked: delta channels. Vitest runs it; the package's
 * command `validate-checkpointer` does not start in 1.1.1.
 */

import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { CommonbookSaver } from "commonbook/langgraph";
import { type TemporaryServer, temporaryServer } from "commonbook/testing";

let server: TemporaryServer;
let count = 0;

const initializer = {
  checkpointerName: "CommonbookSaver",
  beforeAll: async (): Promise<void> => {
    server = await temporaryServer();
  },
  afterAll: () => server.remove(),
  // Each one has a workspace of its own.
  createCheckpointer: () => new CommonbookSaver({ book: server.book("langgraph", { workspace: `suite-${count += 1}` }) }),
};

validate(initializer);
deltaChannelHistoryTests(initializer);
