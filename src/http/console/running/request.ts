/** The body of a run as the console sends it and shows it. */
import type { api } from "../data/api.ts"
import { exactDollars, microsOf } from "../data/money.ts"

export type RunBody = Parameters<typeof api.runs.run>[0]["payload"]

/** A body that the service made. It checks each body again, so a look at the form is enough. */
export const isRunBody = (value: unknown): value is RunBody =>
  typeof value === "object" && value !== null && "input" in value && ("capability" in value || "endpoint" in value)

/** The amount that somebody agreed to is binding: it becomes the cap, unless the body has a cap of its own. */
export const withCap = (body: RunBody, amount: string): RunBody => ({
  ...body,
  routing: { ...body.routing, max_cost: body.routing?.max_cost ?? amount }
})

export const nameOf = ({ capability, provider, endpoint }: RunBody): string =>
  capability ?? `${provider ?? ""} ${endpoint ?? ""}`.trim()

/** The words of the button that runs it. */
export const runWord = (hold: string): string =>
  microsOf(hold) === 0n ? "Run, free of charge" : `Run for at most ${exactDollars(hold)}`
