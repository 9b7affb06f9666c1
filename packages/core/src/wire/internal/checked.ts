/** The one place where a string becomes checked text: whoever calls this has checked it, or written it. */
import * as Brand from "effect/Brand"
import type { Text } from "../Message.ts"

export const checked = Brand.nominal<Text>()
