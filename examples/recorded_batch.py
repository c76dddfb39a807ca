"""A recorded batch: the published rule, two rules on the votes, and the picture."""

import sys

from stability import (
    KSRule,
    PluralityUnchanged,
    Unanimity,
    detect,
    load_smollm_debates,
    plots,
    read_log,
)


def main(path=None, picture="recorded_batch.png"):
    log = load_smollm_debates() if path is None else read_log(path)
    print(log.summary())
    trace = detect(log, KSRule())
    print(trace.summary())
    for rule in (Unanimity(), PluralityUnchanged(patience=2)):
        asked = sum(row.active for row in detect(log, rule).rounds)
        print(f"{rule} asks {asked} times instead of {log.n_rounds * log.n_items}")
    plots.overview(trace).savefig(picture)
    print(f"Picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
