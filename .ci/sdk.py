"""The official Python SDK as a client: sdk.py stdio PROGRAM HOME | http URL, with the calls in CALLS.
It prints what each call brought, as JSON."""

import asyncio
import json
import os
import sys

import mcp


async def main(way, target, home=""):
    arguments = ["mcp", "--home", home]
    stdio = mcp.StdioServerParameters(command=target, args=arguments, env=dict(os.environ))
    server = stdio if way == "stdio" else f"{target}/mcp"
    about = mcp.Implementation(name="python-sdk", version="1")
    found = {}
    async with mcp.Client(server, client_info=about) as client:
        await client.list_tools()
        for name, tool, given in json.loads(os.environ["CALLS"]):
            answer = await client.call_tool(tool, given)
            text = "\n".join(part.text for part in answer.content)
            found[name] = {"error": bool(answer.is_error), "text": text}
    print(json.dumps(found))


asyncio.run(main(*sys.argv[1:]))
