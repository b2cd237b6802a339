"""Words that docs/glossary.md asks not to use, counted, and held against the numbers in the tree.

    python3 scripts/check_language.py            fails if a number of scripts/language_counts.txt is exceeded
    python3 scripts/check_language.py list KIND [PATH...]  every occurrence of a kind, FILE:LINE: TEXT
    python3 scripts/check_language.py record     writes today's numbers, unless a kind's sum has risen

The numbers are per kind and top-level folder. Where one is exceeded, the files that gained are found by comparing
with the commit that recorded the numbers, and their new lines are printed.

What is counted is text: comments and string literals of C++, and all of the other files. Two kinds are of names
(the identifiers of C++) instead. Sections of documents between "<!-- language: off -->" and
"<!-- language: on -->" are left out: they have to name the words.
"""

import collections
import os
import re
import subprocess
import sys

COUNTS = "scripts/language_counts.txt"
SOURCE = (".h", ".cc", ".inc")
OTHERS = (".md", ".sh", ".awk", ".py", ".cmake", ".proto", ".ts", ".tsx", ".toml", ".service", ".in", "CMakeLists.txt")
# What names the words to find them.
LEFT_OUT = re.compile(r"scripts/(check_language\.py|house\.sh)$|tests/documents/(language|house)_test\.sh$")
# Where rows of tables are figures that programs wrote.
RESULTS = "docs/results/"

# Words at the beginning of a comment whose sentence, or subject, is somewhere else.
FRAGMENT = (r"(?:Of (?!course)|And|Whose|Which|Who|Whom|Them\b|Those (?:that|of|with|who|which|whose)|They|Likewise|But|Nor|Or|"
            r"Else|As (?:above|before|they|it)\b|The (?:same|former|latter|other)[,.:;]|Ditto|Similarly)\b")

# kind: (where it is looked for, pattern). Where: text (comments, strings, documents), names, message (strings of
# what is not a test), comment (the beginning of a block of comments).
KINDS = {
    "way": ("text", re.compile(r"\b(?:[Ww]ays?|WAYS?)\b")),
    "way-in-names": ("names", re.compile(r"(?<![A-Za-z])ways?(?![a-z])|Ways?(?![a-z])")),
    "so-many": ("text", re.compile(r"\b[Ss]o (?:many|long|often)\b(?! as\b)")),
    "told": ("text", re.compile(r"\b[Tt]old\b")),
    "told-in-names": ("names", re.compile(r"(?<![A-Za-z])told(?![a-z])|Told(?![a-z])")),
    "anew": ("text", re.compile(r"\b[Aa]new\b")),
    "nobody": ("text", re.compile(r"(?<!::)\b[Nn]obody\b")),
    "is-no": ("message", re.compile(r"(?<!there )(?<!There )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b)(?=[a-z])")),
    "fragment-message": ("message", re.compile(r"^(?:Of|And|Or) (?=[a-z])")),
    "fragment-comment": ("comment", re.compile(FRAGMENT)),
}

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*(?:\\\n[^\n]*)*|/\*.*?\*/)'
    r'|(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<digit>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))"
    r"|(?P<char>'(?:[^'\\\n]|\\.)+')", re.S)


def is_test(path):
    return "_test.cc" in path or "/testing/" in path or path.startswith("tests/") or "_fixture" in path


def source_pieces(text):
    """(where, line, text) of comments, strings and code; `where` is comment, string or names."""
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        code = text[at:match.start()]
        for offset, piece in enumerate(code.split("\n")):
            if piece.strip() and not piece.lstrip().startswith("#include"):
                yield "names", line + offset, piece
        line += code.count("\n")
        if match["comment"]:
            yield "comment", line, match.group()
        elif match["string"] or match["raw"]:
            begin = text.rfind("\n", 0, match.start()) + 1
            if not text[begin:match.start()].lstrip().startswith("#include"):
                yield "string", line, match.group()
        line += match.group().count("\n")
        at = match.end()
    for offset, piece in enumerate(text[at:].split("\n")):
        if piece.strip():
            yield "names", line + offset, piece


def occurrences_in_source(path, text):
    lines = text.split("\n")
    test = is_test(path)
    last_comment = -1
    for where, line, piece in source_pieces(text):
        for offset, part in enumerate(piece.split("\n")):
            for kind, (wanted, pattern) in KINDS.items():
                if (wanted == "names") == (where == "names") and wanted in ("names", "text"):
                    for _ in pattern.finditer(part):
                        yield kind, line + offset
        if where == "string" and not test:
            inside = piece[1:-1] if not piece.startswith("R") else piece
            for kind, (wanted, pattern) in KINDS.items():
                if wanted == "message":
                    for _ in pattern.finditer(inside):
                        yield kind, line
        if where == "comment":
            alone = lines[line - 1].lstrip().startswith(("//", "/*"))
            begins = not (alone and last_comment == line - 1)
            body = re.sub(r"^/[/*]+<?\s*", "", piece)
            for kind, (wanted, pattern) in KINDS.items():
                if wanted == "comment" and begins and pattern.match(body):
                    yield kind, line
            last_comment = line + piece.count("\n") if alone else -1


def occurrences_elsewhere(path, text):
    counted = True
    for number, line in enumerate(text.split("\n"), 1):
        if "<!-- language: off -->" in line:
            counted = False
        if "<!-- language: on -->" in line:
            counted = True
        if not counted or (path.startswith(RESULTS) and line.startswith("|")):
            continue
        for kind, (wanted, pattern) in KINDS.items():
            if wanted == "text":
                for _ in pattern.finditer(line):
                    yield kind, number


def occurrences(path, text):
    """(kind, line) of each."""
    return occurrences_in_source(path, text) if path.endswith(SOURCE) else occurrences_elsewhere(path, text)


def folder_of(path):
    return path.split("/", 1)[0] if "/" in path else "."


def git(*arguments):
    return subprocess.run(("git",) + arguments, capture_output=True, text=True, errors="replace", check=False)


def counted_files():
    listed = git("ls-files", "-z").stdout.split("\0")
    return [path for path in listed
            if path.endswith(SOURCE + OTHERS) and not LEFT_OUT.search(path) and os.path.exists(path)]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def count_tree():
    """{(kind, folder): {path: [line, ...]}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in counted_files():
        for kind, line in occurrences(path, read(path)):
            found[kind, folder_of(path)][path].append(line)
    return found


def recorded():
    numbers = {}
    if not os.path.exists(COUNTS):
        return numbers
    for line in read(COUNTS).splitlines():
        if line and not line.startswith("#"):
            kind, folder, number = line.split()
            numbers[kind, folder] = int(number)
    return numbers


def total(of_files):
    return sum(len(lines) for lines in of_files.values())


def new_lines(kind, of_files):
    """[(path, line)] of what was not there when the numbers were recorded; those of files that gained."""
    base = git("log", "-1", "--format=%H", "--", COUNTS).stdout.strip()
    for path, lines in sorted(of_files.items()):
        before = git("show", f"{base}:{path}") if base else None
        old = before.stdout if before and before.returncode == 0 else ""
        if len(lines) <= sum(1 for found, _ in occurrences(path, old) if found == kind):
            continue
        was = set(line.strip() for line in old.split("\n"))
        text = read(path).split("\n")
        for line in sorted(set(lines)):
            if text[line - 1].strip() not in was:
                yield path, line, text[line - 1].strip()


def check():
    allowed = recorded()
    found = count_tree()
    worse, better = 0, 0
    for (kind, folder), of_files in sorted(found.items()):
        number, limit = total(of_files), allowed.get((kind, folder), 0)
        better += limit > number
        if number <= limit:
            continue
        worse += 1
        print(f"{kind}: {number} in {folder}, and {limit} are recorded; docs/glossary.md says what to write instead. New:")
        for path, line, text in new_lines(kind, of_files):
            print(f"  {path}:{line}: {text[:140]}")
    better += sum(key not in found for key in allowed)
    if worse:
        print(f"'{sys.argv[0]} list KIND PATH' lists all of a kind")
    elif better:
        print(f"{better} numbers are lower than recorded: 'scripts/check.sh language record' keeps them so")
    return 1 if worse else 0


def record():
    allowed, found = recorded(), count_tree()
    sums, limits = collections.Counter(), collections.Counter()
    for (kind, folder), of_files in found.items():
        sums[kind] += total(of_files)
    for (kind, folder), number in allowed.items():
        limits[kind] += number
    worse = [kind for kind in sums if kind in limits and sums[kind] > limits[kind]]
    for kind in worse:
        print(f"{kind}: {sums[kind]} in all, and {limits[kind]} are recorded; numbers only fall")
    if worse:
        return 1
    with open(COUNTS, "w", encoding="utf-8") as file:
        file.write("# Maximum number of each kind of wording in each folder (scripts/check_language.py): they only fall.\n"
                   "# Written by 'scripts/check.sh language record'. After a conflict, record again.\n")
        for (kind, folder), of_files in sorted(found.items()):
            file.write(f"{kind} {folder} {total(of_files)}\n")
    for kind in KINDS:
        print(f"{kind:18} {sums[kind]:5}")
    return 0


def list_kind(kind, paths):
    if kind not in KINDS:
        print(f"there is no kind '{kind}'; kinds: {', '.join(KINDS)}", file=sys.stderr)
        return 2
    for path in counted_files():
        if paths and not any(path == wanted or path.startswith(wanted.rstrip("/") + "/") for wanted in paths):
            continue
        text = read(path)
        lines = text.split("\n")
        for found, line in occurrences(path, text):
            if found == kind:
                print(f"{path}:{line}: {lines[line - 1].strip()[:160]}")
    return 0


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "check"
    if what == "list" and len(sys.argv) > 2:
        return list_kind(sys.argv[2], sys.argv[3:])
    if what in ("check", "record") and len(sys.argv) <= 2:
        return check() if what == "check" else record()
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main())
