"""A hook that appends what it is given to a file: `probe.py FILE`."""

import json
import os
import sys

file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(file, json.dumps(json.load(sys.stdin)).encode() + b"\n")  # in one call: hooks run side by side
