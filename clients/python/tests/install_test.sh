#!/usr/bin/env bash
# install_test.sh PYTHON: pip installs the client, whole and with nothing besides, by PYTHON or that of the system. It ends
# with 77 where both lack pip, setuptools or wheel (Debian: apt-get install python3-pip python3-setuptools python3-wheel).
set -euo pipefail
python=
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for one in "$1" /usr/bin/python3; do
  if "$one" -c 'import setuptools, wheel, pip' 2>/dev/null; then
    python=$one
    break
  fi
done
[ -n "$python" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# pip writes into the folder that it installs from.
cp -r "$here" "$work/source"
"$python" -m pip install --quiet --no-index --no-build-isolation --no-deps --target "$work/there" "$work/source" \
  >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
cd "$work"
PYTHONPATH=$work/there "$python" - "$work/there" <<'END'
import sys
from importlib import metadata

import stripline_client

assert stripline_client.__file__.startswith(sys.argv[1]), stripline_client.__file__
assert stripline_client.Client.list_nodes.__doc__
assert not metadata.requires("stripline-client"), metadata.requires("stripline-client")
END
