"""From what happened in a session to notes in the vault.

client_event, heard   a client reports an event: an edit is written, a session is queued
queue, drain          one worker takes the sessions that are due; captured: how far each was read
transcript/           the client's records, as Claude Code would have written them → steps
turns                 steps → turns: what was typed, and all that came of it
session_reading       both, with redaction, on from where the kept source ends
source                the turns and the note, kept in `transcripts/`
rules_note            turns → the content of a note, by structure: decisions, outcomes, mended, checks
view, model_note      turns → a request to a model → the content of a note; gate: only what the turns bear
session_capture       content → the session's note, its daily lines and its source; note_place: where the note is
importing             the same for all sessions that a client keeps
saved                 what the agent itself saves; daily_lines: edits as they happen; log: what went wrong
"""
