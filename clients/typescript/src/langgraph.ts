/**
 * LangGraph's checkpointer and store over Commonbook:
 *
 *     const agent = "weather";
 *     builder.compile({ checkpointer: new CommonbookSaver({ agent }), store: new CommonbookStore({ agent }) })
 */

export { CommonbookSaver, type CommonbookSaverOptions } from "./checkpointer.js";
export { CommonbookStore, type CommonbookStoreOptions } from "./store.js";
