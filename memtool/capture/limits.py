"""The limits of this room: what bounds the work, and what bounds a text."""

RECENT_SECONDS = 7 * 86_400.0  # an older session is for `memtool import claude-code`, which asks first
LOCK_SECONDS = 8.0  # that the worker waits for a lock
HOOK_LOCK_SECONDS = 0.5  # somebody waits for a hook
WORKER_START_SECONDS = 5.0  # in which a process that was started takes its lock
WORKER_LOCK_SECONDS = 1.0  # a hook that asks whether there is a worker holds the lock for some milliseconds
LEASE_SECONDS = 300.0  # after which a job whose worker died is taken over
TEXT = 65_536  # bytes or characters of one text that are read; far more than are kept
SMALL_FILE_BYTES = 262_144  # of a log or of late entries; at the end of a transcript, of the last prompts
PROBLEM_DAYS = 7  # for which problems are shown
HEARD_SECONDS = 30 * 86_400.0  # that a transcript of ours is kept
LAST_ANSWER = 8_000  # characters that are kept for a transcript that lags
TRANSCRIPT_ENDS_BYTES = 131_072  # at each end, in which its folder and its times are looked for
MANY = 100  # sessions of an import whose daily lines are written at once; subagents of a session, the last ones
SECRETS = 500  # of one session; with more it is not read again for the last of them
FIRST = 20  # turns of a source, steps in memory, places at which an object may begin
SOURCE_LAST_TURNS = 400
STEPS_BYTES = 8 * 1_048_576  # in memory
STEP_BYTES = 200  # beside its texts
ANSWER = 20_000  # characters of a model's answer, with all that is around the object
ANSWER_LINES = 24  # of each list that are read
ANSWER_TEXT = 1_000  # characters
NAME = 120  # characters of the name of a file or a session
MODEL_TITLE = 80  # columns
MODEL_PART = 240  # columns
REQUEST_COLUMNS = 40_000  # of the turns together
ANSWER_TOKENS = 1_500
SUMMARISED_NOTE = 600  # characters; a shorter note is read as soon as its summary
ID_LETTERS = 4  # of the session, behind a name that another session has
TITLE = 70  # columns of a title that no model wrote
PATH = 36  # columns
OPTIONS = 12  # of one message
LINE = 160  # columns of an option, of a topic
PROMPT_HEAD = 2_000  # characters of a line with options, of a prompt that names a note
BLOCK_BYTES = (
    1_048_576  # of a part that is read at once, of a record or a job; a larger file was not written by memtool
)
UNPACKED_BYTES = 536_870_912  # of a compressed transcript
RECORD_BYTES = (
    32 * 1_048_576
)  # a longer line is passed over; beyond it the middle turns of a source lose their messages
LONG_RECORD_BYTES = 128 * 1024  # from here on the long strings of a line are cut before it is parsed,
LONG_STRING_BYTES = 64 * 1024  # so that an image costs no memory, and a long text no time to redact
PARSED_BYTES = 2 * 1_048_576  # of a line with its strings cut: an object in memory is many times its text;
# of a part in a database: a longer one holds an image or a whole file
PROMPT = 4_000  # characters of a prompt, or a plan, that are kept
LAST_MESSAGE = 6_000
COMPACTION = 12_000
MESSAGE = 3_000  # before the last one of its turn
ERROR = 200
CHECK_ERROR = 400
HEAD_BYTES = 4_096  # of a file, in which its form is recognised; at the end of what a check printed
CALLS = 2_000  # whose results are waited for; titles
RECORDS = 200_000  # whose identity is remembered, to know a repeated one
