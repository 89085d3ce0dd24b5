"""Anthropic's memory tool over Commonbook:

    from commonbook.anthropic import CommonbookMemoryTool

    memory = CommonbookMemoryTool(agent="weather")
    client.beta.messages.tool_runner(model=model, max_tokens=1024, messages=messages, tools=[memory]).until_done()

The files below `/memories` are documents of the agent, which other doors of Commonbook read and search too. The answers are
those of the local tool of anthropic 2.14.0."""

from ._async.memory_tool import AsyncCommonbookMemoryTool
from ._sync.memory_tool import CommonbookMemoryTool

__all__ = ["AsyncCommonbookMemoryTool", "CommonbookMemoryTool"]
