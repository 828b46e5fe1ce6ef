/**
 * The scope of an allowance's key, which can't be wider than that of the key which gives it. Pure.
 *
 * What a request leaves out is taken from the parent. The database has the rule a second time (`key_exceeds`).
 */
import { defined } from "../defined.ts"
import { usd } from "../money/Money.ts"
import type { Allow } from "./KeyAccess.ts"

/** The field of a request that asks for more than the parent has. */
export interface Wider {
  readonly path: string
  readonly message: string
}

const allowsRaw = ({ raw, capabilities }: Allow): boolean => raw ?? capabilities === undefined

const stranger = (
  field: "capabilities" | "providers",
  asked: ReadonlyArray<string> | undefined,
  given: ReadonlyArray<string> | undefined
): Wider | null => {
  const index = given === undefined ? -1 : (asked ?? []).findIndex((name) => !given.includes(name))
  return index < 0
    ? null
    : {
        path: `allow.${field}.${index}`,
        message: `is not allowed by this API key itself; it has: ${given?.join(", ")}`
      }
}

/** The scope, or the field in which `asked` is wider. `parent` is null for a person, or a key without a scope. */
export const childScope = (
  asked: Allow,
  parent: Allow | null,
  byPerson: boolean
): { readonly allow: Allow } | { readonly wider: Wider } => {
  const given = parent ?? {}
  const wider = (field: string, message: string) => ({ wider: { path: `allow.${field}`, message } })
  const unknown =
    stranger("capabilities", asked.capabilities, given.capabilities) ??
    stranger("providers", asked.providers, given.providers)
  if (unknown !== null) return { wider: unknown }
  if (given.read_only === true && asked.read_only === false)
    return wider("read_only", "must be true: this API key is read-only itself")
  if (given.max_cost !== undefined && asked.max_cost !== undefined && asked.max_cost > given.max_cost)
    return wider("max_cost", `must be at most "${usd(given.max_cost)}", as for this API key itself`)
  if (asked.raw === true && !allowsRaw(given))
    return wider("raw", "must be false: this API key can't call raw endpoints itself")
  if (asked.mint === true && !byPerson && given.mint !== true)
    return wider("mint", "must be false: this API key can't give allowances itself")
  if (given.read === "own" && asked.read === "organization")
    return wider("read", 'must be "own": this API key reads its own runs only')
  const capabilities = asked.capabilities ?? given.capabilities
  // A list of its own closes raw endpoints, as for every key.
  const raw = asked.raw ?? (asked.capabilities === undefined ? allowsRaw(given) : undefined)
  return {
    allow: defined({
      capabilities,
      providers: asked.providers ?? given.providers,
      raw,
      read_only: asked.read_only ?? given.read_only,
      max_cost: asked.max_cost ?? given.max_cost,
      mint: asked.mint === true ? true : undefined,
      read: asked.read ?? "own"
    })
  }
}
