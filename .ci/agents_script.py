"""The script .ci/agents as a module, for other scripts: the coding clients, how they are installed and started."""

import importlib.util
import pathlib
from importlib.machinery import SourceFileLoader

loader = SourceFileLoader("agents", str(pathlib.Path(__file__).with_name("agents")))
agents = importlib.util.module_from_spec(importlib.util.spec_from_loader("agents", loader))
loader.exec_module(agents)
