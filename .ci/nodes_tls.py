"""TLS between a node and a server that offers it, for .ci/nodes: what is encrypted, and which certificates are refused."""

import json
import os
import re
import socket
import subprocess
import time

from nodes_cluster import DATABASE, PROGRAM, READER, WAIT_SECONDS, Http, Node, Postgres, Refusal, Wrong, expect, report, wait_until

HOST = "localhost"
OTHER_HOST = "db.example.com"
PASSWORD = "rope-and-tar"
# The days of a certificate that has expired yesterday.
EXPIRED = -1
# The exit code of an error of this kind.
UNAVAILABLE = 9


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


class ConnectionLog:
    """What the log of the server says about the connections of the role of the nodes."""

    def __init__(self, postgres):
        self.path, self.place = postgres.folder + "/log", 0

    def count(self):
        """The connections since the last call: how many with TLS, and how many without."""
        with open(self.path, errors="replace") as log:
            log.seek(self.place)
            lines = [line for line in log.readlines() if "connection authorized: user=book" in line]
            self.place = log.tell()
        encrypted = sum("SSL enabled" in line for line in lines)
        return encrypted, len(lines) - encrypted


class TlsServer:
    """A PostgreSQL server that offers TLS on a port of this machine, and takes connections without it too; and a node for it."""

    def __init__(self, folder):
        self.port = free_port()
        settings = [f"listen_addresses={HOST}", "log_connections=on", "ssl=on", "ssl_cert_file=../server.pem", "ssl_key_file=../server.key"]
        self.postgres = Postgres(folder, "postgres-tls", self.port, settings)
        self.authority, self.stranger = Authority(folder, "harbour-authority"), Authority(folder, "other-authority")
        self.log, self.node = ConnectionLog(self.postgres), Node("node-tls", folder, "")

    def start(self):
        self.authority.certify(self.postgres, HOST)
        self.postgres.make("--auth-host=scram-sha-256")
        self.postgres.create(PASSWORD)

    def stop(self):
        self.node.kill()
        self.postgres.stop()

    def show(self, host=HOST, days=30):
        """From now on the server shows a certificate for this host and these days."""
        self.authority.certify(self.postgres, host, days)
        # The server says when it has read its files; the certificate is among them.
        before = self.postgres.command("SELECT pg_conf_load_time()")
        self.postgres.command("SELECT pg_reload_conf()")
        wait_until(lambda: self.postgres.command("SELECT pg_conf_load_time()") != before, "the server does not read its certificate")

    def configure(self, authority, mode="require"):
        """Names the database in config.json, as a person does, and not in the environment."""
        self.node.environment.pop("COMMONBOOK_DATABASE", None)
        database = {"url": f"postgres://book:{PASSWORD}@{HOST}:{self.port}/{DATABASE}?sslmode={mode}"}
        if authority:
            database["authorities"] = authority.certificate
        with open(self.node.home + "/config.json", "w") as file:
            json.dump({"database": database}, file)
        os.chmod(self.node.home + "/config.json", 0o600)

    def run(self, *command):
        node = self.node
        return subprocess.run([PROGRAM, *command], cwd=node.home, env=node.environment, capture_output=True, text=True, timeout=WAIT_SECONDS)

    def memories(self):
        return int(self.postgres.command("SELECT count(*) FROM memory", DATABASE))


def save_and_read(node, text):
    line = Http(node, READER)
    memory = line.send("POST", "/v1/memories", {"text": text})["memory"]
    texts = [item["text"] for item in line.pages("/v1/memories") if item["id"] == memory["id"]]
    expect(texts == [text], f"a memory that was saved is {texts}")


def check_encryption(server):
    """A memory is saved and read, and every connection of the node is encrypted."""
    server.configure(server.authority)
    server.node.start()
    save_and_read(server.node, "The harbour has a gate that is locked")
    rows = server.postgres.rows("SELECT ssl, version, cipher FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'book'")
    expect(rows and all(row["ssl"] for row in rows), f"the connections of the node: {rows}")
    encrypted, plain = server.log.count()
    expect(encrypted >= len(rows) and not plain, f"the node opened {encrypted} connections with TLS and {plain} without")
    return rows


def check_renewal(server):
    """A node at work refuses a certificate that has expired, writes nothing meanwhile, and goes on when the server shows a new one."""
    server.show(days=EXPIRED)
    ends = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE usename = 'book'"
    expect(int(server.postgres.command(ends)), "the node had no connection")
    server.log.count()
    try:
        save_and_read(server.node, "The gate opens while its certificate has expired")
        raise Wrong("a write was answered over a certificate that has expired")
    except Refusal as refusal:
        expect(refusal.kind == "unavailable" and "xpired" in refusal.error["message"], f"a certificate that has expired: {refusal}")
    expect(server.log.count() == (0, 0), "the node has a connection over a certificate that has expired")
    server.show()
    save_and_read(server.node, "The gate opens again")
    encrypted, plain = server.log.count()
    expect(encrypted and not plain, f"after a new certificate: {encrypted} connections with TLS and {plain} without")
    server.node.kill()


def check_refusal(server, what, reason):
    """A server and a command end with an error that names the reason; nothing is written, in plain text or into a file."""
    files, memories = sorted(os.listdir(server.node.home)), server.memories()
    server.log.count()
    for command in (["serve", "--port", "0"], ["save", "The gate is open", "--agent", READER], ["list", "--agent", READER]):
        result = server.run(*command)
        expect(result.returncode == UNAVAILABLE and not result.stdout, f"{what}: {command[0]} ended with {result.returncode} and {result.stdout!r}")
        error, *others = result.stderr.strip().split("\n")
        expect(re.search(reason, error) and len(others) == 1 and others[0].startswith("hint: "), f"{what}: {command[0]} said {result.stderr!r}")
    expect(server.log.count() == (0, 0), f"{what}: there was a connection all the same")
    expect(server.memories() == memories, f"{what}: the database has another memory")
    expect(sorted(os.listdir(server.node.home)) == files, f"{what}: the home has another file")


def check_control(server):
    """Without TLS the same server is reached, and its log shows that: what the checks above look for is there to be found."""
    server.configure(None, mode="disable")
    result = server.run("list", "--agent", READER)
    encrypted, plain = server.log.count()
    expect(result.returncode == 0 and plain and not encrypted, f"sslmode=disable: {result.stderr!r}, {encrypted} connections with TLS, {plain} without")


def check_tls(folder):
    """A node on a server with a certificate of an authority of its own; then each certificate that must be refused."""
    begin, server = time.monotonic(), TlsServer(folder)
    try:
        server.start()
        rows = check_encryption(server)
        check_renewal(server)
        for authority, what in ((None, "no authority"), (server.stranger, "another authority")):
            server.configure(authority)
            check_refusal(server, what, "(?i)issuer|authorit")
        server.configure(server.authority)
        server.show(host=OTHER_HOST)
        check_refusal(server, "another host", f"{HOST}.*{OTHER_HOST}")
        server.show(days=EXPIRED)
        check_refusal(server, "an expired certificate", "(?i)expired")
        server.postgres.restart("ssl=off")
        check_refusal(server, "a server without TLS", "does not support TLS")
        check_control(server)
    finally:
        server.stop()
    report("TLS", f"{len(rows)} connections of a node with {rows[0]['version']}, none without; a new certificate was taken without a restart; "
           f"refused, in words and without a connection: no authority, another authority, another host, an expired certificate, a server "
           f"without TLS ({time.monotonic() - begin:.1f} s)")
