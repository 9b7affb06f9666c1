/** Input schemas that say more than which fields there are. */
import * as Tool from "@sallyport/core/server/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

// The listed schema is what is written here, keyword by keyword; the arguments are read by `input`.
const contact = Tool.make("json_schema_2020_12_tool", {
  description: "Takes a person whose contact is a phone number or an address",
  input: Schema.Struct({
    name: Schema.optionalKey(Schema.String),
    address: Schema.optionalKey(
      Schema.Struct({ street: Schema.optionalKey(Schema.String), city: Schema.optionalKey(Schema.String) })
    ),
    contactMethod: Schema.optionalKey(Schema.Literals(["phone", "email"])),
    phone: Schema.optionalKey(Schema.String),
    email: Schema.optionalKey(Schema.String)
  }).check(Schema.makeFilter(({ contactMethod, email, phone }) => {
    if (contactMethod === "phone") return phone !== undefined || "there must be a phone"
    return email !== undefined || "there must be an email"
  })),
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } }
      }
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" }
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword is called so
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false
  }
}, (person) => Effect.succeed(`${person.name ?? "Somebody"} can be reached`))

// Over HTTP, clients of 2026-07-28 repeat these arguments in headers, so that a proxy can route the call unread.
const routed = Tool.make("test_x_mcp_header", {
  description: "Takes arguments that headers repeat",
  input: Schema.Struct({
    region: Schema.String.annotate({ "x-mcp-header": "Region" }),
    level: Schema.optionalKey(Schema.Int.annotate({ "x-mcp-header": "Level" }))
  })
}, ({ level, region }) => Effect.succeed(`${region}, level ${level ?? "unknown"}`))

export const parts = [contact, routed] as const
