"""Says where two sequences first differ, so that a failed test can be read."""


def first_difference(ours, theirs, names=("ours", "theirs"), context=3):
    """None if equal, else the first different entry of both, with what came before."""
    for index, (left, right) in enumerate(zip(ours, theirs)):
        if left != right:
            break
    else:
        if len(ours) == len(theirs):
            return None
        index = min(len(ours), len(theirs))
    lines = [f"lengths {len(ours)} and {len(theirs)}; first difference at entry {index}:"]
    lines += [f"    both: {entry}" for entry in ours[max(0, index - context) : index]]
    for name, sequence in zip(names, (ours, theirs)):
        lines.append(f"    {name}: {sequence[index] if index < len(sequence) else 'nothing more'}")
    return "\n".join(lines)


def assert_same(ours, theirs, names=("ours", "theirs")):
    difference = first_difference(ours, theirs, names)
    assert difference is None, difference
