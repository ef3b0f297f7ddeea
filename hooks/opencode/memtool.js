// memtool in OpenCode: what happens in a session goes to `memtool-hook`, in the words of Claude Code's hooks, and what
// it answers is put into the user's message. So it stays where it was said, and no request has to be cached anew.
// It needs nothing but Node's own modules, waits for no answer longer than it must, and never fails the session.
import { spawn } from "node:child_process"
import os from "node:os"
import path from "node:path"

const PROGRAM = ["memtool-hook"]
const PATIENCE = 10_000 // milliseconds
const NEW = 30_000 // milliseconds for which a session is a new one
const EDITS = ["write", "edit", "multiedit", "apply_patch"]

const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local", "share")
const HISTORY = path.join(data, "opencode", "opencode.db")

/** Runs the hook with an event, and gives what the model is to read: mostly nothing. */
function hook(event) {
  return new Promise((resolve) => {
    let said = ""
    const end = () => {
      clearTimeout(watch)
      try {
        resolve(JSON.parse(said).hookSpecificOutput?.additionalContext ?? "")
      } catch {
        resolve("")
      }
    }
    const child = spawn(PROGRAM[0], PROGRAM.slice(1), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const watch = setTimeout(() => child.kill(), PATIENCE)
    child.on("error", end)
    child.on("close", end)
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (text) => (said += text))
    child.stdin.end(JSON.stringify(event))
  })
}

export const Memtool = async ({ directory, client }) => {
  const started = new Map() // each session, and whether it is `going`, a `helper`, or to `compact`
  const event = (name, sessionID, fields = {}) =>
    hook({ hook_event_name: name, session_id: sessionID, transcript_path: HISTORY, cwd: directory, ...fields })

  /** Says what kind of session this is: a helper's is no concern of ours, and an older one is resumed. */
  const kindOf = async (sessionID) => {
    try {
      const { data } = await client.session.get({ path: { id: sessionID } })
      return data?.parentID ? "helper" : Date.now() - data?.time?.created > NEW ? "resume" : "startup"
    } catch {
      return "startup"
    }
  }

  return {
    "chat.message": async (input, output) => {
      const { sessionID } = input
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const kind = started.get(sessionID) ?? (await kindOf(sessionID))
      started.set(sessionID, kind === "helper" ? "helper" : "going")
      if (kind === "helper") return
      const texts = kind === "going" ? [] : [await event("SessionStart", sessionID, { source: kind })]
      texts.push(await event("UserPromptSubmit", sessionID, { prompt: typed.join("\n\n") }))
      const text = texts.filter(Boolean).join("\n\n")
      if (!text) return
      const last = output.parts.at(-1)
      const { id: messageID } = output.message
      output.parts.push({ ...ids(last, sessionID, messageID), type: "text", text, synthetic: true })
    },
    "tool.execute.after": async (input) => {
      if (started.get(input.sessionID) === "helper" || !EDITS.includes(input.tool)) return
      await event("PostToolUse", input.sessionID, { tool_name: input.tool, tool_input: input.args })
    },
    "experimental.session.compacting": async (input) => {
      await event("PreCompact", input.sessionID)
      started.set(input.sessionID, "compact")
    },
    event: async ({ event: { type, properties } }) => {
      const sessionID = properties?.sessionID
      if (type === "session.idle" && sessionID && started.get(sessionID) !== "helper") await event("Stop", sessionID)
    },
    dispose: async () => {
      const own = [...started].filter(([, kind]) => kind !== "helper")
      await Promise.all(own.map(([sessionID]) => event("SessionEnd", sessionID, { reason: "other" })))
    },
  }
}

/** The ids of a part behind *last*: parts are sorted by them. */
function ids(last, sessionID, messageID) {
  const id = last?.id ?? `prt_${Date.now().toString(16).padStart(12, "0")}`
  return { id: `${id.slice(0, -1)}z`, sessionID, messageID }
}
