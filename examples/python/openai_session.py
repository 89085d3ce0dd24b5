"""A conversation of OpenAI Agents that goes on in a later run, and what its agent saves for another one.

    python openai_session.py    with openai-agents and Commonbook installed; a script stands for the model"""

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from commonbook import Commonbook
from commonbook.openai import CommonbookSession

with Commonbook(agent="openai") as book:
    @function_tool
    def remember(text: str) -> str:
        """Saves what other agents should know, too."""
        return book.acting(agent="openai/tea").save(text)["outcome"]

    model = ScriptedModel([
        [function_call("remember", {"text": "The kettle of the tea shop whistles at 96 degrees."}, call_id="c1")],
        [assistant_message("I keep that in mind.")],
        [assistant_message("At 96 degrees.")],
    ])
    agent = Agent(name="tea", model=model, tools=[remember])
    for words in ("Our kettle whistles at 96 degrees.", "When does it whistle?"):
        # Each run could be in a process of its own: the session has what was said before.
        session = CommonbookSession("alex-42", book, agent="tea")
        ran = Runner.run_sync(agent, words, session=session, run_config=RunConfig(tracing_disabled=True))
        print(f"{len(model.last_call.input)} items read: {ran.final_output}")

    # What the agent saved another one finds, with its author; the conversation belongs to the agent alone.
    coder = book.acting(agent="claude-code")
    found = coder.search("When does the kettle whistle?")["hits"][0]["memory"]
    print(f"{found['owner']}: {found['text']}")
    print("conversations that claude-code sees:", len(coder.list(path="/openai/")["items"]))
