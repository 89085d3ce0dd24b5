"""LangGraph's checkpointer over Commonbook:

    from commonbook.langgraph_checkpoint import CommonbookSaver

    graph = builder.compile(checkpointer=CommonbookSaver(agent="weather"))
    graph.invoke(inputs, {"configurable": {"thread_id": "tuesday"}})

Another process of the agent goes on with the thread, also from an earlier checkpoint."""

from ._langgraph_checkpointer import CommonbookSaver

__all__ = ["CommonbookSaver"]
