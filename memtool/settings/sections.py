"""All settings, each declared once with its type, its default and its help.

`docs/reference/settings.md` is generated from this module. `memtool.settings` checks values when it reads them.
"""

from typing import Annotated, Any

from memtool.named_tuple import NamedTuple
from memtool.settings.text_providers import VENDORS

KINDS = ("memory", "preferences", "summary", "rules", "decisions", "facts", "open", "commands", "sessions")


class About(NamedTuple):
    """The declaration of a setting: *user_only* ones are never taken from a vault, numbers are *least* or more."""

    help: str
    choices: tuple[str, ...] = ()
    user_only: bool = False
    least: int = 0


def own(help: str, choices: tuple[str, ...] = (), *, least: int = 0) -> About:
    """Return the declaration of a setting that is never taken from a vault."""
    return About(help, choices, user_only=True, least=least)


class VaultSettings(NamedTuple):
    """Settings of the vault itself (top level of the file)."""

    vault: Annotated[str, own("Path of the vault, if nothing else names one.")] = ""
    language: Annotated[str, About("Language of the texts that memtool writes.")] = "en"


class SearchSettings(NamedTuple):
    """Settings of `memtool search`."""

    mode: Annotated[str, About("How to search.", ("hybrid", "bm25", "vector"))] = "hybrid"
    fusion: Annotated[str, About("How `hybrid` merges its two rankings.", ("adaptive", "rrf"))] = "adaptive"
    limit: Annotated[int, About("Number of hits to show.", least=1)] = 6


class IndexSettings(NamedTuple):
    """Settings of the index."""

    max_note_kb: Annotated[int, About("Notes larger than this, in KiB, are reported and not read.", least=1)] = 10_240
    ignore: Annotated[
        tuple[str, ...],
        About("Files and folders that are not searched, such as `Templates/`, `*.excalidraw.md` or `work/old/**`."),
    ] = ()
    client_memory: Annotated[str, About("Whether to search Claude Code's own memory files, too.", ("yes", "no"))] = (
        "yes"
    )
    engine: Annotated[
        str, own("Where the index is: in a file on this machine, or on a server.", ("sqlite", "postgres"))
    ] = "sqlite"
    dsn: Annotated[str, own("Address of the server, such as `postgresql://me@db/memtool`; or `MEMTOOL_POSTGRES`.")] = ""
    name: Annotated[str, own("The vault's name on the server; by default the names of the machine and the folder.")] = (
        ""
    )


class KnowledgeSettings(NamedTuple):
    """Settings of the folders that are read beside the vault."""

    folders: Annotated[
        tuple[str, ...], own("Folders of other Markdown, such as `~/wiki`, that are searched and never changed.")
    ] = ()


class EmbeddingSettings(NamedTuple):
    """Settings of the provider of vectors. Without one, search is BM25."""

    provider: Annotated[str, own("What computes vectors.", ("fastembed", "openai", "none"))] = "fastembed"
    model: Annotated[
        str, own("The model's name; by default one for English, or for all scripts if the notes need it.")
    ] = ""
    path: Annotated[str, own("A local folder with the model (ONNX).")] = ""
    pooling: Annotated[str, About("How a local model's tokens become one vector.", ("mean", "cls"))] = "mean"
    dimension: Annotated[int, About("Expected length of a vector; 0 takes the model's.")] = 0
    languages: Annotated[
        str, About("Languages that the model knows, such as `en` or `en,zh`; by default its vocabulary decides.")
    ] = ""
    base_url: Annotated[str, own("Address of an OpenAI-compatible endpoint, up to `/v1`.")] = ""
    api_key_env: Annotated[str, own("Name of the environment variable with its key.")] = "MEMTOOL_EMBEDDINGS_API_KEY"
    batch: Annotated[int, About("Number of texts in one request to the endpoint.", least=1)] = 64


class CaptureSettings(NamedTuple):
    """Settings of capturing."""

    ignore: Annotated[tuple[str, ...], About("Files that daily notes leave out, such as `*.lock` or `/tmp/*`.")] = ()
    exclude: Annotated[
        tuple[str, ...],
        own("Folders, such as `~/private`, or remotes, such as `github.com/acme/*`, whose sessions are not captured."),
    ] = ()
    print_sessions: Annotated[
        str, About("Whether to capture sessions of `claude -p` and of programs.", ("yes", "no"))
    ] = "yes"
    every_minutes: Annotated[
        int, About("Minutes that pass at least before a model writes the note of a session again.")
    ] = 60


class TranscriptSettings(NamedTuple):
    """Settings of the sources of sessions: their turns, in `transcripts/` of the vault."""

    keep_days: Annotated[
        int, About("Days after the end of a session when its source is removed; 0 keeps all sources.")
    ] = 0
    max_mb: Annotated[
        int, About("Largest size of all sources together, in MB; the oldest are removed first. 0 sets no limit.")
    ] = 1_024


class SessionSettings(NamedTuple):
    """Settings of the notes of sessions."""

    names: Annotated[
        str,
        About(
            "How to name a session's note: by its day and its first meaningful words, or by its id.", ("words", "id")
        ),
    ] = "words"


class RedactSettings(NamedTuple):
    """Settings of secrets that are removed from a text before it is written or sent, in addition to known ones."""

    patterns: Annotated[tuple[str, ...], own("Regular expressions for secrets of your own.")] = ()
    allow: Annotated[tuple[str, ...], own("Regular expressions for what only looks like a secret.")] = ()


class ModelSettings(NamedTuple):
    """Settings of the models that write notes. Without a model, memtool's own rules write them."""

    writer: Annotated[
        str,
        own(
            "The model that writes session notes and the week's facts; `none` for no model; by default the first of"
            " `llm.providers`.",
            ("none", *VENDORS),
        ),
    ] = ""
    providers: Annotated[
        tuple[str, ...],
        own(
            "The models to ask, in this order, if `llm.writer` fails; no model is asked after `extractive`.",
            (*VENDORS, "extractive"),
        ),
    ] = ("extractive",)
    timeout: Annotated[int, own("Longest time for one answer of a model, in seconds.", least=1)] = 30
    daily_tokens: Annotated[
        int, own("Tokens in a day after which no model is asked until tomorrow; 0 sets no limit.")
    ] = 300_000
    calls_per_minute: Annotated[int, own("Calls to one provider in a minute; 0 is the provider's own limit.")] = 0
    calls_per_day: Annotated[int, own("Calls to one provider in a day; 0 is the provider's own limit.")] = 0
    calls_at_once: Annotated[int, own("Calls to one provider at the same time; 0 is the provider's own limit.")] = 0
    claude_command: Annotated[str, own("The program to run for `claude`.")] = "claude"
    claude_model: Annotated[str, own("The model of `claude`; empty leaves the choice to it.")] = VENDORS["claude"].model
    anthropic_model: Annotated[str, own("The model of the Anthropic API.")] = VENDORS["anthropic"].model
    anthropic_base_url: Annotated[str, own("Address of a compatible vendor; by default Anthropic's own.")] = ""
    anthropic_api_key_env: Annotated[str, own("Name of the environment variable with the key.")] = "ANTHROPIC_API_KEY"
    openai_model: Annotated[str, own("The model of OpenAI, or of the endpoint that speaks its protocol.")] = ""
    openai_base_url: Annotated[
        str, own("Address of such an endpoint, up to `/v1`; by default OpenAI's, with `OPENAI_API_KEY`.")
    ] = ""
    openai_api_key_env: Annotated[
        str, own("Name of the environment variable with the endpoint's key, which may be empty.")
    ] = "MEMTOOL_LLM_API_KEY"
    gemini_model: Annotated[str, own("The model of Google, whose key is in `GEMINI_API_KEY` or `GOOGLE_API_KEY`.")] = (
        VENDORS["gemini"].model
    )
    openrouter_model: Annotated[str, own("The model of OpenRouter, whose key is in `OPENROUTER_API_KEY`.")] = VENDORS[
        "openrouter"
    ].model
    ollama_model: Annotated[str, own("The model of Ollama, which must be installed there.")] = VENDORS["ollama"].model
    ollama_base_url: Annotated[str, own("Its address, up to `/v1`.")] = VENDORS["ollama"].base_url
    codex_model: Annotated[str, own("The model of the `codex` command; by default its own choice.")] = VENDORS[
        "codex"
    ].model
    gemini_cli_model: Annotated[str, own("The model of the `gemini` command; empty leaves the choice to it.")] = (
        VENDORS["gemini-cli"].model
    )
    opencode_model: Annotated[str, own("The model of the `opencode` command, such as `openai/gpt-5-mini`.")] = VENDORS[
        "opencode"
    ].model


class RecallSettings(NamedTuple):
    """Settings of the memory that an agent gets, and of its size."""

    session_tokens: Annotated[
        int, About("Size of the memory that a session gets when it starts, in tokens; 0 for none.")
    ] = 2_200
    prompt_characters: Annotated[int, About("Size of the memory that a prompt gets, in characters; 0 for none.")] = (
        1_500
    )
    first_prompt: Annotated[
        int, About("Number of memories for the first prompt, and for the first one after a compaction.")
    ] = 10
    later_prompts: Annotated[int, About("Number of memories for every other prompt.")] = 5
    sessions: Annotated[int, About("Number of the last sessions that a new session hears of.")] = 5
    lines_in_full: Annotated[
        int,
        About("Number of lines that a session gets at its start; of further rules, decisions and facts their number."),
    ] = 25
    kinds: Annotated[tuple[str, ...], About("What a session gets when it starts.", KINDS)] = KINDS
    hints: Annotated[bool, About("Whether to give hints, if their hooks are installed.")] = True
    show: Annotated[bool, About("Whether to show the user a line in the client when memory is given.")] = False


class ConsolidateSettings(NamedTuple):
    """Settings of the weekly run."""

    sessions_days: Annotated[
        int, About("Age in days at which sessions go to the archive; the newest of each project stay.", least=1)
    ] = 30
    daily_days: Annotated[int, About("Age in days at which daily notes go to the archive.", least=7)] = 90
    review: Annotated[
        str,
        About("Whether new facts wait for your review (`ask`) or are written at once (`accept`).", ("ask", "accept")),
    ] = "ask"


class TeamSettings(NamedTuple):
    """Settings of a team's shared memory: of a member's machine, and of the service (`docs/team.md`)."""

    url: Annotated[str, own("Address of the team's service, which is searched together with your own vault.")] = ""
    wait_ms: Annotated[
        int, own("Longest time that a prompt or a start waits for the team's service, in milliseconds.", least=10)
    ] = 250
    vaults: Annotated[
        tuple[str, ...], own("Of the service: its vaults, each as `name = address of its git remote`.")
    ] = ()
    folder: Annotated[str, own("Of the service: the folder of its clones; by default in the cache folder.")] = ""
    pull_seconds: Annotated[int, own("Of the service: seconds between two pulls from a remote.", least=1)] = 300
    max_mb: Annotated[int, own("Of the service: largest size of a vault, in MB.", least=1)] = 2_000


SECTIONS: dict[str, Any] = {  # by the name of their table; those of the vault itself have none
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
