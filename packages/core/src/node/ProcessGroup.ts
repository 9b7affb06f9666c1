/**
 * What is left of a process group after its leader has gone.
 *
 * **Details**
 *
 * A group's number is free for others once nobody is in it, so after the leader was reaped a signal to the number alone
 * could hit strangers. On Linux the members are read from `/proc` in the moment of the leader's exit, each with the time
 * it was started; as long as one of those, or of those found beside one later, is still there, the number is still theirs.
 * Elsewhere the group is sent SIGTERM in the moment of the exit, and nothing after that.
 *
 * @since 0.1.0
 */
import * as fs from "node:fs"

/**
 * The group that a process leads.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProcessGroup {
  /** To be called in the `exit` event: the leader was reaped just now. */
  readonly leaderGone: () => void
  /** Whether anybody is left in it, as far as that is certain. */
  readonly alive: () => boolean
  /** Signals all of it that is certain to be ours. */
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => void
}

const send = (pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean => {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

/**
 * The living members of a group, each with its start time; `undefined` where that cannot be told.
 *
 * @category accessors
 * @since 0.1.0
 */
export const members = (group: number): ReadonlyMap<string, string> | undefined => {
  const found = new Map<string, string>()
  try {
    for (const pid of fs.readdirSync("/proc")) {
      if (!/^\d+$/.test(pid)) continue
      let stat: string
      try {
        stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1")
      } catch {
        continue
      }
      // The name may hold anything, also parentheses and blanks; what follows the last parenthesis is numbers.
      const [state, , pgrp, session, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const started = rest[15]
      if (state === "Z" || state === "X" || started === undefined) continue
      if (pgrp === String(group) && session === String(group)) found.set(pid, started)
    }
  } catch {
    return undefined
  }
  return found
}

/**
 * The group of a process that was started as the leader of its own session.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (leader: number): ProcessGroup => {
  let leads = true
  let known: ReadonlyMap<string, string> = new Map()

  const refresh = (): boolean => {
    if (known.size === 0) return false
    const now = send(-leader, 0) ? members(leader) : undefined
    const linked = now !== undefined && [...now].some(([pid, started]) => known.get(pid) === started)
    known = linked ? now : new Map()
    return linked
  }

  return {
    leaderGone: () => {
      leads = false
      if (!send(-leader, 0)) return
      const now = process.platform === "linux" ? members(leader) : undefined
      if (now === undefined) send(-leader, "SIGTERM")
      else known = now
    },
    alive: () => leads || refresh(),
    signal: (signal) => {
      if (leads || refresh()) send(-leader, signal)
    }
  }
}
