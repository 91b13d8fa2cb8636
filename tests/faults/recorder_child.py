"""What the children of the recorder's fault tests do: one function each, named on the command line."""

import atexit
import concurrent.futures
import faulthandler
import gc
import itertools
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time

PATIENCE = 60
"""Seconds without an end after which a child hangs: far more than it needs, also beside another load."""


def patience():
    """Begin the seconds anew after which the stacks are dumped and the child ends."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)


def patience_with_forks():
    """The same where forks end as scripts do: a forked child waits at its end for a thread of `faulthandler`
    that only its parent has."""
    faulthandler.cancel_dump_traceback_later()
    alarm_patience()


def alarm_patience():
    """The same in a forked child."""
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(PATIENCE)


def tell(*words):
    """Say something that not even a kill can take back."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def held_up_ns():
    """How long the thread that waited longest for a processor has, where the system says so."""
    longest = 0
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/schedstat") as file:
                longest = max(longest, int(file.read().split()[1]))
        except (OSError, ValueError):  # a thread that has just ended, a system that does not say
            continue
    return longest


def let_go_by(seconds):
    """Wait for so long, and for as long more as the machine held this process up meanwhile."""
    end = time.monotonic() + seconds - held_up_ns() / 1e9
    while time.monotonic() - held_up_ns() / 1e9 < end:
        time.sleep(0.01)


def make_tracer(path, **options):
    from agenttrace.tracer import Tracer
    from agenttrace.tracing import process_end

    global tracer, work
    # The second that an exit may take is one of a machine that does not hold the process up.
    process_end.PATIENCE = process_end.PATIENCE_OF_CHILDREN = process_end.MOST = 30.0
    tracer = Tracer("faults", store=path, **options)
    work = tracer.observe(_work, name="work")
    return tracer


def _work(n):
    return n


def plain_exit(path, count):
    """Trace, then end as any script ends."""
    make_tracer(path)
    for n in range(int(count)):
        work(n)


def interrupted_at_exit(path):
    """Trace with two tracers whose exporters are interrupted when the process ends."""

    class Interrupted:
        def export(self, spans):
            pass

        def flush(self, timeout):
            raise KeyboardInterrupt

        def close(self):
            pass

    for n in range(2):
        make_tracer(path, exporters=[Interrupted()])
        work(n)


def unhandled(path):
    plain_exit(path, 10)
    raise LookupError("unhandled")


def exit_in_thread(path):
    plain_exit(path, 5)

    def leave():
        work(5)
        sys.exit(3)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()


def wait_for_signal(path):
    """Trace every millisecond, saying each span's number and time once it has ended, and for how long the
    machine has held the process up."""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]
    make_tracer(path)
    work(-1)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)] == before
    n = 0
    while True:
        work(n)
        tell(n, time.time_ns(), held_up_ns())
        n += 1
        time.sleep(0.001)


def leave_at_once(path):
    """Trace, let the bound go by, trace once more, leave without any clean-up."""
    plain_exit(path, 20)
    let_go_by(0.4)
    work(20)
    os._exit(0)


def fork_in_a_call(path):
    """Fork inside a traced call; the child traces, then unwinds through the open call with sys.exit."""
    make_tracer(path)
    patience_with_forks()
    work(0)

    @tracer.observe(name="open")
    def open_call():
        work(1)
        child = os.fork()
        if not child:
            alarm_patience()
        work(2 if child else 3)
        if not child:
            sys.exit(0)
        os.waitpid(child, 0)
        work(4)

    open_call()


def child_outlives_the_call(path):
    """Fork inside a traced call, which the child leaves when its parent's end of it is stored."""
    make_tracer(path)
    patience_with_forks()
    go_on, tell_child = os.pipe()

    @tracer.observe(name="open")
    def open_call():
        child = os.fork()
        if not child:
            alarm_patience()
            os.read(go_on, 1)
            sys.exit(0)
        return child

    child = open_call()
    assert tracer.flush(60)
    os.write(tell_child, b"x")
    os.waitpid(child, 0)


def fork_and_go_on(path):
    """Both sides of a fork go on inside the same call."""
    make_tracer(path)
    patience_with_forks()

    @tracer.observe(name="open")
    def open_call():
        child = os.fork()
        if not child:
            alarm_patience()
        for n in range(3):
            work(n if child else 10 + n)
        return child

    child = open_call()
    work(5 if child else 15)
    if child:
        os.waitpid(child, 0)


def _in_process(n):
    work(n)
    with tracer.span("block"):
        work(n + 100)
    return os.getpid()


def _spawned(path, n):
    """The target of a child that may know nothing of its parent's tracer."""
    patience()
    make_tracer(path)
    _in_process(n)


def _forked(n):
    alarm_patience()
    _in_process(n)


def multiprocess(path, method):
    """Four children, which leave through os._exit, as multiprocessing has them do."""
    make_tracer(path)
    work(0)
    tracer.flush()
    context = multiprocessing.get_context(method)
    targets = [(_forked, (n,)) if method == "fork" else (_spawned, (path, n)) for n in range(1, 5)]
    children = [context.Process(target=target, args=arguments) for target, arguments in targets]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0


def process_pool(path, method):
    make_tracer(path)
    work(0)
    context = multiprocessing.get_context(method)
    options = {} if method == "fork" else {"initializer": make_tracer, "initargs": (path,)}
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context, **options) as pool:
        list(pool.map(_in_process, range(1, 9)))


def preforked_workers(path, bound):
    """Fork two workers; each traces three tasks, lets the bound go by, is replaced. Says their numbers."""
    make_tracer(path)
    patience_with_forks()
    work(0)
    for first in range(1, 19, 6):
        workers = []
        for number in (first, first + 3):
            child = os.fork()
            if not child:
                alarm_patience()
                for n in range(number, number + 3):
                    work(n)
                wait_until_stored(float(bound))
                os._exit(0)
            workers.append(child)
        for child in workers:
            assert os.waitpid(child, 0)[1] == 0
    tell(*range(1, 19))


def wait_until_stored(bound):
    """Wait for the bound to go by, and beside a load until the writer got to run; never flush."""
    time.sleep(bound)
    while tracer.stats()["queued"] or tracer.stats()["pending"]:
        time.sleep(0.01)


def fork_storm(path, count):
    """Fork again and again while three threads trace and one flushes."""
    make_tracer(path)
    over = threading.Event()
    done = [0, 0, 0]

    def trace(number):
        while not over.is_set():
            work(number * 10_000_000 + done[number])
            done[number] += 1
            time.sleep(0.0005)

    def flush():
        while not over.is_set():
            tracer.flush(1)

    threads = [threading.Thread(target=trace, args=(n,)) for n in range(3)] + [threading.Thread(target=flush)]
    for thread in threads:
        thread.start()
    for n in range(int(count)):
        patience()
        child = os.fork()
        if not child:
            alarm_patience()
            work(-1 - n)
            tracer.flush(50)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    over.set()
    for thread in threads:
        thread.join()
    patience()
    assert tracer.flush(50)
    tell(sum(done))


def fork_and_do_nothing(path):
    """A child that never traces starts no thread, opens nothing, writes nothing."""
    make_tracer(path)
    work(0)
    tracer.flush()
    child = os.fork()
    if not child:
        alarm_patience()
        tell("threads", len(os.listdir("/proc/self/task")))
        tell("files", sum(path in os.readlink(f"/proc/self/fd/{fd}") for fd in open_files()))
        os._exit(0)
    os.waitpid(child, 0)
    work(1)


def open_files():
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        found.append(fd)
    return found


def many_signals(path, hertz, seconds):
    """Trace in a handler of SIGALRM, while the main thread traces and flushes, too."""
    make_tracer(path)
    main, handled = 0, itertools.count()  # a handler may interrupt a handler

    def handle(*_):
        n = next(handled)
        work(10_000_000 + n)
        if n % 100 == 0:
            tracer.flush(0.05)

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 1 / float(hertz), 1 / float(hertz))
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        work(main)
        main += 1
        if main % 1_000 == 0:
            tracer.flush(1)
            patience()
            time.sleep(0.001)
    signal.setitimer(signal.ITIMER_REAL, 0)
    patience()
    assert tracer.flush(50), tracer.stats()
    tell(main, next(handled))


def first_call_in_a_handler(path):
    """The first traced call of the process runs in a signal handler that interrupts `threading` itself."""
    make_tracer(path)
    with threading._active_limbo_lock:
        work(0)
    tracer.flush()


def late_spans(path):
    """Spans in exit handlers that run before and after ours, and while the interpreter is taken apart."""
    atexit.register(lambda: work(1))  # registered first, so it runs last
    make_tracer(path)
    atexit.register(lambda: work(2))

    class AtTheEnd:
        def __init__(self):
            self.work = work

        def __del__(self):
            self.work(3)

    sys.agenttrace_test = AtTheEnd()
    work(0)


def write_many(path, first, count):
    """One of several processes on one file."""
    make_tracer(path)
    for n in range(int(first), int(first) + int(count)):
        work(n)
        if n % 500 == 0:
            patience()
            tracer.flush(30)
            patience()
    patience()
    result = tracer.flush(50)
    assert result, result
    tell(tracer.stats()["written"])


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def soak(path, count):
    """Many spans; says how memory, threads and open files grew over the second half."""
    make_tracer(path)
    count = int(count)
    seen = []
    for part in (0, 1):
        for n in range(part * count // 2, (part + 1) * count // 2):
            work(n)
            if n % 1_000 == 0:
                tracer.flush(10)
                patience()
        tracer.flush(10)
        gc.collect()
        seen.append((memory(), threading.active_count(), len(open_files())))
    (before, *things), (after, *same) = seen
    assert things == same, seen
    tell(after - before, tracer.stats()["written"])


def stalled_store(path, count, size):
    """Record far more than fits while the store stalls; says how memory grew and what was counted."""
    from agenttrace.store import MemoryStore
    from agenttrace.tracer import Tracer

    stall = threading.Event()
    store = MemoryStore()
    keep, store.write = store.write, lambda batch: (stall.wait(), keep(batch))
    tracer = Tracer("faults", store=store, queue_limit=int(count) // 2)

    @tracer.observe(capture_output=False)
    def heavy(values):
        return None

    heavy([])
    time.sleep(0.3)
    before = memory()
    for _ in range(int(count)):
        heavy(["x" * int(size)] * 2)
    tell(memory() - before, tracer.stats()["values_dropped"], tracer.stats()["dropped"]["queue_full"])
    stall.set()
    patience()
    result = tracer.flush(50)
    tell(result.stored, result.pending)


def paused(path):
    """Be stopped inside a call and go on."""
    make_tracer(path)
    with tracer.span("long"):
        tell("ready")
        time.sleep(0.5)
    work(0)
    assert tracer.flush(50)


def main(name, *arguments):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    patience()
    globals()[name](*arguments)


if __name__ == "__main__":
    sys.modules["recorder_child"] = sys.modules["__main__"]
    main(*sys.argv[1:])
