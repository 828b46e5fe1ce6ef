/**
 * What reads from a standby guarantee, for a standby that is made up and for a real one: whatever state it is in, an answer has
 * everything that was committed before.
 */
import { describe, expect, test } from "bun:test"
import { Effect, Layer, ManagedRuntime } from "effect"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import { DirectCommands } from "../../src/actors/mailbox/DirectCommands.ts"
import { RunSlots } from "../../src/actors/runs/RunSlots.ts"
import { WalletActor } from "../../src/actors/wallet/WalletActor.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { Replica } from "../../src/layers/standby/Replica.ts"
import { Reads } from "../../src/layers/standby/Reads.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { until } from "./app.ts"

export interface World {
  readonly settings: Readonly<Record<string, string>>
  readonly replica: Layer.Layer<Replica, unknown, Stores>
  /** It applies nothing until `follow`. */
  readonly lag: () => Promise<unknown>
  readonly follow: () => Promise<unknown>
  readonly leave: () => Promise<unknown>
  readonly comeBack: () => Promise<unknown>
}
type Stores = Layer.Success<typeof Storage> | Settings

const runtimeOf = ({ settings, replica }: World) =>
  ManagedRuntime.make(
    Layer.merge(WalletActor.layer, Reads.layer).pipe(
      Layer.provideMerge(Layer.merge(RunSlots.layer, DirectCommands.layer)),
      Layer.provideMerge(replica),
      Layer.provideMerge(Storage),
      Layer.provideMerge(Settings.layerFrom(settings))
    )
  )

export const standbySuite = (name: string, open: () => Promise<World>) =>
  describe(name, () => {
    test("an answer has everything that was committed before, from the standby only if that has it", async () => {
      const world = await open()
      const runtime = runtimeOf(world)
      try {
        const org_id = await runtime.runPromise(
          Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("standby", null))
        )
        let credits = 0
        /** Commits an entry and lists the entries at once, as a client would. Answers who listed them. */
        const writeAndRead = () =>
          runtime.runPromise(
            Effect.gen(function* () {
              const mail = yield* MailStore
              const wallet = yield* WalletActor
              const reads = yield* Reads
              const { standby } = yield* Replica
              const reference = newId("cs")
              const payload = encodeCredit({ type: "bonus", amount: dollars("1.00"), reference, note: "test" })
              const command = {
                command_id: reference,
                org_id,
                run_id: null,
                tag: "Credit",
                payload,
                result: null
              } as const
              yield* wallet.turn(yield* mail.enqueue(command))
              credits += 1
              const before = standby?.answered()
              const entries = yield* reads.entries(org_id, null, 200)
              expect(entries.length).toBe(Math.min(credits, 200))
              expect(entries[0]?.reference).toBe(reference)
              expect(yield* reads.runs({ ...everyRun, org_id })).toEqual([])
              const after = standby?.answered()
              return after === undefined ? "none" : after.primary === before?.primary ? "standby" : "primary"
            })
          )
        const answeredBy = (who: string) => until(`the ${who} answers`, writeAndRead, (by) => by === who)
        await answeredBy("standby")
        await world.lag()
        expect([await writeAndRead(), await writeAndRead()]).toEqual(["primary", "primary"])
        await world.follow()
        await answeredBy("standby")
        await world.leave()
        expect([await writeAndRead(), await writeAndRead()]).toEqual(["primary", "primary"])
        await world.comeBack()
        await answeredBy("standby")
      } finally {
        await runtime.dispose()
      }
    })
  })

const everyRun = {
  keys: null,
  status: null,
  capability: null,
  provider: null,
  endpoint: null,
  key_id: null,
  from: null,
  to: null,
  metadata: null,
  before: null,
  limit: 10
}
