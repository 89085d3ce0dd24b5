"""Wires between a client and a server that tests cut, and a server that answers as a test says."""

import http.server
import json
import socket
import threading


class Wire:
    """Passes bytes on to a server, and cuts what a test wants cut."""

    def __init__(self, url):
        host, _, port = url.removeprefix("http://").rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open, self._lock = set(), threading.Lock()
        # How many of the next answers are lost: the server has done its work, and the client does not hear of it.
        self.lose_answers = 0
        self.accepted = 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        # A server answers only to its own names.
        self._names = [f"Host: {address.removeprefix('http://')}".encode() for address in (self.url, url)]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Cuts everything that is open now."""
        with self._lock:
            for end in self._open:
                _shut(end)
            self._open.clear()

    def close(self):
        _shut(self._listener)
        self._listener.close()
        self.cut()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
            except OSError:
                return
            with self._lock:
                self.accepted += 1
                self._open |= {near, far}
            threading.Thread(target=self._pump, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(far, near, True), daemon=True).start()

    def _pump(self, source, sink, answers):
        try:
            while data := source.recv(65536):
                with self._lock:
                    lost = answers and self.lose_answers > 0
                    self.lose_answers -= lost
                if lost:
                    break
                sink.sendall(data if answers else data.replace(*self._names))
        except OSError:
            pass
        _shut(source)
        _shut(sink)


def _shut(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


class ScriptedServer:
    """Gives the answers of a list, one for each request: a status, headers and a JSON body."""

    def __init__(self, answers):
        self.requests = requests = []
        left = list(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                requests.append({"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body})
                status, headers, content = left.pop(0)
                content = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
