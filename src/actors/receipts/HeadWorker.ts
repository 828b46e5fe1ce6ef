/**
 * Signs the heads of the ledger once a day, after midnight UTC, for every organization with new entries.
 *
 * Every worker tries, and one at a time works. A killed process loses nothing: the next one continues, also after days without any.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { HeadStore, type UnsignedHead } from "../../layers/receipts/HeadStore.ts"
import { SigningKeys } from "../../layers/receipts/SigningKeys.ts"
import { headType } from "../../schema/receipts/PublicKeys.ts"
import type { LedgerHead } from "../../schema/receipts/Receipt.ts"
import { repeatedly } from "../../layers/postgres/DueWork.ts"

/** Seconds between two looks for a day that has ended. Tests shorten them. */
export const HeadSeconds = Context.Reference("rungate/actors/receipts/HeadSeconds", { defaultValue: () => 600 })

export const HeadWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* HeadStore
    const keys = yield* SigningKeys
    const iss = addressOf(yield* Settings)

    const signAll = Effect.fnUntraced(function* (day: string, heads: ReadonlyArray<UnsignedHead>) {
      const sign = yield* keys.signer
      const iat = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
      return yield* Effect.forEach(heads, ({ org_id, seq, hash }) => {
        const head: LedgerHead = { iss, iat, org_id, day, seq: Number(seq), hash }
        return sign(headType, head)
      })
    })

    /** Whether the day is complete. */
    const signDay = Effect.fnUntraced(function* (day: string) {
      let after: string | null = ""
      while (after !== null) {
        const batch: Effect.Success<ReturnType<typeof store.make>> = yield* store.make(day, after, (heads) =>
          signAll(day, heads)
        )
        if (batch._tag === "Busy") return false
        after = batch.last
      }
      yield* store.complete(day)
      return true
    })

    const pass = Effect.gen(function* () {
      for (let day = yield* store.due; day !== null; day = yield* store.due) if (!(yield* signDay(day))) return
    })
    yield* repeatedly("ledger heads", `${(yield* HeadSeconds) * 1_000} millis`, Effect.orDie(pass))
  })
)
