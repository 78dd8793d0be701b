"""CSV files: what is read, in which units, what is written, what is refused and how."""

from __future__ import annotations

import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tauforge.errors import ModelError
from tauforge.tables import reading
from tauforge.tables.reading import read_csv
from tauforge.tables.robot_columns import TIME
from tauforge.tables.table import CsvColumn, write_csv

Q = CsvColumn("q", "rad")
ROUNDING = 1e-15  # relative: a product with the factor of a unit


def table(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "file.csv"
    path.write_bytes(text.encode(encoding))
    return read_csv(path)


def test_numbers_come_out_in_si_units(tmp_path):
    text = "time [ms], q [deg] ,x [mm],w [rpm]\n0,90,20,30\n500,-180,1e3,60\n"
    found = table(tmp_path, text)
    assert np.array_equal(found.take_times(TIME), [0, 0.5])
    wanted = [[np.pi / 2, 0.02, np.pi], [-np.pi, 1.0, 2 * np.pi]]
    assert np.allclose(found.take([Q, CsvColumn("x", "m"), CsvColumn("w", "rad/s")]), wanted, rtol=ROUNDING)


@pytest.mark.parametrize("header", ["q (deg)", "q(deg)", "q ( deg )", "q [deg]"])
def test_units_may_stand_in_parentheses(tmp_path, header):
    assert table(tmp_path, f"{header},f (left),f (right)\n180,1,2\n").take([Q]).tolist() == [[np.pi]]


@pytest.mark.parametrize("written", ["rad/s2", "rad/s²", "rad/s**2", "rad/s^2"])
def test_spellings_of_a_unit(tmp_path, written):
    assert table(tmp_path, f"a [{written}]\n2\n").take([CsvColumn("a", "rad/s^2")]).tolist() == [[2.0]]


@pytest.mark.parametrize(
    "text", ["\ufefftime [s],q [rad]\n0,1\n", 'time [s],"q [rad]"\r\n0,1\r\n', "time [s],q [rad]\n0,1"]
)
def test_what_spreadsheets_write_is_read(tmp_path, text):
    assert table(tmp_path, text).take([TIME, Q]).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty. The first row names the columns, as in: time [s], q1 [rad]"),
        ("  \n \n", "is empty"),
        ("\ntime [s],q [rad]\n0,1\n", "row 1: the header is blank. The first row names the columns"),
        ("time [s],q [rad]\n", "row 2: the file has no rows below the header. Write a row of numbers"),
        ("time [s],q [rad]\n0,1\n1,x\n", "row 3, column q: expected a number, got 'x'"),
        ("time [s],q [rad]\n0,1\n1,\n", "row 3, column q: expected a number, got nothing"),
        ("time [s],q [rad]\n0,1\n1,1_0\n", "row 3, column q: expected a number, got '1_0'"),
        ("time [s],q [rad]\n0,1\n\n1,nan\n", "row 4, column q: expected a finite number, got 'nan'. Delete the row"),
        ("time [s],q [rad]\n0,1\n1,inf\n", "row 3, column q: expected a finite number, got 'inf'"),
        ("time [s],q [rad]\n0,1\n1\n", "row 3, column q: expected 2 numbers, got 1"),
        ("time [s],q [rad]\n0,1\n1,2,3\n", "row 3: expected 2 numbers, got 3"),
        (
            "time [s],q [rad]\n0,0,1,5\n",
            "row 2: expected 2 numbers, got 4. Write decimal numbers with a point, not a comma",
        ),
        (
            'time [s],q [rad]\n0,"1,5"\n',
            "row 2, column q: expected a number, got '1,5'. Write decimal numbers with a point",
        ),
        ("time [s];q [rad]\n0;1\n", "row 1: columns are separated by semicolons. Save with commas"),
        ("time [s]\tq [rad]\n0\t1\n", "row 1: columns are separated by tabs"),
        ("0,1\n1,2\n", "row 1, column 1: expected the name of a column, got the number 0"),
        ("time [s],q [rad],q [deg]\n0,1,1\n", "row 1, column q: the column appears twice"),
        ("time [s],q [furlong]\n0,1\n", "row 1, column q: unknown unit [furlong]. Known: rad, mrad"),
        ("time [s],q [rad\n0,1\n", "row 1, column 2: expected a name and a unit, got 'q [rad'"),
        ("time [s],\n0,1\n", "row 1, column 2: expected a name and a unit, got ''"),
        ("time [s],q [rad]\n,\n0,1\n", "row 2: the row is blank. Delete the row"),
    ],
)
def test_files_that_are_refused(tmp_path, text, message):
    with pytest.raises(ModelError) as caught:
        table(tmp_path, text).take([TIME, Q])
    assert str(caught.value).startswith(f"{tmp_path / 'file.csv'}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time [s],p [rad]\n0,1\n", "row 1: there is no column 'q [rad]'. The columns are: time, p"),
        (
            "time [s],Q (furlong)\n0,1\n",
            "no column 'q [rad]'. Units are written in brackets: write q [rad] instead of 'Q (fu",
        ),
        ("time [s],Q [rad]\n0,1\n", "no column 'q [rad]'. Did you mean 'Q'? The columns are: time, Q. Upper and lower"),
        (
            "time [s],q\n0,1\n",
            "row 1, column q: the column has no unit. Write for example q [rad]; known units: rad, mrad, deg, rev",
        ),
        ("time [s],q [m]\n0,1\n", "row 1, column q: unit [m] does not measure this column. Use one of rad"),
    ],
)
def test_columns_that_are_refused(tmp_path, text, message):
    with pytest.raises(ModelError) as caught:
        table(tmp_path, text).take([Q])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ("0 1 1", "row 4, column time: times must increase, 1 s is again"),
        ("0 2 1", "row 4, column time: times must increase, 1 s is earlier than the row before. Sort the rows"),
    ],
)
def test_times_that_do_not_increase(tmp_path, times, message):
    with pytest.raises(ModelError) as caught:
        table(tmp_path, "time [s]\n" + "\n".join(times.split()) + "\n").take_times(TIME)
    assert message in str(caught.value)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="no such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(ModelError, match="expected a CSV file, got a folder"):
        read_csv(tmp_path)
    with pytest.raises(ModelError, match=r"the file is encoded in UTF-16\. Save it as UTF-8"):
        table(tmp_path, "time [s]\n0\n", "utf-16")
    with pytest.raises(ModelError, match="row 2: the text is not UTF-8: byte 0xe9"):
        table(tmp_path, "time [s]\né\n", "latin-1")
    monkeypatch.setattr(reading, "MAX_CSV_BYTES", 10)
    with pytest.raises(ModelError, match=r"the file has more than .* MiB, the most a file may have\. Split it"):
        table(tmp_path, "time [s],q [rad]\n0,1\n")


@given(
    st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3),
        min_size=1,
        max_size=20,
    )
)
def test_what_is_written_reads_back_equal(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "file.csv"
    own = [CsvColumn("a", "m"), CsvColumn("b", "N m"), CsvColumn("c", "rad/s^2")]
    with path.open("w", newline="") as file:
        write_csv(file, own, rows)
    assert np.array_equal(read_csv(path).take(own), np.array(rows))


def test_a_hundred_thousand_rows_are_no_trouble(tmp_path):
    numbers = np.random.default_rng(0).normal(size=(100_000, 7))
    path = tmp_path / "big.csv"
    own = [CsvColumn(f"c{k}", "m") for k in range(7)]
    with path.open("w", newline="") as file:
        write_csv(file, own, numbers)
    assert np.array_equal(read_csv(path).take(own), numbers)


def test_write_csv_says_units():
    out = io.StringIO()
    write_csv(out, [TIME, Q], [[0.1, 1 / 3]])
    assert out.getvalue() == "time [s],q [rad]\n0.1,0.3333333333333333\n"


@given(
    st.one_of(
        st.text(max_size=200),
        st.text(alphabet='0123456789.,eE-+naif"\n\r \t;_x[]', max_size=120).map(
            lambda text: f"time [s],q [rad]\n{text}"
        ),
    )
)
def test_whatever_the_text_there_are_numbers_or_a_reason(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "file.csv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    found, reason = None, ""
    try:
        found = read_csv(path)
    except ModelError as error:
        reason = str(error)
    if found is None:
        assert reason.startswith(str(path))
    else:
        strange = {int(place) for place in np.nonzero(~np.isfinite(found.numbers))[1]}
        assert strange == set(found.faults)
        assert found.numbers.shape == (len(found.rows), len(found.names))


@pytest.mark.parametrize(
    ("bad", "message", "most"),
    [
        ("0.1,0.12,0.12,0.12,x\n", "row 20002, column d: expected a number, got 'x'", 6),
        ("," * 500_000 + "\n", "row 20002: the row has more than 100000 columns", 6),
        ("0.1,0.1,0.1,0.1," + "x" * 500_000 + "\n", "field larger than field limit", 13),  # NumPy's own copies
    ],
)
def test_one_bad_cell_does_not_multiply_the_memory(tmp_path, monkeypatch, bad, message, most):
    path = tmp_path / "file.csv"
    path.write_text("time [s],a [m],b [m],c [m],d [m]\n" + "0.1,0.12,0.12,0.12,0.12\n" * 20_000 + bad)
    size = path.stat().st_size
    monkeypatch.setattr(reading, "MAX_CSV_BYTES", size)  # what is reserved for reading, whatever the file holds
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as caught:
            read_csv(path).take([CsvColumn("d", "m")])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert message in str(caught.value)
    assert peak < most * size


@pytest.mark.parametrize("cells", ["remark [furlong]|1", "remark|text", "remark|", "remark [N]|nan"])
def test_columns_that_are_not_taken_may_hold_anything(tmp_path, cells):
    name, cell = cells.split("|")
    found = table(tmp_path, f"time [s],{name},q [rad]\n0,{cell},1\n1,2,3\n")
    assert found.take([TIME, Q]).tolist() == [[0, 1], [1, 3]]
    with pytest.raises(ModelError, match="column remark"):
        found.take([CsvColumn("remark", "N")])


def test_what_has_no_size_is_read_no_further_than_a_file(monkeypatch):
    monkeypatch.setattr(reading, "MAX_CSV_BYTES", 2**20)
    with pytest.raises(ModelError, match="/dev/zero: the file has more than 1 MiB, the most a file may have"):
        read_csv("/dev/zero")
