// What /proc tells about processes: who belongs together, and what they have used.
import { readdirSync, readFileSync } from "node:fs"

const read = (path) => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** A process, with the moment at which it began: a number is used again. `undefined` where it is gone or a zombie. */
export const find = (pid) => {
  const text = read(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return text === "" || fields[0] === "Z" || fields[0] === "X"
    ? undefined
    : { pid, parent: Number(fields[1]), began: fields[19] }
}

export const lives = ({ began, pid }) => find(pid)?.began === began

/** The process and all below it, and whatever else has the mark in its environment: a relay's children may leave it. */
export const family = (pid, mark) => {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((name) => find(Number(name)))
    .filter((each) => each !== undefined)
  const members = new Set([pid])
  for (let size = 0; size !== members.size;) {
    size = members.size
    for (const each of all) if (members.has(each.parent)) members.add(each.pid)
  }
  const marked = (each) => each.pid !== process.pid && read(`/proc/${each.pid}/environ`).includes(mark)
  return all.filter((each) => members.has(each.pid) || marked(each))
}

/** Nanoseconds of CPU that the threads of a process have used. */
export const cpu = (pid) => {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((task) => Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0] ?? 0))
      .reduce((sum, each) => sum + each, 0)
  } catch {
    return 0
  }
}

/** The most memory that a process has held, in MiB. */
export const peak = (pid) => Number(/^VmHWM:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024
