"""The audit of the hooks by CUPTI: what one saw and the other did not."""

from support.paths import TORCH_TESTS
from target import FAIL, SKIPPED, Outcome, judged


def check(target):
    script = TORCH_TESTS / "scripts" / "train_adamw.py"
    sessions = target.profiled("cupti", [script, "foreach"], VRAMSCOPE_CUPTI="1")
    (process,) = target.report(sessions)
    audit = process.get("cupti_audit")
    if audit is None or not audit["started"]:
        status = SKIPPED if target.simulated else FAIL
        yield Outcome("CUPTI audit", status, "CUPTI could not be started here")
        return
    only = audit["hooks_only"] + audit["cupti_only"]
    yield judged("CUPTI audit", audit["agreed"] > 0 and only == 0, f"{audit['agreed']} agree, {only} do not", **audit)
