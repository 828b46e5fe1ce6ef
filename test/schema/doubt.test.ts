/** When nobody knows what a call did, told from what was asked and how each question ended. */
import { describe, expect, test } from "bun:test"
import {
  withRequest,
  type Doubt,
  doubtOf,
  type RequestEnd,
  endOfStatus,
  withEnd,
  type Trail,
  trailOf
} from "../../src/schema/catalog/Doubt.ts"

/** Questions in order: whether each acts, and how it ended; null: it never did. */
type Question = readonly ["acts" | "reads", RequestEnd | null]
const after = (questions: ReadonlyArray<Question>, resumed = false): Trail =>
  questions.reduce((trail, [what, end]) => {
    const asked = withRequest(trail, what === "acts")
    return end === null ? asked : withEnd(asked, end)
  }, trailOf(resumed))

const cases: ReadonlyArray<readonly [string, ReadonlyArray<Question>, string, Doubt | null]> = [
  ["nothing was asked: no turn at the gate", [], "provider_rate_limited", null],
  ["the time was up", [["acts", null]], "provider_timeout", "no_answer"],
  ["the connection broke", [["acts", "no_answer"]], "provider_error", "no_answer"],
  ["the connection was refused", [["acts", "unsent"]], "provider_error", null],
  ["HTTP 422", [["acts", "refused"]], "provider_error", null],
  ["HTTP 401", [["acts", "refused"]], "provider_account", null],
  ["HTTP 429", [["acts", "refused"]], "provider_rate_limited", null],
  ["HTTP 500", [["acts", "server_error"]], "provider_error", "server_error"],
  ["HTTP 503 that the adapter reads as too busy", [["acts", "server_error"]], "provider_rate_limited", null],
  ["success that can't be read", [["acts", "read"]], "invalid_response", "unreadable_answer"],
  ["success that breaks off", [["acts", "unreadable"]], "provider_error", "unreadable_answer"],
  ["success that says in words that it failed", [["acts", "read"]], "provider_error", null],
  ["a look-up that timed out before anything was sent", [["reads", null]], "provider_timeout", null],
  [
    "a look-up, then a send that timed out",
    [
      ["reads", "read"],
      ["acts", null]
    ],
    "provider_timeout",
    "no_answer"
  ],
  [
    "a send, then a look-up that timed out",
    [
      ["acts", "read"],
      ["reads", null]
    ],
    "provider_timeout",
    "no_answer"
  ],
  [
    "a send, then a look-up that can't connect",
    [
      ["acts", "read"],
      ["reads", "unsent"]
    ],
    "provider_error",
    "no_answer"
  ],
  [
    "a send, then a look-up that is too busy",
    [
      ["acts", "read"],
      ["reads", "refused"]
    ],
    "provider_rate_limited",
    "no_answer"
  ],
  [
    "a send, then a look-up that was not made because the provider asked for a pause",
    [
      ["acts", "read"],
      ["reads", "unsent"]
    ],
    "provider_rate_limited",
    "no_answer"
  ],
  [
    "a job, then the word that it failed",
    [
      ["acts", "read"],
      ["reads", "read"]
    ],
    "provider_error",
    null
  ],
  [
    "a send that was done, then one that was refused",
    [
      ["acts", "read"],
      ["acts", "refused"]
    ],
    "provider_error",
    null
  ]
]

describe("doubt", () => {
  test.each(cases)("%s", (_name, questions, reason, doubt) => expect(doubtOf(after(questions), reason)).toBe(doubt))

  test("a job of an earlier execution is one that was started", () => {
    expect(doubtOf(after([["reads", null]], true), "provider_timeout")).toBe("no_answer")
    expect(doubtOf(after([], true), "provider_timeout")).toBe("no_answer")
  })

  test("a status settles it, or does not", () => {
    for (const status of [300, 301, 307, 400, 404, 409, 422, 429, 501, 505]) expect(endOfStatus(status)).toBe("refused")
    for (const status of [302, 303, 408, 499, 500, 502, 503, 504, 520, 524, 999])
      expect(endOfStatus(status)).toBe("server_error")
    expect([409, 422].map((status) => endOfStatus(status, true))).toEqual(["server_error", "refused"])
    for (const status of [200, 201, 204]) expect(endOfStatus(status)).toBe("read")
  })
})
