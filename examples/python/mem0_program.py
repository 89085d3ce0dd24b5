"""A program written for mem0: it remembers what its users tell it. Only its import says where.

    python mem0_program.py        with Commonbook installed, and nothing else"""

from commonbook.mem0 import Memory


def remember(memory):
    """What such a program does; returns what it would tell its users."""
    chat = [
        {"role": "user", "content": "I am allergic to nuts, and I prefer green tea"},
        {"role": "assistant", "content": "I will keep the nuts away from you"},
    ]
    added = memory.add(chat, user_id="alex", run_id="morning", metadata={"channel": "shop"}, infer=False)
    memory.add("The shop opens at nine", agent_id="clerk", infer=False)
    memory.add("I take my coffee black", user_id="bert", infer=False)
    found = memory.search("Which tea does Alex prefer?", filters={"user_id": "alex"}, top_k=3)
    first = added["results"][0]["id"]
    memory.update(first, text="I am allergic to nuts, and I prefer black tea", metadata={"checked": True})
    memory.delete(added["results"][1]["id"])
    return {
        "added": added["results"],
        "found": found["results"],
        "now": memory.get(first),
        "all": memory.get_all(filters={"user_id": "alex"})["results"],
        "clerk": memory.get_all(filters={"agent_id": "clerk"})["results"],
        "history": memory.history(first),
    }


if __name__ == "__main__":
    with Memory() as memory:
        for memory_of_alex in remember(memory)["all"]:
            print(memory_of_alex["memory"])
        memory.delete_all(user_id="alex")
