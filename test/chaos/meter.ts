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
}

export interface Meter {
  readonly url: string
  readonly calls: ReadonlyArray<Call>
  readonly of: (key: string) => ReadonlyArray<Call>
  /** Requests that came in and are not answered yet. */
  readonly open: () => number
  /** From now on nobody waits. */
  readonly hurry: () => void
  /** Answers the calls of `Hold` so far. Later ones wait for the next release. */
  readonly release: () => void
  readonly stop: () => Promise<void>
}

/** `Hit`, `Miss` (LeadMagic finds nothing, Hunter does), `Hold` (answers when the test says so), `Wait<ms>`. */
export type Manner = "Hit" | "Miss" | "Hold" | `Wait${number}`

const Finding = Schema.Struct({ first_name: Schema.String, last_name: Schema.String, domain: Schema.String })
const Message = Schema.Struct({ subject: Schema.String, text: Schema.String })
const findingOf = Schema.decodeUnknownSync(Finding)
const messageOf = Schema.decodeUnknownSync(Message)

export const startMeter = (): Meter => {
  const calls: Array<Call> = []
  let open = 0
  let hurried = false
  let held = Promise.withResolvers<void>()
  const patience = async (manner: string) => {
    if (manner === "Hold") return held.promise
    const millis = /^Wait(\d{1,5})$/.exec(manner)?.[1]
    if (millis !== undefined && !hurried) await Bun.sleep(Number(millis))
  }

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url)
    const note = (provider: Call["provider"], key: string) => {
      const run_id = request.headers.get("idempotency-key")
      calls.push({ provider, key, run_id, at: performance.now() })
    }
    if (pathname === "/emails") {
      const { subject, text } = messageOf(await request.json())
      note("resend", subject)
      await patience(text)
      return Response.json({ id: `msg_${calls.length}` })
    }
    if (pathname === "/v1/people/email-finder") {
      const { first_name, last_name, domain } = findingOf(await request.json())
      note("leadmagic", last_name)
      await patience(first_name)
      const names = { first_name, last_name, domain }
      return first_name === "Miss"
        ? Response.json({ ...names, email: null, status: "not_found", credits_consumed: 0 })
        : Response.json({ ...names, email: `found@${domain}`, status: "valid", credits_consumed: 1 })
    }
    if (pathname === "/v2/email-finder") {
      const { first_name, last_name, domain } = findingOf(Object.fromEntries(searchParams))
      note("hunter", last_name)
      await patience(first_name)
      const email = `found@${domain}`
      return Response.json({
        data: { first_name, last_name, domain, email, score: 90, verification: { status: "valid" }, sources: [] }
      })
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
    calls,
    of: (key) => calls.filter((call) => call.key === key),
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
