#!/usr/bin/env bash
# Makes the Debian packages, and looks whether what is in them works: unpacked into a folder, because
# installing them is the host's business. The units are checked by systemd.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
require_packages "${build_packages[@]}" systemd
configure_and_build release installed

folder=$(mktemp -d)
server=
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT
(cd build/release && cpack -G DEB -B "$folder/packages" >"$folder/cpack.log") ||
  { cat "$folder/cpack.log" >&2; exit 1; }
root=$folder/root
for package in "$folder"/packages/*.deb; do
  dpkg-deb --field "$package" Package Version Depends
  # What it depends on can be had.
  dpkg-deb --field "$package" Depends | tr ',|' '\n\n' | sed 's/ *(.*//; s/ //g' | grep -v '^stripline' |
    while read -r name; do
      apt-cache show "$name" >/dev/null 2>&1 || { echo "no package $name" >&2; exit 1; }
    done
  dpkg-deb --extract "$package" "$root"
done
PATH=$root/usr/bin:$PATH

for program in stripline stripline-server stripline-agent; do
  "$program" --version
done
stripline-server --config "$root/usr/share/stripline/server.toml" --check-config
stripline-agent --config "$root/usr/share/stripline/agent.toml" --check-config
# systemd looks for programs where packages put them.
mkdir "$folder/units"
for unit in "$root"/usr/lib/systemd/system/*.service; do
  sed "s,^ExecStart=,ExecStart=$root/usr/bin/,; s,file:/usr/share,file:$root/usr/share," "$unit" \
    >"$folder/units/$(basename "$unit")"
done
systemd-analyze verify "$folder"/units/*.service

export XDG_STATE_HOME=$folder/state XDG_CONFIG_HOME=$folder/config
stripline-server init --data-dir "$folder/data" --host localhost >"$folder/enrol"
stripline-server --data-dir "$folder/data" --listen 127.0.0.1:0 --port-file "$folder/port" \
  --config "$root/usr/share/stripline/server.toml" 2>"$folder/server.log" &
server=$!
for _ in $(seq 100); do
  [ -e "$folder/port" ] && break
  sleep 0.1
done
address=localhost:$(sed 's/.*://' "$folder/port")
stripline --server "$address" login --token-file "$folder/data/admin.token"
stripline --server "$address" nodes
kill "$server"
wait "$server"
server=

# A program that is built with what the library's package holds.
cp -r tests/package/consumer "$folder/consumer"
cmake -S "$folder/consumer" -B "$folder/consumer/build" -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
cmake --build "$folder/consumer/build" >/dev/null
stripline run -n 2 --segment 20M --fabric emulated:opteron-vapi --clock virtual -- \
  "$folder/consumer/build/neighbour"
echo "the packages work"
