/** Describes a cost driver in a sentence: what it adds, its default and its maximum. */
import type { CostDriver } from "./CostDriver.ts"

const units: Readonly<Record<Exclude<CostDriver["counts"], "presence">, string>> = {
  number: "",
  items: "items",
  addresses: "addresses",
  characters: "characters"
}

const listed = (table: Readonly<Record<string, string>>, word: (amount: string) => string) =>
  Object.entries(table)
    .map(([value, amount]) => `${value === "*" ? "any other value" : value} ${word(amount)}`)
    .join(", ")

const effectOf = (driver: CostDriver): string => {
  const { counts, price, multiplies, values, times, per = 1, included = 0 } = driver
  if (values !== undefined) return listed(values, (amount) => `adds $${amount}`)
  if (times !== undefined) return listed(times, (amount) => `multiplies the price by ${amount}`)
  if (counts === "presence") return price === undefined ? "bounds the call" : `adds $${price}`
  const noun = units[counts]
  const each =
    per > 1 ? `each started ${per}${noun === "" ? "" : ` ${noun}`}` : `each${noun === "" ? "" : ` of the ${noun}`}`
  const beyond = included > 0 ? ` beyond ${included}` : ""
  if (multiplies === true) {
    return per > 1
      ? `multiplies the price by the number of started ${per}${beyond}`
      : `multiplies the price by its ${noun || "number"}${beyond}`
  }
  return price === undefined ? "does not change the price" : `${each}${beyond} adds $${price}`
}

/** `isFilled`: Rungate fills the field in where it is left out. */
export const driverSentence = (driver: CostDriver, isFilled = false): string => {
  const { field, counts, max, contains, if: condition, note } = driver
  const isTable = driver.values !== undefined || driver.times !== undefined
  const isCount = !isTable && counts !== "presence"
  const name = field === "." ? "input" : field
  return [
    `${name}: ${effectOf(driver)}`,
    ...(contains === undefined ? [] : [`only if it contains ${contains.join(" or ")}`]),
    ...(condition === undefined ? [] : [`only with ${condition}`]),
    ...(driver.default !== undefined
      ? [`default ${driver.default}`]
      : isCount
        ? [isFilled ? "filled in" : "required"]
        : []),
    ...(max === undefined ? [] : [`at most ${max}`])
  ]
    .join("; ")
    .concat(note === undefined ? "." : `. ${note}`)
}
