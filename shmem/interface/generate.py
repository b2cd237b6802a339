#!/usr/bin/env python3
"""Makes shmem.h, pshmem.h and the functions of OpenSHMEM of openshmem.table.

    generate.py TABLE HEAD FOLDER

HEAD is what shmem.h begins with: constants and types. FOLDER gets shmem.h, pshmem.h, functions_N.cc.
A file that is as it should be is not written, so that nothing is compiled for it.
"""

import os
import sys

import table

PARTS = 4  # sources that the functions are divided among
NOTICE = "/* Made by shmem/interface/generate.py of openshmem.table. */\n"


def parameters_of(function):
    return ", ".join(function.parameters)


def prototype(function, prefix=""):
    space = "" if function.result.endswith("*") else " "
    return f"{function.result}{space}{prefix}{function.name}({parameters_of(function)})"


def declaration(function, prefix=""):
    noreturn = "STRIPLINE_SHMEM_NORETURN " if "noreturn" in function.flags else ""
    return f"{noreturn}{prototype(function, prefix)};\n"


def declarations(functions, prefix=""):
    """The prototypes; a c99 one only where no generic name is declared."""
    text = ""
    for function in functions:
        if "c99" in function.flags and not prefix:
            text += "#if !STRIPLINE_SHMEM_GENERIC\n" + declaration(function) + "#endif\n"
        else:
            text += declaration(function, prefix)
    return text


def families(functions):
    """The generic names, with their functions: (name, plain ones, those with a context)."""
    found = {}
    for function in functions:
        if not function.generic:
            continue
        plain, with_context = found.setdefault(function.generic, ([], []))
        chosen = with_context if "ctx" in function.flags else plain
        if all(one.distinct != function.distinct for one in chosen):
            chosen.append(function)
    return [(name, plain, with_context) for name, (plain, with_context) in found.items()]


def of_volatile(function):
    return function.name.replace("shmem_", "stripline_volatile_", 1)


def associations(functions, position):
    lines = []
    for function in functions:
        parameter = function.parameters[position]
        kinds = (" const *", " *") if parameter.startswith("const ") else (" *",)
        lines += [f"{function.distinct}{kind}: {function.name}" for kind in kinds]
        if "volatile" in function.flags:
            lines.append(f"{function.distinct} volatile *: {of_volatile(function)}")
    return lines + ["default: stripline_shmem_no_such_type"]


def generic_macro(name, plain, with_context):
    """Chooses by the first parameter, or by the second after a context or a team."""
    by_team = "generic1" in plain[0].flags
    first = "STRIPLINE_SHMEM_FIRST(__VA_ARGS__, 0)"
    second = "STRIPLINE_SHMEM_SECOND(__VA_ARGS__, 0, 0)"

    def choose(selector, lines):
        return f"_Generic(({selector}), \\\n    " + ", \\\n    ".join(lines) + ")"

    if by_team:
        chosen = choose(second, associations(plain, 1))
    else:
        lines = associations(plain, 0)
        if with_context:
            lines.insert(0, "shmem_ctx_t: " + choose(second, associations(with_context, 1)))
        chosen = choose(first, lines)
    return f"#define {name}(...) {chosen}(__VA_ARGS__)\n"


def overloads(name, plain, with_context):
    text = ""
    for function in plain + with_context:
        # By the distinct type, which is the same one: overloads of two of its names would be one.
        parameters = parameters_of(function)
        call = f"{function.name}({', '.join(function.names)})"
        back = "" if function.result == "void" else "return "
        space = "" if function.result.endswith("*") else " "
        text += f"inline {function.result}{space}{name}({parameters}) {{ {back}{call}; }}\n"
    return text


def taking_volatile(function, name, cast, inline="inline"):
    """A function that calls this one, with what its first parameter points to as volatile."""
    first, *others = function.names
    pointer = function.parameters[0].removesuffix(first).strip()
    parameters = ", ".join((f"volatile {function.parameters[0]}", *function.parameters[1:]))
    call = f"{function.name}({', '.join((cast.format(pointer, first), *others))})"
    back = "" if function.result == "void" else "return "
    return f"{inline} {function.result} {name}({parameters}) {{ {back}{call}; }}\n"


def header(head, functions):
    generic = families(functions)
    chosen = {function for _, plain, _ in generic for function in plain if "volatile" in function.flags}
    c11 = "".join(taking_volatile(function, of_volatile(function), "({}){}", "static inline")
                  for function in functions if function in chosen)
    c11 += "".join(generic_macro(*family) for family in generic)
    cxx = "".join(overloads(*family) for family in generic)
    for function in functions:
        if "volatile" in function.flags:
            names = (function.name, function.generic) if function in chosen else (function.name,)
            cxx += "".join(taking_volatile(function, name, "const_cast<{}>({})") for name in names)
    return (head.replace("@DECLARATIONS@", declarations(functions))
            .replace("@C11@", c11).replace("@CXX@", cxx))


def profiling_header(functions):
    return (NOTICE +
            "/* The same functions by the names that tools call when they have put their own in place of shmem_... */\n"
            "#ifndef STRIPLINE_PSHMEM_H\n#define STRIPLINE_PSHMEM_H\n\n#include <shmem.h>\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + declarations(functions, "p") +
            "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n")


def definition(function):
    back = "" if function.result == "void" or "noreturn" in function.flags else "return "
    # A tool's function of the same name comes before this one.
    return (f"{prototype(function, 'p')} {{\n  called_from(__builtin_return_address(0));\n  {back}{function.body};\n}}\n"
            f"[[gnu::weak, gnu::alias(\"p{function.name}\")]] {prototype(function)};\n")


def source(functions):
    return ("// Made by shmem/interface/generate.py of openshmem.table.\n"
            "#include \"shmem/atomics.h\"\n#include \"shmem/call_sites.h\"\n#include \"shmem/collectives.h\"\n"
            "#include \"shmem/library.h\"\n"
            "#include \"shmem/locks.h\"\n#include \"shmem/order.h\"\n#include \"shmem/rma.h\"\n"
            "#include \"shmem/signals.h\"\n#include \"shmem/symmetric_memory.h\"\n#include \"shmem/teams.h\"\n"
            "#include \"shmem/wait.h\"\n\n"
            "using namespace stripline::shmem;  // NOLINT(google-build-using-namespace)\n\n"
            "extern \"C\" {\n\n" + "".join(definition(function) for function in functions) + "\n}\n")


def write(path, text):
    if os.path.exists(path):
        with open(path, encoding="utf-8") as there:
            if there.read() == text:
                return
    with open(path, "w", encoding="utf-8") as made:
        made.write(text)


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    table_path, head_path, folder = arguments
    try:
        _, functions = table.read(table_path)
    except (OSError, table.TableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with open(head_path, encoding="utf-8") as head:
        made = header(NOTICE + head.read(), functions)
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "shmem.h"), made)
    write(os.path.join(folder, "pshmem.h"), profiling_header(functions))
    for part in range(PARTS):
        begin, end = (len(functions) * bound // PARTS for bound in (part, part + 1))
        write(os.path.join(folder, f"functions_{part}.cc"), source(functions[begin:end]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
