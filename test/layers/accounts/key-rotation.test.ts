/** Rotation of an API key: the old key works for the grace time, and never longer than without the rotation. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect, Option } from "effect"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

const hour = 3_600
const afterSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000)

/** The expiries of a key before its rotation, and of both keys after it. */
const rotated = Effect.fnUntraced(function* (expires_at: Date | null, graceSeconds: number) {
  const accounts = yield* Accounts
  const org_id = yield* accounts.createOrganization("rotation", null)
  const { id } = yield* accounts.createKey(org_id, "key", "test", { expires_at })
  const expiryOf = (key_id: string) =>
    Effect.map(accounts.key(org_id, key_id), (key) => Option.getOrThrow(key).expires_at)
  const before = yield* expiryOf(id)
  const fresh = Option.getOrThrow(yield* accounts.rotateKey(org_id, id, graceSeconds))
  return { before, old: yield* expiryOf(id), fresh: yield* expiryOf(fresh.id) }
})

test("a key that expires before the grace time ends keeps its expiry, and the new key has it too", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const expires_at = afterSeconds(hour)
      expect(yield* rotated(expires_at, 24 * hour)).toEqual({ before: expires_at, old: expires_at, fresh: expires_at })
    })
  ))

test.each([
  ["never expires", null],
  ["expires later", afterSeconds(24 * hour)]
] as const)("a key that %s works for the grace time only, and the new key keeps its expiry", (_, expires_at) =>
  runtime.runPromise(
    Effect.gen(function* () {
      const earliest = afterSeconds(hour - 60)
      const { old, fresh } = yield* rotated(expires_at, hour)
      expect(old?.getTime()).toBeWithin(earliest.getTime(), afterSeconds(hour + 60).getTime())
      expect(fresh).toEqual(expires_at)
    })
  )
)
