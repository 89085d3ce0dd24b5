"""Fills a home with a made-up team for the pictures of the dashboard: a shop and its agents in one week."""
import json
import os
import subprocess
import sys

PROGRAM = sys.argv[1]
MEMORIES = [
    ("claude-code", "The payment service retries three times", ["payment"], "decision"),
    ("gemini-cli", "The payment service retries five times", ["payment"], "semantic"),
    ("codex", "Billing and Orders both write to PostgreSQL; Billing owns the table invoices", ["database"], "semantic"),
    ("claude-code", "PostgreSQL was upgraded to version 16 in May; the old replica is gone", ["database"], "episodic"),
    ("codex", "The slow query of the orders page had no index on the date", ["orders", "database"], "learning"),
    ("copilot/reviewer", "Each change to Billing needs a second reviewer", ["billing", "review"], "procedural"),
    ("claude-code/engineer", "Tests of the checkout run against a PostgreSQL in a container", ["tests"], "procedural"),
    ("gemini-cli", "The staging database is reset every Sunday at 03:00", ["staging"], "semantic"),
    ("codex", "Redis holds the carts for thirty days, then they expire", ["cart"], "semantic"),
    ("claude-code", "We chose Stripe for payments because refunds are free there", ["payment"], "decision"),
    ("copilot/reviewer", "Logs of the payment service contain the order number, never the card", ["payment", "logs"], "semantic"),
    ("claude-code/engineer", "The release train leaves on Thursday; what is not merged by noon waits a week", ["release"], "procedural"),
    ("gemini-cli", "Customers of the pilot asked for invoices as PDF", ["billing"], "episodic"),
    ("codex", "The nightly job runs at 02:00", ["billing"], "semantic"),
    ("copilot/reviewer", "The nightly job runs at 04:00", ["billing"], "semantic"),
    ("claude-code", "Feature flags live in config/flags.toml and are read once at the start", ["config"], "semantic"),
    ("codex", "The payment service gives up after ten seconds in all; the orders page shows a notice then", ["payment", "orders"], "semantic"),
    ("gemini-cli", "The outage of the orders page on Monday lasted 42 minutes", ["outage", "orders"], "episodic"),
]
HANDOFFS = [
    ("claude-code", "gemini-cli", "Write the press release about the outage of the orders page"),
    ("gemini-cli", "codex", "Check the numbers of the press release"),
    ("codex", "gemini-cli", "The numbers are right; publish it"),
    ("claude-code", "codex", "Add the missing index, and measure the orders page again"),
    ("codex", "copilot/reviewer", "Review the migration with the index"),
    ("claude-code", "claude-code/engineer", "Make the payment service give up after ten seconds"),
    ("claude-code/engineer", "copilot/reviewer", "Review the time limit of the payment service"),
]


def run(*arguments, agent):
    environment = os.environ | ({} if agent == "human" else {"COMMONBOOK_AGENT_ID": agent})
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stdout} {done.stderr}")
    return done.stdout


for agent, text, topics, kind in MEMORIES:
    marks = [word for topic in topics for word in ("--topic", topic)]
    run("save", text, "--type", kind, *marks, agent=agent)
run("case", "open", "outage", "--title", "Outage of the orders page", agent="claude-code")
run("case", "append", "outage", "The slow query has no index on the date.", "--kind", "decision", agent="codex")
run("case", "append", "outage", "The index is there since Tuesday.", agent="gemini-cli")
for project, tools in {"Billing": ["PostgreSQL", "Stripe"], "Orders": ["PostgreSQL", "Redis"], "Checkout": ["Redis", "Stripe"]}.items():
    run("entity", "resolve", "project", project, "--context", f"{project} is a part of the shop", agent="codex")
    for tool in tools:
        run("entity", "resolve", "tool", tool, agent="claude-code")
        run("entity", "relate", f"project:{project}", "uses", f"tool:{tool}", agent="claude-code")
for giver, taker, task in HANDOFFS:
    made = json.loads(run("handoff", "create", taker, task, "--json", agent=giver))["handoff"]["id"]
    run("handoff", "accept", made, agent=taker)
    if "Review" not in task:
        run("handoff", "complete", made, "Done.", agent=taker)
for agent, task in [("codex", "Make the payment service retry less often"), ("gemini-cli", "Write about the outage of the orders page"),
                    ("claude-code/engineer", "Test the checkout against the database"), ("copilot/reviewer", "Review the time limit of the payment service")]:
    run("context", task, "--budget", "250", agent=agent)
run("reindex", agent="human")
