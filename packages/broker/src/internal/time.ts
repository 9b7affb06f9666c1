/** Times as the files have them. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

/** `2026-03-01T12:00:00Z`, seconds and their parts optional; undefined where there is no such time. */
export const timeOf = (text: string): number | undefined => {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?Z$/.exec(text)
  const made = parts === null ? Option.none() : DateTime.make(text)
  if (parts?.[1] === undefined || Option.isNone(made)) return undefined
  // A day that no month has would be read as one of the next month.
  return DateTime.formatIso(made.value).startsWith(parts[1]) ? DateTime.toEpochMillis(made.value) : undefined
}
