import contextlib
import fcntl
import multiprocessing
import os
import resource
import signal
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.corpus.codec import Undecodable
from checker.workers.messages import (
    Assign,
    Drain,
    FindingsWritten,
    LeaseReport,
    Leaving,
    LeavingKind,
    Opened,
    OperationCard,
    PeerJournals,
    Task,
    TasksEnded,
)
from checker.workers.queues import Message, Receiver, Sender, decode, encode

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
INDICES = st.integers(0, 2**63)
TASKS = st.builds(
    Task,
    id=TEXTS,
    phase=TEXTS,
    labels=st.lists(TEXTS, min_size=1, max_size=4).map(tuple),
    seed=st.integers(0, 2**64 - 1),
    start=INDICES,
    stop=INDICES,
    slice_s=st.floats(0, 100),
    skipped=st.lists(INDICES, max_size=4).map(tuple),
    redo=st.lists(INDICES, max_size=4).map(tuple),
)
MESSAGES = st.one_of(
    st.builds(Assign, st.lists(TASKS, max_size=3).map(tuple)),
    st.builds(PeerJournals, st.lists(TEXTS, max_size=3).map(tuple)),
    st.builds(PeerJournals, st.lists(TEXTS, max_size=3).map(tuple)),
    st.builds(Drain, st.booleans()),
    st.builds(
        Opened,
        journal=TEXTS,
        document=TEXTS,
        base_url=TEXTS,
        operations=st.lists(
            st.builds(OperationCard, TEXTS, TEXTS, st.lists(TEXTS, max_size=3).map(tuple)), max_size=3
        ).map(tuple),
    ),
    st.builds(
        TasksEnded,
        tasks=st.lists(st.tuples(TEXTS, INDICES, st.booleans()), max_size=3).map(tuple),
        reports=st.lists(st.builds(LeaseReport, INDICES, INDICES, INDICES), max_size=3).map(tuple),
    ),
    st.builds(FindingsWritten, INDICES),
    st.builds(Leaving, st.sampled_from(LeavingKind), TEXTS, st.lists(TEXTS).map(tuple)),
)
BEYOND_SELECT = 1024
FORKSERVER = multiprocessing.get_context("forkserver")


@pytest.fixture
def ends() -> tuple[Sender, Receiver]:
    return queue()


def queue() -> tuple[Sender, Receiver]:
    reading, writing = Pipe(duplex=False)
    return Sender(writing), Receiver(reading)


def close(sender: Sender, receiver: Receiver) -> None:
    sender.close()
    receiver.close()


@given(MESSAGES)
def test_every_message_survives_the_wire(message: Message) -> None:
    assert decode(encode(message)) == message


@given(MESSAGES, st.data())
def test_damage_is_undecodable_or_not_seen(message: Message, data: st.DataObject) -> None:
    encoded = bytearray(encode(message))
    encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    found: Message = Drain()
    with contextlib.suppress(Undecodable):
        found = decode(bytes(encoded))
    # What is read in spite of it is a message like any other.
    assert repr(decode(encode(found))) == repr(found)


@settings(max_examples=30)
@given(st.lists(MESSAGES, max_size=20))
def test_messages_arrive_in_order_and_then_the_end(messages: list[Message]) -> None:
    sender, receiver = queue()
    for message in messages:
        sender.send(message)
    sender.close()
    received = []
    while not receiver.closed:
        received.append(receiver.get_nowait())
    assert [message for message in received if message is not None] == messages
    close(sender, receiver)


def test_an_empty_queue_gives_none_and_is_not_closed(ends: tuple[Sender, Receiver]) -> None:
    sender, receiver = ends
    assert receiver.get_nowait() is None
    assert not receiver.closed
    assert not receiver.wait(0.0)
    close(sender, receiver)


def test_sending_to_the_dead_does_nothing_and_says_so(ends: tuple[Sender, Receiver]) -> None:
    sender, receiver = ends
    receiver.close()
    sender.send(Drain())
    assert sender.closed
    sender.send(Drain())


def test_a_reader_that_hangs_does_not_hang_its_writer(ends: tuple[Sender, Receiver]) -> None:
    sender, receiver = ends
    sent = [PeerJournals((str(number) * 1000,)) for number in range(500)]
    for message in sent:
        sender.send(message)
    assert not sender.flush()
    received: list[Message] = []
    while len(received) < len(sent):
        found = receiver.get_nowait()
        if found is not None:
            received.append(found)
        sender.flush()
    assert received == sent
    assert sender.flush()
    close(sender, receiver)


def test_a_patient_writer_writes_all_of_a_message_larger_than_the_pipe() -> None:
    reading, writing = Pipe(duplex=False)
    sender, receiver = Sender(writing, patience_s=20.0), Receiver(reading)
    large = PeerJournals(("x" * 1_000_000,))
    thread = threading.Thread(target=sender.send, args=(large,))
    thread.start()
    message = None
    while message is None and receiver.wait():
        message = receiver.get_nowait()
    thread.join()
    assert message == large
    assert sender.flush()
    close(sender, receiver)


def test_lingering_ends_when_nobody_reads(ends: tuple[Sender, Receiver]) -> None:
    sender, receiver = ends
    sender.send(PeerJournals(("x" * 1_000_000,)))
    sender.linger(0.05)
    assert not sender.closed
    close(sender, receiver)


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= BEYOND_SELECT,
    reason="this process may not open as many files as `select` cannot take",
)
def test_lingering_takes_descriptors_of_any_number() -> None:
    reading, writing = Pipe(duplex=False)
    high = fcntl.fcntl(writing.fileno(), fcntl.F_DUPFD_CLOEXEC, BEYOND_SELECT)
    writing.close()
    sender, receiver = Sender(Connection(high, readable=False)), Receiver(reading)
    sender.send(PeerJournals(("x" * 1_000_000,)))
    sender.linger(0.05)
    assert not sender.flush()
    close(sender, receiver)


def test_what_nobody_reads_ends_the_queue_before_memory_does() -> None:
    reading, writing = Pipe(duplex=False)
    sender, receiver = Sender(writing, patience_s=0.05), Receiver(reading)
    sender.send(PeerJournals(("x" * 65_000_000, "x" * 4_000_000)))
    assert sender.closed
    assert sender.flush()
    close(sender, receiver)


def test_nonsense_ends_the_queue(ends: tuple[Sender, Receiver]) -> None:
    _, receiver = ends
    reading, writing = Pipe(duplex=False)
    os.write(writing.fileno(), (3).to_bytes(4, "big") + b"\xc1\xc1\xc1")
    receiver = Receiver(reading)
    assert receiver.get_nowait() is None
    assert receiver.closed
    close(Sender(writing), receiver)


def chatter(connection: Connection) -> None:
    sender = Sender(connection)
    for number in range(1000):
        sender.send(FindingsWritten(number))
        sender.linger()
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_producer_loses_nothing_that_it_sent_and_ends_its_queue() -> None:
    reading, writing = FORKSERVER.Pipe(duplex=False)
    process = FORKSERVER.Process(target=chatter, args=(writing,))
    process.start()
    writing.close()
    receiver = Receiver(reading)
    received = []
    while not receiver.closed and wait([receiver.fileno()], 20):
        message = receiver.get_nowait()
        if message is not None:
            received.append(message)
    assert received == [FindingsWritten(number) for number in range(1000)]
    assert receiver.closed
    receiver.close()
    process.join()
    process.close()


def torn(connection: Connection) -> None:
    data = encode(FindingsWritten(1))
    framed = len(data).to_bytes(4, "big") + data
    os.write(connection.fileno(), framed + framed[:-1])
    os.kill(os.getpid(), signal.SIGKILL)


def test_half_a_message_of_a_killed_producer_is_dropped() -> None:
    reading, writing = FORKSERVER.Pipe(duplex=False)
    process = FORKSERVER.Process(target=torn, args=(writing,))
    process.start()
    writing.close()
    process.join()
    receiver = Receiver(reading)
    assert receiver.get_nowait() == FindingsWritten(1)
    assert receiver.get_nowait() is None
    assert receiver.closed
    receiver.close()
    process.close()
