"""Resources, and telling subscribers in either protocol era that one changed."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.5
# Looks after a call: what it counts, such as recalls, is written a moment after its answer and moves no change number.
LOOKS = 4

App = TypeVar("App")
# The SDK's context is generic over a lifespan value that is not used here.
Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class ResourceSpec(Generic[App]):
    """A text that clients may read, and be told about when it changes."""

    uri: str
    name: str
    description: str
    mime_type: str
    read: Callable[[App], str]
    mark: Callable[[App], str] | None = None
    """What tells that it has changed, where the text itself tells the time."""


class Subscriptions:
    """Who wants to know about which resource. Looks for changes only while somebody does.

    A resource has changed when it says something else: what is written mostly concerns one or two of them.
    """

    def __init__(
        self, change_number: Callable[[], int], uris: Callable[[], Collection[str]], mark: Callable[[str], str]
    ) -> None:
        self._change_number, self._uris, self._mark = change_number, uris, mark
        self._marks: dict[str, str] = {}
        self._looks = 0
        self._watched: Counter[str] = Counter()
        self._sessions: dict[str, ServerSession] = {}
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._due: set[str] = set()
        self._seen = 0
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def subscribe(self, uri: str, session: ServerSession) -> None:
        """The handshake era: one subscription for each resource."""
        is_new = uri not in self._sessions
        self._sessions[uri] = session
        if is_new:
            await self._watch([uri])

    def unsubscribe(self, uri: str) -> None:
        if self._sessions.pop(uri, None) is not None:
            self._release([uri])

    async def listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """The modern era: one request that stays open, for any number of resources."""
        uris = set(self._uris()).intersection(params.notifications.resource_subscriptions or ())
        await self._watch(uris)
        try:
            return await self._listen(ctx, params)
        finally:
            self._release(uris)

    def notify(self, uri: str) -> None:
        """Say that a resource changed; may be called from any thread."""
        if self._watched[uri] and self._loop is not None:
            self._due.add(uri)
            self._loop.call_soon_threadsafe(self._wake.set)

    def look_now(self) -> None:
        """Do not wait for the next poll: a call may just have changed something."""
        if self._watched:
            self._looks = LOOKS
            self._wake.set()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Deliver changes for as long as this is open."""
        self._loop = asyncio.get_running_loop()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._deliver)
            yield
            tasks.cancel_scope.cancel()

    async def _watch(self, uris: Collection[str]) -> None:
        if uris and not self._watched:
            self._seen, self._marks = await self._number(), {}
        await self._different([uri for uri in uris if uri not in self._marks])
        self._watched.update(uris)
        self._wake.set()

    def _release(self, uris: Iterable[str]) -> None:
        self._watched -= Counter(uris)

    async def _deliver(self) -> None:
        while True:
            with anyio.move_on_after(POLL_SECONDS if self._watched else None):
                await self._wake.wait()
            self._wake.clear()
            for uri in await self._changed():
                await self._publish(uri)

    async def _changed(self) -> set[str]:
        """What was named since the last look, and what reads differently once something was done."""
        if not self._watched:
            return set()
        due, self._due = self._due, set()
        before, self._seen = self._seen, await self._number()
        if self._seen == before and not self._looks:
            return due
        self._looks = max(self._looks - 1, 0)
        return due | await self._different(list(self._watched))

    async def _different(self, uris: Sequence[str]) -> set[str]:
        """Those that do not say what they said when they were last looked at."""
        marks = await anyio.to_thread.run_sync(lambda: {uri: self._marked(uri) for uri in uris})
        changed = {uri for uri, mark in marks.items() if mark != self._marks.get(uri)}
        self._marks |= marks
        return changed

    def _marked(self, uri: str) -> str:
        try:
            return self._mark(uri)
        except Exception as error:
            # What cannot be read now is a change, too.
            logger.debug("%s cannot be read", uri, exc_info=True)
            return type(error).__name__

    async def _number(self) -> int:
        try:
            return await anyio.to_thread.run_sync(self._change_number)
        except Exception:
            # A store that is down for a while must not end the server.
            logger.warning("cannot see whether the store changed", exc_info=True)
            return self._seen

    async def _publish(self, uri: str) -> None:
        if session := self._sessions.get(uri):
            await session.send_resource_updated(uri)
        await self._bus.publish(ResourceUpdated(uri))
