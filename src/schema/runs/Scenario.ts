/**
 * The scenario that an input of the sandbox names, such as `no_match@sandbox.test`. Pure.
 *
 * The simulated providers follow it (layers/executor/Sandbox.ts). Runs with a scenario are rehearsals, and are counted apart from others.
 */
export interface Scenario {
  readonly word: "no_match" | "timeout" | "error" | "rate_limited" | "malformed" | "slow" | "partial"
  readonly seconds: number
  readonly once: boolean
}

/** As long as the longest wait that a client may ask for. */
const slowSecondsMax = 120

/** The longest word has 17 characters. Without a limit, a text of hyphens would be read again from each of them. */
const pattern = /(?:sandbox:([a-z0-9_]{1,40})|\b([a-z0-9_-]{1,40})(?:@|\.)sandbox\.test)/i
const words = ["no_match", "timeout", "error", "rate_limited", "malformed", "partial"] as const

const scenarioOf = (text: string): Scenario | null => {
  const match = pattern.exec(text)
  const name = (match?.[1] ?? match?.[2])?.toLowerCase().replaceAll("-", "_")
  if (name === undefined) return null
  const once = name.endsWith("_once")
  const word = once ? name.slice(0, -5) : name
  const slow = /^slow_(\d{1,3})$/.exec(word)?.[1]
  if (slow !== undefined) return { word: "slow", seconds: Math.min(Number(slow), slowSecondsMax), once }
  const scenarioWord = words.find((one) => one === word)
  return scenarioWord === undefined ? null : { word: scenarioWord, seconds: 0, once }
}

/** The first scenario named anywhere in the input, depth first. */
export const findScenario = (value: unknown): Scenario | null => {
  if (typeof value === "string") return scenarioOf(value)
  if (typeof value !== "object" || value === null) return null
  for (const child of Object.values(value)) {
    const scenario = findScenario(child)
    if (scenario !== null) return scenario
  }
  return null
}

/** `bounce@sandbox.test` and addresses at bounce.sandbox.test: the sandbox calls them valid, and mail to them bounces. */
export const bouncesInSandbox = (address: string): boolean => /(^|@)bounce[@.]sandbox\.test$/i.test(address.trim())
