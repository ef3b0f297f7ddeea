"""The token that each request to a service must bring."""

from __future__ import annotations

import contextlib
import secrets

from memtool.errors import BadSetting, NotWritable
from memtool.service_client import ServicePlace
from memtool.settings import service_token
from memtool.vault.files import make_folder, write_over
from memtool.vault.state import read_state
from memtool.workspace import Workspace

SHORTEST_TOKEN = 16  # characters: a shorter one can be guessed


def find_token(work: Workspace, place: ServicePlace) -> str:
    """Return the token that requests must bring: `MEMTOOL_TOKEN`, else the one in the vault's token file, made once.

    Raises:
        BadSetting: `MEMTOOL_TOKEN` is too short, or no request can carry it.
        NotWritable: the token file cannot be made.
    """
    given = service_token(work.environ)
    if given and len(given) < SHORTEST_TOKEN:
        raise BadSetting(
            f"MEMTOOL_TOKEN has {len(given)} characters", hint=f"Use at least {SHORTEST_TOKEN} random characters."
        )
    if not (given.isascii() and given.isprintable()):
        raise BadSetting("MEMTOOL_TOKEN cannot be sent in a header", hint="Use ASCII letters and digits.")
    return given or _stored(place) or _drawn(place)


def _stored(place: ServicePlace) -> str:
    with contextlib.suppress(OSError):
        token = read_state(place.path("token"), largest=4_096).decode("ascii", "replace").strip()
        return token if len(token) >= SHORTEST_TOKEN else ""
    return ""


def _drawn(place: ServicePlace) -> str:
    token = secrets.token_urlsafe(32)
    try:
        make_folder(place.folder)
        place.path("token").unlink(missing_ok=True)  # with whatever permissions it had
        write_over(place.path("token"), token.encode(), durable=False)
    except OSError as error:
        raise NotWritable(f"cannot write '{place.path('token')}': {error.strerror}") from None
    return token
