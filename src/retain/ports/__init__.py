"""What the engine needs from the outside, as small protocols; a store implements all but the last four."""

from retain.domain.recall import Corpus
from retain.ports.code import CodeSearch, CodeStore
from retain.ports.graph import GraphStore, RelationStore, Subgraph
from retain.ports.memories import Context, Counts, ListingStore, MemoryStore
from retain.ports.outside import LLM, Clock, Embedder, Judge
from retain.ports.sessions import CaptureStore, SessionStore, WorkStore
from retain.ports.store import Durable, Emptied, Store
from retain.ports.transfer import Portion, Record, TransferStore
from retain.ports.trust import TrustStore

__all__ = [
    "LLM",
    "CaptureStore",
    "Clock",
    "CodeSearch",
    "CodeStore",
    "Context",
    "Corpus",
    "Counts",
    "Durable",
    "Embedder",
    "Emptied",
    "GraphStore",
    "Judge",
    "ListingStore",
    "MemoryStore",
    "Portion",
    "Record",
    "RelationStore",
    "SessionStore",
    "Store",
    "Subgraph",
    "TransferStore",
    "TrustStore",
    "WorkStore",
]
