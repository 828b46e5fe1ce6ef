/** What the rows cost at most: quotes of some of them. The limit of the batch holds for all. */
import { type AnswerOf, api, ApiError, useRead } from "../../../data/api.ts"
import { sampleOf } from "../../../../client/Columns.ts"
import { amountOf, microsOf } from "../../../data/money.ts"
import type { Input } from "./inputs.ts"

type Quote = AnswerOf<"quotes", "quote">

export interface SampledCost {
  readonly quoted: number
  /** Of one row, in USD. */
  readonly maximum: string
  readonly expected: string
  /** Why a run would be blocked now, such as by an empty wallet. */
  readonly blocked: string | null
  /** Why the service refused rows of the sample. */
  readonly refused: ReadonlyArray<string>
}

const isOfRow = (error: unknown): error is ApiError => error instanceof ApiError && error.code === "invalid_request"

const quoteOf = async (capability: string, input: Input): Promise<Quote | string> => {
  try {
    return await api.quotes.quote({ payload: { capability, input } })
  } catch (error) {
    if (isOfRow(error)) return error.message
    throw error
  }
}

const largest = (amounts: ReadonlyArray<string>): bigint =>
  amounts.reduce((most, one) => {
    const micros = microsOf(one) ?? 0n
    return micros > most ? micros : most
  }, 0n)

const summed = (answers: ReadonlyArray<Quote | string>): SampledCost => {
  const quotes = answers.flatMap((one) => (typeof one === "string" ? [] : [one]))
  const expected = quotes.reduce((sum, one) => sum + (microsOf(one.expected) ?? 0n), 0n)
  return {
    quoted: quotes.length,
    maximum: amountOf(largest(quotes.flatMap(({ hold, maximum }) => [hold, maximum]))),
    expected: amountOf(quotes.length === 0 ? 0n : expected / BigInt(quotes.length)),
    blocked: quotes.find(({ would }) => would === "block")?.error?.message ?? null,
    refused: answers.flatMap((one) => (typeof one === "string" ? [one] : []))
  }
}

export const useQuotes = (capability: string, inputs: ReadonlyArray<Input>) => {
  const sample = sampleOf(inputs)
  return useRead(
    ["quotes", capability, sample],
    async () => summed(await Promise.all(sample.map((input) => quoteOf(capability, input)))),
    { enabled: capability !== "" && sample.length > 0, staleTime: 60_000 }
  )
}
