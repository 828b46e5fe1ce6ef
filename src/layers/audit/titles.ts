/** What each equation of the audit says, in words. A violation names its equation by the id with which its text begins. */
import { equations, type Violation } from "./equations.ts"

export interface Equation {
  readonly id: string
  readonly title: string
}

const titles: ReadonlyArray<Equation> = [
  { id: "E1", title: "Each balance is the sum of its top-ups, bonuses, refunds and settlements" },
  { id: "E2", title: "Reserved money is what open runs and allowances hold" },
  { id: "E3", title: "No wallet holds more than it has" },
  { id: "E4", title: "Each run is reserved once at most, and resolved in full when it ends" },
  { id: "E5", title: "A charge is at most the hold, and only runs that delivered are charged" },
  {
    id: "E6",
    title:
      "All balances together are the money that came in minus the money that went out, and each top-up is a payment"
  },
  { id: "E7", title: "Entries are numbered without gaps, and each continues the one before" },
  { id: "E9", title: "Each entry's hash covers the entry and the hash before it" },
  { id: "E12", title: "A referrer gets at most its share of what the platform earned" },
  { id: "E15", title: "Each key's budget counts what its runs hold and were charged" },
  { id: "E16", title: "Each batch counts its rows, and what their runs were charged" },
  { id: "E17", title: "Each signed head is an entry of the ledger's chain" },
  { id: "E18", title: "Each allowance holds what the ledger says, and no more than it has left" },
  { id: "E19", title: "Each refund of the warranty is one entry of at most its run's charge" },
  { id: "E22", title: "A run that needs two providers to agree has the answers of two, or no success" },
  { id: "E23", title: "No run that was admitted after an opt-out contacts the person" },
  { id: "E24", title: "Each provider account reserves what its calls hold and have spent since it was read" },
  { id: "E25", title: "A run that needs an approval calls nobody before it has one, and holds its money until then" },
  { id: "U1", title: "The charges of usage equal the settlements of the ledger" },
  { id: "U2", title: "No label is counted more often than there are runs" },
  { id: "U3", title: "The sums of usage equal its rollups" },
  { id: "commands", title: "No command is dead-lettered" }
]

const idOf = ({ equation }: Violation): string =>
  equation === equations.deadLetters ? "commands" : (equation.split(" ")[0] ?? equation)

export interface CheckedEquation extends Equation {
  readonly violations: ReadonlyArray<Violation>
}

/** Every equation with its violations. A violation of an equation without a title is listed under its own text. */
export const byEquation = (violations: ReadonlyArray<Violation>): ReadonlyArray<CheckedEquation> => {
  const byId = Map.groupBy(violations, idOf)
  const titled = titles.map((one) => ({ ...one, violations: byId.get(one.id) ?? [] }))
  const others = [...byId]
    .filter(([id]) => !titles.some((one) => one.id === id))
    .map(([id, own]) => ({ id, title: own[0]?.equation ?? id, violations: own }))
  return [...titled, ...others]
}
