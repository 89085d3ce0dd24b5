"""The program as others use it, which mostly waits: the steps that .ci/run makes with the build of the tests, and .ci/release with a release build."""

from dataclasses import replace

from steps import Step

BLACK_BOXES = [
    Step("the README's picture shows the demo", ".ci/picture --check"),
    Step("clients of others: fastmcp and the MCP inspector", "bash .ci/clients"),
    Step("agent frameworks of others: eight, each with its own way of calling a tool", ".ci/frameworks"),
    Step("the Python client: generated, typed, tested; the frameworks of its faces with it", "bash .ci/python"),
    Step("the TypeScript client: its generated types, every method, lost connections, events, its example", "bash .ci/typescript"),
    Step("150 calls as models write them, over MCP and REST", ".ci/calls"),
    Step("the dashboard in Chromium: every page, keyboard, axe, screenshots", "bash .ci/dashboard"),
    Step("the OpenAPI document: two validators, and two generated clients at work", "bash .ci/openapi"),
    Step("property tests of REST: schemathesis", "bash .ci/schemathesis"),
    Step("coding clients and SDKs of others: one story each, and two clients in one home", ".ci/agents"),
    Step("imports of what other programs really write: npm's memory server, mem0, four coding clients; archives through age and tar", ".ci/importers"),
    Step("nodes over one PostgreSQL: races, kill -9 of nodes and of the server, failover to a standby, with the oracle; TLS", "python3 .ci/nodes"),
    Step("40 rounds of kill -9, with the oracle", "python3 .ci/crash"),
    Step("40 kills: of the first second of a home, and of its upgrade from each of the thirty newest schemas", "python3 .ci/upgrades"),
    Step("40 passes of a vault killed, on two machines that share it by git", "python3 .ci/vault"),
]

# What installs frameworks of others, pinned unless `--newest` is said.
FRAMEWORKS = {".ci/frameworks", "bash .ci/python", "bash .ci/typescript"}
assert FRAMEWORKS <= {step.command for step in BLACK_BOXES}


def at_newest(step):
    """The step with the newest release of each framework that it installs; one that fails prints last which these are."""
    if step.command not in FRAMEWORKS:
        return step
    return replace(step, name=f"{step.name}; each framework at its newest release", command=f"{step.command} --newest")
