"""What a client shows to a server, and by which certificate it knows the server."""

import base64
import hashlib
import ipaddress
import os
import re
import ssl
from pathlib import Path
from typing import NamedTuple, Optional
from urllib.parse import urlsplit


class AccessError(Exception):
    """Nothing was sent: what a token or certificate was to be read from is missing or not to be used."""


class Access(NamedTuple):
    token: str  # empty: none is shown
    authority_pem: str  # empty: that of the system's authorities


def _secret(path: Path) -> str:
    """The text of a file that is its owner's alone, as the command stripline asks for it."""
    try:
        with open(path, encoding="ascii") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise AccessError(f"'{path}' is open to other users; run: chmod 600 '{path}'")
            return file.read().strip()
    except (OSError, UnicodeDecodeError) as failure:
        raise AccessError(f"the token cannot be read from '{path}': {failure}") from failure


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as failure:
        raise AccessError(f"the authority's certificate cannot be read from '{path}': {failure}") from failure


def _login_of(host: str) -> Access:
    """What 'stripline login' has kept of a server of this host; the port of gRPC is another one."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    path = Path(config) / "stripline" / "config.toml"
    if not path.exists():
        return Access("", "")
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        return Access("", "")
    text = _secret_toml(path)
    try:
        servers = tomllib.loads(text).get("servers", {})
    except tomllib.TOMLDecodeError as failure:
        raise AccessError(f"'{path}': {failure}; mend it, or remove it and log in again") from failure
    for name, server in servers.items():
        if name.rpartition(":")[0].strip("[]") == host:
            return Access(server.get("token", ""), server.get("authority", ""))
    return Access("", "")


def _secret_toml(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise AccessError(f"'{path}' is open to other users; run: chmod 600 '{path}'")
    return path.read_text(encoding="utf-8")


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _authority_in(token: str) -> str:
    """The sha256 of the authority that a token belongs to, in hexadecimal digits; empty for --dev's."""
    match = re.fullmatch(r"stripline-[a-z]+\.([0-9a-f]{64})\.[\w-]+", token)
    return match.group(1) if match else ""


def _sha256_of_pem(pem: str) -> str:
    match = re.search(r"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", pem, re.DOTALL)
    if not match:
        raise AccessError("the authority's file holds no certificate")
    return hashlib.sha256(base64.b64decode(match.group(1))).hexdigest()


def find_access(url: str, token_file: Optional[str], ca_file: Optional[str]) -> Access:
    """From the arguments, else the environment, else 'stripline login'. Raises AccessError."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    token_file = token_file or os.environ.get("STRIPLINE_HTTP_TOKEN_FILE")
    ca_file = ca_file or os.environ.get("STRIPLINE_HTTP_CA_FILE")
    kept = Access("", "")
    if parts.scheme == "https" and not (token_file and ca_file):
        kept = _login_of(host)
    token = _secret(Path(token_file)) if token_file else kept.token
    authority = _text(Path(ca_file)) if ca_file else kept.authority_pem
    if not token:
        return Access("", authority)
    if parts.scheme == "http" and not is_loopback(host):
        raise AccessError(
            f"a token is not sent to {host} over plain http, where others could read it; the address "
            "of a server with certificates begins with https"
        )
    wanted = _authority_in(token)
    if parts.scheme == "https" and wanted and authority and _sha256_of_pem(authority) != wanted:
        raise AccessError("the token belongs to a server with another authority than that of ca_file; it is not sent")
    return Access(token, authority)


def tls_context(access: Access) -> ssl.SSLContext:
    """Knows servers by the given authority alone, if there is one. Raises AccessError."""
    if not access.authority_pem:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_verify_locations(cadata=access.authority_pem)
    except ssl.SSLError as failure:
        raise AccessError(f"the authority's certificate is damaged: {failure}") from failure
    return context
