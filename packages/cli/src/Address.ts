/**
 * Where a program listens, as a command line says it.
 *
 * @since 0.1.0
 */

/**
 * Reads `HOST:PORT`, `[IPV6]:PORT` or `:PORT`, which is on this machine; `undefined` where it is none of them.
 *
 * @category conversions
 * @since 0.1.0
 */
export const addressOf = (text: string): { readonly host: string; readonly port: number } | undefined => {
  const parts = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  return parts === null || port > 65_535 ? undefined : { host: parts[1] ?? (parts[2] || "127.0.0.1"), port }
}
