"""The time loop: kernels that call one another step after step, for a block of rows, without Python in between.

A step is a list of calls. Each kernel (`emit_block_module`) works on as many rows as a vector has lanes, whose numbers
are columns. The calls of three groups are made: those at the begin of a period, those before a record is kept, and all
others of the step. The last one leaves the state that is reached in memory of its own. It becomes the row's state, and
a row whose numbers are NaN then stops its block, so that somebody else can take this step for it. Blocks do
not know of each other, so threads divide them.

The loop is one piece of machine code for all robots and laws. It reads a plan, an array of integers.
"""

from __future__ import annotations

import ctypes
import math
from collections import OrderedDict
from collections.abc import Collection, Sequence
from functools import cache, partial, reduce
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.kernels import LOCK
from tauforge.kernels import cache as disk
from tauforge.kernels.cpu.code_memory import need_memory
from tauforge.kernels.cpu.engine import Host, Loaded, compile_text, host
from tauforge.kernels.cpu.kernel import compiled, emit_block_module, module_of
from tauforge.kernels.cpu.llvm_text import ALIGNMENT, Writer, restore_status, save_status
from tauforge.kernels.cpu.threads import SHARES, SMALLEST_SHARE, get_threads, in_turn
from tauforge.kernels.specification import Specification

BYTES = 8  # bytes
RECENT_BLOCKS = 96  # kernels that are kept
PLAN = (  # the numbers of a plan; addresses are of arrays of the rows that are named below
    "lanes",
    "rows",
    "steps",
    "hold",  # steps in a period
    "period_calls",  # at the begin of a period
    "early_calls",  # before a record
    "late_calls",
    "operands",
    "moving",  # from period to period
    "stepping",  # from step to step
    "records",
    "block_bytes",  # of the states of a block
    "reached",  # offset in private memory
    "scratch",
    "watched",  # 1 if rows that lose their state stop their block
    "numbers",  # of a state
    "calls_at",
    "operands_at",
    "moving_at",
    "stepping_at",
    "records_at",
    "places_at",  # of the records before each step and at the end, -1 for none
    "done_at",  # steps of each block
    "stopped_at",  # 1 for blocks with a row that lost its state
    "state_at",
    "before_at",
)
STEPS, PLACES_AT = PLAN.index("steps"), PLAN.index("places_at")
CALL = ("function", "table")  # address, and offset of its table in private memory
OPERAND = ("base", "block", "private")  # bytes from block to block
MOVING = ("table", "base", "block", "instant")  # bytes from one period, or step, to the next
RECORD = ("base", "block", "private", "numbers", "target", "target_row", "target_place")


class Place(NamedTuple):
    """The place where a kernel finds an operand.

    array:   (blocks, numbers, lanes), or what all rows share; None for memory that each thread has for itself
    offset:  bytes from its begin
    block:   bytes from block to block; 0 where all share one
    instant: bytes from one period to the next
    step:    bytes from one step to the next, in place of these
    """

    array: Array | None
    offset: int = 0
    block: int = 0
    instant: int = 0
    step: int = 0


class Call(NamedTuple):
    """A kernel (`block_kernel`), and the places of its arguments and results."""

    kernel: Loaded
    places: Sequence[Place]


class Record(NamedTuple):
    """Numbers that are kept: where they are, and memory for them, (rows, places, numbers)."""

    source: Place
    kept: Array


_kernels: OrderedDict[tuple[str, frozenset[str], Host], Loaded] = OrderedDict()


def block_kernel(specification: Specification, shared: Collection[str]) -> Loaded:
    """The function `block` of a specification. It may raise NoKernelError. shared: by `emit_block_module`"""
    machine, names = host(), frozenset(shared)
    key = (specification.identity, names, machine)
    with LOCK:
        if key not in _kernels:
            name = disk.key(specification.identity, f"block {sorted(names)}", *map(str, machine))
            code = disk.load(name)
            if code is None:
                need_memory()
                graph = specification.graph
                text = partial(emit_block_module, graph, specification, machine, names)
                code = compiled(specification, graph, machine, text)
                disk.save(name, code)
            _kernels[key] = Loaded(code, machine, "block")
        _kernels.move_to_end(key)
        if len(_kernels) > RECENT_BLOCKS:
            _kernels.popitem(last=False)
        return _kernels[key]


def writer_of_walk(machine: Host) -> Writer:
    """void walk(ptr plan, ptr private, i64 block): the steps of one block, as far as no row loses its state."""
    code = Writer()

    def read(base: str, index: int | str) -> str:
        return code.emit(f"load i64, ptr {code.emit(f'getelementptr i64, ptr {base}, i64 {index}')}, align 8")

    def pointer(number: str) -> str:
        return code.emit(f"inttoptr i64 {number} to ptr")

    def sum_of(*terms: str) -> str:
        return reduce(lambda total, term: code.emit(f"add i64 {total}, {term}"), terms)

    def product(a: str, b: str) -> str:
        return code.emit(f"mul i64 {a}, {b}")

    def fields(table: str, names: Sequence[str], row: str) -> dict[str, str]:
        base = code.emit(f"getelementptr i8, ptr {pointer(plan[table])}, i64 {product(row, str(BYTES * len(names)))}")
        return {name: read(base, k) for k, name in enumerate(names)}

    def put(value: str, place: str, kind: str = "i64") -> None:
        code.do(f"store {kind} {value}, ptr {place}, align 8")

    def call(number: str) -> None:
        found = fields("calls_at", CALL, number)
        code.do(f"call void {pointer(found['function'])}(ptr {code.at('%private', found['table'])}, ptr {scratch})")

    phase, period, failed = (code.emit("alloca i64, align 8") for _ in range(3))
    plan = {name: read("%plan", k) for k, name in enumerate(PLAN)}
    scratch, reached = (code.at("%private", plan[name]) for name in ("scratch", "reached"))
    private = code.emit("ptrtoint ptr %private to i64")
    first_row = product("%block", plan["lanes"])
    shift = product("%block", plan["block_bytes"])
    state, before = (pointer(sum_of(plan[name], shift)) for name in ("state_at", "before_at"))
    count = code.smaller(code.emit(f"sub i64 {plan['rows']}, {first_row}"), plan["lanes"])
    done = code.emit(f"getelementptr i64, ptr {pointer(plan['done_at'])}, i64 %block")
    start = code.emit(f"load i64, ptr {done}, align 8")
    put(code.emit(f"urem i64 {start}, {plan['hold']}"), phase)
    put(code.emit(f"udiv i64 {start}, {plan['hold']}"), period)

    def source_of(found: dict[str, str]) -> str:
        own = product(found["private"], private)
        return sum_of(found["base"], product("%block", found["block"]), own)

    with code.loop(plan["operands"]) as k:
        found = fields("operands_at", OPERAND, k)
        put(source_of(found), code.at("%private", product(k, str(BYTES))))

    def copied(to: str, source: str) -> None:
        """The states of all rows of the block."""
        vector = f"<{machine.lanes(64)} x double>"
        with code.loop(plan["numbers"]) as k:
            target, place = (code.emit(f"getelementptr {vector}, ptr {base}, i64 {k}") for base in (to, source))
            code.do(f"store {vector} {code.emit(f'load {vector}, ptr {place}, align 8')}, ptr {target}, align 8")

    def element(base: str, row: str, j: str) -> str:
        """The address of number j of a row, among columns."""
        return code.emit(f"getelementptr i64, ptr {base}, i64 {sum_of(product(j, plan['lanes']), row)}")

    def is_lost(numbers: str, row: str) -> str:
        """True where the first number of a row is NaN."""
        x = code.emit(f"load double, ptr {element(numbers, row, '0')}, align 8")
        return code.emit(f"fcmp uno double {x}, {x}")

    def move(table: str, instant: str) -> None:
        """The operands of a table to where they are at a period or a step."""
        with code.loop(plan[table]) as k:
            found = fields(f"{table}_at", MOVING, k)
            here = sum_of(found["base"], product("%block", found["block"]), product(instant, found["instant"]))
            put(here, code.at("%private", found["table"]))

    def leave() -> None:
        code.do("ret void")
        code.label(code.fresh("unreachable"))

    early, late = plan["early_calls"], plan["late_calls"]
    whole_run = code.emit(f"sub i64 {plan['steps']}, {start}")
    with code.loop(sum_of(whole_run, "1")) as i:
        step = sum_of(start, i)
        place = read(pointer(plan["places_at"]), step)
        kept = code.emit(f"icmp sge i64 {place}, 0")
        ended = code.emit(f"icmp eq i64 {step}, {plan['steps']}")
        with code.when(code.emit(f"and i1 {ended}, {code.emit(f'xor i1 {kept}, true')}")):
            leave()
        now = code.emit(f"load i64, ptr {phase}, align 8")
        move("stepping", step)
        with code.when(code.emit(f"icmp eq i64 {now}, 0")):
            move("moving", code.emit(f"load i64, ptr {period}, align 8"))
            with code.loop(plan["period_calls"]) as k:
                call(k)
        with code.loop(early) as k:
            call(sum_of(plan["period_calls"], k))
        with code.when(kept), code.loop(plan["records"]) as k:
            found = fields("records_at", RECORD, k)
            source = pointer(source_of(found))
            with code.loop(count) as row:
                number = sum_of(first_row, row)
                rows, places = product(number, found["target_row"]), product(place, found["target_place"])
                target = pointer(sum_of(found["target"], rows, places))
                with code.loop(found["numbers"]) as j:
                    x = code.emit(f"load i64, ptr {element(source, row, j)}, align 8")
                    put(x, code.emit(f"getelementptr i64, ptr {target}, i64 {j}"))
        with code.when(ended):
            leave()
        with code.loop(late) as k:
            call(sum_of(plan["period_calls"], early, k))
        following = code.emit(f"add i64 {now}, 1")
        whole = code.emit(f"icmp eq i64 {following}, {plan['hold']}")
        put(code.emit(f"select i1 {whole}, i64 0, i64 {following}"), phase)
        with code.when(whole):
            put(sum_of(code.emit(f"load i64, ptr {period}, align 8"), "1"), period)
        put(sum_of(step, "1"), done)
        put("0", failed)
        watched = code.emit(f"icmp ne i64 {plan['watched']}, 0")
        with code.when(watched), code.loop(count) as row:
            had_one = code.emit(f"xor i1 {is_lost(state, row)}, true")
            with code.when(code.emit(f"and i1 {is_lost(reached, row)}, {had_one}")):
                put("1", failed)
        stop = code.emit(f"icmp ne i64 {code.emit(f'load i64, ptr {failed}, align 8')}, 0")
        with code.when(stop):
            copied(before, state)
        copied(state, reached)
        with code.when(stop):
            put("1", code.emit(f"getelementptr i64, ptr {pointer(plan['stopped_at'])}, i64 %block"))
            leave()
    code.do("ret void")
    return code


def writer_of_run(machine: Host) -> Writer:
    """void run(ptr plan, ptr private, i64 first, i64 last): some of the blocks, one after another."""
    code = Writer()
    status = save_status(code, machine)
    with code.loop(code.emit("sub i64 %last, %first")) as i:
        code.do(f"call void @walk(ptr %plan, ptr %private, i64 {code.emit(f'add i64 %first, {i}')})")
    restore_status(code, machine, status)
    code.do("ret void")
    return code


@cache
def loop_code(machine: Host) -> Loaded:
    """The loop, which is never freed."""
    functions = [
        ("define internal void @walk(ptr %plan, ptr %private, i64 %block) #1", writer_of_walk(machine)),
        ("define void @run(ptr %plan, ptr %private, i64 %first, i64 %last) #1", writer_of_run(machine)),
    ]
    text = module_of([], set(), functions, machine)
    name = disk.key(text, *map(str, machine))
    code = disk.load(name)
    if code is None:
        need_memory(len(text))
        code = compile_text(text, machine)
        disk.save(name, code)
    return Loaded(code, machine, "run")


def _aligned(bytes_: int) -> int:
    return -(-bytes_ // ALIGNMENT) * ALIGNMENT


def address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def rows_at_once() -> int:
    """Rows in a block."""
    return host().lanes(64)


def columns(rows: int, *numbers: int) -> Array:
    """(blocks, *numbers, lanes) zeros for so many rows."""
    lanes = rows_at_once()
    shape = (-(-rows // lanes), *numbers, lanes)
    size = BYTES * math.prod(shape)
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size].view(float).reshape(shape)


def fill(into: Array, rows: Array) -> None:
    """Put rows (N, ...) into columns; the last one fills the last block."""
    blocks, lanes = len(into), into.shape[-1]
    missing = blocks * lanes - len(rows)
    if missing:
        rows = np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])
    into[:] = np.moveaxis(rows.reshape(blocks, lanes, *rows.shape[1:]), 1, -1)


class TimeLoop:
    """Steps of many rows by calls of kernels.

    calls:    at the begin of each period, before a record is kept, and all others. The last one's results are in memory
              of each thread, `reached` bytes from its begin, where they follow one another as the numbers of a state do
    state:    (blocks, numbers, lanes), which is stepped in place
    private:  bytes of memory that each thread needs for operands of its own
    hold:     steps in a period
    watched:  whether a row that loses its state, whose numbers are all NaN then, stops its block
    """

    def __init__(
        self,
        calls: tuple[Sequence[Call], Sequence[Call], Sequence[Call]],
        records: Sequence[Record],
        state: Array,
        rows: int,
        *,
        private: int,
        reached: int,
        hold: int,
        watched: bool = False,
    ) -> None:
        self.rows, blocks = rows, len(state)
        self.done, self.stopped = np.zeros((2, blocks), np.int64)
        self.before = columns(rows, state.shape[1])
        each = [call for group in calls for call in group]
        own = _aligned(BYTES * sum(len(call.places) for call in each))
        scratch = own + _aligned(private)
        sizes = [ctypes.c_int64.from_address(call.kernel.address("scratch_bytes")).value for call in each]
        self._bytes = scratch + max(sizes) + ALIGNMENT

        def start(place: Place) -> int:
            return place.offset + (own if place.array is None else address(place.array))

        call_rows: list[tuple[int, ...]] = []
        operand_rows, moving_rows, stepping_rows = list(call_rows), list(call_rows), list(call_rows)
        for call in each:
            call_rows.append((call.kernel.address("block"), BYTES * len(operand_rows)))
            for place in call.places:
                if place.instant or place.step:
                    table = stepping_rows if place.step else moving_rows
                    table.append((BYTES * len(operand_rows), start(place), place.block, place.step or place.instant))
                operand_rows.append((start(place), place.block, int(place.array is None)))
        record_rows = [
            (start(r.source), r.source.block, int(r.source.array is None), r.kept.shape[-1], address(r.kept))
            + r.kept.strides[:2]
            for r in records
        ]
        tables = (call_rows, operand_rows, moving_rows, stepping_rows, record_rows)
        self._tables = [np.array(table, np.int64) for table in tables]
        self._kept = [calls, state, [r.kept for r in records]]  # what the plan has addresses of
        plan = {
            "lanes": rows_at_once(),
            "rows": rows,
            "hold": hold,
            "operands": len(operand_rows),
            "moving": len(moving_rows),
            "stepping": len(stepping_rows),
            "records": len(record_rows),
            "block_bytes": state.strides[0],
            "reached": own + reached,
            "scratch": scratch,
            "watched": watched,
            "numbers": state.shape[1],
            "done_at": address(self.done),
            "stopped_at": address(self.stopped),
            "state_at": address(state),
            "before_at": address(self.before),
        }
        plan |= zip(("period_calls", "early_calls", "late_calls"), map(len, calls), strict=True)
        names = ("calls_at", "operands_at", "moving_at", "stepping_at", "records_at")
        plan |= zip(names, map(address, self._tables), strict=True)
        self._plan = np.array([plan.get(name, 0) for name in PLAN], np.int64)  # `run` knows what is missing
        self._plan_at = address(self._plan)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self._run = kind(loop_code(host()).address("run"))

    def restart(self) -> None:
        """Count steps from here."""
        self.done[:] = 0

    def keep(self, kept: Sequence[Array]) -> None:
        """Put records into other arrays (rows, places, numbers), of the same strides, from now on."""
        self._tables[-1][:, RECORD.index("target")] = [address(array) for array in kept]
        self._kept[-1] = kept

    def run(self, places: Array) -> bool:
        """All blocks to the end of these steps, or until a row stops them; whether all are at the end.

        places: of the record before each step since `restart`, and of the one at the end; -1 for none
        """
        self.stopped[:] = 0
        steps, blocks = len(places) - 1, len(self.done)
        self._plan[STEPS], self._plan[PLACES_AT] = steps, address(places)
        work = self.rows * (steps - int(self.done.min())) if blocks > 1 else 0
        shares = min(blocks, work // SMALLEST_SHARE)
        workers = min(get_threads(), shares) if shares > 1 else 1
        shares = min(shares, SHARES * workers) if workers > 1 else 1

        def share(k: int) -> None:
            memory = np.empty(self._bytes, np.uint8)
            private = _aligned(address(memory))
            self._run(self._plan_at, private, blocks * k // shares, blocks * (k + 1) // shares)

        if workers > 1:
            in_turn(share, shares, workers)
        else:
            share(0)
        return not self.stopped.any()
