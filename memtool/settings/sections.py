"""All settings: each is declared once, with its type, its default and what is to be known of it.

`docs/reference/settings.md` is generated from this module. What a setting may be is checked when `memtool.settings`
reads it.
"""

from typing import Annotated, TypeAlias

from memtool.named_tuple import NamedTuple
from memtool.settings.text_providers import VENDORS

KINDS = ("memory", "preferences", "summary", "rules", "decisions", "facts", "open", "commands", "sessions")


class About(NamedTuple):
    """The declaration of a setting: *trusted* ones are never taken from a vault, numbers are *least* or more."""

    help: str
    choices: tuple[str, ...] = ()
    trusted: bool = False
    least: int = 0


class VaultSettings(NamedTuple):
    """Settings of the vault itself (top level of the file)."""

    vault: Annotated[str, About("Where the vault lies, when no other place names it.", trusted=True)] = ""
    language: Annotated[str, About("Language of generated prose.")] = "en"


class SearchSettings(NamedTuple):
    """Settings of `memtool search`."""

    mode: Annotated[str, About("What to search with.", ("hybrid", "bm25", "vector"))] = "hybrid"
    fusion: Annotated[str, About("How hybrid merges its two rankings.", ("adaptive", "rrf"))] = "adaptive"
    limit: Annotated[int, About("How many hits to show.", least=1)] = 6


class IndexSettings(NamedTuple):
    """Settings of the index."""

    max_note_kb: Annotated[int, About("Larger notes are reported and not read, in KiB.", least=1)] = 10_240
    ignore: Annotated[
        tuple[str, ...],
        About("Files and folders that are not searched, such as `Templates/`, `*.excalidraw.md` or `work/old/**`."),
    ] = ()
    client_memory: Annotated[str, About("Whether Claude Code's own memory files are searched, too.", ("yes", "no"))] = (
        "yes"
    )
    engine: Annotated[
        str, About("What keeps the index: a file of this machine, or a server.", ("sqlite", "postgres"), trusted=True)
    ] = "sqlite"
    dsn: Annotated[
        str, About("Address of the server, such as `postgresql://me@db/memtool`; or `MEMTOOL_POSTGRES`.", trusted=True)
    ] = ""
    name: Annotated[
        str, About("The vault's name on the server; empty: the machine's name and the folder.", trusted=True)
    ] = ""


class KnowledgeSettings(NamedTuple):
    """Settings of the folders that are read beside the vault."""

    folders: Annotated[
        tuple[str, ...],
        About("Folders of other Markdown, such as `~/wiki`: searched as they are, never changed.", trusted=True),
    ] = ()


class EmbeddingSettings(NamedTuple):
    """Settings of the provider of vectors. Without one, search is BM25."""

    provider: Annotated[str, About("Who computes vectors.", ("fastembed", "openai", "none"), trusted=True)] = (
        "fastembed"
    )
    model: Annotated[
        str, About("The model's name; empty: one for English, or for all scripts where notes need it.", trusted=True)
    ] = ""
    path: Annotated[str, About("A local folder that holds the model (ONNX).", trusted=True)] = ""
    pooling: Annotated[str, About("How a local model's tokens become one vector.", ("mean", "cls"))] = "mean"
    dimension: Annotated[int, About("Expected length of a vector; 0 takes what the model says.")] = 0
    languages: Annotated[
        str, About("Languages the model knows, such as `en` or `en,zh`; empty asks its vocabulary.")
    ] = ""
    base_url: Annotated[str, About("Address of an OpenAI-compatible endpoint, up to `/v1`.", trusted=True)] = ""
    api_key_env: Annotated[str, About("Name of the variable that holds its key.", trusted=True)] = (
        "MEMTOOL_EMBEDDINGS_API_KEY"
    )
    batch: Annotated[int, About("How many texts are sent to the endpoint at once.", least=1)] = 64


class CaptureSettings(NamedTuple):
    """Settings of what is written down while an agent works."""

    ignore: Annotated[tuple[str, ...], About("Files that daily notes leave out, such as `*.lock` or `/tmp/*`.")] = ()
    exclude: Annotated[
        tuple[str, ...],
        About(
            "Where nothing is captured: folders, such as `~/private`, or remotes, such as `github.com/acme/*`.",
            trusted=True,
        ),
    ] = ()
    print_sessions: Annotated[
        str, About("Whether sessions of `claude -p` and of programs are captured.", ("yes", "no"))
    ] = "yes"
    every_minutes: Annotated[int, About("A model writes the note of one session at most this often.")] = 60


class TranscriptSettings(NamedTuple):
    """Settings of the kept sources of sessions: their turns, in `transcripts/` of the vault."""

    keep_days: Annotated[int, About("Sources of sessions that ended earlier are removed, in days; 0 keeps them.")] = 0
    max_mb: Annotated[
        int, About("How large all sources may be, in MB; beyond that the oldest are removed. 0 sets no limit.")
    ] = 1_024


class SessionSettings(NamedTuple):
    """Settings of the notes of sessions."""

    names: Annotated[
        str,
        About(
            "What a session's note is named by: its day and the first words that tell something, or the session's id.",
            ("words", "id"),
        ),
    ] = "words"


class RedactSettings(NamedTuple):
    """Settings of what is removed from a text before it is written or sent, beside what memtool knows."""

    patterns: Annotated[tuple[str, ...], About("Regular expressions for secrets of your own.", trusted=True)] = ()
    allow: Annotated[
        tuple[str, ...], About("Regular expressions for what only looks like a secret.", trusted=True)
    ] = ()


class ModelSettings(NamedTuple):
    """Settings of the models that write notes. Without one, memtool's own rules do."""

    writer: Annotated[
        str,
        About(
            "Which model writes session notes and the week's facts; `none` asks no model; empty: the first of"
            " `llm.providers`.",
            ("none", *VENDORS),
            trusted=True,
        ),
    ] = ""
    providers: Annotated[
        tuple[str, ...],
        About(
            "The models that are asked in this order, after `llm.writer`, when one fails; none after `extractive`.",
            (*VENDORS, "extractive"),
            trusted=True,
        ),
    ] = ("extractive",)
    timeout: Annotated[int, About("How long a model may take for one answer, in seconds.", trusted=True, least=1)] = 30
    daily_tokens: Annotated[
        int, About("After so many tokens in a day no model is asked until tomorrow; 0 sets no limit.", trusted=True)
    ] = 300_000
    calls_per_minute: Annotated[
        int, About("How many calls of one provider may begin in a minute; 0 is the provider's own limit.", trusted=True)
    ] = 0
    calls_per_day: Annotated[
        int, About("How many may begin in a day; 0 is the provider's own limit.", trusted=True)
    ] = 0
    calls_at_once: Annotated[
        int, About("How many may be under way at once; 0 is the provider's own limit.", trusted=True)
    ] = 0
    claude_command: Annotated[str, About("The program that `claude` stands for.", trusted=True)] = "claude"
    claude_model: Annotated[
        str, About("The model that it is asked for; empty leaves the choice to it.", trusted=True)
    ] = VENDORS["claude"].model
    anthropic_model: Annotated[str, About("The model of the Anthropic API.", trusted=True)] = VENDORS["anthropic"].model
    anthropic_base_url: Annotated[
        str, About("Address of a compatible vendor; empty is Anthropic's own.", trusted=True)
    ] = ""
    anthropic_api_key_env: Annotated[str, About("Name of the variable that holds the key.", trusted=True)] = (
        "ANTHROPIC_API_KEY"
    )
    openai_model: Annotated[
        str, About("The model of OpenAI, or of the endpoint that speaks its protocol.", trusted=True)
    ] = ""
    openai_base_url: Annotated[
        str,
        About("Address of such an endpoint, up to `/v1`; empty: OpenAI's, with `OPENAI_API_KEY`.", trusted=True),
    ] = ""
    openai_api_key_env: Annotated[
        str, About("Name of the variable that holds the endpoint's key; the key may be empty.", trusted=True)
    ] = "MEMTOOL_LLM_API_KEY"
    gemini_model: Annotated[
        str, About("The model of Google, whose key is in `GEMINI_API_KEY` or `GOOGLE_API_KEY`.", trusted=True)
    ] = VENDORS["gemini"].model
    openrouter_model: Annotated[
        str, About("The model of OpenRouter, whose key is in `OPENROUTER_API_KEY`.", trusted=True)
    ] = VENDORS["openrouter"].model
    ollama_model: Annotated[str, About("The model of Ollama, which must be on its machine.", trusted=True)] = VENDORS[
        "ollama"
    ].model
    ollama_base_url: Annotated[str, About("Its address, up to `/v1`.", trusted=True)] = VENDORS["ollama"].base_url
    codex_model: Annotated[
        str, About("The model that the `codex` command is asked for; empty leaves the choice to it.", trusted=True)
    ] = VENDORS["codex"].model
    gemini_cli_model: Annotated[
        str, About("The model that the `gemini` command is asked for; empty leaves the choice to it.", trusted=True)
    ] = VENDORS["gemini-cli"].model
    opencode_model: Annotated[
        str,
        About("The model that the `opencode` command is asked for, such as `openai/gpt-5-mini`.", trusted=True),
    ] = VENDORS["opencode"].model


class RecallSettings(NamedTuple):
    """Settings of what an agent is given of the vault, and how much of it."""

    session_tokens: Annotated[int, About("How much a session is given at its start, in tokens; 0 gives nothing.")] = (
        2_200
    )
    prompt_characters: Annotated[int, About("How much a prompt is given, in characters; 0 gives nothing.")] = 1_500
    first_prompt: Annotated[
        int, About("How many memories the first prompt gets, and the first one after a compaction.")
    ] = 10
    later_prompts: Annotated[int, About("How many memories every other prompt gets.")] = 5
    sessions: Annotated[int, About("How many of the last sessions are told of when a session begins.")] = 5
    lines_in_full: Annotated[
        int, About("How many lines a session is given at its start; of more rules, decisions or facts, their number.")
    ] = 25
    kinds: Annotated[tuple[str, ...], About("What a session is given at its start.", KINDS)] = KINDS
    hints: Annotated[
        bool,
        About("Whether hints are given, where their hooks are installed."),
    ] = True
    show: Annotated[bool, About("Whether the user sees a line in the client when something is given.")] = False


class ConsolidateSettings(NamedTuple):
    """Settings of the weekly run."""

    sessions_days: Annotated[
        int, About("Sessions that are older go to the archive, in days; the newest of each project stay.", least=1)
    ] = 30
    daily_days: Annotated[int, About("Daily notes that are older go to the archive, in days.", least=7)] = 90
    review: Annotated[
        str, About("Whether new facts wait for your review, or are written at once.", ("ask", "accept"))
    ] = "ask"


class TeamSettings(NamedTuple):
    """Settings of the memory that a team shares: of a member's own machine, and of the service (`docs/team.md`)."""

    url: Annotated[str, About("Address of the team's service, which is asked beside your own vault.", trusted=True)] = (
        ""
    )
    wait_ms: Annotated[
        int,
        About("How long a prompt, or a start, waits for the team's service, in milliseconds.", trusted=True, least=10),
    ] = 250
    vaults: Annotated[
        tuple[str, ...],
        About("Of the service: the vaults it serves, each as `name = address of its git remote`.", trusted=True),
    ] = ()
    folder: Annotated[
        str, About("Of the service: where its clones lie; empty means in the cache folder.", trusted=True)
    ] = ""
    pull_seconds: Annotated[int, About("Of the service: how often each remote is asked.", trusted=True, least=1)] = 300
    max_mb: Annotated[int, About("Of the service: the largest vault that is taken, in MB.", trusted=True, least=1)] = (
        2_000
    )


Section: TypeAlias = (
    VaultSettings
    | SearchSettings
    | IndexSettings
    | KnowledgeSettings
    | EmbeddingSettings
    | CaptureSettings
    | TranscriptSettings
    | SessionSettings
    | RedactSettings
    | ModelSettings
    | RecallSettings
    | ConsolidateSettings
    | TeamSettings
)
SECTIONS: dict[str, type[Section]] = {
    "": VaultSettings,
    "search": SearchSettings,
    "index": IndexSettings,
    "knowledge": KnowledgeSettings,
    "embeddings": EmbeddingSettings,
    "capture": CaptureSettings,
    "transcripts": TranscriptSettings,
    "sessions": SessionSettings,
    "redact": RedactSettings,
    "llm": ModelSettings,
    "recall": RecallSettings,
    "consolidate": ConsolidateSettings,
    "team": TeamSettings,
}


# By key, such as `search.limit`; those of the vault itself have no section before their name.
_DECLARED = {f"{name}.".lstrip("."): kind for name, kind in SECTIONS.items()}
ABOUT: dict[str, About] = {
    start + name: declared.__metadata__[0]
    for start, kind in _DECLARED.items()
    for name, declared in kind.__annotations__.items()
}
DEFAULTS = {start + name: value for start, kind in _DECLARED.items() for name, value in kind._field_defaults.items()}
# The environment variable of each: that of `search.limit` is `MEMTOOL_SEARCH_LIMIT`.
VARIABLES = {key: "MEMTOOL_" + key.replace(".", "_").upper() for key in ABOUT}
