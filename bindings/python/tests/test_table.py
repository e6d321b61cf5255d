# SPDX-License-Identifier: Apache-2.0
"""The table of all operations, of each kind: in C (a call that waits, and one that is started), in holdfast and in holdfast.aio.

Both sides are looked up, in <holdfast.h> and in the classes, so what is added to one of them is missed in the others. What is
not everywhere has its reason here."""

import enum
import fnmatch
import inspect
import os
import re

import pytest

import holdfast
from conftest import SOON, Server
from holdfast import aio
from holdfast._native import ffi, lib

# Operations (patterns), where they are not, and why. Where: C, started (in C), sync, aio.
GAPS = [
    ("*.name *.id *.node Client.metrics", "started", "sends nothing"),
    ("connect Client.*lock Client.*semaphore Client.latch MultiLock RedLock Leader", "started", "sends nothing"),
    ("Hold.owner Hold.token Hold.*_for Hold.raise_if_lost Hold.state Hold.loss_reason Hold.detach", "started", "sends nothing"),
    ("Leader.leads Leader.step_down Term.*", "started", "sends nothing"),
    ("Hold.leave FencedLock.latest_token Client.probe", "started", "the engine cannot start it; aio has a thread wait for it"),
    ("Client.close", "started", "it ends what has been started; aio has a thread wait for it"),
    ("Leader.lead Leader.campaign", "started", "the body runs on the thread that calls; Python has leaders of its own"),
    ("Loss.wait Hold.wait_asked", "C", "a thread waits with a queue"),
    ("*.free Hold.clear text_free", "started sync aio", "Python frees what nobody refers to"),
    ("Queue.* Stop.*", "started sync aio", "underneath all waits of Python, which Ctrl-C and cancel() end"),
    ("last_error code_name", "started sync aio", "HoldfastError has it"),
    ("__version__", "started aio", "holdfast has it"),
    ("*.hold", "C started", "acquire(), raising"),
    ("Hold.is_lost Loss.is_set", "C started", "whether there is a loss_reason"),
    ("Hold.lost", "C started", "what has wait()"),
    ("ReadWriteLock.*", "C started", "two locks of one name"),
    ("Latch.name Semaphore.name", "C started", "Python keeps what they were made with"),
    ("Client.locked Semaphore.permit Leader.PAUSE", "C started", "Python's own"),
]
# Where an operation takes less, what it does not take, and why.
SHORTER = [
    ("LeasedSemaphore.init Semaphore.init", "started", "lives_ms", "the engine cannot start that; aio has a thread wait for it"),
    ("Loss.wait Hold.wait_asked", "aio", "timeout", "asyncio.wait_for() has it"),
    ("Leader.campaign", "aio", "stop", "cancel() ends it"),
]
# What has another name in Python. All else has that of C, and is made by the Client's method with the name of its class.
NAMES = {
    "version": "__version__", "Client.open": "connect", "Hold.check": "Hold.raise_if_lost", "Hold.wait_lost": "Loss.wait",
    "ReadLock.open": "Client.read_write_lock", "WriteLock.open": "Client.read_write_lock",
    "MultiLock.open": "MultiLock", "RedLock.open": "RedLock", "Leader.open": "Leader",
}
ENUMS = {"hf_code": "Code", "hf_acks": "Acks", "hf_outcome": "ReleaseOutcome", "hf_state": "HoldState", "hf_loss": "LossReason",
         "hf_list": "Kind"}
NO_ENUMS = {"hf_kind": "a class each", "hf_form": "metrics(openmetrics=)", "hf_lease": "renewed=", "hf_term_end": "lead() raises"}
NO_NUMBERS = {"HF_OK": "nothing is raised", "HF_INTERRUPTED": "of queues", "HF_NOTHING": "of queues", "HF_ACKS_UNSET": "None"}
REFUSAL = "several locks as one cannot|only a lock of kind"  # of a lock of another kind
SEVERAL = {"MultiLock", "RedLock"}
FACES = {"sync": holdfast, "aio": aio}


@pytest.fixture(scope="module")
def header():
    """Its declarations, without comments."""
    path = os.environ.get("HOLDFAST_HEADER")
    if path is None:
        pytest.skip("HOLDFAST_HEADER does not say where it is")
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


@pytest.fixture(scope="module")
def functions(header):
    """What each takes, by name."""
    return {name: [each.strip() for each in takes.split(",")]
            for name, takes in re.findall(r"^HF_API[^;(]*?\bhf_(\w+)\((.*?)\);", header, flags=re.M | re.S)}


def class_of(kind):
    """Of FAIR, or fair: FairLock."""
    return {"LOCK": "Lock", "LEASED": "LeasedSemaphore"}.get(kind, kind.capitalize() + "Lock")


def maker_of(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def made(client, kind):
    """A lock of a name of its own."""
    if kind in SEVERAL:
        return getattr(holdfast, kind)([client.lock(kind)])
    if kind in ("ReadLock", "WriteLock"):
        both = client.read_write_lock(kind)
        return both.read() if kind == "ReadLock" else both.write()
    lock = getattr(client, maker_of(kind))([kind] if kind == "AnyLock" else kind)
    if kind == "LeasedSemaphore":
        lock.init(1)
    return lock


def is_of(function, lock, queue):
    """Whether the library does that for a lock of this kind."""
    call = getattr(lib, "hf_" + function)
    if ffi.typeof(call).result.kind != "primitive":
        return True
    samples = {ffi.typeof(of): sample for of, sample in
               (("hf_lock *", lock._ptr), ("hf_queue *", queue), ("hf_options *", ffi.NULL), ("char *", b"x"))}
    arguments = [samples[each] if each in samples else ffi.new(each) if each.kind == "pointer" else 1
                 for each in ffi.typeof(call).args]
    code, error = call(*arguments), lib.hf_last_error()
    if code == lib.HF_OK and function.endswith("_async"):
        done = ffi.new("hf_completion *")
        assert lib.hf_queue_next(queue, 1000 * SOON, done) == lib.HF_OK
        lib.hf_hold_free(done.hold)
        code, error = done.error.code, done.error
    elif code == lib.HF_OK and ffi.typeof(call).args[-1] is ffi.typeof("hf_hold **"):
        lib.hf_hold_clear(arguments[-1])
    return code != lib.HF_INVALID_ARGUMENT or not re.match(REFUSAL, ffi.string(error.cause).decode())


@pytest.fixture(scope="module")
def in_c(header, functions):
    """All operations in C, with where they are: C, started."""
    found = {}
    kinds = [class_of(each) for each in re.findall(r"\bHF_(\w+)", re.search(r"enum hf_kind \{(.*?)\}", header, flags=re.S)[1])]
    several = [class_of(name[:-5]) for name, takes in functions.items() if takes[-1] == "hf_lock **lock" and name[-5:] == "_open"]
    several.remove("LockLock")
    server = Server()
    client = holdfast.connect(server.url)
    queue = holdfast._native.new_queue()
    locks = {kind: made(client, kind) for kind in kinds + several}
    for function in functions:
        name, started = re.fullmatch(r"(\w+?)(_async)?", function).groups()
        noun, _, verb = name.partition("_")
        if name == "lock_open":
            operations = [f"{kind}.open" for kind in kinds]
        elif class_of(noun) in several:
            operations = [f"{class_of(noun)}.{verb}"]
        elif noun in ("lock", "permits"):
            operations = [f"{kind}.{verb}" for kind, lock in locks.items() if name == "lock_free" or is_of(function, lock, queue)]
        elif f"typedef struct hf_{noun} " in header:
            operations = [f"{noun.capitalize()}.{verb}"]
        else:
            operations = [name]
        for each in operations:
            kind = each.partition(".")[0]
            maker = f"Client.{maker_of(kind)}" if each.endswith(".open") and hasattr(holdfast, kind) else each
            found.setdefault(NAMES.get(each, maker), set()).add("started" if started else "C")
    client.close()
    server.stop()
    return found


def in_python(face):
    """All operations of a face, with what they are."""
    found = {name: getattr(face, name) for name in NAMES.values() if "." not in name and hasattr(face, name)}
    for name, of in vars(face).items():
        if name.startswith("_") or getattr(of, "__module__", "") != face.__name__:
            continue
        if inspect.isclass(of):
            found.update({f"{name}.{each}": getattr(of, each) for each in dir(of) if not each.startswith("_")})
        else:
            found[name] = of
    return found


def takes(operation):
    return set(inspect.signature(operation).parameters) if inspect.isfunction(operation) else set()


def without_reason(found, reasons):
    """Of (operation, ...): those that no reason has, and the reasons that none needs."""
    unused = set(range(len(reasons)))
    left = []
    for operation, *what in found:
        which = [i for i, (patterns, *of, _) in enumerate(reasons)
                 if of == what and any(fnmatch.fnmatchcase(operation, each) for each in patterns.split())]
        unused -= set(which)
        if not which:
            left.append((operation, *what))
    return left, [reasons[i] for i in unused]


def test_what_is_in_one_is_in_all_or_has_a_reason(in_c):
    faces = {name: in_python(face) for name, face in FACES.items()}
    assert {"RedLock.acquire", "ReadLock.adopt", "Latch.count_down", "Term.leads", "Client.list"} <= in_c.keys() & faces["aio"].keys()
    gaps = []
    for operation in sorted(in_c.keys() | faces["sync"].keys() | faces["aio"].keys()):
        where = in_c.get(operation, set()) | {name for name, has in faces.items() if operation in has}
        if where != {"C", "started", "sync", "aio"}:
            gaps.append((operation, " ".join(each for each in ("C", "started", "sync", "aio") if each not in where)))
    assert without_reason(gaps, GAPS) == ([], [])


def test_what_is_started_in_c_is_awaited_in_aio(in_c):
    found = in_python(aio)
    assert [each for each, where in in_c.items()
            if "started" in where and each in found and not inspect.iscoroutinefunction(found[each])] == []


def test_what_one_takes_the_others_take(functions):
    sync, asynchronous = map(in_python, FACES.values())
    shorter = [(each, one, ", ".join(sorted(takes(of[each]) - takes(less[each]))))
               for one, of, less in (("aio", sync, asynchronous), ("sync", asynchronous, sync)) for each in of.keys() & less.keys()
               if takes(of[each]) - takes(less[each])]
    for name, of in functions.items():
        if f"{name}_async" not in functions:
            continue
        given = {each.split()[-1] for each in of if "*" not in each or each.startswith("const ")}
        lacks = given - {each.split()[-1] for each in functions[f"{name}_async"]}
        noun, _, verb = name.partition("_")
        if lacks:
            shorter.append((f"{'LeasedSemaphore' if noun == 'permits' else noun.capitalize()}.{verb}", "started", ", ".join(sorted(lacks))))
    assert without_reason(shorter, SHORTER) == ([], [])


def test_the_numbers_are_those_of_the_header(header):
    declared = set(re.findall(r"^typedef enum (\w+)", header, flags=re.M))
    assert declared == ENUMS.keys() | NO_ENUMS.keys()
    missing = set()
    for name, python in ENUMS.items():
        numbers = {each.value: each.name for each in getattr(holdfast, python)}
        for number, full in ffi.typeof(name).elements.items():
            if full not in NO_NUMBERS:
                assert full.endswith(numbers.pop(number, "?")), full
            else:
                missing.add(full)
        assert numbers == {}
    assert missing == NO_NUMBERS.keys()


def test_the_faces_export_the_same():
    assert sorted(holdfast.__all__) == sorted(aio.__all__)
    assert all(getattr(holdfast, name) is getattr(aio, name) for name in holdfast.__all__
               if issubclass(type(getattr(holdfast, name)), enum.EnumMeta))
