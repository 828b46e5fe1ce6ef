/**
 * Distributes wallets over the lanes: gives a new wallet its lane, and moves wallets when the number of lanes has grown.
 *
 * A wallet moves in one statement together with its stored commands. A turn that has read the wallet before is undone by the
 * wallet's version, so two lanes never decide about one wallet at once. Any number of processes may move wallets at the same time.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, oneFlag, rowsOf, texts } from "../postgres/Rows.ts"
import { laneOf, lanesDefault } from "../../schema/wallet/Lane.ts"
import { digest } from "./Secrets.ts"

/** Wallets in one move. No command is stored or decided meanwhile, so it must take milliseconds. */
const pageMax = 500

const stateRows = rowsOf({ lanes: Schema.Number, spread: Schema.Number, spread_after: Schema.String })
const walletRows = rowsOf({ org_id: Schema.String, lane: Schema.Number })
const countRows = rowsOf({ lanes: Schema.Number })

export const walletLane = (org_id: string, lanes: number): number => laneOf(digest(org_id), lanes)

/** The lane of a new wallet. Call it in the transaction that creates the wallet: the row lock makes a growing number wait for it. */
export const newWalletLane = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, org_id: string) {
  const [row] = yield* countRows(sql`SELECT lanes::int AS lanes FROM lane_count FOR SHARE`)
  return walletLane(org_id, row?.lanes ?? lanesDefault)
})

export class WalletLanes extends Context.Service<
  WalletLanes,
  {
    /** The number of lanes, and whether wallets still have to move. */
    readonly state: Effect.Effect<{ readonly lanes: number; readonly unfinished: boolean }>
    /** Moves the next page of wallets. Returns the lanes that got wallets, whose turns the caller then wakes. */
    readonly movePage: Effect.Effect<ReadonlyArray<number>>
  }
>()("rungate/layers/accounts/WalletLanes") {
  /** Whether there are more lanes than so many, or wallets still have to move. */
  static readonly due = (lanes: number) => `EXISTS (SELECT FROM lane_count WHERE lanes > ${lanes} OR spread < lanes)`

  static readonly layer = Layer.effect(
    WalletLanes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const read = Effect.map(
        stateRows(sql`SELECT lanes::int AS lanes, spread::int AS spread, spread_after FROM lane_count`),
        ([row]) => row ?? { lanes: lanesDefault, spread: lanesDefault, spread_after: "" }
      )

      const movePage = Effect.gen(function* () {
        const { lanes, spread, spread_after } = yield* read
        if (spread >= lanes) return []
        const page = yield* walletRows(sql`
          SELECT org_id, lane::int AS lane FROM wallets WHERE org_id > ${spread_after} ORDER BY org_id LIMIT ${pageMax}`)
        const moves = page.flatMap(({ org_id, lane }) => {
          const to = walletLane(org_id, lanes)
          return to === lane ? [] : [{ org_id, to }]
        })
        const end = page.length < pageMax ? "" : (page.at(-1)?.org_id ?? "")
        const moved = yield* oneFlag(sql`
          SELECT rungate_move_wallets(${texts(moves.map(({ org_id }) => org_id))}, ${bigints(moves.map(({ to }) => BigInt(to)))},
            ${spread_after}, ${end}, ${BigInt(lanes)}) AS moved`)
        return moved ? [...new Set(moves.map(({ to }) => to))] : []
      })

      return WalletLanes.of({
        state: Effect.orDie(Effect.map(read, ({ lanes, spread }) => ({ lanes, unfinished: spread < lanes }))),
        movePage: Effect.orDie(movePage)
      })
    })
  )
}
