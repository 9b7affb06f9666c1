/** What went over a transport, message by message. */
import { once } from "node:events"

export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** The transports of both SDKs, as far as they are looked at. */
interface Wire {
  onmessage?: ((message: never, ...rest: Array<never>) => void) | undefined
  send: (message: never, ...rest: Array<never>) => Promise<void>
}

/** No test waits longer than this for something that has to come. */
export const bound = 25_000

/** Fails with `what` where a promise takes too long; nothing waits for a fixed time. */
export const within = async <A>(what: string, promise: Promise<A>, limit = bound): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${limit} ms`)), limit)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

export class Tap {
  readonly sent: Array<Message> = []
  readonly received: Array<Message> = []
  private readonly events = new EventTarget()

  /** Watches a transport that is not connected yet, without being of another class: SDK 2 probes beside that one class. */
  constructor(wire: object) {
    const transport = wire as Wire
    const { received, events, sent } = this
    let handler: ((...args: Array<never>) => void) | undefined
    Object.defineProperty(transport, "onmessage", {
      configurable: true,
      get: () => handler,
      set: (given: ((...args: Array<never>) => void) | undefined) => {
        handler = given === undefined ? undefined : (...args) => {
          received.push(structuredClone<unknown>(args[0]) as Message)
          given(...args)
          events.dispatchEvent(new Event("message"))
        }
      }
    })
    const send = transport.send.bind(transport)
    transport.send = (...args) => {
      sent.push(structuredClone<unknown>(args[0]) as Message)
      return send(...args)
    }
  }

  /** The message received that is as wanted, after `skip` such: now or later. */
  async until(what: string, wanted: (message: Message) => boolean, skip = 0): Promise<Message> {
    for (;;) {
      const found = this.received.filter(wanted)[skip]
      if (found !== undefined) return found
      await within(what, once(this.events, "message"))
    }
  }

  /** A notification of a method. */
  notice(method: string, skip = 0): Promise<Message> {
    return this.until(method, (message) => message.method === method && message.id === undefined, skip)
  }
}
