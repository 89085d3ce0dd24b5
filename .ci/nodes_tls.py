"""TLS between a node and a server that offers it, for .ci/nodes: what is encrypted, and which certificates are refused."""

import contextlib
import glob
import json
import os
import re
import shutil
import socket
import subprocess
import time

from nodes_cluster import DATABASE, PROGRAM, READER, WAIT_SECONDS, Http, Node, Postgres, expect, report

HOST = "localhost"
PASSWORD = "rope-and-tar"


class Authority:
    """An authority that signs certificates of servers."""

    def __init__(self, folder, name):
        self.certificate, self.key = f"{folder}/{name}.pem", f"{folder}/{name}.key"
        uses = ["-addext", "keyUsage=critical,keyCertSign"]
        openssl("req", "-x509", *new_key(self.key), "-out", self.certificate, "-subj", f"/CN={name}", "-days", "30", *uses)

    def certify(self, postgres, host, days=30):
        """Gives the server a certificate for this host; the next connection is shown it."""
        paths = [f"{postgres.folder}/{name}" for name in ("server.key", "server.pem", "request.pem")]
        key, certificate, request = paths
        openssl("req", *new_key(key), "-out", request, "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}")
        signed = ["-CA", self.certificate, "-CAkey", self.key, "-copy_extensions", "copy", "-days", str(days)]
        openssl("x509", "-req", "-in", request, *signed, "-out", certificate)
        for path in paths:
            os.chmod(path, 0o600)
            postgres.give(path)


def openssl(*arguments):
    result = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=WAIT_SECONDS)
    expect(result.returncode == 0, f"openssl {' '.join(arguments)}: {result.stderr}")


def new_key(path):
    return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-keyout", path]


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Connections:
    """What the log of the server says about the connections of the role of the nodes."""

    def __init__(self, postgres):
        self.path, self.place = postgres.folder + "/log", 0

    def new(self):
        """The further connections since the last call: those with TLS, and those without."""
        with open(self.path, errors="replace") as log:
            log.seek(self.place)
            lines = [line for line in log if "connection authorized: user=book" in line]
            self.place = log.tell()
        encrypted = sum("SSL enabled" in line for line in lines)
        return encrypted, len(lines) - encrypted


def configure(node, url, authority):
    """Names the database in config.json, as a person does, and not in the environment."""
    node.environment.pop("COMMONBOOK_DATABASE", None)
    database = {"url": url} if authority is None else {"url": url, "authorities": authority.certificate}
    with open(node.home + "/config.json", "w") as file:
        json.dump({"database": database}, file)
    os.chmod(node.home + "/config.json", 0o600)


def check_work(postgres, node):
    """A memory is saved and read by a node, and each of its connections is encrypted."""
    node.start()
    line = Http(node, READER)
    memory = line.send("POST", "/v1/memories", {"text": "The harbour has a locked gate"})["memory"]
    found = line.send("GET", f"/v1/memories/{memory['id']}")
    expect(found.get("memory", found)["text"] == memory["text"], f"{found} instead of {memory}")
    rows = postgres.rows("SELECT ssl, version, cipher FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'book'")
    expect(rows and all(row["ssl"] for row in rows), f"connections of the node: {rows}")
    node.kill()
    return rows


def check_refusal(postgres, node, what, words):
    """The server and a command say what is wrong in one line, and neither writes anywhere, in clear or into a file."""
    before, connections = os.listdir(node.home), Connections(postgres)
    connections.new()
    for command in (["serve", "--port", "0"], ["save", "The gate is open", "--agent", READER]):
        begin = time.monotonic()
        result = subprocess.run(
            [PROGRAM, *command], cwd=node.home, env=node.environment, capture_output=True, text=True, timeout=WAIT_SECONDS
        )
        seconds = time.monotonic() - begin
        expect(result.returncode != 0 and not result.stdout, f"{what}: exit {result.returncode} of {command[0]}, {result.stdout!r}")
        text = result.stderr.strip()
        print(f"DEBUG {what}: {command[0]} {seconds:.2f} s exit {result.returncode}\n{text}\n")
    print("DEBUG", connections.new(), set(os.listdir(node.home)) ^ set(before))


def check_tls(folder):
    """A node on a server with a certificate of an authority of its own; then each certificate that must be refused."""
    begin, port = time.monotonic(), free_port()
    settings = ["listen_addresses=localhost", "log_connections=on", "ssl=on", "ssl_cert_file=../server.pem", "ssl_key_file=../server.key"]
    postgres = Postgres(folder, "postgres-tls", port, settings)
    authority, stranger = Authority(folder, "harbour-authority"), Authority(folder, "other-authority")
    with contextlib.ExitStack() as stack:
        stack.callback(postgres.stop)
        authority.certify(postgres, HOST)
        postgres.make("--auth-host=scram-sha-256")
        postgres.create(PASSWORD)
        node = Node("node-tls", folder, "")
        stack.callback(node.kill)
        url = f"postgres://book:{PASSWORD}@{HOST}:{port}/{DATABASE}?sslmode=require"
        configure(node, url, authority)
        print(check_work(postgres, node))
        configure(node, url, None)
        check_refusal(postgres, node, "unknown issuer", "")
        configure(node, url, stranger)
        check_refusal(postgres, node, "other issuer", "")
        configure(node, url, authority)
        authority.certify(postgres, "db.example.com"); postgres.command("SELECT pg_reload_conf()")
        check_refusal(postgres, node, "other host", "")
        authority.certify(postgres, HOST, -1); postgres.command("SELECT pg_reload_conf()")
        check_refusal(postgres, node, "expired", "")
        authority.certify(postgres, HOST); postgres.command("ALTER SYSTEM SET ssl = off"); postgres.command("SELECT pg_reload_conf()")
