/** What a quote says of the cheapest providers, of the rule that makes the run wait, and of budgets. */
import { describe, expect, test } from "bun:test"
import { readQuote } from "../../src/http/cli/runs/QuoteView.ts"
import { quoteNotes } from "../../src/http/client/Words.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { lowestCharge } from "../../src/schema/runs/Quote.ts"

describe("a quote", () => {
  test("is from the cheapest provider on, or from the cheapest two, each by its cheapest offer, up to the hold", () => {
    const offer = (provider: string, usd: string) => ({ provider, price: dollars(usd) })
    const offers = [offer("a", "0.10"), offer("a", "0.30"), offer("b", "0.20"), offer("c", "0.50")]
    const from = (answers: number, hold = "9.00") => lowestCharge(offers, answers, dollars(hold))
    expect([from(1), from(2), from(2, "0.25"), lowestCharge([], 1, dollars("0.02"))]).toEqual([
      ...[dollars("0.10"), dollars("0.30"), dollars("0.25"), dollars("0.02")]
    ])
  })

  const quote: Parameters<typeof quoteNotes>[0] = {
    currency: "USD",
    minimum: "0.00",
    from: "0.003",
    expected: "0.003",
    maximum: "0.005",
    hold: "0.005",
    offers: [],
    routing_reason: "",
    would: "run",
    controls: []
  }

  test("of a service of an older version, which does not say from, is read", () => {
    const { from: _, ...older } = quote
    expect(readQuote(JSON.stringify(quote))).toMatchObject({ from: dollars("0.003"), hold: dollars("0.005") })
    expect(readQuote(JSON.stringify(older))).toMatchObject({ from: null, hold: dollars("0.005") })
  })

  test("names the rule and the budgets in words", () => {
    const budget = { limit: "5.00", left: "1.20" }
    expect(quoteNotes(quote)).toEqual([])
    const budgets = [
      { label: null, value: null, period: "total", ...budget },
      { label: "customer", value: "acme", period: "month", ...budget }
    ] as const
    expect(quoteNotes({ ...quote, approval_required: true, approval_rule: "Large", budgets })).toEqual([
      'The run waits for the yes of a member first (rule "Large").',
      "Budget of the API key: $1.20 of $5.00 is left.",
      "Budget of customer=acme: $1.20 of $5.00 is left in this month."
    ])
  })
})
