"""What tests of the bank tools say again and again."""

JWT = "We sign API tokens with JWT because the services keep no sessions."
GATEWAY = "Kong is the single entry point: it checks tokens, limits rates and routes requests."
DOCKER = "The Docker build fails to find Go modules: copy go.mod first and run go mod download."


def entry(bank, title="Sign tokens with JWT", content=JWT, type="decision", **given):
    """The id of a new entry."""
    return bank("memory_create", title=title, content=content, type=type, **given)["id"]


def folder(bank, name):
    """A folder beside the project that tests work in."""
    path = bank.app.settings.home / name
    path.mkdir(parents=True, exist_ok=True)
    return str(path)


def project(bank, name="Payments", at="payments", **given):
    """The id of another project."""
    return bank("project_init", name=name, path=folder(bank, at), **given)["id"]


def session(bank, title="Build the checkout", project_id="shop", **given):
    """The id of a session that goes on."""
    return bank("session_start", title=title, project_id=project_id, **given)["id"]


def error(body):
    """The code and the message of a failed call."""
    return body["error"]["code"], body["error"]["message"]


def data(body):
    return body["error"]["data"]


def faults(body):
    """What is wrong with each field of a refused call."""
    assert body["error"]["code"] == -32602
    return {each["field"]: each["error"] for each in data(body)["validation_errors"]}


def titles(body):
    return [row["title"] for row in body.get("results", body.get("memories"))]


def codes(body):
    return [warning["code"] for warning in body["warnings"]]


def by_other_tools(bank, tools, name, /, **given):
    """Calls a tool of another set on the same memory."""
    return tools[name].function(bank.app, **given)
