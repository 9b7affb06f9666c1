/**
 * What text that addresses a model looks like: the one table of it.
 *
 * **Details**
 *
 * It finds what is written for every model alike, in English, and in the marks of common prompt formats. It does not find
 * a text that was made for it, and it finds texts that only speak of such things: it is a hint, not a wall.
 *
 * @since 0.1.0
 */

/**
 * Words that stand in this order, one of each row, with at most `gap` other words before each but the first. A word is
 * compared in lower case, without accents; a word of several rows counts for the last one it fits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Phrase {
  readonly name: string
  readonly gap: number
  readonly words: ReadonlyArray<ReadonlyArray<string>>
}

const rules = [
  "instruction",
  "instructions",
  "prompt",
  "prompts",
  "rule",
  "rules",
  "guideline",
  "guidelines",
  "direction",
  "directions",
  "directive",
  "directives",
  "constraints",
  "safeguards",
  "programming",
  "training"
]
const models = [
  "ai",
  "llm",
  "llms",
  "assistant",
  "assistants",
  "agent",
  "agents",
  "model",
  "chatbot",
  "claude",
  "chatgpt",
  "gpt",
  "copilot",
  "gemini",
  "cursor"
]
const people = ["user", "users", "human", "humans", "person", "operator", "owner", "developer"]

/**
 * The phrases.
 *
 * @category constants
 * @since 0.1.0
 */
export const phrases: ReadonlyArray<Phrase> = [
  {
    name: "ignore-instructions",
    gap: 3,
    words: [
      [
        "ignore",
        "ignoring",
        "disregard",
        "disregarding",
        "forget",
        "override",
        "overrule",
        "bypass",
        "discard",
        "supersede"
      ],
      [
        "previous",
        "previously",
        "prior",
        "above",
        "earlier",
        "preceding",
        "foregoing",
        "all",
        "any",
        "your",
        "existing",
        "original",
        "system",
        "former",
        "initial",
        "safety"
      ],
      rules
    ]
  },
  {
    name: "new-instructions",
    gap: 1,
    words: [["your"], ["new", "real", "actual", "true", "updated"], [
      ...rules,
      "task",
      "goal",
      "objective",
      "role",
      "purpose",
      "mission"
    ]]
  },
  { name: "new-instructions", gap: 2, words: [["from"], ["now"], ["on"], ["you", "your"]] },
  {
    name: "new-role",
    gap: 1,
    words: [["you"], ["are", "re"], ["no"], ["longer"], [
      "bound",
      "restricted",
      "limited",
      "required",
      "an",
      "a",
      "subject",
      "assistant"
    ]]
  },
  {
    name: "new-role",
    gap: 2,
    words: [["you"], ["are", "re"], ["now"], [
      ...models,
      "unrestricted",
      "jailbroken",
      "dan",
      "developer",
      "root",
      "admin"
    ]]
  },
  {
    name: "keep-secret",
    gap: 3,
    words: [
      ["not", "never", "without", "avoid", "don", "dont"],
      [
        "tell",
        "telling",
        "inform",
        "informing",
        "mention",
        "mentioning",
        "reveal",
        "revealing",
        "notify",
        "notifying",
        "alert",
        "alerting",
        "disclose",
        "ask",
        "asking",
        "warn"
      ],
      people
    ]
  },
  {
    name: "reveal-prompt",
    gap: 3,
    words: [
      [
        "reveal",
        "print",
        "show",
        "repeat",
        "output",
        "display",
        "send",
        "leak",
        "share",
        "disclose",
        "paste",
        "recite"
      ],
      ["system", "hidden", "initial", "developer", "secret"],
      ["prompt", "prompts", "instructions", "message"]
    ]
  },
  {
    name: "exfiltrate",
    gap: 5,
    words: [
      ["send", "post", "upload", "forward", "email", "exfiltrate", "transmit", "leak", "append"],
      [
        "conversation",
        "chat",
        "history",
        "credential",
        "credentials",
        "password",
        "passwords",
        "secret",
        "secrets",
        "token",
        "tokens",
        "key",
        "keys",
        "env",
        "environment"
      ],
      ["http", "https", "url", "webhook", "endpoint", "server", "address", "www"]
    ]
  },
  {
    name: "call-tool",
    gap: 4,
    words: [
      ["you", models, "must"].flat(),
      ["must", "should", "need", "now", "immediately", "first", "always"],
      ["call", "calling", "use", "invoke", "run", "execute"],
      ["tool", "tools", "function", "command", "shell"]
    ]
  },
  {
    name: "addresses-model",
    gap: 1,
    words: [["if"], ["you"], ["are", "re"], ["an", "a", "the"], [...models, "language"]]
  },
  {
    name: "addresses-model",
    gap: 2,
    words: [["dear", "attention", "hey", "instructions", "instruction", "note", "message", "notice"], [
      "to",
      "for",
      "all"
    ], models]
  }
]

/**
 * Marks of prompt formats, in lower case; where a mark begins with a line feed it stands at the beginning of a line.
 *
 * @category constants
 * @since 0.1.0
 */
export const marks: ReadonlyArray<readonly [text: string, name: string]> = [
  "<|im_start|>",
  "<|im_end|>",
  "<|system|>",
  "<|user|>",
  "<|assistant|>",
  "<|endoftext|>",
  "<|eot_id|>",
  "<|start_header_id|>",
  "<start_of_turn>",
  "<end_of_turn>",
  "[inst]",
  "[/inst]",
  "<<sys>>",
  "<</sys>>",
  "<system>",
  "</system>",
  "<system-reminder>",
  "<system_prompt>",
  "<important>",
  "<tool_result>",
  "</tool_result>",
  "<tool_call>",
  "<function_calls>",
  "</function_results>",
  "<invoke name=",
  "\nsystem:",
  "\nassistant:",
  "\nhuman:",
  "\n### system",
  "\n### instruction",
  "\n### assistant"
].map((text) => [text, "role-marker"])

/**
 * Characters that nobody sees. `run`: so many in a row, or more, are a finding.
 *
 * @category constants
 * @since 0.1.0
 */
export const hidden: ReadonlyArray<{
  readonly name: string
  readonly run: number
  readonly ranges: ReadonlyArray<readonly [from: number, to: number]>
}> = [
  // Letters of the block Tags spell ASCII that only a model reads.
  { name: "hidden-text", run: 1, ranges: [[0xe0000, 0xe007f]] },
  // Selectors of variants: one at a time belongs to the character before it.
  { name: "hidden-text", run: 4, ranges: [[0xfe00, 0xfe0f], [0xe0100, 0xe01ef]] },
  { name: "hidden-text", run: 8, ranges: [[0x200b, 0x200f], [0x2060, 0x2064], [0xfeff, 0xfeff], [0x180e, 0x180e]] },
  // What follows is shown in another order than it is read.
  { name: "hidden-order", run: 1, ranges: [[0x202d, 0x202e]] }
]
