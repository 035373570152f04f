"""A process that uses a store as another window would, for tests of crowds, crashes and full disks.

    python another_process.py write  PATH NAME COUNT   writes memories, and prints each id once it is committed
    python another_process.py rival  PATH NAME COUNT   the same texts in every process; prints the ids that it added
    python another_process.py read   PATH              reads until its input ends, then prints how often it did
    python another_process.py open   PATH              opens the store, prints its notices, and closes it
    python another_process.py index  PATH ROOT SECONDS indexes a folder, prints how far it is, and what it has done
    python another_process.py watch  PATH ROOT         indexes and watches a folder, and ends without closing anything

PATH is a file of SQLite, or a database of SurrealDB as `ws://…#name`, where root signs in with the password of tests.
What fails is printed as one line, `error: Name: message`, and ends the process with status 1.
"""

import os
import select
import sys
from pathlib import Path

from making import MODEL, START, a_memory, a_place, a_session, a_vector, an_embedding, an_entity, an_entry, wanted
from retain.domain.changes import Applied, Changes, NoTwin
from retain.domain.claims import fingerprint
from retain.domain.graph import MENTIONS, Link
from retain.errors import RetainError
from retain.stores.sqlite.store import SqliteStore


def write(store, name, count):
    for n in range(int(count)):
        say(remember(store, f"{name}-{n}", f"{name} wrote number {n} about deployment"))


def rival(store, name, count):
    for n in range(int(count)):
        text = f"everybody says thing number {n}"
        if remember(store, f"{name}-{n}", text, NoTwin(a_place(), fingerprint(text))):
            say(f"{name}-{n}")


def read(store):
    rounds = seen = 0
    while not rounds or not select.select([sys.stdin], [], [], 0)[0]:
        by_words = store.by_words(["number"], wanted(), 5, counted=True).matched
        assert seen <= by_words <= store.counts("", MODEL).total, "a memory went missing"
        store.by_vector(a_vector(1, 1), MODEL, wanted(), 5)
        rounds, seen = rounds + 1, by_words
    say(rounds)


def index(store, root, patience, held="", **options):
    """One that is held says how far it is, and goes on when it is told to, or when nobody will any more."""
    from indexing import ADA, a_code
    from retain.app import SystemClock

    def told(index):
        if held:
            say(f"at {index.indexed_files} {index.embedded_chunks}")
            os.read(0, 1)  # two threads may be told at once, which a text stream does not stand

    code = a_code(store, SystemClock(), Path(root))
    done = code.index(root, ADA, patience=float(patience), progress=told, **options)
    say(f"{'joined' if done.joined else 'began'} {done.index.status} {done.tally.added} {done.tally.unchanged}")


def watch(store, root):
    index(store, root, 60, watch=True)
    sys.exit(0)


def remember(store, id, text, *expected):
    """The id once it is committed; None when somebody else was faster."""
    memory = a_memory(id, text, session="s1")
    plan = Changes(
        at=START,
        expects=expected,
        memories=(memory,),
        history=(an_entry(memory),),
        embeddings=(an_embedding(id, a_vector(1, len(text))),),
        entities=(an_entity("Deployment"),),
        links=(Link(id, "e-Deployment", MENTIONS, START),),
        sessions=(a_session("s1"),),
    )
    return id if isinstance(store.apply(plan), Applied) else None


def opened(path):
    """The store as a wiring would make it, without what goes on while a server is away."""
    url, _, database = path.partition("#")
    if not database:
        return SqliteStore(Path(path))
    from retain.app import SystemClock
    from retain.stores.surreal.link.connection import Address, on_server
    from retain.stores.surreal.link.database import Database
    from retain.stores.surreal.store import SurrealStore

    return SurrealStore(Database(on_server(Address(url, "root", "secret", database=database), SystemClock().now)))


def say(line):
    os.write(1, f"{line}\n".encode())  # one write is whole or not there, even when the process is killed


def main(verb, path, *arguments):
    try:
        store = opened(path)
        if verb == "open":
            say("\n".join(store.notices()))
        else:
            {"write": write, "rival": rival, "read": read, "index": index, "watch": watch}[verb](store, *arguments)
        store.close()
    except RetainError as error:
        say(f"error: {type(error).__name__}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
