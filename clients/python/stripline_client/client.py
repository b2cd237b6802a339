"""The client: what the server describes (operations.py, generated), by HTTP (transport.py)."""

from .operations import Operations
from .transport import Transport


class Client(Operations, Transport):
    """A server of Stripline. See Transport for how it is reached, Operations for what it can be asked."""
