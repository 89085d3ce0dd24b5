"""Anthropic's memory tool: the answers of its own tool for local files, and what several agents make of one memory."""

import json
import os
import random
import re
from collections import Counter

import pytest

pytest.importorskip("anthropic", reason="anthropic is installed by .ci/python")

import httpx2  # noqa: E402
from anthropic import Anthropic, AsyncAnthropic  # noqa: E402
from anthropic.lib.tools import ToolError  # noqa: E402
from anthropic.tools.memory import BetaAsyncLocalFilesystemMemoryTool, BetaLocalFilesystemMemoryTool  # noqa: E402
from conftest import Awaited  # noqa: E402

from commonbook import Commonbook, Unavailable, _memory_tool  # noqa: E402
from commonbook.anthropic import AsyncCommonbookMemoryTool, CommonbookMemoryTool  # noqa: E402

KINDS = ["view", "view", "create", "create", "create", "str_replace", "str_replace", "insert", "insert", "delete", "rename"]
FOLDERS = ["", "d/", "d/", "d/e/", "d/e/f/", "notes/", "notes/.old/", "tea shop/", "d//e/./", "notes/../d/"]
NAMES = [
    "a.txt", "a.txt", "b.md", "B.md", "e", "d", "notes", ".hidden", "Größe ä.md", "日本語.md", "a*b", "a*", "a%", "a_b", "x%41", "%2E",
    "...", "~", "q'\"`\\", "NOTES", "e\u0301", "é", " blank ", "a\u200bb", "\u2764\ufe0f", "\U0001f469\u200d\U0001f680", "tab\t",
    "a.txt/", "a.txt/below",
]
ODD = [
    "/memories", "/memories/", "/memories/.", "/memories/d/..", "/memories/..", "/memories/../x", "/memories/d/../../x",
    "/memories/../memories", "/memories/../memories/a.txt", "/memories/../../memories/a.txt", "/memories/../../../../../etc/passwd",
    "/memoriesa.txt", "/memories../x", "/memory/a.txt", "memories/a.txt", "", "/", "/memories/none/../a.txt",
    "/memories/a.txt/../b.md", "/memories/a.txt/x/y",
]
RANGES = [[1, 2], [2, 3], [2, -1], [0, 1], [-3, 2], [3, 1], [1, -2], [9, 99], [1], []]
PARTS = [
    "kettle", "tea", "96 degrees", "Tee für zwei", "日本", "😀", "\t", " ", "  ", "", "aa", "aaa", "a", "- [ ] buy", "`x`", "<b>", "\r", "\u2028",
    "%s {}", "\\n", "'\"",
]


class Commands:
    """Commands of a seed; the files of the local tool have the texts that a replacement finds."""

    def __init__(self, seed, files):
        self._random, self._files = random.Random(seed), files

    def next(self):
        kind, chance = self._random.choice(KINDS), self._random.random()
        command = {"command": kind, "path": self._path(0.0 if kind == "create" else 0.6)}
        match kind:
            case "view" if chance < 0.5:
                command["view_range"] = self._random.choice(RANGES)
            case "create":
                command["file_text"] = self._text()
            case "str_replace":
                command |= {"old_str": self._old(command["path"]), "new_str": self._random.choice([*PARTS, self._text()])}
            case "insert":
                command |= {"insert_line": self._random.randint(-1, 6), "insert_text": self._random.choice([*PARTS, self._text()])}
            case "rename":
                command = {"command": kind, "old_path": command["path"], "new_path": self._path()}
                if chance < 0.1:
                    command["new_path"] = f"{command['old_path']}/{self._random.choice(['in', 'in/it'])}"
        return command

    def _path(self, known=0.0):
        chance = self._random.random()
        if chance < 0.08:
            return self._random.choice(ODD)
        there = sorted(file.relative_to(self._files).as_posix() for file in self._files.rglob("*"))
        if there and chance > 1 - known:
            return f"/memories/{self._random.choice(there)}"
        names = NAMES if self._random.random() < 0.3 else NAMES[:6]
        return f"/memories/{self._random.choice(FOLDERS)}{self._random.choice(names)}"

    def _line(self):
        return "".join(self._random.choice(PARTS) for _ in range(self._random.randint(0, 5)))

    def _text(self):
        end = self._random.choice(["", "\n", "\n", "\n\n", "\r\n"])
        text = self._random.choice(["\n", "\n", "\n", "\r\n"]).join(self._line() for _ in range(self._random.choice([0, 1, 2, 4, 8])))
        return text * self._random.choice([1, 1, 1, 1, 1, 40]) + end

    def _old(self, path):
        file = self._files / path.removeprefix("/memories").lstrip("/")
        if self._random.random() < 0.3 or ".." in path or not file.is_file():
            return self._random.choice(PARTS)
        text = file.read_bytes().decode()
        start = self._random.randint(0, len(text))
        return text[start:start + self._random.randint(1, 12)]


@pytest.fixture(params=["sync", "async"])
def kind(request):
    """Which of the two classes."""
    return request.param


@pytest.fixture
def make_tool(kind, commonbook_server, workspace, loop):
    """Makes a memory tool of an agent."""
    books = []

    def make_tool(name="ann", **options):
        if kind == "sync":
            books.append(commonbook_server.book(name, workspace=workspace))
            return CommonbookMemoryTool(books[-1], **options)
        books.append(Awaited(commonbook_server.async_book(name, workspace=workspace), loop))
        return Awaited(AsyncCommonbookMemoryTool(books[-1]._target, **options), loop)

    yield make_tool
    for book in books:
        book.close()


@pytest.fixture
def ours(make_tool):
    """The tool of the agent ann."""
    return make_tool()


@pytest.fixture
def local(kind, tmp_path, loop):
    """Anthropic's tool for local files."""
    if kind == "sync":
        return BetaLocalFilesystemMemoryTool(str(tmp_path))
    return Awaited(BetaAsyncLocalFilesystemMemoryTool(str(tmp_path)), loop)


@pytest.fixture
def ann(commonbook_server, workspace):
    """The client of the agent ann."""
    with commonbook_server.book("ann", workspace=workspace) as book:
        yield book


def answer(tool, command):
    """What the model reads, and whether it is an error; Anthropic's runner sends the `repr` of what is no `ToolError`."""
    try:
        return tool.call(command), False
    except ToolError as error:
        return error.content, True
    except Exception as error:
        return repr(error), True


def done(tool, kind, path, **fields):
    """The answer to a command that succeeds."""
    content, is_error = answer(tool, {"command": kind, "path": path, **fields})
    assert not is_error, content
    return content


def refused(tool, kind, path, **fields):
    """The answer to a command that fails."""
    content, is_error = answer(tool, {"command": kind, "path": path, **fields})
    assert is_error, content
    return content


def view_of(text, path="/memories/a.md"):
    """The answer to the view of a file of one line."""
    return f"Here's the content of {path} with line numbers:\n     1\t{text}"


def test_the_answers_are_those_of_the_tool_for_local_files(ours, local, tmp_path):
    files, kinds = tmp_path / "memories", Counter()
    commands = Commands(20_26, files)
    for number in range(1000):
        command = commands.next()
        expected = answer(local, command)
        if os.stat(tmp_path).st_size != 4096:
            # Not every file system says what ext4 does of a folder.
            sized = re.sub(r"(?m)^\S+(?=\t.*/$)|(?<=items:\n)\S+", "4K", expected[0])
            expected = (sized if expected[0].startswith("Here're") else expected[0], expected[1])
        assert answer(ours, command) == expected, (number, command)
        kinds[command["command"], expected[1]] += 1
    for path in ["/memories", *(f"/memories/{file.relative_to(files).as_posix()}" for file in sorted(files.rglob("*")))]:
        assert answer(ours, {"command": "view", "path": path}) == answer(local, {"command": "view", "path": path})
    # Each kind has succeeded and failed often.
    assert len(kinds) == 12 and min(kinds.values()) >= 15, kinds


def test_a_command_without_a_field_is_answered_alike(ours, local):
    for tool in (ours, local):
        done(tool, "create", "/memories/a.md", file_text="tea")
    incomplete = [
        {"command": "create", "path": "/memories/b.md"}, {"command": "str_replace", "path": "/memories/a.md", "old_str": "tea"},
        {"command": "insert", "path": "/memories/a.md", "insert_line": "1"}, {"command": "rename", "old_path": "/memories/a.md"},
        {"command": "insert", "path": "/memories/a.md", "insert_line": "1", "insert_text": "x"}, {"command": "view"},
        {"command": "delete"}, {"command": "sing", "path": "/memories/a.md"},
    ]
    for command in incomplete:
        assert answer(ours, command) == answer(local, command), command
    assert "b.md" not in done(ours, "view", "/memories")


def test_a_file_is_a_document_that_other_doors_read_and_change(ours, ann):
    done(ours, "create", "/memories/notes/tea.md", file_text="Green tea wants 80 degrees.\n")
    document = ann.get("/memories/notes/tea.md")
    assert (document["text"], document["owner"]) == ("Green tea wants 80 degrees.\n", "ann")
    assert ann.search("green tea degrees")["hits"][0]["memory"]["id"] == document["id"]
    ann.save("Black tea wants 96 degrees.", path="/memories/notes/black.md", metadata={"sure": True})
    done(ours, "insert", "/memories/notes/black.md", insert_line=0, insert_text="# Black")
    assert ann.get("/memories/notes/black.md")["metadata"] == {"sure": True}
    done(ours, "rename", "", old_path="/memories/notes", new_path="/memories/tea")
    assert ann.get("/memories/tea/tea.md")["id"] == document["id"]
    done(ours, "delete", "/memories/tea/tea.md")
    ann.restore(document["id"])
    assert done(ours, "view", "/memories/tea/tea.md").endswith("\n     1\tGreen tea wants 80 degrees.\n     2\t")


def test_a_name_that_a_document_cannot_have_is_in_percent_codes(ours, ann):
    names = {" a": "%20a", "e\u0301": "e%CC%81", "a\u200b": "a%E2%80%8B", "%2E": "%252E", "100 %": "100 %", "ä日": "ä日"}
    for name in names:
        done(ours, "create", f"/memories/{name}", file_text="tea")
    assert {memory["path"] for memory in ann.list_all(path="/memories/")} == {f"/memories/{segment}" for segment in names.values()}


def test_a_blank_file_that_another_door_fills_has_that_text(ours, ann):
    done(ours, "create", "/memories/a.md", file_text=" \n")
    assert done(ours, "view", "/memories/a.md") == view_of(" \n     2\t") and ann.get("/memories/a.md")["text"].endswith("is empty.")
    ann.update("/memories/a.md", text="tea")
    assert done(ours, "view", "/memories/a.md") == view_of("tea")
    assert done(ours, "view", "/memories").endswith("\n3B\t/memories/a.md")


def test_an_empty_folder_is_kept_by_a_document_that_is_no_file(ours, ann):
    done(ours, "create", "/memories/d/a.md", file_text="tea")
    done(ours, "delete", "/memories/d/a.md")
    [keeper] = ann.list_all(path="/memories/")
    assert keeper["path"] == "/memories/d/%2E" and done(ours, "view", "/memories").endswith("\n4K\t/memories/d/")
    assert "does not exist" in refused(ours, "view", "/memories/d/%2E")
    done(ours, "delete", "/memories/d")
    assert list(ann.list_all(path="/memories/")) == []


def test_agents_have_files_of_their_own_and_view_what_another_shares(make_tool):
    ann, eve = make_tool("ann"), make_tool("eve")
    done(ann, "create", "/memories/a.md", file_text="of ann")
    done(eve, "create", "/memories/a.md", file_text="of eve")
    done(make_tool("ann", sharing="private"), "create", "/memories/secret.md", file_text="of ann alone")
    assert (done(ann, "view", "/memories/a.md"), done(eve, "view", "/memories/a.md")) == (view_of("of ann"), view_of("of eve"))
    reader = make_tool("eve", owner="ann")
    assert done(reader, "view", "/memories/a.md") == view_of("of ann")
    assert "secret" in done(ann, "view", "/memories") and "secret" not in done(reader, "view", "/memories")
    assert "does not exist" in refused(reader, "view", "/memories/secret.md")
    for kind, fields in {"create": {"file_text": "x"}, "delete": {}, "insert": {"insert_line": 0, "insert_text": "x"}}.items():
        assert refused(reader, kind, "/memories/a.md", **fields) == "The files belong to ann: you can view them, and not change them."
    assert done(ann, "view", "/memories/a.md") == view_of("of ann")


def test_an_agent_of_a_program_is_a_child_of_its_name(make_tool, ann):
    done(make_tool(agent="weather man"), "create", "/memories/a.md", file_text="tea")
    [document] = ann.list_all(path="/memories/")
    assert document["owner"] == "ann/weather-man"


def test_a_user_has_files_of_its_own(make_tool):
    tools = {user: make_tool(user=user) for user in (None, "alex", "bert")}
    for user, tool in tools.items():
        done(tool, "create", "/memories/a.md", file_text=f"for {user}")
        done(tool, "create", f"/memories/{user}/a.md", file_text="tea")
        done(tool, "delete", f"/memories/{user}/a.md")
    for user, tool in tools.items():
        done(tool, "str_replace", "/memories/a.md", old_str="for", new_str="FOR")
        assert done(tool, "view", "/memories/a.md") == view_of(f"FOR {user}")
        assert refused(tool, "create", "/memories/a.md", file_text="tea") == "File /memories/a.md already exists"
        shown = done(tool, "view", "/memories").split("\n")[2:]
        assert set(shown) == {f"4K\t/memories/{user}/", f"{4 + len(str(user))}B\t/memories/a.md"}


def test_two_processes_of_an_agent_share_its_files(make_tool):
    first, second = make_tool(), make_tool()
    done(first, "create", "/memories/a.md", file_text="one\ntwo\n")
    done(second, "str_replace", "/memories/a.md", old_str="one", new_str="zero\none")
    insert = {"insert_line": 1, "insert_text": "between one and two"}
    assert "has changed meanwhile" in refused(first, "insert", "/memories/a.md", **insert)
    assert "zero" in done(first, "view", "/memories/a.md")
    done(first, "insert", "/memories/a.md", insert_line=2, insert_text="between one and two")
    assert [line.split("\t")[1] for line in done(second, "view", "/memories/a.md").split("\n")[1:]] == [
        "zero", "one", "between one and two", "two", "",
    ]
    done(second, "delete", "/memories/a.md")
    done(second, "create", "/memories/a.md", file_text="two")
    assert "has changed meanwhile" in refused(first, "str_replace", "/memories/a.md", old_str="two", new_str="three")
    # What this tool itself has moved or deleted is no change of others.
    done(first, "delete", "/memories/a.md")
    done(first, "create", "/memories/b.md", file_text="b")
    done(first, "rename", "", old_path="/memories/b.md", new_path="/memories/a.md")
    done(first, "str_replace", "/memories/a.md", old_str="b", new_str="c")


def test_a_change_between_reading_and_writing_is_not_overwritten(ours, ann, monkeypatch):
    def meanwhile(place, name, act):
        """Acts once before a step of the tool."""
        step = getattr(place, name)

        def first_act(*arguments):
            monkeypatch.setattr(place, name, step)
            act()
            return step(*arguments)

        monkeypatch.setattr(place, name, first_act)

    def change():
        ann.update("/memories/d/a.md", text="of another process")

    path = "/memories/d/a.md"
    for kind, fields, place, step in [
        ("insert", {"insert_line": 0, "insert_text": "x"}, _memory_tool, "inserted"),
        ("str_replace", {"old_str": "tea", "new_str": "x"}, _memory_tool, "replaced"),
        ("delete", {}, _memory_tool.Tree, "has_only"),
        ("rename", {"old_path": path, "new_path": "/memories/b.md"}, _memory_tool.Tree, "has_only"),
    ]:
        done(ours, "create", path, file_text="tea")
        meanwhile(place, step, change)
        assert refused(ours, kind, path, **fields).startswith(f"{path} has changed meanwhile, and is left as it is.")
        assert done(ours, "view", path) == view_of("of another process", path)
        # A file that has gone meanwhile does not come back.
        meanwhile(place, step, lambda: ann.delete(path))
        fields = fields | ({"old_str": "of"} if kind == "str_replace" else {})
        assert refused(ours, kind, path, **fields).startswith(f"{path} has changed meanwhile")
        assert "does not exist" in refused(ours, "view", path)
    meanwhile(_memory_tool, "document_of", lambda: ann.save("of another process", path=path))
    assert refused(ours, "create", path, file_text="tea") == f"File {path} already exists"


def test_an_answer_says_when_a_text_is_kept_otherwise(ours):
    note = "\nSecrets and control characters of the text were not kept: view the file before you edit it."
    key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP"
    created = done(ours, "create", "/memories/a.md", file_text=f"The key is {key}")
    assert created == f"File created successfully at: /memories/a.md{note}"
    assert done(ours, "view", "/memories/a.md") == view_of("The key is [redacted:anthropic-key]")
    assert done(ours, "str_replace", "/memories/a.md", old_str="key is", new_str="\x1b[1mkey\x1b[0m is").endswith(
        f"     1\tThe [1mkey[0m is [redacted:anthropic-key]{note}"
    )
    assert done(ours, "insert", "/memories/a.md", insert_line=0, insert_text="# Keys") == "The file /memories/a.md has been edited."


def test_what_a_document_cannot_have_is_refused_in_words(ours):
    assert refused(ours, "create", "/memories/a.md", file_text="x" * 102_401) == "text: 102401 bytes; the maximum is 102400"
    assert "segments" in refused(ours, "create", "/memories" + "/d" * 20, file_text="tea")
    assert "1024" in refused(ours, "create", "/memories/" + "x" * 1024, file_text="tea")
    assert done(ours, "view", "/memories").endswith("items:\n4K\t/memories")


def test_all_is_cleared(ours, ann):
    for path in ("/memories/a.md", "/memories/d/e/a.md", "/elsewhere/a.md"):
        ann.save("tea", path=path)
    assert ours.clear_all_memory() == "All memory cleared"
    assert [memory["path"] for memory in ann.list_all()] == ["/elsewhere/a.md"]


def test_a_model_uses_it_in_anthropics_own_runner(kind, make_tool, loop):
    commands = [
        {"command": "create", "path": "/memories/tea.md", "file_text": "80 degrees"}, {"command": "view", "path": "/memories/tea.md"},
        {"command": "view", "path": "/memories/coffee.md"},
    ]
    read = []

    def model(request):
        messages, step = json.loads(request.content), len(read)
        read.append(messages)
        content = [{"type": "text", "text": "Done."}]
        if step < len(commands):
            content = [{"type": "tool_use", "id": f"t{step}", "name": "memory", "input": commands[step]}]
        return httpx2.Response(200, json={
            "id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": content, "stop_sequence": None,
            "stop_reason": "tool_use" if step < len(commands) else "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1},
        })

    tool, transport = make_tool(), httpx2.MockTransport(model)
    asked = {"model": "scripted", "max_tokens": 99, "messages": [{"role": "user", "content": "Note 80 degrees"}]}
    given = {"api_key": "none", "base_url": "http://model.invalid"}
    if kind == "sync":
        Anthropic(http_client=httpx2.Client(transport=transport), **given).beta.messages.tool_runner(tools=[tool], **asked).until_done()
    else:
        client = AsyncAnthropic(http_client=httpx2.AsyncClient(transport=transport), **given)
        loop.run_until_complete(client.beta.messages.tool_runner(tools=[tool._target], **asked).until_done())
    assert read[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [message["messages"][-1]["content"][0] for message in read[1:]]
    assert [(result["content"], result.get("is_error", False)) for result in results] == [
        ("File created successfully at: /memories/tea.md", False), (view_of("80 degrees", "/memories/tea.md"), False),
        ("The path /memories/coffee.md does not exist. Please provide a valid path.", True),
    ]


def test_a_server_that_does_not_answer_is_no_error_of_the_model():
    tool = CommonbookMemoryTool(Commonbook("http://127.0.0.1:9", agent="ann", workspace="tests", retries=0))
    with pytest.raises(Unavailable):
        tool.call({"command": "view", "path": "/memories"})
    tool.book.close()
