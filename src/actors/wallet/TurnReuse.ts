/** Reuse during a turn: one run of an input buys, and the others take its result or wait for it. */
import { inputKey, type JoinedRun, noReuseEffects, type ReuseEffects } from "../../layers/guards/ReuseTurn.ts"
import type { EndedRun, TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { decideReuse, type Reusable, type Reuse, type ReuseDecision } from "../../schema/guards/Reuse.ts"
import { MicroUsd } from "../../schema/money/Money.ts"

/** How a run ends, apart from which one it is. */
export type Ending = Omit<EndedRun, "org_id" | "run_id" | "capability" | "lease_token">

/** A run of its input has ended in this turn, so the next turn decides. */
interface Later {
  readonly _tag: "Later"
}

/** A run that has waited for another one. */
interface Waited {
  readonly run: TurnRun
  /** False if its API key may not see the other one's result, or if it would call other providers than those that failed. */
  readonly ends: boolean
}

const turnRunOf = ({
  joined: _joined,
  providers: _providers,
  same_providers: _same,
  hold,
  ...run
}: JoinedRun): TurnRun => ({
  ...run,
  status: "created",
  hold: MicroUsd(hold),
  lease_token: null,
  method: null,
  reuses: true,
  input: "null",
  plan: () => {
    throw new Error(`The turn did not read the plan of ${run.run_id}, which waits for another run.`)
  }
})

/** How a run ends that has waited for this one: the same, at no cost. */
export const sharedEnding = (buyer: string, ending: Ending): Ending => ({
  ...ending,
  charged: ending.charged === null ? null : 0n,
  provider_cost: null,
  attempts: "[]",
  result: null,
  reuse: {
    reused_from: ending.status === "succeeded" ? buyer : null,
    copies: null,
    shares: ending.result === null ? null : buyer,
    saved: ending.charged ?? 0n
  }
})

const reusableIn = ({ found: reusable }: Reuse): Reusable | null =>
  reusable === undefined
    ? null
    : { ...reusable, charged: BigInt(reusable.charged), bytes: Buffer.byteLength(reusable.result) }

export const turnReuse = ({ reuse: view }: Pick<TurnView, "reuse">) => {
  /** Runs that buy since this turn, by input. Null: one has ended in this turn. */
  const buyers = new Map<string, string | null>()
  const waiting = new Map<string, Array<TurnRun>>()
  const claimed = new Map<string, ReuseEffects["claimed"][number]>()
  const joined = new Map<string, ReuseEffects["joined"][number]>()
  const unclaimed: Array<string> = []
  const parted: Array<string> = []
  const again: Array<ReuseEffects["again"][number]> = []
  const results: Array<ReuseEffects["results"][number]> = []

  const part = (run_id: string) => {
    if (!joined.delete(run_id)) parted.push(run_id)
  }

  return {
    /** Null for a run that does not ask for reuse. */
    decide: (run: TurnRun): ReuseDecision | Later | null => {
      if (run.reuses !== true || run.status !== "created") return null
      const { reuse } = run.plan()
      if (reuse === undefined) return null
      const key = inputKey(run)
      const result = view.results.get(run.run_id) ?? reusableIn(reuse)
      const since = buyers.get(key)
      if (since === null && result === null) return { _tag: "Later" }
      const before = view.buyers.get(key)
      const buyer = reuse.keys === undefined ? (since ?? before?.run_id ?? null) : null
      const joins = (before?.joins ?? 0) + (buyer === null ? 0 : (waiting.get(buyer)?.length ?? 0))
      return decideReuse(reuse, { result, buyer, joins })
    },
    join: (run: TurnRun, buyer: string) => {
      joined.set(run.run_id, { org_id: run.org_id, run_id: run.run_id, joined: buyer })
      waiting.set(buyer, [...(waiting.get(buyer) ?? []), run])
    },
    /** Others may join the run from now on, unless another one buys already. */
    claim: (run: TurnRun) => {
      const { org_id, run_id, input_hash } = run
      const key = inputKey(run)
      if (run.reuses !== true || input_hash === null || buyers.has(key) || view.buyers.has(key)) return
      // A run of another key would take its result, or wait for it in vain.
      if (run.plan().reuse?.keys !== undefined) return
      buyers.set(key, run_id)
      claimed.set(run_id, { org_id, run_id, input_hash })
    },
    /** The runs that have waited for this one. */
    ended: (run: TurnRun, { status, provider }: Pick<EndedRun, "status" | "provider">): ReadonlyArray<Waited> => {
      const { org_id, run_id, input_hash } = run
      if (run.status === "created") {
        if (run.reuses === true || status === "cancelled") part(run_id)
        return []
      }
      const isNew = claimed.delete(run_id)
      if (!isNew && run.buys !== true) return []
      if (!isNew) unclaimed.push(run_id)
      buyers.set(inputKey(run), null)
      if (status === "succeeded" && input_hash !== null) results.push({ org_id, run_id, input_hash })
      const endsLike = (providers: ReadonlyArray<string> | null | undefined, hasSameProviders: boolean) =>
        status === "succeeded"
          ? (providers ?? null) === null || providers?.includes(provider ?? "") === true
          : hasSameProviders
      const before = (view.joined.get(run_id) ?? []).map((one) => ({
        run: turnRunOf(one),
        ends: endsLike(one.providers, one.same_providers)
      }))
      // One that has joined in this turn asks again if the other one failed.
      const since = (waiting.get(run_id) ?? []).map((one) => ({
        run: one,
        ends: endsLike(one.plan().reuse?.providers, false)
      }))
      return [...before, ...since]
    },
    /** The run asks again in the next turn. */
    again: ({ org_id, run_id }: TurnRun) => {
      part(run_id)
      again.push({ org_id, run_id })
    },
    effects: (): ReuseEffects =>
      claimed.size + joined.size + unclaimed.length + parted.length + again.length + results.length === 0
        ? noReuseEffects
        : { claimed: [...claimed.values()], joined: [...joined.values()], unclaimed, parted, again, results }
  }
}
