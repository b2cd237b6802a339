#!/usr/bin/env bash
# Makes the Debian packages, and rpm packages where rpmbuild is there (rpm_packages of scripts/common.sh), and looks whether what is in them works: unpacked into a folder, where
# systemd checks the units, and installed in a system that has nothing but what they depend on.
#
#   scripts/check_packages.sh [FRESH]
#
# FRESH is a folder as debootstrap makes it (minbase, bookworm), of which a copy is used; without one,
# debootstrap makes it. That part needs root and a Debian mirror.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
require_packages "${build_packages[@]}" systemd
[ -n "${1:-}" ] || require_packages debootstrap
configure_and_build release installed

folder=$(mktemp -d)
server=
fresh=$folder/fresh
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  ! mountpoint -q "$fresh/proc" || umount "$fresh/proc"
  ! mountpoint -q "$fresh/dev/shm" || umount "$fresh/dev/shm"
  rm -rf --one-file-system "$folder"
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
# Each package has the pages and the completion of its programs.
for file in man/man1/stripline.1 man/man1/stripline-campaign.1 man/man1/stripline-run.1 man/man8/stripline-server.8 \
  man/man8/stripline-agent.8 man/man1/oshcc.1 man/man1/oshc++.1 man/man1/oshrun.1 bash-completion/completions/stripline bash-completion/completions/stripline-agent; do
  [ -s "$root/usr/share/$file" ] || { echo "no package has share/$file" >&2; exit 1; }
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

# And OpenSHMEM programs, by the wrappers.
for flags in "" --shared; do
  # shellcheck disable=SC2086
  oshcc $flags -std=c99 shmem/tests/c99.c -o "$folder/c99"
  oshrun -n 2 --segment 20M "$folder/c99" | grep -x 'c99: passed'
done

# The rpm packages hold the same files, but that rpm compresses manual pages. What their scriptlets do is compared by packaging/scriptlets_test.sh.
if command -v rpmbuild >/dev/null; then
  echo "== rpm packages"
  (cd build/release && cpack -G RPM -B "$folder/rpms" >"$folder/cpack.log") || { cat "$folder/cpack.log" >&2; exit 1; }
  for component in stripline:stripline stripline-dev:stripline-devel stripline-server:stripline-server \
    stripline-agent:stripline-agent; do
    deb=("$folder"/packages/"${component%:*}"_*.deb)
    rpm=$(for one in "$folder"/rpms/*.rpm; do
      [ "$(rpm -qp --qf '%{NAME}' "$one")" != "${component#*:}" ] || echo "$one"
    done)
    rpm -qp --qf '%{NAME} %{VERSION}-%{RELEASE}\n' "$rpm"
    dpkg-deb --fsys-tarfile "${deb[0]}" | tar t | sed 's,^\./,/,; s/[.]gz$//' | grep -v '/$' | sort >"$folder/deb.files"
    rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$rpm" | sed -n 's/[.]gz$//; s/^[^d][^ ]* //p' | sort >"$folder/rpm.files"
    [ -s "$folder/rpm.files" ] && diff "$folder/deb.files" "$folder/rpm.files" ||
      { echo "$rpm holds other files than ${deb[0]}" >&2; exit 1; }
  done
  for daemon in server agent; do
    for scriptlet in post preun postun; do
      # Whole, and not taken for macros.
      rpm -qp --scripts "$folder"/rpms/stripline-"$daemon"-*.rpm >"$folder/scriptlets"
      while IFS= read -r line; do
        grep -qF -x -e "$line" "$folder/scriptlets" || { echo "$daemon's $scriptlet lacks '$line'" >&2; exit 1; }
      done <"build/release/packaging/$daemon/$scriptlet"
    done
  done
else
  echo "rpmbuild is not there (apt-get install rpm): rpm packages were not made"
fi

echo "== in a fresh system"
if [ -n "${1:-}" ]; then
  cp -a "$1" "$fresh"
else
  debootstrap --variant=minbase bookworm "$fresh" >"$folder/debootstrap.log" ||
    { tail -5 "$folder/debootstrap.log" >&2; exit 1; }
fi
cp "$folder"/packages/*.deb "$fresh/root/"
cp /etc/resolv.conf "$fresh/etc/resolv.conf"
mount -t proc proc "$fresh/proc"
mkdir -p "$fresh/dev/shm"
mount -t tmpfs tmpfs "$fresh/dev/shm"
cat >"$fresh/root/smoke.sh" <<'SMOKE'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive HOME=/root
apt-get update -qq
apt-get install -y -qq --no-install-recommends /root/*.deb >/root/install.log 2>&1 || { tail -5 /root/install.log >&2; exit 1; }
for program in stripline stripline-server stripline-agent; do "$program" --version; done
pids=()
trap '[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true' EXIT
stripline-server --dev --data-dir /root/data --listen 127.0.0.1:0 --port-file /root/port 2>/root/server.log &
pids+=($!)
for _ in $(seq 100); do [ -e /root/port ] && break; sleep 0.1; done
address=$(cat /root/port)
for node in a b; do
  stripline-agent --server "$address" --node "$node" 2>"/root/$node.log" &
  pids+=($!)
done
for _ in $(seq 100); do
  [ "$(stripline --server "$address" nodes --json 2>/dev/null | grep -c IDLE)" = 2 ] && break
  sleep 0.1
done
stripline --server "$address" campaign run --fabric emulated:opteron-vapi --effort budgeted --model fresh >/root/campaign.log 2>&1 || { tail -5 /root/campaign.log >&2; exit 1; }
stripline --server "$address" model fetch fresh -o /root/fresh.stripline.json
stripline model show /root/fresh.stripline.json >/root/model.txt
kill "${pids[@]}"
wait
pids=()
# As the units make it: server and agent are two users, every user reads pushed models, and no one what
# the server keeps.
units=/usr/lib/systemd/system
for user in stripline-server stripline-agent; do
  id $user >/dev/null 2>&1 || useradd --system --no-create-home $user
done
mode=$(sed -n 's/^StateDirectoryMode=//p' $units/stripline-server.service)
install -d -o stripline-server -g stripline-server -m "$mode" /var/lib/stripline
runuser -u stripline-server -- sh -c 'umask 077; echo secret >/var/lib/stripline/stripline.db'
sed -n 's/^d //p' /usr/lib/tmpfiles.d/stripline-agent.conf | while read -r path mode user group _; do
  install -d -o "$user" -g "$group" -m "$mode" "$path"
done
runuser -u stripline-agent -- sh -c 'umask 077; echo {} >/var/lib/stripline-models/m; chmod 644 /var/lib/stripline-models/m'
stranger=$(id -nu 65534)
runuser -u $stranger -- cat /var/lib/stripline-models/m >/dev/null
for user in $stranger stripline-agent; do
  for secret in "cat /var/lib/stripline/stripline.db" "ls /var/lib/stripline"; do
    if runuser -u $user -- $secret >/dev/null 2>&1; then echo "$user may: $secret" >&2; exit 1; fi
  done
done
for user in $stranger stripline-server; do
  if runuser -u $user -- touch /var/lib/stripline-models/x 2>/dev/null; then echo "$user may push models" >&2; exit 1; fi
done
rm -r /var/lib/stripline /var/lib/stripline-models
dpkg-query -W -f '${Package}\n' | grep '^stripline' | xargs dpkg --purge >/dev/null
if ls /usr/bin/stripline* 2>/dev/null; then echo "purging leaves it behind" >&2; exit 1; fi
SMOKE
chroot "$fresh" bash /root/smoke.sh
echo "the packages work"
