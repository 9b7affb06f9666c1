/**
 * What a server lists of an item, in the form of each revision.
 *
 * @since 0.1.0
 */
import * as Feature from "../protocol/Feature.ts"
import type { Revision } from "../protocol/Revision.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/**
 * A JSON object as an author writes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonObject {
  readonly [name: string]: unknown
}

/**
 * An image that a client may show beside an item (2025-11-25 and later).
 *
 * @category models
 * @since 0.1.0
 */
export interface Icon {
  readonly src: string
  readonly mimeType?: string | undefined
  readonly sizes?: ReadonlyArray<string> | undefined
  readonly theme?: "light" | "dark" | undefined
}

/**
 * A member of a definition, with the feature that brings it; all revisions have one without.
 *
 * @category models
 * @since 0.1.0
 */
export type Member = readonly [name: string, value: unknown, feature?: Feature.Feature]

/**
 * The text of a definition in a revision.
 *
 * @category models
 * @since 0.1.0
 */
export type Definition = (revision: Revision) => Text

/**
 * A definition of these members; those without a value are left out, and so are those that a revision does not have.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (members: ReadonlyArray<Member>): Definition => {
  const texts = members.flatMap(([name, value, feature]) =>
    value === undefined ? [] : [[name, T.fromValue(value), feature] as const]
  )
  const known = new Map<Revision, Text>()
  return (revision) => {
    const text = known.get(revision) ??
      T.object(
        texts.flatMap(([name, value, feature]) =>
          feature === undefined || Feature.isDefined(feature, revision) ? [[name, value] as const] : []
        )
      )
    known.set(revision, text)
    return text
  }
}
