"""What the tests of the recorder look up and fake."""

import threading


def stored(tracer):
    """Every stored span, in start order."""
    assert tracer.flush(60)
    summaries = tracer.store.traces(limit=100_000)
    spans = [span for summary in summaries for span in tracer.store.trace(summary.trace_id).spans]
    return sorted(spans, key=lambda span: (span.start_ns, span.index))


def tree(spans):
    """``{name: parent's name}``."""
    names = {span.span_key: span.name for span in spans}
    return {span.name: names.get(span.parent_key) for span in spans}


class Sink:
    """A store, or an exporter, that keeps what it gets, and that can be made to fail or to stall."""

    def __init__(self):
        self.spans = []
        self.scores = []
        self.tools = []
        self.batches = []
        self.closed = 0
        self.refuse = lambda span: None
        self.gate = threading.Event()
        self.gate.set()

    def write(self, batch):
        """As a store; what raises before the spans are there leaves nothing of the batch."""
        for project, tools in batch.tools.items():
            self.write_tools(project, tools)
        self.write_scores(batch.scores)
        try:
            self.export(batch.spans)
        except BaseException:
            del self.scores[len(self.scores) - len(batch.scores) :]
            raise

    def export(self, spans):
        self.gate.wait()
        for span in spans:
            self.refuse(span)
        self.batches.append(len(spans))
        self.spans += spans

    def write_scores(self, scores):
        self.scores += scores

    def write_tools(self, project, tools):
        self.tools += tools

    def flush(self, timeout):
        return True

    def close(self):
        self.closed += 1

    @property
    def names(self):
        return [span.name for span in self.spans]
