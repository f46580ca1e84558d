"""What the profiler adds to an allocation and free of a cached block and to a training step, and PyTorch's own
recorder: processes by turns, as scripts/bench measures it, with fewer rounds."""

import dataclasses
import statistics

import workers
from outcome import SKIPPED, Outcome, attempted, judged
from table import spread
from target import job_environment

BLOCK_JOB, STEP_JOB = "tests/bench/jobs/cached_block.py", "tests/bench/jobs/gpt_step.py"
BOTH = workers.Mode("vramscope", stacks="python,native")
ALL = workers.Mode("PyTorch, all", history="all")
PYTHON = workers.Mode("PyTorch, python", history="python")
LIMITS = ((ALL, 15), (PYTHON, 10))
STEP_LIMIT_PERCENT = 2


@dataclasses.dataclass(frozen=True)
class Effort:
    rounds: int
    pairs: int
    steps: int
    layers: int


FULL, SHORT = Effort(60, 1000, 30, 20), Effort(4, 100, 4, 2)


def alternate(target, modes, job, arguments, rounds, name):
    workers.GPU, workers.ENVIRONMENT = target.simulated, job_environment()
    target.seconds_left()
    return workers.alternate(modes, job, arguments, rounds, target.folder / name)


def timed(target, check, compared, holds, detail, **figures):
    """A verdict on a real GPU; a few rounds beside a simulated one are none: scripts/bench has them."""
    if not target.simulated:
        return judged(check, compared, holds, detail, **figures)
    return Outcome(check, SKIPPED, f"{detail}; judged on a real GPU only", compared, figures)


def blocks(target, effort):
    modes = (workers.PLAIN, BOTH, PYTHON, ALL)
    answers = alternate(target, modes, BLOCK_JOB, ["20", "0", effort.pairs], effort.rounds, "blocks")
    values = {mode: [ns for (ns,) in each] for mode, each in answers.items()}
    added = {mode: [a - b for a, b in zip(values[mode], values[workers.PLAIN])] for mode in modes[1:]}
    plain = statistics.median(values[workers.PLAIN])
    medians = {mode: statistics.median(each) for mode, each in added.items()}
    table = [f"allocation and free of a cached block, 20 Python frames deep: {plain:,.0f} ns"]
    table += [f"  {mode.name}: +{medians[mode]:,.0f} ns{spread(each, 'ns')}" for mode, each in added.items()]
    figures = {"plain_ns": plain, **{f"{mode.name}_ns": value for mode, value in medians.items()}}
    for mode, limit in LIMITS:
        ratio = medians[mode] / max(medians[BOTH], 1)
        detail = f"1/{ratio:.1f} of what {mode.name} adds (wanted: at most 1/{limit})"
        outcome = timed(target, f"overhead: against {mode.name}", len(added[BOTH]), ratio >= limit, detail, **figures)
        yield dataclasses.replace(outcome, table=tuple(table))
        table = []


def steps(target, effort):
    modes = (workers.PLAIN, BOTH) if target.is_short else (workers.PLAIN, BOTH, ALL)
    answers = alternate(target, modes, STEP_JOB, [effort.layers], effort.steps, "steps")
    longer = {
        mode: [100 * (wall / plain - 1) for (wall, _), (plain, _) in zip(answers[mode], answers[workers.PLAIN])]
        for mode in modes[1:]
    }
    plain = statistics.median(wall for wall, _ in answers[workers.PLAIN])
    medians = {mode.name: statistics.median(each) for mode, each in longer.items()}
    table = [f"GPT training step: {plain:,.1f} ms"]
    table += [f"  {mode.name}: {medians[mode.name]:+.1f} %{spread(each, '%', 1)}" for mode, each in longer.items()]
    detail = f"{medians[BOTH.name]:+.1f} % (wanted: at most {STEP_LIMIT_PERCENT})"
    holds = medians[BOTH.name] <= STEP_LIMIT_PERCENT
    figures = {"plain_ms": plain, "percent": medians}
    outcome = timed(target, "overhead: a training step", len(longer[BOTH]), holds, detail, **figures)
    yield dataclasses.replace(outcome, table=tuple(table))


def check(target):
    effort = SHORT if target.is_short else FULL
    yield from attempted("overhead: a cached block", blocks, target, effort)
    yield from attempted("overhead: a training step", steps, target, effort)
