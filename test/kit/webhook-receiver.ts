/** A receiver of webhooks on loopback: it keeps what it got and answers as a test says. */
import { Webhook } from "standardwebhooks"

export interface Got {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly event: ReturnType<typeof JSON.parse>
}

export interface Receiver {
  readonly got: ReadonlyArray<Got>
  /** May be changed at any time. */
  readonly state: {
    status: number
    /** Answers never. */
    mute: boolean
    headers: Record<string, string>
    /** Instead of the short answer. */
    body: (() => ReadableStream) | null
  }
  readonly url: string
  readonly port: number
  /** Requests whose connection was closed before the answer had ended. */
  readonly aborted: () => number
  readonly stop: () => Promise<void>
}

export const receiver = (): Receiver => {
  const got: Array<Got> = []
  const state: Receiver["state"] = { status: 200, mute: false, headers: {}, body: null }
  let aborted = 0
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      const text = await request.text()
      const headers = Object.fromEntries(request.headers)
      request.signal.addEventListener("abort", () => {
        aborted += 1
      })
      got.push({ id: headers["webhook-id"] ?? "", headers, text, event: JSON.parse(text) })
      if (state.mute) await new Promise(() => {})
      return new Response(state.body?.() ?? "thanks", { status: state.status, headers: state.headers })
    }
  })
  const port = server.port ?? 0
  return {
    got,
    state,
    port,
    url: `http://127.0.0.1:${port}/hooks`,
    aborted: () => aborted,
    stop: () => server.stop(true)
  }
}

/** Verifies a webhook with the library's own verifier, and returns its event. Throws if the signature is wrong. */
export const verified = ({ text, headers }: Got, secret: string) => new Webhook(secret).verify(text, headers)
