"""A crew and another program in one memory: the agents of CrewAI read what a coding agent saved, and it finds what they learned,
each with its author.

    python crewai_two_agents.py    with crewai and Commonbook installed; no model is needed

The model below is a script: yours is `Agent(llm="anthropic/claude-sonnet-4-5", …)`."""

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from commonbook import Commonbook
from commonbook.crewai import CommonbookMemory


class ScriptedLLM(BaseLLM):
    """Says what it has read of the memory, and once something to remember."""

    def call(self, messages, **named):
        read = [line for message in messages for line in message["content"].splitlines() if "wrote:" in line or "  > " in line]
        learned = [] if any("green tea" in line for line in read) else ["Remember: green tea wants 80 degrees."]
        return "\n".join(["Final Answer: I have read:", *read, *learned])


with Commonbook(agent="claude-code") as coder:
    coder.save("The kettle of the tea shop whistles at 96 degrees.")

    memory = CommonbookMemory()
    tea = Agent(role="Tea Maker", goal="Good tea", backstory="You make tea.", llm=ScriptedLLM(model="scripted"))
    clerk = Agent(role="Clerk", goal="Clear words", backstory="You write signs.", llm=ScriptedLLM(model="scripted"))
    make = Task(description="When does the kettle of the tea shop whistle?", expected_output="A number", agent=tea)
    write = Task(description="How many degrees does green tea want?", expected_output="A sign", agent=clerk)
    print(Crew(agents=[tea, clerk], tasks=[make, write], memory=memory).kickoff().raw)

    for hit in coder.search("green tea")["hits"]:
        print(f"{hit['memory']['owner']}: {hit['memory']['text']}")
    for match in memory.recall("kettle"):
        print(match.format())
