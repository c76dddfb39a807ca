"""``stability audit``: does a certificate still stand, after debates that ran to their end?"""

import argparse
import json
from pathlib import Path
from typing import Any

from stability.cli.console import print_json, say
from stability.cli.source import add_log, open_log
from stability.evaluate.audit import Audit
from stability.evaluate.certificate import Certificate


def add(commands: Any) -> None:
    """Describe the command to the parser."""
    one = commands.add_parser(
        "audit", help="does a certificate still stand, after debates that ran to their end"
    )
    one.add_argument("certificate", metavar="CERTIFICATE", help="what certify --out wrote")
    add_log(one, "; the audited debates, in the order in which they were held")
    one.add_argument(
        "--state", type=Path, metavar="FILE", help="go on from this file, and write it again"
    )
    one.add_argument("--level", type=float, default=0.05, help="of a false alarm, ever (.05)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it; 3 when the promise is withdrawn."""
    certificate = Certificate.load(arguments.certificate)
    if arguments.state is not None and arguments.state.exists():
        try:
            found = Audit.from_dict(json.loads(arguments.state.read_text(encoding="utf-8")))
        except ValueError as error:
            raise ValueError(f"{arguments.state} is no state of an audit: {error}") from None
        if found.certificate != certificate:
            raise ValueError(f"{arguments.state} belongs to another certificate")
    else:
        found = Audit(certificate, level=arguments.level)
    found.observe(open_log(arguments))
    if arguments.state is not None:
        arguments.state.parent.mkdir(parents=True, exist_ok=True)
        arguments.state.write_text(json.dumps(found.to_dict(), indent=2) + "\n", encoding="utf-8")
    if arguments.json:
        print_json({**found.to_dict(), "flagged": found.flagged, "sentence": found.sentence})
    else:
        say(found.sentence)
    return 3 if found.flagged else 0
