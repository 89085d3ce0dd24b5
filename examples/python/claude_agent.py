"""An agent of the Claude Agent SDK that remembers: it is told what other agents saved, and what it says to remember is kept.

    python claude_agent.py        with claude-agent-sdk and Commonbook installed, and a key for the model"""

import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from commonbook import claude

PROMPT = "When does the kettle of the tea shop whistle? End with `Remember: …` if you learned something."


async def main():
    options = ClaudeAgentOptions(
        hooks=claude.hooks(), mcp_servers={"commonbook": claude.server()}, allowed_tools=[claude.TOOLS], setting_sources=[],
    )
    async for message in query(prompt=" ".join(sys.argv[1:]) or PROMPT, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main())
