/** What a text in Activity's search means: a run, a filter, or nothing that runs are filtered by. */
import { describe, expect, test } from "bun:test"
import { meaningOf } from "../../src/http/console/pages/activity/searchText.ts"

const providers = ["hunter", "leadmagic"]
const filter = (name: string, value: string) => ({ kind: "filter" as const, name, value })

describe("Activity's search", () => {
  test("a run's id opens the run", () => {
    expect(meaningOf(" run_01m81nzk95mq351g8pvrxgm8m4 ", providers)).toEqual({
      kind: "run",
      run_id: "run_01m81nzk95mq351g8pvrxgm8m4"
    })
  })

  test("capabilities, endpoints and providers are told apart", () => {
    expect(meaningOf("email.find", providers)).toEqual(filter("capability", "email.find"))
    expect(meaningOf("/v2/email-finder", providers)).toEqual(filter("endpoint", "/v2/email-finder"))
    expect(meaningOf("Hunter", providers)).toEqual(filter("provider", "hunter"))
  })

  test("a name before = is a filter if there is one of this name, and else a label", () => {
    expect(meaningOf("status=failed", providers)).toEqual(filter("status", "failed"))
    expect(meaningOf("provider=prospeo", providers)).toEqual(filter("provider", "prospeo"))
    expect(meaningOf("campaign=spring <script>", providers)).toEqual(filter("metadata.campaign", "spring <script>"))
    expect(meaningOf("metadata.campaign=a=b", providers)).toEqual(filter("metadata.campaign", "a=b"))
  })

  test("anything else is no filter of runs", () => {
    for (const text of ["", "ada@example.com", "two words", "__proto__", "run_short"])
      expect([text, meaningOf(text, providers)]).toEqual([text, { kind: "unknown" }])
  })
})
