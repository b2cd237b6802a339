#!/bin/sh
# units_test.sh FOLDER: server and agent are two users, nothing runs as root through a path that one of
# them may write, and the memory of the server is bounded. FOLDER is packaging/.
set -u
units=$1/systemd
failed=0
fail() {
  echo "$1" >&2
  failed=1
}
value() { sed -n "s/^$2=//p" "$units/stripline-$1.service"; }

for daemon in server agent; do
  user=stripline-$daemon
  [ "$(value $daemon User)" = $user ] || fail "the unit of the $daemon does not run as $user"
  grep -q "^u $user " "$units/$user.sysusers" || fail "$user.sysusers does not make the user $user"
  grep -En '^Exec[A-Za-z]*=[@:-]*[+!]' "$units/$user.service" && fail "the unit of the $daemon does something as root"
done
# The parents of what tmpfiles.d makes, as root, are root's.
if sed -n 's/^d \([^ ]*\) .*/\1/p' "$units/stripline-agent.tmpfiles" | grep -v '^/var/lib/[^/]*$'; then
  fail "stripline-agent.tmpfiles makes a folder below one that another user may write"
fi
value server MemoryMax | grep -Eqx '[1-9][0-9]?%' || fail "the server may take all memory of the machine"
[ "$(value server StateDirectoryMode)" = 0700 ] || fail "others than the server may enter its folder"
value agent InaccessiblePaths | grep -q '^-/var/lib/stripline$' || fail "agents may see the server's folder"
exit $failed
