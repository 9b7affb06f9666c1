/**
 * Files on the disk, over `node:fs`.
 *
 * **Details**
 *
 * A file is opened without following a link and judged on the open descriptor. Node has no `openat`, so folders are judged
 * by their real path, before and after the operation. What `node:fs` or a check throws becomes a {@link FilesError} in
 * one place, `attempt`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isUtf8 } from "node:buffer"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { type Appender, Files, FilesError, type Lines, ProcessId, type Tail } from "../store/Files.ts"

/**
 * Whose files are trusted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * The owner that this process runs as.
 *
 * @category constructors
 * @since 0.1.0
 */
export const self = (): Owner => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 })

const mode = (stat: fs.Stats) => `0${(stat.mode & 0o7777).toString(8)}`
const readable = 256 * 1024 * 1024
const temporary = /^\.sallyport-[0-9a-f]{24}\.tmp$/

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : ""

const pathOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "path" in error && typeof error.path === "string"
    ? error.path
    : undefined

/** The sentences for what the system says; anything else is given as Node words it. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied; it must be readable and writable by the user that runs Sallyport",
  EPERM: "not permitted",
  ENOTSUP: "this file system cannot do it; keep the folder on a local disk",
  EOPNOTSUPP: "this file system cannot do it; keep the folder on a local disk",
  EISDIR: "it is a folder where a file is expected",
  ENOTDIR: "a part of the path is a file where a folder is expected",
  ENOSPC: "the disk is full; make room and try again",
  EDQUOT: "the disk quota is used up; make room and try again",
  EROFS: "the file system is read-only",
  EMFILE: "too many files are open in this process",
  ENFILE: "too many files are open on this machine",
  EIO: "the disk reported an error"
}

const failure = (what: string, at: string, error: unknown): FilesError => {
  if (error instanceof FilesError) return error
  const code = codeOf(error)
  if (code === "ENOENT") {
    return new FilesError({ kind: "missing", path: at, message: `${pathOf(error) ?? at} does not exist` })
  }
  if (code === "EEXIST") return new FilesError({ kind: "exists", path: at, message: `${at} exists already` })
  if (code === "ELOOP" || code === "EMLINK") {
    return untrusted(at, `${at} is a symbolic link; put the file itself there`)
  }
  if (code === "ENXIO") return untrusted(at, `${at} is not a regular file`)
  const reason = reasons[code] ?? (error instanceof Error ? error.message : String(error))
  return new FilesError({ kind: "failed", path: at, message: `cannot ${what} ${at}: ${reason}` })
}

const untrusted = (at: string, message: string) => new FilesError({ kind: "untrusted", path: at, message })

/**
 * Why a file is not to be trusted; `undefined` if it is.
 *
 * @category guards
 * @since 0.1.0
 */
export const judgeFile = (at: string, stat: fs.Stats, owner: Owner): string | undefined => {
  if (!stat.isFile()) return `${at} is not a regular file`
  if (stat.uid !== owner.uid && stat.uid !== 0) {
    return `${at} belongs to user ${stat.uid}; it must belong to user ${owner.uid} or root (chown ${owner.uid} ${at})`
  }
  if ((stat.mode & 0o022) !== 0) return `${at} is writable by others (mode ${mode(stat)}); run: chmod go-w ${at}`
  return undefined
}

/**
 * Why a folder, given by its real path, is not to be trusted; `undefined` if it is. It may be writable by all only where
 * it is sticky and root's, and by its group only where that is our own primary one.
 *
 * @category guards
 * @since 0.1.0
 */
export const judgeFolder = (at: string, stat: fs.Stats, owner: Owner): string | undefined => {
  if (!stat.isDirectory()) return `${at} is not a folder`
  if (stat.uid !== owner.uid && stat.uid !== 0) {
    return `the folder ${at} belongs to user ${stat.uid}; it must belong to user ${owner.uid} or root`
  }
  if ((stat.mode & 0o1000) !== 0 && stat.uid === 0) return undefined
  if ((stat.mode & 0o002) !== 0) {
    return `the folder ${at} is writable by everybody (mode ${mode(stat)}); run: chmod o-w ${at}`
  }
  if ((stat.mode & 0o020) !== 0 && stat.gid !== owner.gid) {
    return `the folder ${at} is writable by group ${stat.gid} (mode ${mode(stat)}); run: chmod g-w ${at}`
  }
  return undefined
}

/**
 * Files that belong to the user that this process runs as, or to root.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Files> = Layer.merge(
  Layer.sync(Files, () => make(self())),
  Layer.sync(ProcessId, () => process.pid)
)

const attempt = <A>(what: string, at: string, run: () => A): Effect.Effect<A, FilesError> =>
  Effect.try({ try: run, catch: (error) => failure(what, at, error) })

const flush = (what: "fsync" | "fdatasync", fd: number, at: string): Effect.Effect<void, FilesError> =>
  Effect.callback((resume) => {
    fs[what](fd, (error) => resume(error === null ? Effect.void : Effect.fail(failure("sync", at, error))))
  })

const writeAll = (fd: number, bytes: Uint8Array): void => {
  for (let from = 0; from < bytes.length;) from += fs.writeSync(fd, bytes, from)
}

const reading = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK

/**
 * The service behind {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (owner: Owner): Files["Service"] => {
  /** Throws the reason why this folder, or one above it, is not to be trusted. */
  const checkFolder = (folder: string): void => {
    for (let at = fs.realpathSync(folder);; at = path.dirname(at)) {
      const wrong = judgeFolder(at, fs.lstatSync(at), owner)
      if (wrong !== undefined) throw untrusted(at, wrong)
      if (at === path.dirname(at)) return
    }
  }
  const checkOpen = (fd: number, at: string): fs.Stats => {
    const stat = fs.fstatSync(fd)
    const wrong = judgeFile(at, stat, owner)
    if (wrong !== undefined) throw untrusted(at, wrong)
    return stat
  }
  const withFile = <A>(at: string, flags: number, use: (fd: number, stat: fs.Stats) => A): A => {
    checkFolder(path.dirname(at))
    const fd = fs.openSync(at, flags)
    try {
      const outcome = use(fd, checkOpen(fd, at))
      checkFolder(path.dirname(at))
      return outcome
    } finally {
      fs.closeSync(fd)
    }
  }

  const readAll = (fd: number, stat: fs.Stats, at: string): string => {
    const tooLong = () =>
      new FilesError({
        kind: "failed",
        path: at,
        message: `${at} is larger than 256 MiB, which is the most that is read`
      })
    if (stat.size > readable) throw tooLong()
    // One byte more than it says it has, so that a file of the size told needs one read more, and no growth.
    let bytes = Buffer.allocUnsafe(stat.size + 1)
    let length = 0
    for (;;) {
      const count = fs.readSync(fd, bytes, length, bytes.length - length, null)
      if (count === 0) break
      length += count
      if (length > readable) throw tooLong()
      if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(Math.max(length, 64 * 1024))])
    }
    bytes = bytes.subarray(0, length)
    if (!isUtf8(bytes)) throw new FilesError({ kind: "failed", path: at, message: `${at} is not UTF-8 text` })
    return bytes.toString("utf8")
  }

  const readTail = (fd: number, stat: fs.Stats, at: string, bytes: number): Tail => {
    if (stat.size <= bytes) return { text: readAll(fd, stat, at), whole: true }
    const end = Buffer.allocUnsafe(bytes)
    let length = 0
    while (length < bytes) {
      const count = fs.readSync(fd, end, length, bytes - length, stat.size - bytes + length)
      if (count === 0) break
      length += count
    }
    const lines = end.subarray(end.subarray(0, length).indexOf(0x0a) + 1, length)
    if (!isUtf8(lines)) throw new FilesError({ kind: "failed", path: at, message: `${at} is not UTF-8 text` })
    return { text: lines.toString("utf8"), whole: false }
  }

  const readLines = (fd: number, stat: fs.Stats, at: string, from: number, bytes: number): Lines => {
    const rest = Math.max(stat.size - from, 0)
    for (let size = Math.min(Math.max(bytes, 1), rest);; size = Math.min(size * 2, rest)) {
      const chunk = Buffer.allocUnsafe(size)
      let length = 0
      while (length < size) {
        const count = fs.readSync(fd, chunk, length, size - length, from + length)
        if (count === 0) break
        length += count
      }
      const end = chunk.subarray(0, length).lastIndexOf(0x0a) + 1
      if (end > 0) {
        const lines = chunk.subarray(0, end)
        if (!isUtf8(lines)) throw new FilesError({ kind: "failed", path: at, message: `${at} is not UTF-8 text` })
        return { text: lines.toString("utf8"), next: from + end }
      }
      if (length < size || size === rest) return { text: "", next: from }
    }
  }

  const syncFolder = (folder: string): Effect.Effect<void, FilesError> =>
    Effect.acquireUseRelease(
      attempt("open", folder, () => fs.openSync(folder, fs.constants.O_RDONLY)),
      (fd) => flush("fsync", fd, folder),
      (fd) => Effect.sync(() => fs.closeSync(fd))
    )

  /** Writes the text beside `at`, then puts it there by `place`; nothing of it stays if that fails. */
  const put = (what: string, at: string, text: string, place: (from: string) => void) =>
    Effect.suspend(() => {
      const folder = path.dirname(at)
      // A name for each run: an effect may be run twice, also at the same time.
      const from = path.join(folder, `.sallyport-${randomBytes(12).toString("hex")}.tmp`)
      const remove = Effect.sync(() => {
        try {
          fs.unlinkSync(from)
        } catch {
          // It was renamed, or was never there.
        }
      })
      const written = Effect.acquireUseRelease(
        attempt(what, at, () => {
          checkFolder(folder)
          return fs.openSync(from, "wx", 0o600)
        }),
        (fd) =>
          Effect.andThen(attempt(what, at, () => writeAll(fd, Buffer.from(text, "utf8"))), flush("fsync", fd, at)),
        (fd) => Effect.sync(() => fs.closeSync(fd))
      )
      const placed = attempt(what, at, () => {
        checkFolder(folder)
        place(from)
      })
      return written.pipe(
        Effect.andThen(placed),
        Effect.ensuring(remove),
        Effect.andThen(syncFolder(folder)),
        Effect.uninterruptible
      )
    })

  const appending = (at: string, fd: number, fresh: boolean): Appender => {
    const append = (text: string): FilesError | undefined => {
      const bytes = Buffer.from(text, "utf8")
      let from = 0
      try {
        // What is written to a removed file is nowhere.
        if (fs.fstatSync(fd).nlink === 0) {
          return new FilesError({ kind: "failed", path: at, message: `${at} was removed while it was written to` })
        }
        while (from < bytes.length) from += fs.writeSync(fd, bytes, from)
        known += from
        return undefined
      } catch (error) {
        if (from > 0) retract(from)
        return failure("write", at, error)
      }
    }
    // Half a text is taken back where nobody has written behind it, so that what follows starts on a line of its own.
    const retract = (count: number) => {
      try {
        const { size } = fs.fstatSync(fd)
        if (size === known + count) fs.ftruncateSync(fd, known)
      } catch {
        // Then the torn text stays, as after a crash.
      }
    }
    let known = fs.fstatSync(fd).size
    let named = false
    let open = true
    const data = flush("fdatasync", fd, at)
    // A new file is on the disk only when its name is.
    const name = Effect.tap(syncFolder(path.dirname(at)), () =>
      Effect.sync(() => {
        named = true
      }))
    return {
      path: at,
      append: (text) =>
        Effect.suspend(() => {
          const wrong = append(text)
          if (wrong !== undefined) return Effect.fail(wrong)
          return Effect.void
        }),
      sync: fresh ? Effect.suspend(() => named ? data : Effect.andThen(data, name)) : data,
      close: Effect.sync(() => {
        if (!open) return
        open = false
        fs.closeSync(fd)
      })
    }
  }

  return {
    folder: (at) =>
      attempt("make the folder", at, () => {
        fs.mkdirSync(at, { recursive: true, mode: 0o700 })
        checkFolder(at)
      }),
    trusted: (at) =>
      attempt("check", at, () => {
        if (fs.statSync(at).isDirectory()) return checkFolder(at)
        withFile(at, reading, () => {})
      }),
    read: (at) => attempt("read", at, () => withFile(at, reading, (fd, stat) => readAll(fd, stat, at))),
    tail: (at, bytes) => attempt("read", at, () => withFile(at, reading, (fd, stat) => readTail(fd, stat, at, bytes))),
    lines: (at, from, bytes) =>
      attempt("read", at, () => withFile(at, reading, (fd, stat) => readLines(fd, stat, at, from, bytes))),
    list: (at) =>
      attempt("list", at, () => {
        checkFolder(at)
        return fs.readdirSync(at).filter((name) => !temporary.test(name)).sort()
      }).pipe(Effect.catch((error) => error.kind === "missing" ? Effect.succeed([]) : Effect.fail(error))),
    create: (at, text) => put("create", at, text, (from) => fs.linkSync(from, at)),
    replace: (at, text) => put("replace", at, text, (from) => fs.renameSync(from, at)),
    remove: (at) =>
      attempt("remove", at, () => {
        checkFolder(path.dirname(at))
        fs.unlinkSync(at)
      }).pipe(
        Effect.andThen(syncFolder(path.dirname(at))),
        Effect.catch((error) => error.kind === "missing" ? Effect.void : Effect.fail(error)),
        Effect.uninterruptible
      ),
    appender: (at, how) =>
      attempt("open", at, () => {
        checkFolder(path.dirname(at))
        const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = fs.constants
        const flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | (how === "create" ? O_CREAT | O_EXCL : 0)
        const fd = fs.openSync(at, flags, 0o600)
        try {
          checkOpen(fd, at)
          checkFolder(path.dirname(at))
          return appending(at, fd, how === "create")
        } catch (error) {
          fs.closeSync(fd)
          throw error
        }
      })
  }
}
