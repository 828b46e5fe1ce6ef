/** When an endpoint that accepts nothing is paused. */
import { expect, test } from "bun:test"
import { outcomeOf } from "../../src/actors/webhooks/WebhookWorker.ts"
import { attemptsMax } from "../../src/schema/webhooks/Retry.ts"

const day = 86_400_000
const at = new Date("2026-11-25T00:00:00Z")
const after = (days: number, attempts: number, status: number | null = null) =>
  outcomeOf({ attempts, failing_since: new Date(at.getTime() - days * day) }, { at, status }, 0.5)
const paused = { _tag: "Failed", pause: "failing" } as const

test("after two days, when a delivery has used up its attempts", () => {
  expect(after(1.9, attemptsMax)).toEqual({ _tag: "Failed", pause: null })
  expect(after(2, attemptsMax)).toEqual(paused)
  expect(after(2, attemptsMax - 1)).toMatchObject({ _tag: "Retry" })
})

test("after four days in any case, because each of many deliveries waits for the one place of a failing endpoint", () => {
  expect(after(3.9, 1)).toMatchObject({ _tag: "Retry" })
  expect(after(4, 1)).toEqual(paused)
  expect(after(4, 1, 503)).toEqual(paused)
  expect(after(4, 1, 200)).toEqual({ _tag: "Delivered" })
})

test("at once, when it answers 410", () => {
  expect(after(0, 1, 410)).toEqual({ _tag: "Failed", pause: "gone" })
})
