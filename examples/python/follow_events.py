"""Follows what all agents do, for as long as it runs; a restart of the server loses no event.

    python follow_events.py       with Commonbook installed; Ctrl-C ends it"""

import asyncio
import sys

from commonbook import AsyncCommonbook


async def main(count):
    async with AsyncCommonbook() as book:
        async for event in book.events(events=["memory.*", "handoff.*"], exclude_self=True, after=0 if count else None):
            print(event["sequence"], event["kind"], event["actor"], event["subject"], flush=True)
            count -= 1
            if count == 0:
                break


asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
