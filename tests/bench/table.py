"""What a benchmark found: rows of a table that people read."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Row:
    what: str
    measured: str
    target: str = ""
    met: bool | None = None  # None: a figure without a target


def at_most(what, value, limit, unit, note="", digits=0):
    """A row whose value must not exceed `limit`."""
    return Row(what, f"{value:,.{digits}f} {unit}{note}", f"<= {limit:,g} {unit}", value <= limit)


def spread(values, unit, digits=0):
    """ " (quartiles 88 to 97 ns)": how much to trust a median."""
    low, _, high = statistics.quantiles(values, n=4)
    return f" (quartiles {low:,.{digits}f} to {high:,.{digits}f} {unit})"


def print_table(title, rows):
    verdicts = {None: "", True: "met", False: "NOT MET"}
    lines = [("what", "measured", "target", "")]
    lines += [(row.what, row.measured, row.target, verdicts[row.met]) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    print(f"\n{title}")
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths)]
        print("  " + "  ".join([*cells, line[3]]).rstrip())
    print(flush=True)
