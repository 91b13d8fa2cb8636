"""What the children of the store's fault tests do: one command each."""

import faulthandler
import os
import resource
import signal
import sys
import threading
import time

from store_faults import a_span

from agenttrace.core.errors import ExportError, StoreError
from agenttrace.store import SQLiteStore, connection


def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def keep(store, spans):
    """Store a batch as the pipeline does: keep it and come again while others hold the file."""
    refusals = 0
    while True:
        try:
            store.export(spans)
        except ExportError:
            refusals += 1
        else:
            return refusals


def write(path, trace, total, batch=10):
    """Store so many spans in batches; says how many were stored and how often the file was held."""
    store = SQLiteStore(path)
    trace, total, batch, refusals = int(trace), int(total), int(batch), 0
    for first in range(1, total + 1, batch):
        refusals += keep(store, [a_span(n, trace) for n in range(first, min(first + batch, total + 1))])
    store.close()
    tell(store.health().written, refusals)


def write_for_ever(path, trace):
    """Store batches with constant checkpoints, saying after each how many spans are stored."""
    connection.CHECKPOINT_PAGES = 3
    store = SQLiteStore(path)
    stored = 0
    while True:
        keep(store, [a_span(stored + n, int(trace), output="x" * 300) for n in range(1, 21)])
        stored += 20
        tell(stored)


def obey(path, trace):
    """Do one thing for each line of input, and say where spans go and how many are stored, lost, waiting."""
    store = SQLiteStore(path)
    number = 0
    for line in sys.stdin:
        match line.strip():
            case "store":
                number += 1
                keep(store, [a_span(number, int(trace))])
            case "read":
                store.traces()
            case "flush":
                store.flush(2.0)
            case "close":
                store.close()
        health = store.health()
        tell(line.strip(), health.mode, health.written, health.lost, health.waiting)


def write_until_told(path, trace):
    """Store batches until the input ends; says how many spans were stored, and how many in lost files."""
    store = SQLiteStore(path)
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    number = 0
    tell("ready")
    while not stop.is_set():
        keep(store, [a_span(number + n, int(trace), output="x" * 200) for n in range(1, 11)])
        number += 10
    store.close()
    health = store.health()
    tell(health.mode, health.written, health.lost, len(health.moved_aside))


def read_until_told(path, trace, expected):
    """Read a trace that nobody changes until the input ends; says how often it was there, how often not."""
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    tell("ready")
    whole = refused = 0
    while not stop.is_set():
        try:
            trace_read = SQLiteStore(path).trace(f"{int(trace):032x}")
        except StoreError:
            refused += 1
            continue
        assert trace_read is not None, "a row is missing"
        assert len(trace_read.spans) == int(expected), "rows of two files"
        whole += 1
    tell(whole, refused)


def die_after_migrating(path):
    """End as if killed with a new file's tables in its log, before anything else is done."""
    migrate = connection.migrations.migrate
    connection.migrations.migrate = lambda db: (migrate(db), os._exit(0))
    SQLiteStore(path).export([a_span(1)])


def migrate_for_ever(directory):
    """Make one new store after the other."""
    for number in range(100_000):
        if number == 0:
            tell("ready")
        store = SQLiteStore(os.path.join(directory, f"{number}.db"))
        store.export([a_span(1)])
        store.close()


def fork_while_writing(path, times):
    """Fork again and again while a thread writes; each child stores a span of its own."""
    store = SQLiteStore(path)
    stop = threading.Event()
    stored = []

    def writer():
        number = 0
        while not stop.is_set():
            number += 1
            keep(store, [a_span(number, 1)])
            stored.append(number)

    thread = threading.Thread(target=writer)
    thread.start()
    for child in range(int(times)):
        pid = os.fork()
        if pid == 0:
            keep(store, [a_span(n, 1000 + child) for n in (1, 2, 3)])
            os._exit(0)
        os.waitpid(pid, 0)
    stop.set()
    thread.join()
    store.close()
    tell(len(stored))


def outlive_the_parent(path):
    """A child goes on storing after its parent has closed the store and is gone."""
    store = SQLiteStore(path)
    store.export([a_span(1, 1)])
    ready, begin = os.pipe()
    if os.fork() == 0:
        keep(store, [a_span(1, 2)])
        os.write(begin, b"x")
        time.sleep(0.3)
        for number in range(2, 12):
            keep(store, [a_span(number, 2)])
        tell("done")
        os._exit(0)
    os.read(ready, 1)
    store.close()


def leave_a_fork_alone(path):
    """A forked child that never uses the store ends normally while the parent is inside a transaction."""
    store = SQLiteStore(path)
    store.export([a_span(number, 1, output="x" * 1_000) for number in range(1, 1_000)])
    db = store._writer._db
    db.execute("PRAGMA cache_size = 5")  # so that the transaction is in the shared log before it ends
    store.before_fork = lambda: None  # the rare fork that could not wait: the connection is inherited
    store.after_fork_in_parent = lambda: None
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE span_rows SET output = '\"changed\"'")
    pid = os.fork()
    if pid == 0:
        sys.exit(0)
    watch()
    os.waitpid(pid, 0)
    db.execute("COMMIT")
    store.export([a_span(1_000, 1)])
    store.close()


def fill_a_limited_file(path, limit):
    """Store more than a file may hold, then lift the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), hard))
    store = SQLiteStore(path)
    for number in range(1, 101):
        store.export([a_span(number, output="x" * 10_000)])
    tell(store.health().mode)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    tell(store.flush(5.0), store.health().mode, store.health().dropped)
    store.close()


def run_out_of_handles(path):
    """Store a span, then another when no file can be opened, then a third when one can again."""
    store = SQLiteStore(path)
    store.export([a_span(1)])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    store.export([a_span(2)])
    tell(store.health().mode)
    for handle in taken:
        os.close(handle)
    tell(store.flush(5.0), store.health().mode)
    store.close()


def push_datasets(path, by, times):
    """Push a dataset again and again under one name, saying after each the number of its version."""
    store = SQLiteStore(path)
    for number in range(int(times)):
        content = {"by": int(by), "number": number, "rows": ["x" * 100] * 200}
        tell(store.save_dataset("shared", "p", content))
    store.close()


def record_where_no_file_may_grow(path):
    """Record and flush on a disk without any room; says what the flush and the store say, then leaves."""
    from agenttrace.tracer import Tracer

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    tracer = Tracer("faults", store=path)
    work = tracer.observe(lambda n: n)
    for number in range(5):
        work(number)
    result = tracer.flush(30)
    tell(bool(result), result.stored, result.pending, tracer.store.health().mode)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    tell(bool(tracer.flush(30)), tracer.store.health().mode)


def write_as_nobody(path):
    """Store a span without the right to."""
    store = SQLiteStore(path)
    if os.geteuid() == 0:
        os.seteuid(65534)
    store.export([a_span(1)])
    store.export([a_span(2)])
    tell(store.health().mode, store.health().waiting, store.flush(0.2))


def watch():
    """Say where a child hangs after a minute, and end it there; after four minutes of the full counts.

    Never without an end: `faulthandler` reads the stacks of threads that go on, which may crash them.
    """
    faulthandler.dump_traceback_later(
        240 if os.environ.get("AGENTTRACE_FAULT_SCALE") == "full" else 60, exit=True
    )


if __name__ == "__main__":
    command = sys.argv[1].replace("-", "_")
    if (
        command != "leave_a_fork_alone"
    ):  # a fork of a watched process cannot end normally: it misses the watch
        watch()
    globals()[command](*sys.argv[2:])
