"""What a part of the check found, and how a part says so."""

import dataclasses
import subprocess

PASS, FAIL, SKIPPED = "pass", "fail", "skipped"
TAIL_CHARACTERS = 3000


@dataclasses.dataclass(frozen=True)
class Outcome:
    check: str
    status: str
    detail: str  # one line; says the reason where it did not pass
    compared: int = 0  # how many things were compared
    figures: dict = dataclasses.field(default_factory=dict)
    table: tuple = ()  # lines for people, printed below


def judged(check, compared, holds, detail, **figures):
    """Nothing passes that compared nothing."""
    if compared <= 0:
        return Outcome(check, FAIL, f"nothing was compared; {detail}", compared, figures)
    return Outcome(check, PASS if holds else FAIL, detail, compared, figures)


class OutOfTime(Exception):
    pass


class JobFailed(Exception):
    """A command that had to succeed did not: what it said last is its reason."""

    def __init__(self, command, what, stderr):
        self.command = " ".join(str(word) for word in command)
        self.stderr_tail = stderr[-TAIL_CHARACTERS:]
        lines = [line for line in stderr.splitlines() if line.strip() and not line.startswith("vramscope: see ")]
        super().__init__(f"{what}: {lines[-1].strip() if lines else 'no word on stderr'}")


def failure(check, error):
    """Of whatever was raised."""
    if isinstance(error, OutOfTime):
        return Outcome(check, FAIL, "its time was over before this began")
    if isinstance(error, JobFailed):
        return Outcome(check, FAIL, str(error), 0, {"command": error.command, "stderr_tail": error.stderr_tail})
    if isinstance(error, subprocess.TimeoutExpired):
        return Outcome(check, FAIL, f"no end within {error.timeout:.0f} s", 0, {"command": str(error.cmd)})
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
    text = lines[0] if len(lines) == 1 else f"{lines[0]} ... {lines[-1]}"
    return Outcome(check, FAIL, f"{type(error).__name__}: {text}", 0, {"error": str(error)[-TAIL_CHARACTERS:]})


def attempted(check, judge, *arguments):
    """The outcomes that judge() yields; what breaks in it fails `check`, and the caller goes on."""
    outcomes = []
    try:
        outcomes.extend(judge(*arguments))
    except Exception as error:  # noqa: BLE001
        outcomes.append(failure(check, error))
    return outcomes
