"""The audit of the hooks by CUPTI: what one saw and the other did not."""

from outcome import FAIL, SKIPPED, Outcome, judged
from support.paths import TORCH_TESTS

SCRIPT = TORCH_TESTS / "scripts" / "train_adamw.py"


def reason(stderr):
    lines = [line for line in stderr.splitlines() if line.startswith("vramscope: VRAMSCOPE_CUPTI=1: ")]
    return lines[0].removeprefix("vramscope: VRAMSCOPE_CUPTI=1: ") if lines else "CUPTI said nothing"


def check(target):
    sessions, _, stderr = target.profiled("cupti", [SCRIPT, "foreach"], VRAMSCOPE_CUPTI="1")
    audit = target.report(sessions)["cupti_audit"]
    if audit is None or not audit["started"]:
        yield Outcome("CUPTI audit", SKIPPED if target.simulated else FAIL, reason(stderr))
        return
    apart = audit["hooks_only"] + audit["cupti_only"] + audit["sizes_differ"]
    detail = f"{audit['agreed']} operations agree, {audit['hooks_only']} by the hooks alone, " + (
        f"{audit['cupti_only']} by CUPTI alone, {audit['sizes_differ']} of other sizes, {audit['lost']} lost by CUPTI"
    )
    yield judged("CUPTI audit", audit["agreed"], apart == 0, detail, **audit)
