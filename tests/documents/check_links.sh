#!/bin/sh
# check_links.sh ROOT: what the documents of the repository refer to is there (links.awk), and so is
# every page of docs that sources name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
status=0

# shellcheck disable=SC2046  # no page has blanks in its name
awk -f "$here/links.awk" $(find . -name '*.md' -not -path './build*' -not -path './.*/*' -not -path '*/node_modules/*' | sed 's,^\./,,' | sort) ||
  status=1

dead=$(grep -rnoE 'docs/[a-z0-9_/-]+\.md' --include='*.h' --include='*.cc' --include='*.sh' --include='*.txt' \
    --include='*.cmake' --include='*.proto' --exclude-dir='build*' --exclude-dir=node_modules . |
  while IFS=: read -r file line page; do
    [ -e "$page" ] || echo "$file:$line: there is no $page"
  done)
[ -z "$dead" ] || { echo "$dead"; status=1; }
exit $status
