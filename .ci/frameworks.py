"""One agent of one framework, which saves and searches with its framework's own tools: frameworks.py NAME PROGRAM URL MODEL.
PROGRAM is started over stdio, or URL is a server that runs already, whichever the documents of the framework begin with. MODEL is
the address of the scripted model. The agent's prompt is in PROMPT, and its environment is the one of the program."""

import asyncio
import os
import sys

NAME, PROGRAM, URL, MODEL = sys.argv[1:]
PROMPT = os.environ["PROMPT"]
ARGUMENTS = ["mcp", "--client", NAME]
ENVIRONMENT = dict(os.environ)
HEADERS = {"X-Commonbook-Agent": NAME}
OPENAI = {"base_url": f"{MODEL}/v1", "api_key": "sk-dummy"}


async def crewai():
    from crewai import LLM, Agent
    from crewai.mcp import MCPServerStdio

    server = MCPServerStdio(command=PROGRAM, args=ARGUMENTS, env=ENVIRONMENT)
    agent = Agent(
        role="Keeper", goal="Keep what was learnt", backstory="You keep notes.", mcps=[server],
        llm=LLM(model="openai/gpt-5", **OPENAI),
    )
    return (await agent.kickoff_async(PROMPT)).raw


async def claude_agent_sdk():
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

    server = {"command": PROGRAM, "args": ARGUMENTS, "env": ENVIRONMENT, "alwaysLoad": True}
    client = {
        "ANTHROPIC_BASE_URL": MODEL, "ANTHROPIC_API_KEY": "sk-dummy", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    options = ClaudeAgentOptions(
        mcp_servers={"commonbook": server}, allowed_tools=["mcp__commonbook__*"], setting_sources=[], env=client,
    )
    async for message in query(prompt=PROMPT, options=options):
        if isinstance(message, ResultMessage):
            result = message.result
    return result


async def openai_agents():
    from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStreamableHttp
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    server = MCPServerStreamableHttp(params={"url": f"{URL}/mcp", "headers": HEADERS})
    model = OpenAIResponsesModel("gpt-5", AsyncOpenAI(**OPENAI))
    async with server:
        strict = {"convert_schemas_to_strict": True}
        agent = Agent(name="Keeper", model=model, mcp_servers=[server], mcp_config=strict)
        return (await Runner.run(agent, PROMPT)).final_output


async def langchain():
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_openai import ChatOpenAI

    server = {"transport": "stdio", "command": PROGRAM, "args": ARGUMENTS, "env": ENVIRONMENT}
    tools = await MultiServerMCPClient({"commonbook": server}).get_tools()
    agent = create_agent(ChatOpenAI(model="gpt-5", **OPENAI), tools)
    answer = await agent.ainvoke({"messages": [{"role": "user", "content": PROMPT}]})
    return answer["messages"][-1].content


async def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(**OPENAI))
    agent = Agent(model, toolsets=[MCPToolset(f"{URL}/mcp", headers=HEADERS)])
    async with agent:
        return (await agent.run(PROMPT)).output


async def google_adk():
    from google.adk.agents import LlmAgent
    from google.adk.models import Gemini
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
    from google.genai import types
    from mcp import StdioServerParameters

    server = StdioServerParameters(command=PROGRAM, args=ARGUMENTS, env=ENVIRONMENT)
    toolset = McpToolset(connection_params=StdioConnectionParams(server_params=server))
    agent = LlmAgent(name="keeper", model=Gemini(model="gemini-2.5-pro", base_url=MODEL), tools=[toolset])
    runner = InMemoryRunner(agent=agent, app_name="keeper")
    session = await runner.session_service.create_session(app_name="keeper", user_id="ci")
    prompt = types.UserContent(parts=[types.Part(text=PROMPT)])
    texts = []
    async for event in runner.run_async(user_id="ci", session_id=session.id, new_message=prompt):
        texts.extend(part.text for part in event.content.parts if part.text)
    await toolset.close()
    return texts[-1]


async def agent_framework():
    from agent_framework import Agent, MCPStdioTool
    from agent_framework.openai import OpenAIChatClient

    client = OpenAIChatClient(model="gpt-5", **OPENAI)
    async with MCPStdioTool(name="commonbook", command=PROGRAM, args=ARGUMENTS, env=ENVIRONMENT) as tools:
        return (await Agent(client=client, name="keeper", tools=tools, default_options={"store": False}).run(PROMPT)).text


async def autogen():
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient
    from autogen_ext.tools.mcp import McpWorkbench, StdioServerParams

    model = OpenAIChatCompletionClient(model="gpt-4o", **OPENAI)
    async with McpWorkbench(StdioServerParams(command=PROGRAM, args=ARGUMENTS, env=ENVIRONMENT)) as workbench:
        agent = AssistantAgent("keeper", model, workbench=workbench, max_tool_iterations=10)
        return (await agent.run(task=PROMPT)).messages[-1].content


print(asyncio.run(globals()[NAME.replace("-", "_")]()))
