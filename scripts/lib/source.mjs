// Puts the text of examples into the documentation, so that what is shown is what is compiled and run.
//
//   <!-- source: examples/quickstart/server.ts -->              a whole file
//   <!-- source: examples/everything/asking.ts rounds -->       one declaration of it, with the comment before it
import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/**
 * A declaration at the margin: from the comment before it to the line before the next blank one that is not inside.
 *
 * @param {string} text
 * @param {string} name
 */
const declaration = (text, name) => {
  const lines = text.split("\n")
  const at = lines.findIndex((line) => new RegExp(`^(?:export )?(?:const|function|class) ${name}\\b`).test(line))
  if (at < 0) return undefined
  let from = at
  while (from > 0 && /^(?:\/\/|\/\*\*| \*)/.test(lines[from - 1] ?? "")) from--
  let to = at + 1
  while (to < lines.length && !(lines[to] === "" && /^\S|^$/.test(lines[to + 1] ?? ""))) to++
  return lines.slice(from, to).join("\n")
}

const block = /(<!-- source: (\S+)(?: (\w+))? -->\n\n```ts\n)([\s\S]*?)(```\n\n<!-- end -->)/g

/**
 * A page with the text of its examples. Throws where there is no such text.
 *
 * @param {string} page
 */
export const sourced = (page) =>
  page.replace(block, (_, before, file, name, _old, after) => {
    const text = readFileSync(join(root, file), "utf8").trimEnd()
    const found = name === undefined ? text : declaration(text, name)
    if (found === undefined) throw new Error(`there is no ${name} in ${file}`)
    return `${before}${found}\n${after}`
  })
