/** Processes, and what is left of them. */
import { existsSync, readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { bound } from "./Tap.ts"

/** Whether a process runs; one that only waits to be reaped does not. */
export const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    const stat = `/proc/${pid}/stat`
    return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, "latin1"))
  } catch {
    return false
  }
}

/** Waits until something holds, and fails where it does not in time. */
export const eventually = async (what: string, holds: () => boolean): Promise<void> => {
  const end = performance.now() + bound
  while (!holds()) {
    if (performance.now() > end) throw new Error(`${what}: not within ${bound} ms`)
    await setTimeout(10)
  }
}

export const gone = (pid: number): Promise<void> => eventually(`process ${pid} ends`, () => !runs(pid))
