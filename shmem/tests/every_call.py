#!/usr/bin/env python3
"""Makes every_call.h of openshmem.table: a call of each function, by the macro of its family in every_function.c.

    every_call.py TABLE FILE
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interface"))
import table  # noqa: E402, of the folder above

# The type of what is moved, by what is in the name in place of $.
OF_BITS = {"8": "uint8_t", "16": "uint16_t", "32": "uint32_t", "64": "uint64_t", "128": "long double", "mem": "unsigned char"}


def macro_of(family):
    return "OF_" + family.replace("@", "T").replace("$", "N")


def type_of(function):
    """The type that the function is for; empty for one that is the only one of its family."""
    if function.distinct:
        return function.distinct
    if "$" not in function.family:
        return ""
    before, after = function.family.split("$")
    name = function.name.replace("shmem_ctx_", "shmem_", 1) if "ctx" in function.flags else function.name
    return OF_BITS[name[len(before):len(name) - len(after)]]


def call(function, has_contexts):
    arguments = [function.name]
    if has_contexts:
        alone = len(function.parameters) == 1
        arguments.append("" if "ctx" not in function.flags else "ONLY_CTX" if alone else "WITH_CTX")
    if type_of(function):
        arguments.append(type_of(function))
    return f"{macro_of(function.family)}({', '.join(arguments)})"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    _, functions = table.read(arguments[0])
    with_contexts = {function.family for function in functions if "ctx" in function.flags}
    lines = [f"static void call_{nth}(void) {{ {call(function, function.family in with_contexts)}; }}\n"
             for nth, function in enumerate(functions)]
    calls = ",\n".join(f'    {{"{function.name}", call_{nth}}}' for nth, function in enumerate(functions))
    pathlib.Path(arguments[1]).write_text("/* Made by shmem/tests/every_call.py of openshmem.table. */\n" + "".join(lines)
                                          + f"static const struct call calls[] = {{\n{calls},\n}};\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
