"""Strings that have broken programs, and values of about the shape that a schema asks for."""

from hypothesis import strategies as st

# Arguments whose values are ids; those in braces stand for ids of things that are there.
IDS = ("memory_id", "id", "superseded_by", "entity_id", "from_entity", "to_entity")
THERE = ("{0}", "{1}", "{2}")
FOLDER = "{folder}"  # stands for one that may be indexed
ODD = {
    "empty": "",
    "blank": " \t\n\u2003",
    "a megabyte": "x" * 1_000_000,
    "a megabyte of words": "deploy note " * 80_000,
    "a NUL": "a\0b",
    "half a pair": "a\ud800b",
    "right to left": "\u202eمرحبا بالعالم\u202c שלום",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇦🇶 e\u0301",
    "full-text syntax": '"foo" OR NEAR( * : ^ {a} -b AND NOT',
    "SQL": "'; drop table memory; -- \" or 1=1",
    "SurrealQL": "memory:⟨x⟩; REMOVE TABLE memory; RETURN `$auth`",
    "control characters": "a\x01\x1b[31m\r\nb\x7f\u0085\u2028",
    "noncharacters": "\ufdd0\uffff\U0010ffff",
    "template": "{0} %s ${HOME} {{x}} \\u0041 \\",
}


def string_fields(schema, path=()):
    """Every place in a schema where a free string goes."""
    if any("enum" not in s and s.get("type") == "string" for s in (schema, *schema.get("anyOf", ()))):
        yield path
    for name, inner in schema.get("properties", {}).items():
        yield from string_fields(inner, (*path, name))
    if isinstance(schema.get("items"), dict):
        yield from string_fields(schema["items"], (*path, 0))
    if schema.get("additionalProperties") is True:
        yield (*path, "key")


def put(arguments, path, value):
    """The arguments with a value at a place, and what must stand around it."""
    name, *rest = path
    inner = value
    for step in reversed(rest):
        inner = [inner] if step == 0 else {step: inner}
    if "related_entities" in path:
        inner = complete(inner)
    return {**arguments, name: inner}


def complete(given):
    """Entities with all three of their parts."""
    whole = {"name": "Redis", "type": "library", "relationship": "uses"}
    if isinstance(given, list):
        return [{**whole, **each} for each in given]
    return {name: complete(each) if name == "add" else each for name, each in given.items()}


def numbers(schema):
    bounds = [schema[key] for key in ("minimum", "maximum") if key in schema]
    step = 1 if schema["type"] == "integer" else 0.01
    edges = [bound + off for bound in bounds for off in (-step, 0, step)]
    anything = st.integers(-(2**70), 2**70) if schema["type"] == "integer" else st.floats()
    inside = st.integers(*bounds) if schema["type"] == "integer" and len(bounds) == 2 else st.floats(0, 1)
    return st.one_of(inside, st.sampled_from(edges or [0]), anything)


def strings(schema):
    if schema.get("format") == "date-time":
        return st.one_of(
            st.datetimes().map(lambda moment: moment.isoformat()), st.sampled_from(["2026-02-01", "", "soon"])
        )
    return st.one_of(
        st.sampled_from(["AuthService", "deploy on Mondays", *(text[:300] for text in ODD.values())]),
        st.text(max_size=40),
    )


def values(schema, name=""):
    """Values of about the right shape."""
    if "anyOf" in schema:
        return st.one_of(*(values(option, name) for option in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from([*schema["enum"], str(schema["enum"][0]).upper()])
    match schema.get("type"):
        case "string" if name in IDS:
            return st.sampled_from([*THERE, "memory:" + "0" * 20, "nonsense"])
        case "string" if name == "path":
            return st.sampled_from([FOLDER, "/", "..", "nowhere", "", "a\0b"])
        case "string":
            return strings(schema)
        case "integer" | "number":
            return numbers(schema)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(values(schema.get("items", {})), max_size=3)
        case "object":
            return objects(schema)
        case _:
            return st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=4)


def objects(schema):
    known = {name: values(inner, name) for name, inner in schema.get("properties", {}).items()}
    required = {name: known.pop(name) for name in schema.get("required", ())}
    if not known and not required:
        return st.dictionaries(st.text(max_size=5), values({}), max_size=3)
    return st.fixed_dictionaries(required, optional=known)


def sloppy(schema):
    """The same, with one argument that is of another type, unknown or gone."""
    names = [*schema["properties"], "nonsense"]
    wrong = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.just([]),
        st.just({}),
        st.just([[]]),
    )
    return st.builds(lambda good, name, value: {**good, name: value}, objects(schema), st.sampled_from(names), wrong)


def with_ids(given, ids, folder):
    """The arguments with what the braces stand for."""
    meant = {**dict(zip(THERE, ids, strict=True)), FOLDER: str(folder)}
    return {name: meant.get(value, value) if isinstance(value, str) else value for name, value in given.items()}
