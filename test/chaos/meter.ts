/**
 * The fake providers of the chaos tests: they answer like LeadMagic, Hunter and Resend and write down every call.
 *
 * The real adapters call them over HTTP, so what stands here really left a process, whatever the books say. A run's key
 * travels as the family name or the subject; the given name or the text says how the provider behaves.
 */
import { Schema } from "effect"

export interface Call {
  readonly provider: "leadmagic" | "hunter" | "resend"
  /** The idempotency key of the run that was asked for. */
  readonly key: string
  /** What Resend got as its own idempotency key: our run id. */
  readonly run_id: string | null
  readonly at: number
  /** Whether the answer can be taken for a delivery. Only such a call may be charged. */
  readonly delivers: boolean
  /** Of an e-mail: who gets it, and the path of the link with which the recipient opts out. */
  readonly to: ReadonlyArray<string>
  readonly opt_out_path: string | null
  /** A GET whose connection the provider closes. The runtime's HTTP client asks once more by itself, if it had used the connection before. */
  readonly asked_again: boolean
}

/** Answers a call in place of the fake provider, or null. */
export type Disturb = (call: Pick<Call, "provider" | "key">) => {
  readonly delivers: boolean
  /** When the provider closes the connection, whatever it has answered. Null: never. */
  readonly breaks_after_seconds: number | null
  readonly answer: Response | Promise<Response>
} | null

/** The credits of the service's account at LeadMagic. A hit costs one. */
export interface Account {
  left: number
  /** Hits that were not paid for. */
  overspent: number
}

export interface Meter {
  readonly url: string
  /** Null: nobody counts credits, and what is left can't be read. */
  readonly account: Account | null
  readonly calls: ReadonlyArray<Call>
  readonly of: (key: string) => ReadonlyArray<Call>
  /** Requests that came in and are not answered yet. */
  readonly open: () => number
  /** From now on nobody waits. */
  readonly hurry: () => void
  /** Answers the calls of `Hold` so far. Later ones wait for the next release, unless nobody waits any more. */
  readonly release: () => void
  readonly stop: () => Promise<void>
}

/** `Hit`, `Miss` (LeadMagic finds nothing, Hunter does), `Hold` (answers when the test says so), `Wait<ms>`. */
export type Manner = "Hit" | "Miss" | "Hold" | `Wait${number}`

const Finding = Schema.Struct({ first_name: Schema.String, last_name: Schema.String, domain: Schema.String })
const Message = Schema.Struct({
  subject: Schema.String,
  text: Schema.String,
  to: Schema.Array(Schema.String),
  headers: Schema.optionalKey(Schema.Struct({ "List-Unsubscribe": Schema.optionalKey(Schema.String) }))
})
const findingOf = Schema.decodeUnknownSync(Finding)
const messageOf = Schema.decodeUnknownSync(Message)

const unwritten = { to: [], opt_out_path: null }

/** Of the readings of what an account has left, one in three is slow: another one may start and end meanwhile. */
const slowReadings = 3
const slowReadingMillis = 3_000

const pathIn = (header: string | undefined) => (header === undefined ? null : new URL(header.slice(1, -1)).pathname)

export const startMeter = (disturb: Disturb = () => null, credits: number | null = null): Meter => {
  const account = credits === null ? null : { left: credits, overspent: 0 }
  let readings = 0
  const calls: Array<Call> = []
  const byKey = new Map<string, Array<Call>>()
  let open = 0
  let hurried = false
  let held = Promise.withResolvers<void>()
  const patience = async (manner: string) => {
    if (manner === "Hold" && !hurried) return held.promise
    const millis = /^Wait(\d{1,5})$/.exec(manner)?.[1]
    if (millis !== undefined && !hurried) await Bun.sleep(Number(millis))
  }

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url)
    /** The hostile answer, if this call gets one. */
    const note = (provider: Call["provider"], key: string, message: Pick<Call, "to" | "opt_out_path"> = unwritten) => {
      const run_id = request.headers.get("idempotency-key")
      const disturbed = disturb({ provider, key })
      const delivers = disturbed?.delivers ?? true
      const asked_again = request.method === "GET" && (disturbed?.breaks_after_seconds ?? null) !== null
      const call = { ...message, provider, key, run_id, at: performance.now(), delivers, asked_again }
      calls.push(call)
      byKey.set(key, [...(byKey.get(key) ?? []), call])
      if (disturbed === null) return undefined
      const { answer, breaks_after_seconds } = disturbed
      if (breaks_after_seconds === null) return answer
      server.timeout(request, breaks_after_seconds)
      // Nobody waits for an answer to a connection that is closed.
      const closed = new Promise<Response>((resolve) =>
        request.signal.addEventListener("abort", () => resolve(new Response(null, { status: 500 })))
      )
      return Promise.race([answer, closed])
    }
    if (pathname === "/emails") {
      const { subject, text, to, headers } = messageOf(await request.json())
      const disturbed = note("resend", subject, { to, opt_out_path: pathIn(headers?.["List-Unsubscribe"]) })
      if (disturbed !== undefined) return disturbed
      await patience(text)
      return Response.json({ id: `msg_${calls.length}` })
    }
    if (pathname === "/v1/people/email-finder") {
      const { first_name, last_name, domain } = findingOf(await request.json())
      const disturbed = note("leadmagic", last_name)
      if (disturbed !== undefined) return disturbed
      if (account !== null && first_name !== "Miss") {
        account.left -= 1
        if (account.left < 0) account.overspent += 1
      }
      await patience(first_name)
      const names = { first_name, last_name, domain }
      return first_name === "Miss"
        ? Response.json({ ...names, email: null, status: "not_found", credits_consumed: 0 })
        : Response.json({ ...names, email: `found@${domain}`, status: "valid", credits_consumed: 1 })
    }
    if (pathname === "/v2/email-finder") {
      const { first_name, last_name, domain } = findingOf(Object.fromEntries(searchParams))
      const disturbed = note("hunter", last_name)
      if (disturbed !== undefined) return disturbed
      await patience(first_name)
      const email = `found@${domain}`
      return Response.json({
        data: { first_name, last_name, domain, email, score: 90, verification: { status: "valid" }, sources: [] }
      })
    }
    if (pathname === "/credits" && account !== null) {
      const { left } = account
      readings += 1
      if (readings % slowReadings === 0) await Bun.sleep(slowReadingMillis)
      return Response.json({ credits: Math.max(0, left) })
    }
    return new Response(null, { status: 500 })
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      open += 1
      try {
        return await answer(request)
      } finally {
        open -= 1
      }
    }
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    account,
    calls,
    of: (key) => byKey.get(key) ?? [],
    open: () => open,
    hurry: () => {
      hurried = true
    },
    release: () => {
      held.resolve()
      held = Promise.withResolvers()
    },
    stop: () => server.stop(true)
  }
}
