#!/usr/bin/env python3
"""Writes the client's generated modules from the server's description of /api/v1.

    clients/python/generate.py            writes stripline_client/messages.py and operations.py
    clients/python/generate.py --check    fails if they are not what it would write

The description is docs/schema/api-v1.json, which tests/clients compares with that of the server itself.
"""

import argparse
import json
import keyword
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DESCRIPTION = HERE.parent.parent / "docs" / "schema" / "api-v1.json"
PACKAGE = HERE / "stripline_client"
REFERENCE = "#/components/schemas/"
WIDTH = 116

NOTE = "# Written by clients/python/generate.py from docs/schema/api-v1.json: change that, not this.\n"

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "Mapping[str, Any]"}


def snake(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def identifier(name):
    return name + "_" if keyword.iskeyword(name) else name


def class_of(reference):
    return reference[len(REFERENCE):].replace(".", "")


def type_of(schema, prefix=""):
    """The annotation of a schema; names of messages stand behind `prefix`."""
    if "$ref" in schema:
        return f'"{prefix}{class_of(schema["$ref"])}"'
    if "enum" in schema:
        return "str"
    if schema.get("type") == "array":
        return f'List[{type_of(schema["items"], prefix)}]'
    if schema.get("type") == "object" and "additionalProperties" in schema:
        return f'Dict[str, {type_of(schema["additionalProperties"], prefix)}]'
    return SCALARS[schema["type"]]


def messages(description):
    lines = [
        '"""The messages of /api/v1. Integers of 64 bits are strings, as in the JSON form of protobuf."""\n',
        NOTE,
        "from typing import Dict, List, TypedDict\n",
    ]
    for name, schema in sorted(description["components"]["schemas"].items()):
        if name == "Problem":
            continue  # ServerError
        lines.append(f"\nclass {name.replace('.', '')}(TypedDict, total=False):")
        for member, of in schema["properties"].items():
            values = "  # " + ", ".join(of["enum"]) if "enum" in of else ""
            line = f"    {member}: {type_of(of)}"
            if len(line + values) > WIDTH:
                lines.append(f"    #{values[3:]}" if len(values) < WIDTH else "    # see proto/stripline/v1")
                values = ""
            lines.append(line + values)
        if not schema["properties"]:
            lines.append("    pass")
        lines.append("")
    return "\n".join(lines)


class Operation:
    """One operation of the description, as a method."""

    def __init__(self, path, verb, operation, schemas):
        self.path, self.verb = path, verb.upper()
        self.name = snake(operation["operationId"])
        self.summary, self.role = operation["summary"], operation["x-role"]
        parameters = operation["parameters"]
        self.in_path = [p["name"] for p in parameters if p["in"] == "path"]
        self.query = [p for p in parameters if p["in"] == "query"]
        self.body = {}
        if "requestBody" in operation:
            of = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"][len(REFERENCE):]
            left_out = {"name", *self.in_path} if self.in_path else set()
            self.body = {n: s for n, s in schemas[of]["properties"].items() if n not in left_out}
        (self.type, content), = operation["responses"]["200"]["content"].items()
        self.answer = content.get("schema")
        self.member = self.listed(schemas)

    def listed(self, schemas):
        """The member of its answer of which there are pages, with its type; None: there are none."""
        if not {"page_size", "page_token"} <= {p["name"] for p in self.query} or self.answer is None:
            return None
        members = schemas[self.answer["$ref"][len(REFERENCE):]]["properties"]
        lists = [(n, s["items"]) for n, s in members.items() if s.get("type") == "array"]
        if len(lists) != 1:
            raise SystemExit(f"{self.name}: {len(lists)} members of its answer are lists, not one")
        return lists[0]

    def arguments(self, without=()):
        """What stands between the parentheses of its method."""
        given = ["self"] + [f"{name}: str" for name in self.in_path]
        named, free = [], None
        for parameter in self.query:
            name, kind = parameter["name"], SCALARS[parameter["schema"]["type"]]
            if parameter.get("explode"):
                free = f"**{name}: Any"
            elif name in without:
                continue
            elif parameter.get("required"):
                named.insert(0, f"{identifier(name)}: {kind}")
            else:
                named.append(f"{identifier(name)}: Optional[{kind}] = None")
        for name, schema in self.body.items():
            named.append(f"{identifier(name)}: Optional[{type_of(schema, 'messages.')}] = None")
        if named:
            given += ["*"] + named
        return given + ([free] if free else [])

    @staticmethod
    def head(name, arguments, answer):
        line = f"    def {name}({', '.join(arguments)}) -> {answer}:"
        if len(line) <= WIDTH:
            return [line]
        return [f"    def {name}(", *(f"        {one}," for one in arguments), f"    ) -> {answer}:"]

    def call(self):
        values = "{" + ", ".join(f'"{n}": {n}' for n in self.in_path) + "}"
        free = [p["name"] for p in self.query if p.get("explode")]
        query = "{" + ", ".join(f'"{p["name"]}": {identifier(p["name"])}' for p in self.query if not p.get("explode"))
        query = free[0] if free else query + "}"
        if self.type == "text/event-stream":
            return [f'        return self._events("{self.path}", {values}, {query})']
        start = f'        return self._call("{self.verb}", "{self.path}", {values}, {query}'
        if not self.body:
            return [start + ")"] if len(start) < WIDTH else self.wrapped(values, query)
        entries = [f'"{n}": {identifier(n)}' for n in self.body]
        body = [f'        body = {{{", ".join(entries)}}}']
        if len(body[0]) > WIDTH:
            body = ["        body = {", *(f"            {one}," for one in entries), "        }"]
        return body + ([start + ", body)"] if len(start) + 7 <= WIDTH else self.wrapped(values, query, ", body"))

    def wrapped(self, values, query, rest=""):
        given = [f'"{self.verb}"', f'"{self.path}"', values, query, *([rest[2:]] if rest else [])]
        return ["        return self._call(", *(f"            {one}," for one in given), "        )"]

    def lines(self):
        if self.type == "text/event-stream":
            answer, what = "Iterator[Tuple[str, Any]]", "(event, data) of an event stream"
        elif self.answer is None:
            answer, what = "Any", "JSON that docs/http.md explains"
        else:
            of = class_of(self.answer["$ref"])
            answer, what = f'"messages.{of}"', of
        text = self.head(self.name, self.arguments(), answer)
        text += [f'        """{self.summary}', "", f"        {self.verb} {self.path}, for the role {self.role}.",
                 f"        Answers {what}.", '        """']
        text += self.call()
        if self.member is None:
            return text
        member, items = self.member
        rest = [a for a in self.arguments(without={"page_size", "page_token"}) if a != "*"]
        arguments = rest + ["*", "page_size: Optional[int] = None"]
        name, answer = "all_" + self.name.removeprefix("list_"), f"Iterator[{type_of(items, 'messages.')}]"
        text += ["", *self.head(name, arguments, answer)]
        text += [f'        """The {member} of all pages of {self.name}(), which are asked for as they are needed."""']
        values = "".join(f", {n}={n}" for n in self.in_path)
        return text + [f'        return self._pages(self.{self.name}, "{member}", page_size{values})']


def operations(description):
    schemas = description["components"]["schemas"]
    found = [Operation(path, verb, operation, schemas)
             for path, verbs in description["paths"].items() for verb, operation in verbs.items()]
    lines = [
        '"""What /api/v1 can be asked. Names may be given with their collection or without: campaigns/c1 or c1."""\n',
        NOTE,
        "from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple\n",
        "from . import messages\n\n",
        "class Operations:",
        '    """A method for each operation of the description; Transport carries them out."""',
    ]
    for one in sorted(found, key=lambda one: one.name):
        lines += ["", *one.lines()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something would change")
    parser.add_argument("--description", type=Path, default=DESCRIPTION)
    options = parser.parse_args()
    description = json.loads(options.description.read_text(encoding="utf-8"))
    stale = []
    for name, text in (("messages.py", messages(description)), ("operations.py", operations(description))):
        path = PACKAGE / name
        if options.check:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.exit(f"{', '.join(stale)}: clients/python/generate.py makes something else of {options.description}; run it")


if __name__ == "__main__":
    main()
