#!/bin/sh
# links_test.sh AWK_PROGRAM: links.awk finds what is dead, and nothing else.
set -eu
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir base pages
touch base/result.h
cat >pages/other.md <<'END'
# The `same` title, twice
## Again
## Again
END
cat >page.md <<'END'
# A page
Lives: [a](pages/other.md), [b](pages/other.md#the-same-title-twice), [c](pages/other.md#again-1), [d](#a-page),
[e](https://example.org/gone), [f](base), [g](./pages/../base/result.h), `base/result.h`, `result.h`, `base/NAME.h`, `name/other`.
<!-- [h](comment.md) -->

    [i](code.md)

```
[j](fenced.md)
```
END
awk -f "$program" page.md pages/other.md
cat >pages/dead.md <<'END'
[a](gone.md), [b](other.md#again-2), [c](#nothing), `base/gone.txt`, `gone.h`,
[d](../gone/)
END
if awk -f "$program" page.md pages/other.md pages/dead.md >found; then
  echo "dead links were not found"
  exit 1
fi
cat >expected <<'END'
pages/dead.md:1: 'gone.md' leads nowhere: there is no pages/gone.md
pages/dead.md:1: 'other.md#again-2' leads nowhere: pages/other.md has no heading with the anchor #again-2
pages/dead.md:1: '#nothing' leads nowhere: pages/dead.md has no heading with the anchor #nothing
pages/dead.md:2: '../gone/' leads nowhere: there is no gone/
pages/dead.md:1: there is no base/gone.txt
pages/dead.md:1: there is no gone.h
END
diff expected found

mkdir docs
lonely=docs/lonely
echo "[itself](lonely.md)" >"$lonely.md"
if awk -f "$program" page.md pages/other.md "$lonely.md" >found; then
  echo "a page to which nothing leads was not found"
  exit 1
fi
grep -q "^docs/lonely[.]md: no page leads here" found
