/** A run as admission gets it: a free lookup at one provider, whose input nobody reads. */
import { newId } from "../../src/layers/platform/Ids.ts"
import type { NewRun } from "../../src/layers/runs/NewRuns.ts"
import { zero } from "../../src/schema/money/Money.ts"
import type { Plan } from "../../src/schema/runs/Plan.ts"

export const planOfOne: Plan = {
  providers: ["hunter"],
  attempts_max: 3,
  routing: "auto",
  include_raw: false,
  side_effect: false,
  excluded: []
}

export const newRun = (org_id: string, changed: Partial<NewRun> = {}): NewRun => ({
  run_id: newId("run"),
  org_id,
  key_id: null,
  key_version: null,
  budget_id: null,
  input_hash: "hash",
  request_id: "req_test",
  idempotency_key: null,
  fingerprint: "",
  kind: "capability",
  capability: "email.find",
  endpoint: null,
  provider: "hunter",
  hold: zero,
  quoted: zero,
  input: "{}",
  plan: planOfOne,
  routing_reason: "test",
  metadata: null,
  ...changed
})
