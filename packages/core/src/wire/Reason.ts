/**
 * Why something was refused: the one table of stable, machine-readable reasons.
 *
 * **Details**
 *
 * Each reason has the JSON-RPC code that it is answered with, a sentence that says what happened and one that says what
 * to do. Programs may rely on the names; the sentences may be reworded.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** The JSON-RPC 2.0 error codes that Sallyport itself answers with (JSON-RPC 2.0 section 5.1). */
const ParseError = -32700
const InvalidRequest = -32600
const MethodNotFound = -32601
const InvalidParams = -32602
const InternalError = -32603

interface Entry {
  readonly code: number
  readonly says: string
  readonly remedy: string
}

/**
 * The table.
 *
 * @category constants
 * @since 0.1.0
 */
export const table = {
  // ---- lines that cannot be read
  "not-json": { code: ParseError, says: "the line is not JSON", remedy: "send one JSON-RPC message a line" },
  "not-utf8": {
    code: ParseError,
    says: "the line is not UTF-8",
    remedy: "encode messages as UTF-8, without a byte order mark"
  },
  "too-long": {
    code: ParseError,
    says: "the message is longer than the limit",
    remedy: "send less at once, or raise message_bytes"
  },
  // ---- well-formed JSON that is not acceptable
  "duplicate-member": {
    code: InvalidRequest,
    says: "an object has one member name twice",
    remedy: "give each member once: readers disagree about which one counts"
  },
  "case-variant": {
    code: InvalidRequest,
    says: "a member has a protocol member's name in another case",
    remedy: "spell the member as the protocol does: some readers ignore case"
  },
  "lone-surrogate": {
    code: InvalidRequest,
    says: "a string has half of a surrogate pair",
    remedy: "escape whole characters"
  },
  "too-deep": {
    code: InvalidRequest,
    says: "the message is nested deeper than the limit",
    remedy: "nest less, or raise depth"
  },
  "not-a-message": {
    code: InvalidRequest,
    says: "the JSON is not a JSON-RPC 2.0 request, notification or response",
    remedy: "send jsonrpc \"2.0\" with method, or with id and exactly one of result and error"
  },
  "unknown-member": {
    code: InvalidRequest,
    says: "the message has a top-level member that JSON-RPC does not name",
    remedy: "put data into params, result or error"
  },
  "bad-id": {
    code: InvalidRequest,
    says: "the id is neither a string nor an integer",
    remedy: "use a string, or an integer written without fraction and exponent"
  },
  "empty-batch": { code: InvalidRequest, says: "an empty batch is no message", remedy: "send at least one message" },
  "batch-too-long": {
    code: InvalidRequest,
    says: "the batch has more messages than the limit",
    remedy: "send less at once"
  },
  "no-batch": { code: InvalidRequest, says: "the revision in use has no batches", remedy: "send one message a line" },
  // ---- the session's order
  "duplicate-id": {
    code: InvalidRequest,
    says: "a request with this id is still unanswered",
    remedy: "use another id"
  },
  "too-many-requests": {
    code: InvalidRequest,
    says: "too many requests are unanswered",
    remedy: "wait for answers before sending more"
  },
  "not-initialized": {
    code: InvalidRequest,
    says: "initialize has not been answered yet",
    remedy: "send initialize first and wait for its answer"
  },
  "already-initialized": {
    code: InvalidRequest,
    says: "the session is initialized already",
    remedy: "start a new session to initialize again"
  },
  "other-era": {
    code: InvalidRequest,
    says: "this process has settled on the other era of the protocol",
    remedy: "start a new process for the other era"
  },
  "missing-metadata": {
    code: InvalidParams,
    says: "the request lacks the _meta members that its revision requires",
    remedy:
      "send io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities in params._meta"
  },
  "unknown-method": {
    code: MethodNotFound,
    says: "the revision in use has no such method",
    remedy: "use a method of the negotiated revision"
  },
  "not-offered": {
    code: MethodNotFound,
    says: "the other side does not offer the capability of this method",
    remedy: "ask only for what was advertised"
  },
  "no-common-revision": {
    code: InternalError,
    says: "the two sides have no protocol revision in common",
    remedy: "use a host and a server of the same era"
  },
  "unsupported-revision": {
    code: InternalError,
    says: "the server answered with a revision that Sallyport does not implement",
    remedy: "update Sallyport, or use another version of the server"
  },
  "discover-superseded": {
    code: MethodNotFound,
    says: "initialize was answered while server/discover was still open",
    remedy: "go on with the initialized session"
  },
  // ---- the guard
  "held-new": {
    code: InvalidParams,
    says: "nobody has accepted this item yet",
    remedy: "a person must review it; do not do it yourself"
  },
  "held-changed": {
    code: InvalidParams,
    says: "this item differs from what was accepted",
    remedy: "a person must review it; do not do it yourself"
  },
  "held-rejected": {
    code: InvalidParams,
    says: "a person has rejected this item",
    remedy: "do without it"
  },
  "held-conflict": {
    code: InvalidParams,
    says: "the server offers this name more than once",
    remedy: "a person must review it; do not do it yourself"
  },
  "held-invalid": {
    code: InvalidParams,
    says: "the server's definition of this item is not valid",
    remedy: "the server's author must mend it"
  },
  "unknown-item": {
    code: InvalidParams,
    says: "the server offers no item of this name",
    remedy: "list again, and use a name that is listed"
  },
  "unlisted-resource": {
    code: InvalidParams,
    says: "no accepted resource or template covers this address",
    remedy: "a person must review it; do not do it yourself"
  },
  "bad-params": {
    code: InvalidParams,
    says: "the params of this method cannot be read",
    remedy: "send the members that the method requires"
  },
  "listing-failed": {
    code: InternalError,
    says: "the server's listing could not be read, so nothing can be compared with what was accepted",
    remedy: "see sallyport's status for the place that could not be read"
  },
  "listing-cut": {
    code: InternalError,
    says: "the server's listing does not end or is too long, so what comes behind is not offered",
    remedy: "the server's author must mend it"
  },
  "listing-late": {
    code: InternalError,
    says: "the server did not list in time after it announced a change",
    remedy: "try again"
  },
  "locked": {
    code: InternalError,
    says: "the operator's settings do not allow to start it this way, so it was not started",
    remedy: "the operator must change the command line or the settings"
  },
  "launch-changed": {
    code: InternalError,
    says: "the command differs from the one that was accepted under this name, so it was not started",
    remedy: "a person must review it, or give the other command another name"
  },
  "launch-rejected": {
    code: InternalError,
    says: "the server is not started: a person has rejected its launch",
    remedy: "do without it"
  },
  "denied": { code: InvalidParams, says: "the policy refuses this", remedy: "ask the operator" },
  "imitation": {
    code: InvalidParams,
    says: "what the server asks looks as if Sallyport asked it",
    remedy: "the server's author must word it otherwise"
  },
  "unasked": {
    code: InvalidParams,
    says: "this answers what the server has not asked in the round before",
    remedy: "answer only what was asked, and each question once"
  },
  "unknown-task": {
    code: InvalidParams,
    says: "no call of this session became such a task",
    remedy: "ask only about tasks that a call was answered with"
  },
  "over-limit": {
    code: InvalidParams,
    says: "a limit of the policy is used up",
    remedy: "wait, or ask the operator"
  },
  "policy-missing": {
    code: InvalidParams,
    says: "the policy cannot be read or used, so everything is refused",
    remedy: "the operator must mend the policy"
  },
  "outdated": {
    code: InternalError,
    says: "what this was decided under changed again and again before it could be sent, so it was not",
    remedy: "try again"
  },
  "not-approved": {
    code: InvalidParams,
    says: "a person must allow this, and nobody did",
    remedy: "a person must decide about it; do not do it yourself"
  },
  "approval-denied": {
    code: InvalidParams,
    says: "a person was asked and did not allow this",
    remedy: "do not try it again unless they ask for it"
  },
  "approval-expired": {
    code: InvalidParams,
    says: "a person was asked and did not answer in time",
    remedy: "a person must decide about it; do not do it yourself"
  },
  "approval-full": {
    code: InvalidParams,
    says: "a person must allow this, and too many questions wait for one already",
    remedy: "wait until those are answered"
  },
  "approval-too-long": {
    code: InvalidParams,
    says: "a person must allow this, and it is too long to be looked through by one",
    remedy: "send less at once"
  },
  "approval-failed": {
    code: InternalError,
    says: "a person must allow this, and the question could not be put, or its answer not be read",
    remedy: "the operator must make the state folder readable and writable"
  },
  "stale-state": {
    code: InvalidParams,
    says: "the requestState is not one of this process for this request, is too old, or was used",
    remedy: "send the request anew, without requestState and inputResponses"
  },
  "hook-failed": {
    code: InvalidParams,
    says: "the operator's hook gave no verdict, so the request was refused",
    remedy: "ask the operator"
  },
  "gate-failed": {
    code: InternalError,
    says: "the decision could not be taken, so the request was refused",
    remedy: "ask the operator"
  },
  "inspection-failed": {
    code: InternalError,
    says: "the result could not be checked, so it was not passed on; the call itself was made",
    remedy: "ask the operator"
  },
  "ledger-failed": {
    code: InternalError,
    says: "the decision could not be written to the ledger, so the request was refused",
    remedy: "the operator must make the ledger writable"
  },
  "ledger-budget": {
    code: InternalError,
    says: "the client has used up what it may record in an hour, so the request was refused",
    remedy: "wait, or ask the operator"
  },
  "quarantined": {
    code: InternalError,
    says: "a check found something in the result, so it was kept back",
    remedy: "a person can look at it; do not try to get at it in another way"
  },
  "pins-failed": {
    code: InternalError,
    says: "what was accepted of this server could not be read or written",
    remedy: "the operator must mend the state folder"
  },
  "not-translatable": {
    code: InternalError,
    says: "this has no exact form in the revision of the other side, and nothing is passed on in another form",
    remedy: "ask the operator"
  },
  // ---- the far side
  "bad-answer": {
    code: InternalError,
    says: "the server's answer cannot be accepted",
    remedy: "the server's author must mend it"
  },
  "unsolicited": { code: InvalidRequest, says: "an answer that nobody waits for", remedy: "answer each request once" },
  "unknown-notification": {
    code: InvalidRequest,
    says: "the revision in use has no such notification in this direction",
    remedy: "send notifications of the negotiated revision"
  },
  "unknown-progress": {
    code: InvalidRequest,
    says: "progress for a token that no request in flight has",
    remedy: "send progress only for tokens of open requests"
  },
  "told-input": {
    code: InvalidRequest,
    says: "a notification that asks something; it is asked for, and judged, with tasks/get",
    remedy: "ask in answers"
  },
  "unknown-subscription": {
    code: InvalidRequest,
    says: "a notification for a subscription that is not open",
    remedy: "send only on open subscriptions"
  },
  "server-ended": { code: InternalError, says: "the server ended before it answered", remedy: "start it again" },
  "server-not-started": { code: InternalError, says: "the server could not be started", remedy: "check the command" },
  "unreachable": {
    code: InternalError,
    says: "the server cannot be reached, so nothing was sent",
    remedy: "check the address, and that the server runs"
  },
  "http-refused": {
    code: InternalError,
    says: "the server did not take the request",
    remedy: "check the address and the headers"
  },
  "answer-lost": {
    code: InternalError,
    says: "the server's answer did not come, and whether the request was carried out is not known",
    remedy: "find out what was done before doing it again"
  },
  "server-silent": { code: InternalError, says: "the server did not answer in time", remedy: "try again" }
} as const satisfies Record<string, Entry>

const names = Object.keys(table) as ReadonlyArray<keyof typeof table>

/**
 * The name of a reason.
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.Literals(names as readonly [keyof typeof table, ...Array<keyof typeof table>])
/**
 * @category models
 * @since 0.1.0
 */
export type Reason = keyof typeof table
