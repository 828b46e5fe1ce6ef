/** The events that the TypeScript client reads from a stream, without a service. */
import { expect, test } from "bun:test"
import { followEvents } from "../../../packages/client/src/events.ts"

const finished = (message: string) => ({
  ...{ type: "run.finished", timestamp: "2026-11-28T09:00:00.000Z" },
  data: { error: { message } }
})

test.each(["\u2028", "\u2029", "\u0085", "a\u2028b: c"])(
  "an event with %j in it, which is no line break there, is not lost",
  async (text) => {
    const event = finished(text)
    const body = `retry: 1000\n\nid: evt_1\nevent: run.finished\ndata: ${JSON.stringify(event)}\n\n`
    const fetch = Object.assign(async () => new Response(body), { preconnect: () => {} })
    const seen: Array<unknown> = []
    for await (const one of followEvents({ url: "http://127.0.0.1", fetch }, { run_id: "run_1" })) seen.push(one)
    expect(seen).toEqual([{ ...event, id: "evt_1" }])
  },
  2_000
)
