/**
 * The few file operations that pins, ledger and settings need, with the checks that a guard must make.
 *
 * **Details**
 *
 * Every read is of a regular file that is not a link, belongs to this user or root and is not writable by others,
 * checked on the open descriptor; every folder on the way is checked too (security rule F5). Writes never replace a
 * file in place. The Node layer is the only one that touches the disk; tests use {@link layerMemory} and its faults.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/**
 * A file operation that did not work, or a file that is not to be trusted.
 *
 * @category errors
 * @since 0.1.0
 */
export class FilesError extends Schema.TaggedError<FilesError>("sallyport/store/FilesError")("FilesError", {
  /** `missing`: it is not there. `exists`: it is there already. `untrusted`: it fails the trust check. `failed`: the rest. */
  kind: Schema.Literals(["missing", "exists", "untrusted", "failed"]),
  path: Schema.String,
  message: Schema.String
}) {}

/**
 * The end of a file.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tail {
  readonly text: string
  readonly whole: boolean
}

/**
 * Some lines of a file, and where the next ones are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Lines {
  readonly text: string
  readonly next: number
}

/**
 * An open file to which text is only ever added.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appender {
  readonly path: string
  /** Writes all of the text (to the kernel: it survives the end of this process). */
  readonly append: (text: string) => Effect.Effect<void, FilesError>
  /** Waits until everything written has reached the disk. */
  readonly sync: Effect.Effect<void, FilesError>
  /** Lets go of the file; nothing is appended after that. */
  readonly close: Effect.Effect<void>
}

/**
 * Reads and writes files that can be trusted.
 *
 * @category services
 * @since 0.1.0
 */
export class Files extends Context.Service<Files, {
  /** Makes the folder and its parents, mode 0700, and checks it. */
  readonly folder: (path: string) => Effect.Effect<void, FilesError>
  /** Checks a folder or file as a read would, without reading it. `missing` where there is none. */
  readonly trusted: (path: string) => Effect.Effect<void, FilesError>
  /** The whole text of a trusted file, UTF-8 checked. */
  readonly read: (path: string) => Effect.Effect<string, FilesError>
  /** The last bytes of a trusted file, from a whole line on; `whole` where that is all of it. */
  readonly tail: (path: string, bytes: number) => Effect.Effect<Tail, FilesError>
  /**
   * Whole lines of a trusted file, from this byte on: about so many bytes of them, one line at least. `next` is the byte
   * where to go on; it stays where it was at the end of the file, and before a line that has no end yet.
   */
  readonly lines: (path: string, from: number, bytes: number) => Effect.Effect<Lines, FilesError>
  /** The names in a folder, sorted; none where there is no folder. */
  readonly list: (path: string) => Effect.Effect<ReadonlyArray<string>, FilesError>
  /**
   * Puts a whole new file (mode 0600) at a path where none is: written beside it, synced, then linked into place, so
   * that a reader sees all of it or none. `exists` if another was faster: compare-and-set is built on this.
   */
  readonly create: (path: string, text: string) => Effect.Effect<void, FilesError>
  /** Puts a whole file at the path, in place of what was there (rename). For files that one process owns. */
  readonly replace: (path: string, text: string) => Effect.Effect<void, FilesError>
  /** Removes a file; nothing where there is none. */
  readonly remove: (path: string) => Effect.Effect<void, FilesError>
  /** Opens a file for adding (mode 0600): `create` fails with `exists` where there is one. Closed without the scope: by the process's end. */
  readonly appender: (path: string, how: "create" | "existing") => Effect.Effect<Appender, FilesError>
}>()("@sallyport/core/store/Files") {}

/**
 * The number of the process that writes, for files that say who wrote them; 0 where there are no processes.
 *
 * @category references
 * @since 0.1.0
 */
export const ProcessId = Context.Reference<number>("@sallyport/core/store/ProcessId", { defaultValue: () => 0 })

/**
 * What can be made to go wrong in memory.
 *
 * - `fail`: nothing is done.
 * - `torn`: of an append, the first half of the text is written; as `fail` for the rest.
 * - an Effect: it is waited for, then the operation is done.
 *
 * @category models
 * @since 0.1.0
 */
export type Fault = "fail" | "torn" | Effect.Effect<void>

/**
 * The files of {@link layerMemory}, seen from outside.
 *
 * @category services
 * @since 0.1.0
 */
export class MemoryFiles extends Context.Service<MemoryFiles, {
  /** Path to content; what a test puts here is there. */
  readonly contents: Map<string, string>
  /** What the disk is sure to have: as much of each file as was there at its last sync. */
  readonly durable: () => ReadonlyMap<string, string>
  /** Paths that fail the trust check, with what is wrong. */
  readonly untrusted: Map<string, string>
  /** The `nth` call from now on of this operation (1 is the next one) goes wrong, in this way; once. */
  readonly fault: (operation: "read" | "create" | "replace" | "append" | "sync", nth: number, how: Fault) => void
}>()("@sallyport/core/store/MemoryFiles") {}

/**
 * Files in memory, with the same answers as on disk, and faults on demand.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<Files | MemoryFiles> = Layer.effectContext(Effect.sync(() => {
  const contents = new Map<string, string>()
  const durable = new Map<string, string>()
  const untrusted = new Map<string, string>()
  const folders = new Set<string>(["/"])
  const faults: Array<{ readonly operation: string; nth: number; readonly how: Fault }> = []

  const parents = (path: string): Array<string> => {
    const found: Array<string> = []
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) found.push(path.slice(0, at))
    return found
  }
  const isFolder = (path: string) => {
    if (folders.has(path)) return true
    for (const file of contents.keys()) if (file.startsWith(`${path}/`)) return true
    return false
  }
  const trust = (path: string): FilesError | undefined => {
    for (const at of [path, ...parents(path)]) {
      const why = untrusted.get(at)
      if (why !== undefined) return new FilesError({ kind: "untrusted", path, message: `${at} ${why}` })
    }
    return undefined
  }
  const missing = (path: string) => new FilesError({ kind: "missing", path, message: `${path} does not exist` })
  const place = (path: string): FilesError | undefined => {
    const parent = parents(path)[0]
    return trust(path) ?? (parent === undefined || isFolder(parent) ? undefined : missing(parent))
  }

  const attempt = <A>(
    operation: "read" | "create" | "replace" | "append" | "sync",
    path: string,
    run: () => A | FilesError,
    torn: () => void = () => {}
  ): Effect.Effect<A, FilesError> => {
    const now = Effect.suspend(() => {
      const outcome = run()
      return outcome instanceof FilesError ? Effect.fail(outcome) : Effect.succeed(outcome)
    })
    return Effect.suspend(() => {
      let due: Fault | undefined
      for (const fault of faults) {
        if (fault.operation !== operation) continue
        fault.nth -= 1
        if (fault.nth === 0) due = fault.how
      }
      if (due === undefined) return now
      if (due === "fail" || due === "torn") {
        if (due === "torn") torn()
        return Effect.fail(
          new FilesError({ kind: "failed", path, message: `${operation} of ${path} failed (a fault)` })
        )
      }
      return Effect.andThen(due, now)
    })
  }

  const open = (path: string): Appender => ({
    path,
    append: (text) =>
      attempt(
        "append",
        path,
        () => {
          contents.set(path, (contents.get(path) ?? "") + text)
        },
        () => {
          contents.set(path, (contents.get(path) ?? "") + text.slice(0, Math.floor(text.length / 2)))
        }
      ),
    sync: Effect.suspend(() => {
      // What is appended while the sync waits is not promised by it.
      const reached = contents.get(path) ?? ""
      return attempt("sync", path, () => {
        durable.set(path, reached)
      })
    }),
    close: Effect.void
  })

  const files: Files["Service"] = {
    folder: (path) =>
      Effect.suspend(() => {
        const wrong = trust(path)
        if (wrong !== undefined) return Effect.fail(wrong)
        for (const at of [path, ...parents(path)]) folders.add(at)
        return Effect.void
      }),
    trusted: (path) =>
      Effect.suspend(() => {
        const wrong = trust(path)
        if (wrong !== undefined) return Effect.fail(wrong)
        return contents.has(path) || isFolder(path) ? Effect.void : Effect.fail(missing(path))
      }),
    read: (path) => attempt("read", path, () => trust(path) ?? contents.get(path) ?? missing(path)),
    tail: (path, bytes) =>
      Effect.map(attempt("read", path, () => trust(path) ?? contents.get(path) ?? missing(path)), (text) => {
        const whole = text.length <= bytes
        const end = text.slice(text.length - Math.min(bytes, text.length))
        return { whole, text: whole ? end : end.slice(end.indexOf("\n") + 1) }
      }),
    lines: (path, from, bytes) =>
      Effect.map(attempt("read", path, () => trust(path) ?? contents.get(path) ?? missing(path)), (text) => {
        // By bytes, as on disk.
        const all = new TextEncoder().encode(text)
        let end = all.lastIndexOf(0x0a, from + Math.max(bytes, 1) - 1)
        if (end < from) end = all.indexOf(0x0a, from)
        if (end < from) return { text: "", next: from }
        return { text: new TextDecoder().decode(all.subarray(from, end + 1)), next: end + 1 }
      }),
    list: (path) =>
      Effect.suspend(() => {
        const wrong = trust(path)
        if (wrong !== undefined) return Effect.fail(wrong)
        const names = new Set<string>()
        for (const entry of [...contents.keys(), ...folders]) {
          if (entry.startsWith(`${path}/`)) names.add(entry.slice(path.length + 1).split("/")[0] ?? "")
        }
        return Effect.succeed([...names].sort())
      }),
    create: (path, text) =>
      attempt("create", path, () => {
        const wrong = place(path)
        if (wrong !== undefined) return wrong
        if (contents.has(path)) return new FilesError({ kind: "exists", path, message: `${path} exists already` })
        contents.set(path, text)
        durable.set(path, text)
        return undefined
      }),
    replace: (path, text) =>
      attempt("replace", path, () => {
        const wrong = place(path)
        if (wrong !== undefined) return wrong
        contents.set(path, text)
        durable.set(path, text)
        return undefined
      }),
    remove: (path) =>
      Effect.suspend(() => {
        const wrong = trust(path)
        if (wrong !== undefined) return Effect.fail(wrong)
        contents.delete(path)
        durable.delete(path)
        return Effect.void
      }),
    appender: (path, how) =>
      Effect.suspend(() => {
        const wrong = place(path)
        if (wrong !== undefined) return Effect.fail(wrong)
        if (how === "create") {
          if (contents.has(path)) {
            return Effect.fail(new FilesError({ kind: "exists", path, message: `${path} exists already` }))
          }
          contents.set(path, "")
        } else if (!contents.has(path)) return Effect.fail(missing(path))
        return Effect.succeed(open(path))
      })
  }

  return Context.make(Files, files).pipe(Context.add(MemoryFiles, {
    contents,
    durable: () => new Map(durable),
    untrusted,
    fault: (operation, nth, how) => {
      faults.push({ operation, nth, how })
    }
  }))
}))
