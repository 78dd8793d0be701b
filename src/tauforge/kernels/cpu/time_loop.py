"""The time loop: kernels that call one another step after step, for a block of rows, without Python in between.

A step is a list of calls. Each kernel has a function `block` (`kernel.emit_module`), which works on as many rows as a
vector has lanes. The first calls are made at the begin of a period, all others in every step. The last one leaves the
state that is reached in memory of its own. It becomes the row's state, and a row that is then beyond a limit, or NaN,
stops its block, so that somebody else can take this step for it. Blocks do not know of each other, so threads divide
them.

The loop is one piece of machine code for all robots and laws. It reads a plan, an array of integers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.kernels import cache as disk
from tauforge.kernels.cpu.code_memory import need_memory
from tauforge.kernels.cpu.engine import Loaded, compile_text, host
from tauforge.kernels.cpu.kernel import CpuKernel, attributes
from tauforge.kernels.cpu.llvm_text import ALIGNMENT, Writer, restore_status, save_status
from tauforge.kernels.cpu.threads import SHARES, SMALLEST_SHARE, get_threads, in_turn

NUMBER = 8  # bytes
PLAN = (  # the numbers of a plan; addresses are of arrays of the rows that are named below
    "lanes",
    "rows",
    "steps",
    "hold",  # steps in a period
    "first_calls",  # at the begin of a period
    "other_calls",
    "operands",
    "moving",
    "records",
    "row_bytes",  # of a state
    "reached",  # offset in private memory
    "scratch",
    "checked",  # numbers of a reached state that must be within the limit
    "numbers",  # of a state
    "calls_at",
    "operands_at",
    "moving_at",
    "records_at",
    "places_at",  # of the record of each step, -1 for none
    "done_at",  # steps of each block
    "stopped_at",  # 1 for blocks with a row that is beyond the limit
    "state_at",
    "before_at",
    "limit_at",
)
CALL = ("function", "table")  # address, and offset of its table in private memory
OPERAND = ("base", "block", "row", "private")  # bytes from block to block, and from row to row
MOVING = ("table", "base", "block", "instant")  # bytes from one period to the next
RECORD = ("source", "source_row", "numbers", "target", "target_row", "target_place")


class Place(NamedTuple):
    """Where a kernel finds an operand of every row.

    array:   of all rows; None for memory that each thread has for itself
    offset:  bytes from its begin to the first row
    row:     bytes from row to row; 0 where all share one
    instant: bytes from one period to the next
    """

    array: Array | None
    offset: int = 0
    row: int = 0
    instant: int = 0


class Call(NamedTuple):
    """A kernel, and the places of its arguments and results."""

    kernel: CpuKernel
    places: Sequence[Place]


class Record(NamedTuple):
    """Numbers (rows, places, numbers) that are kept of an array (rows, more), from this column on."""

    source: Array
    column: int
    kept: Array


def writer_of_walk() -> Writer:
    """void walk(ptr plan, ptr private, i64 block): the steps of one block, as far as no row is beyond the limit."""
    code = Writer()

    def read(base: str, index: int | str) -> str:
        return code.emit(f"load i64, ptr {code.emit(f'getelementptr i64, ptr {base}, i64 {index}')}, align 8")

    def pointer(number: str) -> str:
        return code.emit(f"inttoptr i64 {number} to ptr")

    def sum_of(*terms: str) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = code.emit(f"add i64 {total}, {term}")
        return total

    def product(a: str, b: str) -> str:
        return code.emit(f"mul i64 {a}, {b}")

    def fields(table: str, names: Sequence[str], row: str) -> dict[str, str]:
        base = code.emit(f"getelementptr i8, ptr {pointer(plan[table])}, i64 {product(row, str(NUMBER * len(names)))}")
        return {name: read(base, k) for k, name in enumerate(names)}

    def put(value: str, place: str, kind: str = "i64") -> None:
        code.do(f"store {kind} {value}, ptr {place}, align 8")

    def call(number: str) -> None:
        found = fields("calls_at", CALL, number)
        code.do(f"call void {pointer(found['function'])}(ptr {code.at('%private', found['table'])}, ptr {scratch})")

    phase, period, failed, far = (code.emit("alloca i64, align 8") for _ in range(4))
    plan = {name: read("%plan", k) for k, name in enumerate(PLAN)}
    scratch, reached = (code.at("%private", plan[name]) for name in ("scratch", "reached"))
    private = code.emit("ptrtoint ptr %private to i64")
    first_row = product("%block", plan["lanes"])
    shift = product(first_row, plan["row_bytes"])
    state, before = (pointer(sum_of(plan[name], shift)) for name in ("state_at", "before_at"))
    limit = code.emit(f"load double, ptr {pointer(plan['limit_at'])}, align 8")
    count = code.smaller(code.emit(f"sub i64 {plan['rows']}, {first_row}"), plan["lanes"])
    done = code.emit(f"getelementptr i64, ptr {pointer(plan['done_at'])}, i64 %block")
    start = code.emit(f"load i64, ptr {done}, align 8")
    put(code.emit(f"urem i64 {start}, {plan['hold']}"), phase)
    put(code.emit(f"udiv i64 {start}, {plan['hold']}"), period)
    with code.loop(plan["operands"]) as k:
        found = fields("operands_at", OPERAND, k)
        own = product(found["private"], private)
        entry = code.at("%private", product(k, "16"))
        put(sum_of(found["base"], product("%block", found["block"]), own), entry)
        put(found["row"], code.at(entry, NUMBER))

    def copied(to: str, source: str) -> None:
        """The states of all rows of the block."""
        vector = f"<{host().lanes(64)} x double>"
        with code.loop(plan["numbers"]) as k:
            ways = (code.emit(f"getelementptr {vector}, ptr {base}, i64 {k}") for base in (to, source))
            target, place = ways
            code.do(f"store {vector} {code.emit(f'load {vector}, ptr {place}, align 8')}, ptr {target}, align 8")

    def beyond(numbers: str, row: str, many: str) -> str:
        """Is a number of this row not within the limit?"""
        code.declarations.add("declare double @llvm.fabs.f64(double)")
        put("0", far)
        base = code.emit(f"getelementptr i8, ptr {numbers}, i64 {product(row, plan['row_bytes'])}")
        with code.loop(many) as j:
            x = code.emit(f"load double, ptr {code.emit(f'getelementptr double, ptr {base}, i64 {j}')}, align 8")
            size = code.emit(f"call double @llvm.fabs.f64(double {x})")
            with code.when(code.emit(f"fcmp ugt double {size}, {limit}")):
                put("1", far)
        return code.emit(f"icmp ne i64 {code.emit(f'load i64, ptr {far}, align 8')}, 0")

    with code.loop(code.emit(f"sub i64 {plan['steps']}, {start}")) as i:
        step = sum_of(start, i)
        now = code.emit(f"load i64, ptr {phase}, align 8")
        with code.when(code.emit(f"icmp eq i64 {now}, 0")):
            instant = code.emit(f"load i64, ptr {period}, align 8")
            with code.loop(plan["moving"]) as k:
                found = fields("moving_at", MOVING, k)
                here = sum_of(found["base"], product("%block", found["block"]), product(instant, found["instant"]))
                put(here, code.at("%private", found["table"]))
            with code.loop(plan["first_calls"]) as k:
                call(k)
        place = read(pointer(plan["places_at"]), step)
        with code.when(code.emit(f"icmp sge i64 {place}, 0")), code.loop(plan["records"]) as k:
            found = fields("records_at", RECORD, k)
            with code.loop(count) as row:
                number = sum_of(first_row, row)
                source = pointer(sum_of(found["source"], product(number, found["source_row"])))
                rows, places = product(number, found["target_row"]), product(place, found["target_place"])
                target = pointer(sum_of(found["target"], rows, places))
                with code.loop(found["numbers"]) as j:
                    x = read(source, j)
                    put(x, code.emit(f"getelementptr i64, ptr {target}, i64 {j}"))
        with code.loop(plan["other_calls"]) as k:
            call(sum_of(plan["first_calls"], k))
        following = code.emit(f"add i64 {now}, 1")
        whole = code.emit(f"icmp eq i64 {following}, {plan['hold']}")
        put(code.emit(f"select i1 {whole}, i64 0, i64 {following}"), phase)
        with code.when(whole):
            put(sum_of(code.emit(f"load i64, ptr {period}, align 8"), "1"), period)
        put(sum_of(step, "1"), done)
        put("0", failed)
        with code.when(code.emit(f"icmp ne i64 {plan['checked']}, 0")), code.loop(count) as row:
            with code.when(beyond(reached, row, plan["checked"])):
                good = code.emit(f"xor i1 {beyond(state, row, plan['numbers'])}, true")
                with code.when(good):
                    put("1", failed)
        stop = code.emit(f"icmp ne i64 {code.emit(f'load i64, ptr {failed}, align 8')}, 0")
        with code.when(stop):
            copied(before, state)
        copied(state, reached)
        with code.when(stop):
            put("1", code.emit(f"getelementptr i64, ptr {pointer(plan['stopped_at'])}, i64 %block"))
            code.do("ret void")
            code.label(code.fresh("unreachable"))
    code.do("ret void")
    return code


def writer_of_run() -> Writer:
    """void run(ptr plan, ptr private, i64 first, i64 last): some of the blocks, one after another."""
    code = Writer()
    status = save_status(code, host())
    with code.loop(code.emit("sub i64 %last, %first")) as i:
        code.do(f"call void @walk(ptr %plan, ptr %private, i64 {code.emit(f'add i64 %first, {i}')})")
    restore_status(code, host(), status)
    code.do("ret void")
    return code


@cache
def machine_code() -> Loaded:
    """The loop, which is never freed."""
    machine = host()
    walk, run = writer_of_walk(), writer_of_run()
    heads = {
        "define internal void @walk(ptr %plan, ptr %private, i64 %block) #1": walk,
        "define void @run(ptr %plan, ptr %private, i64 %first, i64 %last) #1": run,
    }
    texts = [head + " {\nentry:\n" + "\n".join(code.lines) + "\n}\n" for head, code in heads.items()]
    declared = "".join(f"{line}\n" for line in sorted(walk.declarations | run.declarations))
    text = "".join(texts) + declared + attributes(machine)
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
    """Rows in a block. Arrays of rows have a whole number of blocks; what is beyond the last row is not recorded."""
    return host().lanes(64)


def padded(array: Array, rows: int) -> Array:
    """The array, or one whose last row is repeated, so that it has a whole number of blocks."""
    missing = -rows % rows_at_once()
    return np.concatenate([array, np.repeat(array[-1:], missing, axis=0)]) if missing else array


class TimeLoop:
    """Steps of many rows by calls of kernels.

    first:    calls at the begin of each period
    calls:    of each step; the last one's results are in memory of each thread, `reached` bytes from its begin, where
              they follow one another as the numbers of a state do
    state:    (rows in whole blocks, numbers), which is stepped in place
    private:  bytes of memory that each thread needs for operands of its own
    hold:     steps in a period
    checked:  numbers of a state, from the first, that must not be beyond `limit` or NaN
    """

    def __init__(
        self,
        first: Sequence[Call],
        calls: Sequence[Call],
        records: Sequence[Record],
        state: Array,
        rows: int,
        *,
        private: int,
        reached: int,
        hold: int,
        checked: int = 0,
        limit: float = 0.0,
    ) -> None:
        self.state, self.rows, self.hold, lanes = state, rows, hold, rows_at_once()
        self.blocks = len(state) // lanes
        self.done, self.stopped = np.zeros((2, self.blocks), np.int64)
        self.before = np.empty_like(state)
        self._calls, self._limit = [*first, *calls], np.array([limit])
        loaded = [call.kernel.loaded(64) for call in self._calls]
        operands = sum(len(call.places) for call in self._calls)
        own = _aligned(16 * operands)
        scratch = own + _aligned(private)
        sizes = [ctypes.c_int64.from_address(each.address("scratch_bytes")).value for each in loaded]
        self._bytes = scratch + max(sizes) + ALIGNMENT
        call_rows, operand_rows, moving_rows = [], [], []
        for call, each in zip(self._calls, loaded, strict=True):
            call_rows.append((each.address("block"), 16 * len(operand_rows)))
            for place in call.places:
                base = own if place.array is None else address(place.array)
                block = 0 if place.array is None else place.row * lanes
                if place.instant:
                    slot = 16 * len(operand_rows)
                    moving_rows.append((slot, base + place.offset, block, place.instant))
                operand_rows.append((base + place.offset, block, place.row, int(place.array is None)))
        record_rows = [
            (address(r.source) + NUMBER * r.column, r.source.strides[0], r.kept.shape[-1], address(r.kept))
            + r.kept.strides[:2]
            for r in records
        ]
        tables: list[Any] = [call_rows, operand_rows, moving_rows, record_rows]
        self._tables = [np.array(table, np.int64) for table in tables]
        self._kept = (loaded, self._calls, records)  # what the plan has addresses of
        self.plan = {
            "lanes": lanes,
            "rows": rows,
            "hold": hold,
            "first_calls": len(first),
            "other_calls": len(calls),
            "operands": operands,
            "moving": len(moving_rows),
            "records": len(record_rows),
            "row_bytes": state.strides[0],
            "reached": own + reached,
            "scratch": scratch,
            "checked": checked,
            "numbers": state.shape[1],
            "done_at": address(self.done),
            "stopped_at": address(self.stopped),
            "state_at": address(state),
            "before_at": address(self.before),
            "limit_at": address(self._limit),
        }
        names = ("calls_at", "operands_at", "moving_at", "records_at")
        self.plan |= {name: address(table) for name, table in zip(names, self._tables, strict=True)}
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self._run = kind(machine_code().address("run"))

    def restart(self) -> None:
        """Count steps from here."""
        self.done[:] = 0

    def run(self, places: Array) -> bool:
        """All blocks to the end of these steps, or until a row stops them; whether all are at the end.

        places: of the record of each step since `restart`, -1 for none
        """
        self.stopped[:] = 0
        steps = len(places)
        known = {**self.plan, "steps": steps, "places_at": address(places)}
        plan = np.array([known[name] for name in PLAN], np.int64)
        work = self.rows * (steps - int(self.done.min()))
        shares = min(self.blocks, max(1, work // SMALLEST_SHARE))
        workers = min(get_threads(), shares)
        shares = min(shares, SHARES * workers) if workers > 1 else 1

        def share(k: int) -> None:
            memory = np.empty(self._bytes, np.uint8)
            private = _aligned(address(memory))
            self._run(address(plan), private, self.blocks * k // shares, self.blocks * (k + 1) // shares)

        if workers > 1:
            in_turn(share, shares, workers)
        else:
            share(0)
        return not self.stopped.any()
