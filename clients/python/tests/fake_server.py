"""A server of HTTP that answers as a test says, and remembers what it was asked."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Asked:
    def __init__(self, verb, path, headers, body):
        self.verb, self.path, self.headers, self.body = verb, path, headers, body

    def json(self):
        return json.loads(self.body)


class FakeServer:
    """answers: [(status, headers, body)] in their order; a body that is no bytes is sent as JSON."""

    def __init__(self, tls=None):
        self.answers, self.asked = [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                outer.asked.append(Asked(self.command, self.path, self.headers, self.rfile.read(length)))
                status, headers, body = outer.answers.pop(0)
                if status == 0:  # goes without a word
                    self.close_connection = True
                    return
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def will_answer(self, body, status=200, **headers):
        self.answers.append((status, {n.replace("_", "-"): v for n, v in headers.items()}, body))

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
