"""Reads openshmem.table: the types and the families of functions of OpenSHMEM."""

import dataclasses
import re

SIZES = (8, 16, 32, 64, 128)
FLAGS = {"ctx", "generic", "generic1", "deprecated", "v16", "c99", "noreturn", "volatile"}


@dataclasses.dataclass(frozen=True)
class Type:
    """A type of the standard: TYPENAME, and what it is in C."""

    name: str
    c_type: str
    distinct: str
    groups: frozenset


@dataclasses.dataclass(frozen=True)
class Function:
    """One function of C."""

    name: str
    result: str
    parameters: tuple  # of text, "T *dest"; ("void",) for none
    body: str
    flags: frozenset
    family: str  # the name with @ or $
    generic: str = ""  # the name that chooses by type
    distinct: str = ""  # the C type by which it is chosen

    @property
    def names(self):
        """Those of the parameters, as arguments of a call."""
        if self.parameters == ("void",):
            return ()
        return tuple(re.search(r"(\w+)$", one).group(1) for one in self.parameters)


class TableError(Exception):
    pass


def _columns(line, count, where):
    columns = [column.strip() for column in line.split("|", count - 1)]
    if len(columns) != count:
        raise TableError(f"{where}: {len(columns)} columns where {count} are needed")
    return columns


def _with_type(text, c_type):
    return re.sub(r"\bT\b", c_type, text)


def _functions_of(row, types, where):
    head, group, flags, parameters, body = _columns(row, 5, where)
    result, name = head.rsplit(None, 1)
    flags = frozenset(flags.split())
    if flags - FLAGS:
        raise TableError(f"{where}: no such flag: {', '.join(sorted(flags - FLAGS))}")
    parameters = tuple(part.strip() for part in parameters.split(","))
    if group == "-":
        instances = [(name, "", "", body)]
    elif group in ("sizes", "sizes_mem"):
        instances = [(name.replace("$", str(bits)), "", "", re.sub(r"\bSIZE\b", str(bits // 8), body))
                     for bits in SIZES]
        if group == "sizes_mem":
            instances.append((name.replace("$", "mem"), "", "", re.sub(r"\bSIZE\b", "1", body)))
    else:
        members = [one for one in types if group in one.groups]
        if not members:
            raise TableError(f"{where}: no type is in the group '{group}'")
        instances = [(name.replace("@", one.name), one.c_type, one.distinct, body) for one in members]
    generic = name.replace("_@", "") if flags & {"generic", "generic1"} else ""
    for own_name, c_type, distinct, own_body in instances:
        typed = tuple(_with_type(one, c_type) for one in parameters)
        own_result = _with_type(result, c_type).replace("*", " *")
        made = _with_type(own_body, c_type).replace("CALL", f'"{own_name}"')
        plain = re.sub(r"\bctx\b", "SHMEM_CTX_DEFAULT", made) if "ctx" in flags else made
        yield Function(own_name, own_result, typed, plain, flags - {"ctx"}, name, generic, distinct)
        if "ctx" not in flags:
            continue
        with_context = own_name.replace("shmem_", "shmem_ctx_", 1)
        rest = () if typed == ("void",) else typed
        yield Function(with_context, own_result, ("shmem_ctx_t ctx",) + rest,
                       made.replace(f'"{own_name}"', f'"{with_context}"'), flags, name, generic, distinct)


def read(path):
    """The types and all functions, in the order of the table."""
    types, functions = [], []
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            line = line.strip()
            where = f"{path}:{number}"
            if not line or line.startswith("#"):
                continue
            if line.startswith("type "):
                name, c_type, distinct, groups = _columns(line[5:], 4, where)
                types.append(Type(name, c_type, distinct, frozenset(groups.split())))
            else:
                functions.extend(_functions_of(line, types, where))
    names = [function.name for function in functions]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise TableError(f"{path}: declared twice: {', '.join(twice)}")
    return types, functions
