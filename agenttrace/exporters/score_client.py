"""`ScoreClient`: sends scores over a back end's own API; `AutoScoreClient`: finds out which that is."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agenttrace.core.batch import Refusal, Unsent
from agenttrace.exporters.otlp_http import (
    CONTENT_STATUSES,
    MAX_BAD_IN_A_ROW,
    Collector,
    SendFailure,
    SendResult,
    described,
    trouble_of,
)
from agenttrace.exporters.otlp_settings import SignalSettings
from agenttrace.exporters.score_backends import BACK_ENDS, BackEnd, BackEndName, Post
from agenttrace.exporters.score_facts import ScoreFacts, facts_of
from agenttrace.exporters.score_probe import NOT_LOGS, base_of, find_back_end
from agenttrace.http.transport import Answer, Failure, Transport

FIRST_WAIT = 0.25
WAITS = 4
"""A span that was accepted may be stored a moment later: so often its score is tried again at once, after
seconds that double."""

PATIENCE_SECONDS = 300.0
"""How long after it was stored a score waits for its span to arrive; then it is refused, for `resend`."""

log = logging.getLogger("agenttrace")


@dataclass(slots=True)
class _Pass:
    """What becomes of some scores: `missing` has those without a span there, `because` says it."""

    scores: Sequence[ScoreFacts]
    max_bytes: int
    missing: list[int] = field(default_factory=list)
    because: str = ""
    refused: list[Refusal] = field(default_factory=list)
    bad: int = 0
    trouble: SendFailure | None = None


class ScoreClient:
    """Sends scores to one back end; what was delivered before trouble came, it does not send again."""

    def __init__(self, settings: SignalSettings, back_end: BackEnd, *, content: bool) -> None:
        self.back_end = back_end
        self._settings = settings
        self._content = content
        self._root = back_end.root(base_of(settings))
        self._transport = Transport(timeout=settings.timeout, attempts=1)
        self._delivered: set[str] = set()

    async def send(self, unsent: Unsent, max_bytes: int) -> SendResult:
        """See `SendsUnsent`."""
        if unsent.body is not None:
            reason = f"encoded for OTLP by an earlier version; {self.back_end.name} takes none"
            return SendResult(refused=[Refusal(0, 1, 1, reason)])
        rows = zip(unsent.items, unsent.times, strict=True)
        scores = [facts_of(row, stored_ns, content=self._content) for row, stored_ns in rows]  # type: ignore[arg-type]  # a destination of scores
        state = _Pass(scores, max_bytes)
        posts = self.back_end.posts(scores)
        for post in posts:
            await self._deliver(state, post)
        await self._wait_for_spans(state, posts)
        return self._settled(state, posts)

    async def _wait_for_spans(self, state: _Pass, posts: Sequence[Post]) -> None:
        """Try those again whose span was sent on another thread, perhaps at this moment."""
        for attempt in range(WAITS):
            missing = set(state.missing)
            if not missing or state.trouble is not None:
                return
            await asyncio.sleep(FIRST_WAIT * 2**attempt)
            state.missing, state.bad = [], 0
            for post in posts:
                places = tuple(place for place in post.places if place in missing)
                await self._deliver(state, replace(post, places=places))

    def _settled(self, state: _Pass, posts: Sequence[Post]) -> SendResult:
        scores = state.scores
        oldest = time.time_ns() - int(PATIENCE_SECONDS * 1e9)
        if state.trouble is None and any(scores[place].time_ns > oldest for place in state.missing):
            text = f"{len(state.missing)} scores wait for their spans: {state.because}"
            state.trouble = SendFailure(text)
        if state.trouble is not None:
            return SendResult(trouble=state.trouble)
        posted = {place for post in posts for place in post.places}
        refused = state.refused + [Refusal(place, place + 1, 1, state.because) for place in state.missing]
        refused += [
            Refusal(place, place + 1, 1, f"it is about no trace, and {self.back_end.name} takes no other")
            for place in range(len(scores))
            if place not in posted
        ]
        self._delivered.difference_update(score.identifier for score in scores)
        return SendResult(sent=len(scores) - len(refused), refused=sorted(refused))

    async def _deliver(self, state: _Pass, post: Post) -> None:
        """Post scores; in halves where they are too many, or one of them is bad or has no span there."""
        places = [p for p in post.places if state.scores[p].identifier not in self._delivered]
        if not places or state.trouble is not None:
            return
        if state.bad >= MAX_BAD_IN_A_ROW:
            state.missing += places  # unseen, like those before
            return
        body = self.back_end.body([state.scores[place] for place in places])
        fits = len(places) == 1 or len(body) <= state.max_bytes
        if fits and not await self._post(state, post.path, places, body):
            return
        middle = len(places) // 2
        for half in (places[:middle], places[middle:]):
            await self._deliver(state, replace(post, places=tuple(half)))

    async def _post(self, state: _Pass, path: str, places: list[int], body: bytes) -> bool:
        """Returns True if they must be tried in halves."""
        headers = {"content-type": "application/json", **self._settings.headers}
        identifiers = {state.scores[place].identifier for place in places}
        answer = await self._known_already(state.scores[places[0]], identifiers)
        if answer is None:
            answer = await self._transport.post(self._root + path, headers, body)
        if isinstance(answer, Failure):
            if answer.status is None:
                state.trouble = SendFailure(answer.problem, slow=True)
                return False
            answer = Answer(answer.status, b"")
        text = f"{self.back_end.name} {described(answer, self._settings)}"
        if 200 <= answer.status < 300:
            self._delivered |= identifiers
            state.bad = 0
        elif self.back_end.is_unknown(answer):
            return self._note_bad(state, places, text, unknown=True)
        elif (trouble := trouble_of(answer, text)) is not None:
            state.trouble = trouble
        else:
            return self._note_bad(state, places, text, splits=answer.status in CONTENT_STATUSES)
        return False

    def _note_bad(
        self, state: _Pass, places: list[int], text: str, *, unknown: bool = False, splits: bool = True
    ) -> bool:
        if len(places) > 1 and splits:
            return True
        state.bad += 1
        if unknown:
            state.because = text
            state.missing += places
        else:
            state.refused += [Refusal(place, place + 1, 1, text) for place in places]
        return False

    async def _known_already(self, score: ScoreFacts, identifiers: set[str]) -> Answer | Failure | None:
        """The answer that needs no post: the score is there, or its trace is not. None: post it."""
        path = self.back_end.lookup(score)
        if path is None:
            return None
        answer = await self._transport.get(self._root + path, self._settings.headers)
        if isinstance(answer, Failure) or self.back_end.is_unknown(answer):
            return answer
        try:
            there = answer.status == 200 and identifiers <= self.back_end.identifiers_in(answer.body)
        except ValueError:  # an answer of another shape
            there = False
        return Answer(200, b"") if there else None


class AutoScoreClient:
    """Sends scores as OTLP logs; to a server that takes none, over its own API, once it was found out."""

    def __init__(self, settings: SignalSettings, collector: Collector, *, content: bool) -> None:
        self._settings = settings
        self._content = content
        self._collector = collector
        self._client: ScoreClient | None = None

    @property
    def back_end(self) -> BackEndName | None:
        """Where scores go over an API of its own; None as long as they go as logs."""
        return None if self._client is None else self._client.back_end.name

    def remember(self, name: BackEndName | None) -> None:
        """Send to this back end from now on."""
        if name is not None:
            self._client = self._client_of(name)

    async def send(self, unsent: Unsent, max_bytes: int) -> SendResult:
        """See `SendsUnsent`."""
        if self._client is None:
            result = await self._collector.send(unsent, max_bytes)
            trouble = result.trouble
            if trouble is None or trouble.status not in NOT_LOGS:
                return result
            name = await find_back_end(self._settings)
            if name is None:
                text = f"{trouble.text}; and neither Phoenix, MLflow nor Langfuse answers there: scores=…"
                return replace(result, trouble=replace(trouble, text=text))
            log.info("%s takes no logs; scores go to %s over its own API", self._settings.url, name)
            self._client = self._client_of(name)
        return await self._client.send(unsent, max_bytes)

    def _client_of(self, name: BackEndName) -> ScoreClient:
        return ScoreClient(self._settings, BACK_ENDS[name], content=self._content)
