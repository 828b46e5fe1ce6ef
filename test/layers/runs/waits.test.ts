/** Which of the ids that a process waits for have ended: final runs, and commands with a reply. */
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { MailStore } from "../../../src/layers/ledger/MailStore.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import { WaitStore } from "../../../src/layers/runs/WaitStore.ts"
import { newRun } from "../../kit/new-runs.ts"
import { withStorage } from "../../kit/storage.ts"
import { report, takeTurn } from "../../kit/turns.ts"

const run = withStorage()

const cancel = Effect.fnUntraced(function* (org_id: string, run_id: string) {
  const command_id = newId("cmd")
  yield* (yield* MailStore).enqueue({ command_id, org_id, run_id, tag: "Cancel", payload: "{}", result: null })
  return command_id
})
const known = (ids: ReadonlyArray<string>) =>
  Effect.map(
    Effect.flatMap(WaitStore, (store) => store.ended(ids)),
    (ended) => ended.toSorted()
  )

test("a run has ended when its end is settled, not while it waits, is queued, runs or waits for another run", () =>
  run(
    Effect.gen(function* () {
      const [store, sql] = [yield* RunStore, yield* SqlClient.SqlClient]
      const org_id = yield* (yield* Accounts).createOrganization("waits", null)
      const [one, other] = [newRun(org_id), newRun(org_id)]
      const ids = [one.run_id, other.run_id]
      yield* store.admit(one)
      yield* store.admit(other)
      expect(yield* known(ids)).toEqual([])
      yield* takeTurn(org_id, "none", false)
      expect(yield* known(ids)).toEqual([])
      yield* sql`
        UPDATE open_runs SET state = 'running', worker_id = 'wrk', lease_token = run_id, attempts = '[{}]' WHERE org_id = ${org_id}`
      expect(yield* known(ids)).toEqual([])
      yield* report({ ...one, lease_token: one.run_id })
      expect(yield* known(ids)).toEqual([])
      yield* takeTurn(org_id)
      expect(yield* known(ids)).toEqual([one.run_id])
      // Another run of the organization waits for its admission, and this one's late cancellation for its turn.
      yield* store.admit(newRun(org_id))
      yield* cancel(org_id, one.run_id)
      expect(yield* known(ids)).toEqual([one.run_id])
      expect(yield* known([one.run_id])).toEqual([one.run_id])
      yield* sql`INSERT INTO reuse_joins (run_id, org_id, joined) VALUES (${one.run_id}, ${org_id}, ${other.run_id})`
      expect(yield* known(ids)).toEqual([])
    })
  ))

test("a command has ended when it has a reply", () =>
  run(
    Effect.gen(function* () {
      const org_id = yield* (yield* Accounts).createOrganization("waits", null)
      const one = newRun(org_id)
      yield* (yield* RunStore).admit(one)
      const command_id = yield* cancel(org_id, one.run_id)
      const ids = [command_id, newId("cmd")]
      expect(yield* known(ids)).toEqual([])
      yield* takeTurn(org_id)
      expect(yield* known(ids)).toEqual([command_id])
      expect(yield* known([])).toEqual([])
    })
  ))
