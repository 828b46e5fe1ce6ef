/** Compares ledger heads that a customer has kept with the ledger that the service has today. Loaded on demand. */
import { Effect, Result, Schema } from "effect"
import { beginChain, chainCheck, type ChainState, headCheck, nextEntry } from "../../../schema/receipts/ChainCheck.ts"
import { headType, type PublicKeys } from "../../../schema/receipts/PublicKeys.ts"
import { LedgerHead } from "../../../schema/receipts/Receipt.ts"
import { type Check, failed, ok } from "../../../schema/receipts/Verification.ts"
import { ChainPage, Head, ReceiptsApi } from "../../api/Receipts.ts"
import { ask } from "../answers/operation.ts"
import { decoded } from "../answers/show.ts"
import { sha256, verified } from "./Jws.ts"

const Saved = Schema.Struct({ items: Schema.Array(Head) })

/** The signed texts of a file: what `rungate wallet heads` saved, or one JWS a line. */
const headsIn = (text: string): ReadonlyArray<string> =>
  decoded(Saved, text)?.items.map(({ head }) => head) ?? text.split(/\s+/).filter((line) => line !== "")

const read = Effect.fnUntraced(function* (text: string, keys: typeof PublicKeys.Type) {
  const heads: Array<LedgerHead> = []
  const checks: Array<Check> = []
  for (const jws of headsIn(text)) {
    const head = yield* verified(jws, keys, headType, LedgerHead)
    if (Result.isSuccess(head)) heads.push(head.success.payload)
    else checks.push(failed(`A ledger head is not valid. ${head.failure}`))
  }
  const signed = heads.length === 1 ? "1 ledger head is" : `${heads.length} ledger heads are`
  return { heads, checks: [...checks, ...(heads.length === 0 ? [] : [ok(`${signed} signed by the service.`)])] }
})

const chainOf = Effect.fnUntraced(function* (org_id: string, wanted: ReadonlySet<number>) {
  let state: ChainState = beginChain(org_id)
  let cursor: string | null = null
  do {
    const query: { readonly limit: string; readonly cursor?: string } =
      cursor === null ? { limit: "200" } : { limit: "200", cursor }
    const page: typeof ChainPage.Encoded = yield* ask(ReceiptsApi.endpoints.chain, { query }, ChainPage)
    for (const entry of page.items) state = nextEntry(state, entry, wanted, sha256)
    // A cursor that repeats would never end.
    cursor = page.next_cursor === cursor ? null : page.next_cursor
  } while (cursor !== null && state.broken === null)
  return state
})

/** `text` is the content of the file with heads. */
export const headChecks = Effect.fnUntraced(function* (text: string, keys: typeof PublicKeys.Type) {
  const { heads, checks } = yield* read(text, keys)
  const [first] = heads
  const nothing = { compared: [] }
  if (first === undefined)
    return { ...nothing, ofHeads: checks.length > 0 ? checks : [failed("The file holds no ledger heads.")] }
  if (heads.some(({ org_id }) => org_id !== first.org_id)) {
    const several = "The ledger heads belong to several organizations. Verify those of each organization on their own."
    return { ...nothing, ofHeads: [...checks, failed(several)] }
  }
  const state = yield* chainOf(first.org_id, new Set(heads.map(({ seq }) => seq)))
  const compared = heads.map((one) => headCheck(state, one))
  return { compared, ofHeads: [...checks, chainCheck(state), ...compared] }
})
