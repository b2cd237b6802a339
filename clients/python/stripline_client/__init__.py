"""Client of Stripline's tuning server, by its /api/v1 (docs/http.md, docs/python.md).

    from stripline_client import Client

    with Client("https://head:7413", token_file="alice.token", ca_file="authority.pem") as client:
        for campaign in client.all_campaigns():
            print(campaign["name"], campaign["state"])
"""

from .access import AccessError
from .client import Client
from .transport import ConnectionFailed, ServerError

__all__ = ["AccessError", "Client", "ConnectionFailed", "ServerError"]
