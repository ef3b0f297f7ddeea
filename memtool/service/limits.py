"""The limits of a vault's process: how long it waits."""

PEER_PATIENCE = 0.3  # seconds for which one peer is listened to
LOOK_PAUSE = (
    2.1  # seconds between two looks at the world, the index, and a changing vault: stamps are trusted after two
)
SULK = 10.0  # seconds for which the process is not asked after it was late
PAUSE = 30.0  # seconds between two looks whether a model is of use, or at a vault that cannot be followed
MODEL_END = 4.0  # seconds for the model to close the index
LONGEST_PATH = 100  # bytes of a socket's path; systems allow 104 or 108
