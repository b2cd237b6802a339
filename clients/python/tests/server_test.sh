#!/usr/bin/env bash
# server_test.sh BIN: docs/schema/api-v1.json, from which the Python client is made, is what the server in BIN says of
# itself, and the client gets on with that server. With --write in place of a test, the file is written.
set -euo pipefail
bin=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
described=$here/../../docs/schema/api-v1.json
work=$(mktemp -d)
server=
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$server" ] || wait "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config

"$bin/stripline-server" --dev --data-dir "$work/data" --listen 127.0.0.1:0 --http-listen 127.0.0.1:0 \
  --port-file "$work/port" 2>"$work/log" &
server=$!
for _ in $(seq 300); do
  [ -s "$work/port" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
url=$(sed -n 's/.*dashboard on //p' "$work/log")
STRIPLINE_HTTP_TOKEN_FILE=$(echo "$XDG_STATE_HOME"/stripline/dev-*.token)
export STRIPLINE_HTTP_TOKEN_FILE

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here python3 - "$url" "$described" "${2:-}" <<'END'
import json
import sys

from stripline_client import Client, ServerError

url, described, write = sys.argv[1:]
with Client(url) as client:
    said = client.get_description()
    text = json.dumps(said, indent=1, sort_keys=True) + "\n"
    if write == "--write":
        with open(described, "w", encoding="utf-8") as file:
            file.write(text)
        sys.exit()
    with open(described, encoding="utf-8") as file:
        if json.load(file) != said:
            sys.exit("the server describes itself otherwise than docs/schema/api-v1.json: "
                     "run clients/python/tests/server_test.sh BIN --write, then clients/python/generate.py")
    assert client.who_am_i()["role"] == "ADMIN", client.who_am_i()
    assert list(client.all_nodes()) == [] and list(client.all_campaigns(page_size=1)) == []
    for what, reason in (
        (lambda: client.get_campaign("c9"), "CAMPAIGN_NOT_FOUND"),
        (lambda: client.create_campaign(spec={"fabric": "tcp", "ranks": -1}), "INVALID_FIELD"),
        (lambda: client.list_nodes(page_size="many"), "INVALID_FIELD"),
        (lambda: list(client.watch_campaign("c9")), "CAMPAIGN_NOT_FOUND"),
    ):
        try:
            what()
        except ServerError as refusal:
            assert refusal.reason == reason, (refusal, reason)
            assert refusal.message, refusal
        else:
            sys.exit(f"something was accepted that should be refused with {reason}")
END
