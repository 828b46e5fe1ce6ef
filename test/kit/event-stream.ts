/** A reader of event streams for tests: plain fetch, and the events in the order in which they came. */
import { until } from "./app.ts"

export interface Received {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: ReturnType<typeof JSON.parse>
}

export interface Reader {
  readonly status: number
  readonly headers: Headers
  readonly events: ReadonlyArray<Received>
  /** Everything that came, comments included. */
  readonly text: () => string
  /** The body of an error. */
  readonly error: ReturnType<typeof JSON.parse>
  /** Waits for so many events of a type, or for an event that fits. */
  readonly wait: (what: string, fits: (events: ReadonlyArray<Received>) => boolean) => Promise<void>
  /** Resolves when the service ends the stream. */
  readonly ended: Promise<void>
  readonly close: () => void
}

const parsedBlock = (block: string): Received | null => {
  const fields = new Map(
    block.split("\n").flatMap((line): Array<[string, string]> => {
      const at = line.indexOf(": ")
      return at <= 0 ? [] : [[line.slice(0, at), line.slice(at + 2)]]
    })
  )
  const data = fields.get("data")
  if (data === undefined) return null
  const body = JSON.parse(data)
  if (body.type !== fields.get("event")) throw new Error(`the event is called ${fields.get("event")}: ${data}`)
  return { id: fields.get("id") ?? "", ...body }
}

export const listen = async (
  url: string,
  key: string,
  path = "/v1/events",
  headers: Readonly<Record<string, string>> = {}
): Promise<Reader> => {
  const stop = new AbortController()
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream", ...headers },
    signal: stop.signal
  })
  const events: Array<Received> = []
  let text = ""
  let rest = ""
  const isStream = response.headers.get("content-type") === "text/event-stream"
  const reading = async () => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        const piece = decoder.decode(chunk, { stream: true })
        text += piece
        rest += piece
        const blocks = rest.split("\n\n")
        rest = blocks.pop() ?? ""
        for (const block of blocks) {
          const event = parsedBlock(block)
          if (event !== null) events.push(event)
        }
      }
    } catch {
      // The connection was cut.
    }
  }
  const error = isStream || response.status === 204 ? null : await response.json()
  const ended = isStream ? reading() : Promise.resolve()
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    error,
    wait: async (what, fits) => {
      await until(what, () => events, fits)
    },
    ended,
    close: () => stop.abort()
  }
}

export const typesOf = (events: ReadonlyArray<Received>) => events.map(({ type }) => type)
export const ofRun = (events: ReadonlyArray<Received>, run_id: string) =>
  events.filter(({ data }) => data.run_id === run_id)
