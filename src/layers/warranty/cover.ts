/** Whether the warranty covers a stored run, by its capability's rule. Pure. */
import { capabilities } from "../../schema/capabilities/index.ts"
import { isRecord, parsedOrText } from "../../schema/json/Json.ts"
import { MicroUsd } from "../../schema/money/Money.ts"
import { type Covered, coverOf, type NotCovered } from "../../schema/wallet/Warranty.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"

const vouching = new Map(
  capabilities.flatMap(({ slug, vouches }) => (vouches === null ? [] : [[slug, vouches] as const]))
)

type Warranted = Pick<
  RunRow,
  "capability" | "status" | "charged" | "reused_from" | "attempts" | "erased_at" | "finished_at" | "result"
>

/** Whether a run's last call, which delivered its result, went through the organization's own account. */
export const usedOwnAccount = ({ attempts }: Pick<RunRow, "attempts">): boolean => {
  const list = parsedOrText(attempts ?? "[]")
  const last: unknown = Array.isArray(list) ? list.at(-1) : null
  return isRecord(last) && last["account"] === "own"
}

export const coverOfRow = (row: Warranted): Covered | NotCovered => {
  const vouches = vouching.get(row.capability ?? "")
  return coverOf({
    status: row.status,
    charged: row.charged === null ? null : MicroUsd(row.charged),
    reused_from: row.reused_from,
    own_account: usedOwnAccount(row),
    erased: row.erased_at !== null,
    finished_at: row.finished_at,
    warranted: vouches !== undefined,
    address: vouches === undefined || row.result === null ? null : vouches(parsedOrText(row.result))
  })
}
