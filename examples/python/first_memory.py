"""The first memory: two agents, one memory.

    python first_memory.py        with Commonbook installed"""

from commonbook import Commonbook

with Commonbook(agent="rook") as book:
    book.save("The kettle whistles at 96 degrees.", topics=["kettle"])
    print(book.search("When does the kettle whistle?")["hits"][0]["memory"]["text"])

    # Work on one matter, in a session; another agent goes on with it.
    with book.session(case=None) as session:
        session.save("Vinegar removes the lime.", topics=["kettle"])
        session.checkpoint_and_summarise("The kettle is clean; its lid is still loose.")
        handed = session.handoff("gemini-cli", "Fix the lid of the kettle", next_steps=["Bend the hinge"])
    print(book.acting(agent="gemini-cli").accept_handoff(handed["handoff"]["id"])["text"])
