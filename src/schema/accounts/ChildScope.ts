/**
 * The scope of an allowance's key, which can't be wider than that of the key which gives it. Pure.
 *
 * What a request leaves out is taken from the parent. The database has the rule a second time (`key_exceeds`).
 */
import { defined } from "../defined.ts"
import { usd } from "../money/Money.ts"
import { type Allow, labelsMax, otherLabel } from "./KeyAccess.ts"

/** The field of a request that asks for more than the parent has. */
export interface Wider {
  readonly path: string
  readonly message: string
}

const allowsRaw = ({ raw, capabilities }: Allow): boolean => raw ?? capabilities === undefined

const stranger = (
  field: "capabilities" | "providers",
  names: ReadonlyArray<string> | undefined,
  given: ReadonlyArray<string> | undefined
): Wider | null => {
  const index = given === undefined ? -1 : (names ?? []).findIndex((name) => !given.includes(name))
  return index < 0
    ? null
    : {
        path: `allow.${field}.${index}`,
        message: `is not allowed by this API key itself; it has: ${given?.join(", ")}`
      }
}

/** The scope, or the field in which `requested` is wider. `parent` is null for a person, or a key without a scope. */
export const childScope = (
  requested: Allow,
  parent: Allow | null,
  byPerson: boolean
): { readonly allow: Allow } | { readonly wider: Wider } => {
  const parentScope = parent ?? {}
  const wider = (field: string, message: string) => ({ wider: { path: `allow.${field}`, message } })
  const unknown =
    stranger("capabilities", requested.capabilities, parentScope.capabilities) ??
    stranger("providers", requested.providers, parentScope.providers)
  if (unknown !== null) return { wider: unknown }
  if (parentScope.read_only === true && requested.read_only === false)
    return wider("read_only", "must be true: this API key is read-only itself")
  if (
    parentScope.max_cost !== undefined &&
    requested.max_cost !== undefined &&
    requested.max_cost > parentScope.max_cost
  )
    return wider("max_cost", `must be at most "${usd(parentScope.max_cost)}", as for this API key itself`)
  if (requested.raw === true && !allowsRaw(parentScope))
    return wider("raw", "must be false: this API key can't call raw endpoints itself")
  if (requested.mint === true && !byPerson && parentScope.mint !== true)
    return wider("mint", "must be false: this API key can't give allowances itself")
  if (parentScope.read === "own" && requested.read === "organization")
    return wider("read", 'must be "own": this API key reads its own runs only')
  const pinned = parentScope.labels ?? {}
  const label = otherLabel(pinned, requested.labels ?? {})
  if (label !== null) return wider(`labels.${label}`, `must be "${pinned[label]}", as for this API key itself`)
  const labels = { ...requested.labels, ...pinned }
  if (Object.keys(labels).length > labelsMax)
    return wider(
      "labels",
      `must have at most ${labelsMax} labels with the ${Object.keys(pinned).length} of this API key itself`
    )
  const capabilities = requested.capabilities ?? parentScope.capabilities
  // A list of its own closes raw endpoints, as for every key.
  const raw = requested.raw ?? (requested.capabilities === undefined ? allowsRaw(parentScope) : undefined)
  return {
    allow: defined({
      capabilities,
      providers: requested.providers ?? parentScope.providers,
      raw,
      read_only: requested.read_only ?? parentScope.read_only,
      max_cost: requested.max_cost ?? parentScope.max_cost,
      mint: requested.mint === true ? true : undefined,
      read: requested.read ?? "own",
      labels: Object.keys(labels).length === 0 ? undefined : labels
    })
  }
}
