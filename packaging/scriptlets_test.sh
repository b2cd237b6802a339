#!/bin/sh
# scriptlets_test.sh FOLDER: scriptlets of rpm do what the Debian packages' maintainer scripts do, on the same
# occasions. FOLDER is packaging/ of the build. Commands of the system are stand-ins that write down how they are
# called, and files are those of a folder.
set -eu
scripts=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for command in systemd-sysusers systemd-tmpfiles systemctl; do
  printf '#!/bin/sh\necho "%s $*" >>"%s/said"\n' "$command" "$work" >"$work/bin/$command"
  chmod +x "$work/bin/$command"
done
failed=0
# carry_out DAEMON SCRIPT ARGUMENT: what was called, and what is in /etc afterwards.
carry_out() {
  sed "s,/etc/stripline,$work/root&,g; s,/usr/share,$work/root&,g; s,/usr/lib,$work/root&,g; s,/run/systemd,$work/root&,g" \
    "$scripts/$1/$2" >"$work/script"
  : >"$work/said"
  PATH=$work/bin:$PATH sh "$work/script" "$3" >>"$work/said" 2>&1 || echo "ended with $?" >>"$work/said"
  (cd "$work/root" && find etc -type f) >>"$work/said" 2>/dev/null || true
  cat "$work/said"
}
fresh() {
  rm -rf "$work/root"
  mkdir -p "$work/root/etc" "$work/root/usr/share/stripline" "$work/root/usr/lib/tmpfiles.d" "$work/root/run/systemd/system"
  touch "$work/root/usr/share/stripline/server.toml" "$work/root/usr/share/stripline/agent.toml"
  touch "$work/root/usr/lib/tmpfiles.d/stripline-agent.conf"
}
# same DAEMON SCRIPTLET ARGUMENT MAINTAINER_SCRIPT ARGUMENT
same() {
  fresh
  carry_out "$1" "$2" "$3" >"$work/rpm"
  fresh
  carry_out "$1" "$4" "$5" >"$work/deb"
  if ! diff "$work/deb" "$work/rpm" >"$work/difference"; then
    echo "'$2 $3' of the $1 does something else than '$4 $5':" >&2
    cat "$work/difference" >&2
    failed=1
  fi
}
for daemon in server agent; do
  same $daemon post 1 postinst configure
  same $daemon post 2 postinst configure
  same $daemon preun 0 prerm remove
  same $daemon preun 1 prerm upgrade
  same $daemon postun 0 postrm remove
  same $daemon postun 1 postrm upgrade

  # And they do something.
  fresh
  carry_out $daemon post 1 >"$work/rpm"
  for line in "systemd-sysusers stripline-$daemon.conf" "systemctl daemon-reload" "etc/stripline/$daemon.toml"; do
    grep -q -x "$line" "$work/rpm" || { echo "an installed $daemon lacks: $line" >&2; failed=1; }
  done
  carry_out $daemon preun 0 | grep -q -x "systemctl disable --now stripline-$daemon.service" ||
    { echo "a $daemon that is removed goes on" >&2; failed=1; }
done
fresh
carry_out agent post 1 | grep -q "systemd-tmpfiles --create stripline-agent.conf" || { echo "the models' folder is not made" >&2; failed=1; }
exit $failed
