/**
 * Where paths really lead on this machine, for conditions that ask (`{"real": true}`).
 *
 * @since 0.1.0
 */
import * as fs from "node:fs"
import * as path from "node:path"

/**
 * The path with every link followed; of a path that does not exist, that of its nearest folder that does, and the rest.
 * `undefined` where it cannot be told: a link that leads nowhere, a folder that may not be looked into.
 *
 * **Details**
 *
 * It is so when it is asked, in this process's own view of the files. A link that is changed afterwards, another mount or
 * another machine is not seen (security rule F24).
 *
 * @category reading
 * @since 0.1.0
 */
export const real = (at: string): string | undefined => {
  const rest: Array<string> = []
  for (let folder = at;; folder = path.dirname(folder)) {
    try {
      return path.join(fs.realpathSync(folder), ...rest)
    } catch {
      if (!isMissing(folder) || folder === path.dirname(folder)) return undefined
      rest.unshift(path.basename(folder))
    }
  }
}

/** Whether nothing has this name; a link that leads nowhere has it. */
const isMissing = (at: string): boolean => {
  try {
    fs.lstatSync(at)
    return false
  } catch (error) {
    return typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT"
  }
}
