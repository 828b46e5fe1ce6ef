/**
 * What the rows of a file cost at most, and the start of their batch, once: its Idempotency-Key is made of the file and of what is done
 * with it.
 *
 * So the same file after a reload, in another tab or by a colleague joins the batch that exists, and no row is paid twice.
 */
import { sampleOf } from "../../../../client/Columns.ts"
import { type AnswerOf, api, ApiError, request, useRead } from "../../../data/api.ts"
import { amountOf, microsOf } from "../../../data/money.ts"
import type { Sheet } from "../readFile.ts"
import type { Batch } from "../useBatch.ts"
import type { Input, Mapping } from "./inputs.ts"

export interface Plan {
  readonly sheet: Sheet
  readonly capability: string
  readonly mapping: Mapping
  readonly inputs: ReadonlyArray<Input>
  readonly max_total: string
  /** Not empty if somebody wants to run and pay the same file once more. */
  readonly again: string
}

const keyChars = 40
const labelChars = 200

const keyOf = async ({ sheet, capability, mapping, again }: Plan): Promise<string> => {
  const used = Object.entries(mapping)
    .filter(([, column]) => column !== "")
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const bytes = new TextEncoder().encode(JSON.stringify([sheet.text, capability, used, again]))
  const digest = await crypto.subtle.digest("SHA-256", bytes)
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return `console-${hex.slice(0, keyChars)}`
}

/** `isNew` is false for a batch of the same file that exists: nothing was started. */
export const startBatch = async (plan: Plan) => {
  const { sheet, capability, inputs, max_total } = plan
  const payload = {
    runs: inputs.map((input) => ({ capability, input })),
    max_total,
    metadata: { file: sheet.name.slice(0, labelChars).toWellFormed() }
  }
  try {
    const headers = { "idempotency-key": await keyOf(plan) }
    const response = await request("POST", "/v1/batches", { payload }, { headers })
    const { id }: Batch = await response.json()
    return { id, isNew: response.headers.get("idempotent-replay") !== "true" }
  } catch (error) {
    // The same file with another limit or another name.
    const existing = /\bbat_[0-9a-z]+/.exec(error instanceof Error ? error.message : "")?.[0]
    if (error instanceof ApiError && error.code === "idempotency_key_reused" && existing !== undefined)
      return { id: existing, isNew: false }
    throw error
  }
}

type Quote = AnswerOf<"quotes", "quote">

/** Or why the service refused the row. */
const quoteOf = async (capability: string, input: Input): Promise<Quote | string> => {
  try {
    return await api.quotes.quote({ payload: { capability, input } })
  } catch (error) {
    if (error instanceof ApiError && error.code === "invalid_request") return error.message
    throw error
  }
}

const summed = (answers: ReadonlyArray<Quote | string>) => {
  const quotes = answers.filter((one) => typeof one !== "string")
  const expected = quotes.reduce((sum, one) => sum + (microsOf(one.expected) ?? 0n), 0n)
  const amounts = quotes.flatMap(({ hold, maximum }) => [microsOf(hold) ?? 0n, microsOf(maximum) ?? 0n])
  return {
    quoted: quotes.length,
    /** Of one row, in USD. */
    maximum: amountOf(amounts.reduce((most, one) => (one > most ? one : most), 0n)),
    expected: amountOf(quotes.length === 0 ? 0n : expected / BigInt(quotes.length)),
    /** Why a run would be blocked now, such as by an empty wallet. */
    blocked: quotes.find(({ would }) => would === "block")?.error?.message ?? null,
    refused: answers.filter((one) => typeof one === "string")
  }
}
export type SampledCost = ReturnType<typeof summed>

export const useQuotes = (capability: string, inputs: ReadonlyArray<Input>) => {
  const sample = sampleOf(inputs)
  return useRead(
    ["quotes", capability, sample],
    async () => summed(await Promise.all(sample.map((input) => quoteOf(capability, input)))),
    { enabled: capability !== "" && sample.length > 0, staleTime: 60_000 }
  )
}
