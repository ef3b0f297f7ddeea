"""The limits of a vault's process: how long it waits and lives, and how much it takes at once."""

from __future__ import annotations

IDLE = 900.0  # seconds without a question, after which a process without HTTP ends
LOCK_PATIENCE = 0.5  # seconds for the lock: a program that looks whether it is held, holds it for a moment
PEER_PATIENCE = 0.3  # seconds for which one peer is listened to
LOOK_PAUSE = 2.0  # seconds between two looks at the world, and at the index
SULK = 10.0  # seconds for which the process is not asked after it was late
LONGEST_PATH = 100  # bytes of a socket's path; systems allow 104 or 108
USE_PAUSE = 30.0  # seconds between two looks whether a model is of use
MODEL_END = 4.0  # seconds for the model to let go of the index
SETTLE_PAUSE = 2.1  # seconds between two looks at a vault that goes on changing; stamps are trusted after two
GIVEN_UP = 60.0  # seconds until a vault is looked at again for which nothing can vouch
SETTINGS_LOOKS = 5  # looks at the index, after which the settings and the model are looked at
MADE_AT_ONCE = 400  # vectors of what was written since; more than that waits for `memtool index`
NEAREST = 20  # chunks in scope that are named unasked
MOST_ASKED = 100  # chunks of one request
MOST_TEXTS, LONGEST_TEXT = 2, 4_000  # of one request; characters
LONGEST_NAME = 500  # characters of a project's name
QUEUE = 1 << 18  # bytes of events that are read at once
