/**
 * Transport over HTTP on Node's server.
 *
 * **Details**
 *
 * It listens on this machine alone unless told otherwise, and on more than that only with a way to know who is there.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as http from "node:http"
import * as Access from "../http/Access.ts"
import * as Answer from "../http/Answer.ts"
import * as Head from "../http/Head.ts"
import * as HttpTransport from "../http/HttpTransport.ts"
import { Transport, type Who } from "../stage/Transport.ts"
import { Files, type FilesError } from "../store/Files.ts"

/**
 * The server does not listen: the address is taken or not this machine's, or it must not be listened on like this.
 *
 * @category errors
 * @since 0.1.0
 */
export class ListenError extends Schema.TaggedError<ListenError>("sallyport/node/ListenError")("ListenError", {
  message: Schema.String
}) {}

/**
 * Where the server listens.
 *
 * @category services
 * @since 0.1.0
 */
export class Listening extends Context.Service<Listening, {
  readonly host: string
  readonly port: number
  /** The address of the endpoint. */
  readonly url: string
  readonly stats: () => HttpTransport.Stats
}>()("@sallyport/core/node/Listening") {}

/**
 * How the server listens, and how HTTP is served.
 *
 * - `host`: an address or name of this machine (`127.0.0.1`); `port`: any free one without it.
 * - `token`: every request must bring it; it is then the client `who`. `authenticate` is for more than one client.
 * - `unguarded`: listens beyond this machine although everyone may use it.
 * - `connections`: how many at once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HttpTransport.Options {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly token?: Redacted.Redacted<string> | undefined
  readonly who?: Who | undefined
  readonly unguarded?: boolean | undefined
  readonly connections?: number | undefined
}

const tokenGrammar = /^[A-Za-z0-9._~+/-]{16,}=*$/

/**
 * The token that stands alone in a file, which no other user may write.
 *
 * @category constructors
 * @since 0.1.0
 */
export const tokenFile = (path: string): Effect.Effect<Redacted.Redacted<string>, FilesError | ListenError, Files> =>
  Effect.gen(function*() {
    const files = yield* Files
    const token = (yield* files.read(path)).trim()
    return tokenGrammar.test(token) ? Redacted.make(token) : yield* new ListenError({
      message: `the token in ${path} must be 16 or more letters, digits and -._~+/`
    })
  })

const authenticator = (options: Options): Access.Authenticate | undefined => {
  const who = options.who ?? { client: "http" }
  if (options.authenticate !== undefined) return options.authenticate
  return options.token === undefined ? undefined : Access.tokens([{ token: options.token, who }])
}

/** How long an answer on its way may take once the server closes. */
const lastWords = Duration.seconds(1)

const bind = (server: http.Server, host: string, port: number): Effect.Effect<number, ListenError> =>
  Effect.callback((resume) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const why = error.code === "EADDRINUSE"
        ? "something else listens there"
        : error.code === "EACCES"
        ? "this user may not"
        : error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND"
        ? "this machine has no such address"
        : error.code ?? error.message
      resume(Effect.fail(new ListenError({ message: `cannot listen on ${host}, port ${port}: ${why}` })))
    }
    server.once("error", failed)
    server.listen({ host, port }, () => {
      server.off("error", failed)
      const address = server.address()
      resume(Effect.succeed(address === null || typeof address === "string" ? port : address.port))
    })
  })

/** Closes the server: no new connections, then those that are idle, then, after a while, all. */
const shut = (server: http.Server, answering: ReadonlySet<http.ServerResponse>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const done = (): void => {
      if (answering.size > 0) return
      server.closeAllConnections()
    }
    server.close(() => resume(Effect.void))
    server.closeIdleConnections()
    for (const response of answering) response.once("close", done)
    done()
  }).pipe(Effect.timeoutOrElse({
    duration: lastWords,
    orElse: () =>
      Effect.sync(() => {
        server.closeAllConnections()
      })
  }))

const listen = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Context.Context<Transport | Listening>, ListenError, Scope.Scope> {
  const host = options.host ?? "127.0.0.1"
  const authenticate = authenticator(options)
  const local = Access.isLoopback(host.toLowerCase())
  if (!local && authenticate === undefined && options.unguarded !== true) {
    return yield* new ListenError({
      message:
        `${host} can be reached from other machines, and everyone there could use this server: give it a token (--token-file)`
    })
  }
  const times = { ...HttpTransport.defaultTimes, ...options.times }
  const limits = { ...HttpTransport.defaultBounds, ...options.limits }
  const body = Duration.toMillis(times.body)
  const server = http.createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: Math.min(10_000, body + 5000),
    requestTimeout: body + 5000,
    keepAliveTimeout: 5000,
    connectionsCheckingInterval: 1000,
    requireHostHeader: true,
    insecureHTTPParser: false
  })
  server.maxHeadersCount = 100
  server.maxConnections = options.connections ?? limits.requests
  // A connection on which nothing moves any more is that of a client that vanished: streams say something more often.
  server.setTimeout(2 * Math.max(Duration.toMillis(times.keepAlive), Duration.toMillis(times.stall)))

  const answering = new Set<http.ServerResponse>()
  let handler: http.RequestListener = (_, response) => response.writeHead(503).end()
  const onRequest: http.RequestListener = (request, response) => {
    answering.add(response)
    response.once("close", () => answering.delete(response))
    handler(request, response)
  }
  server.on("request", onRequest)
  server.on("checkContinue", (request: http.IncomingMessage, response: http.ServerResponse) => {
    if (Number(request.headers["content-length"] ?? 0) <= limits.bodyBytes) response.writeContinue()
    onRequest(request, response)
  })

  // Answers on their way have their time before the fibers that write them end.
  const scope = yield* Scope.make()
  const port = yield* Effect.acquireRelease(
    bind(server, host, options.port ?? 0),
    () => Effect.ensuring(shut(server, answering), Scope.close(scope, Exit.void))
  )
  const named = host.includes(":") ? `[${host}]` : host
  const transport = HttpTransport.make(port, {
    ...options,
    authenticate,
    // Nobody is called by the address that means all of them.
    hosts: local || host === "0.0.0.0" || host === "::" ? options.hosts : [...options.hosts ?? [], `${named}:${port}`]
  })
  handler = yield* NodeHttpServer.makeHandler(
    Effect.flatMap(HttpServerRequest, (request) => {
      const twice = Head.repeated(NodeHttpServerRequest.toIncomingMessage(request).rawHeaders)
      return twice === undefined
        ? transport.handle
        : Effect.succeed(Answer.refuse(400, `the header ${twice} may come only once`, { connection: "close" }))
    }),
    { scope }
  )
  return Context.make(Transport, transport.transport).pipe(
    Context.add(Listening, {
      host,
      port,
      url: `http://${named}:${port}${options.path ?? "/mcp"}`,
      stats: transport.stats
    })
  )
})

/**
 * Listens, and serves every session of every client.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (options: Options = {}): Layer.Layer<Transport | Listening, ListenError> =>
  Layer.effectContext(listen(options))
