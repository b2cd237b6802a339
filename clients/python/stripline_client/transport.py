"""Requests, answers and errors of /api/v1; what is asked for is in operations.py."""

import http.client
import json
import re
import socket
import ssl
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple
from urllib.parse import quote, urlencode, urlsplit

from .access import find_access, tls_context

# The server closes a connection that is idle for longer than this (docs/http.md, Limits).
_IDLE_S = 8.0
# No list of a server has more pages; one that has is broken.
_MOST_PAGES = 1_000_000


class ConnectionFailed(Exception):
    """The server was not reached, or did not answer whole. What was asked for may have been done."""


class ServerError(Exception):
    """The server refused. Reasons are those of docs/service-errors.md.

    status: of HTTP. code, reason, message, metadata: of the problem; reason is stable.
    retry_after_s: with 429 and 503, when to ask again; None: the server did not say.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after_s: Optional[float]):
        self.status = status
        self.code = str(problem.get("code", ""))
        self.reason = str(problem.get("reason", ""))
        self.message = str(problem.get("message", ""))
        self.metadata: Dict[str, str] = dict(problem.get("metadata") or {})
        self.retry_after_s = retry_after_s
        super().__init__(f"{self.reason or status}: {self.message}")


def path_of(template: str, values: Mapping[str, Any]) -> str:
    """'/campaigns/{campaign}' with values in place of the names, which may be resource names.

    'campaigns/c1' and 'c1' are the same campaign, 'models/m/versions/2' and '2' the same version.
    """

    def value_for(match: "re.Match[str]") -> str:
        collection, name = match.group(1), match.group(2)
        value = str(values[name])
        prefix = value.rpartition("/")[0]
        if prefix == collection or prefix.endswith("/" + collection):
            value = value[len(prefix) + 1 :]
        if not value or value in (".", ".."):
            raise ValueError(f"'{values[name]}' is not a valid {name}")
        return f"{collection}/{quote(value, safe='')}"

    return re.sub(r"(\w+)/\{(\w+)\}", value_for, template)


class Transport:
    """One connection at a time. Not to be used by several threads at once."""

    def __init__(
        self,
        url: str,
        *,
        token_file: Optional[str] = None,
        ca_file: Optional[str] = None,
        timeout_s: float = 60.0,
    ):
        """url: of the dashboard, such as https://head:7413, with the path of a proxy if there is one.

        token_file: as 'stripline token create -o' writes it; else STRIPLINE_HTTP_TOKEN_FILE, else what
        'stripline login' has kept for a server of this host. ca_file: tls/authority.pem; else
        STRIPLINE_HTTP_CA_FILE, else that of the login, else the system's authorities. Raises AccessError.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is not of the form https://HOST:PORT")
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/") + "/api/v1"
        self._timeout_s = timeout_s
        access = find_access(url, token_file, ca_file)
        self._headers = {"Accept": "application/json"}
        if access.token:
            self._headers["Authorization"] = "Bearer " + access.token
        self._tls = tls_context(access) if parts.scheme == "https" else None
        self._connection: Optional[http.client.HTTPConnection] = None
        self._used_s = 0.0

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connected(self) -> http.client.HTTPConnection:
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout_s, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)

    def _address(self, template: str, values: Mapping[str, Any], query: Mapping[str, Any]) -> str:
        pairs = [(name, _query_text(value)) for name, value in query.items() if value is not None]
        address = self._prefix + path_of(template, values)
        return address + ("?" + urlencode(pairs) if pairs else "")

    def _exchange(
        self, verb: str, address: str, body: Optional[bytes]
    ) -> Tuple[http.client.HTTPResponse, bytes]:
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        kept = self._connection is not None and time.monotonic() - self._used_s < _IDLE_S
        if not kept:
            self.close()
        for last in (not kept, True):
            connection = self._connection or self._connected()
            self._connection = connection
            try:
                connection.request(verb, address, body, headers)
                response = connection.getresponse()
                content = response.read()
                break
            except (http.client.HTTPException, OSError) as failure:
                self.close()
                # What a kept connection did not answer is asked again where that does no harm.
                if last or verb != "GET" or isinstance(failure, (socket.timeout, ssl.SSLError)):
                    raise ConnectionFailed(f"{self._host}: {failure or type(failure).__name__}") from failure
        self._used_s = time.monotonic()
        if response.will_close:
            self.close()
        return response, content

    def _call(
        self,
        verb: str,
        template: str,
        values: Mapping[str, Any],
        query: Mapping[str, Any],
        body: Optional[Mapping[str, Any]] = None,
    ) -> Any:
        text = None
        if verb == "POST":
            text = json.dumps({name: value for name, value in (body or {}).items() if value is not None}).encode()
        response, content = self._exchange(verb, self._address(template, values, query), text)
        if response.status != 200:
            raise _refusal(response, content)
        try:
            return json.loads(content)
        except ValueError as failure:
            raise ConnectionFailed(f"the answer of {self._host} breaks off: {failure}") from failure

    def _pages(self, page: Callable[..., Any], member: str, page_size: Optional[int], **values: Any) -> Iterator[Any]:
        """Each of `member` of all pages of a list, which are asked for as they are needed."""
        token: Optional[str] = None
        for _ in range(_MOST_PAGES):
            answer = page(**values, page_size=page_size, page_token=token)
            yield from answer.get(member, [])
            following = answer.get("next_page_token") or ""
            if not following:
                return
            if following == token:
                break
            token = following
        raise ConnectionFailed(f"the list of {self._host} does not end: its page '{token}' is followed by itself")

    def _events(self, template: str, values: Mapping[str, Any], query: Mapping[str, Any]) -> Iterator[Tuple[str, Any]]:
        """(name, data) of each event, on a connection of its own, until the server ends the stream."""
        connection = self._connected()
        try:
            connection.request(
                "GET", self._address(template, values, query), headers={**self._headers, "Accept": "text/event-stream"}
            )
            response = connection.getresponse()
            if response.status != 200:
                raise _refusal(response, response.read())
            yield from _parse_events(response)
        except (http.client.HTTPException, OSError) as failure:
            raise ConnectionFailed(f"{self._host}: {failure or type(failure).__name__}") from failure
        finally:
            connection.close()


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_query_text(one) for one in value)
    return str(value)


def _refusal(response: http.client.HTTPResponse, content: bytes) -> ServerError:
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"message": content.decode("utf-8", "replace")[:500].strip() or response.reason}
    after = response.getheader("Retry-After") or ""
    return ServerError(response.status, problem, float(after) if after.isdigit() else None)


def _parse_events(lines: Iterator[bytes]) -> Iterator[Tuple[str, Any]]:
    name, data = "", []
    for line in lines:
        text = line.decode("utf-8").rstrip("\r\n")
        if not text:
            if data:
                yield name or "message", json.loads("\n".join(data))
            name, data = "", []
            continue
        field, _, value = text.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
