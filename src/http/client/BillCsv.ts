/** The lines of a provider's bill in a CSV, as the command and the console compare it. */
import { unsignedPattern } from "../../schema/money/AmountText.ts"
import { isDay } from "../../schema/money/SpendDay.ts"
import type { Sheet } from "./JoinedCsv.ts"

interface BillColumns {
  readonly date: string
  readonly amount: string
  /** Of the ids of runs. Null: the bill has none. */
  readonly reference: string | null
}

/** A comma separates thousands. "12,50" is another country's 12.50, and not 1250. */
const plainAmount = (written: string): string => {
  const figures = written.replace(/[$\s]/g, "")
  return /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(figures) ? figures.replaceAll(",", "") : figures
}

/** A text says what is wrong with the file. The service itself refuses a wrong `period`. */
export const billLines = (
  { header, rows }: Sheet,
  { date, amount, reference }: BillColumns,
  [from, to]: readonly [from: string, to: string]
) => {
  const at = (name: string) => header.findIndex((one) => one.toLowerCase() === name.toLowerCase())
  const missing = [date, amount, ...(reference === null ? [] : [reference])].find((name) => at(name) < 0)
  if (missing !== undefined) return `has no column "${missing}". Its columns are ${header.join(", ")}.`
  const inPeriod = (day: string) => !isDay(from) || !isDay(to) || (isDay(day) && day >= from && day <= to)
  const lines: Array<{ readonly date: string; readonly amount: string; readonly reference?: string | null }> = []
  for (const [n, row] of rows.entries()) {
    const cell = (name: string) => row[at(name)] ?? ""
    const wrong = (name: string, wanted: string) =>
      `has "${cell(name)}" for ${wanted}, in row ${n + 1}, column "${header[at(name)]}".`
    const line = { date: cell(date).slice(0, 10), amount: plainAmount(cell(amount)) }
    if (!unsignedPattern.test(line.amount)) return wrong(amount, "an amount")
    if (!inPeriod(line.date)) return wrong(date, `a day from ${from} to ${to}`)
    lines.push(reference === null ? line : { ...line, reference: row[at(reference)] ?? null })
  }
  return lines
}
