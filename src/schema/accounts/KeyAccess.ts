/**
 * What an API key may do: its expiry, its scope (`allow`) and its budget. Pure.
 *
 * A key without a scope may do everything that keys may do. With one, it starts only the runs that the scope allows, and changes nothing
 * else; see http/middleware/Auth.ts. A member's keys always have one: `acting_member_has_scope` is that rule a second time.
 */
import { Schema } from "effect"
import type { Role } from "./Role.ts"
import { type MicroUsd, Usd, usd } from "../money/Money.ts"

/** Enough for every capability and provider. */
const namesMax = 200
const names = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(200))).check(Schema.isMaxLength(namesMax))

export const keyReadings = ["own", "organization"] as const

/** A run has at most so many labels, its own and those of its key together. */
export const labelsMax = 16
const Labels = Schema.Record(Schema.String, Schema.String)
type Labels = typeof Labels.Type

/** A scope, as it is stored. A field that is left out restricts nothing. */
export const Allow = Schema.Struct({
  /** The only capabilities that may run. Raw calls then need `raw: true`. */
  capabilities: Schema.optionalKey(names),
  /** The only providers that runs may call. */
  providers: Schema.optionalKey(names),
  raw: Schema.optionalKey(Schema.Boolean),
  /** Reads and lookups only: no run that acts outside, such as sending a message. */
  read_only: Schema.optionalKey(Schema.Boolean),
  /** The most that one run may hold. */
  max_cost: Schema.optionalKey(Usd),
  /** Whether it may give allowances. No key may without it, also one without a scope. */
  mint: Schema.optionalKey(Schema.Boolean),
  /** Whose runs it reads. By default those of the organization, or its own if it is an allowance or a connected agent (`key_reads`). */
  read: Schema.optionalKey(Schema.Literals(keyReadings)),
  /** Labels that all of its runs have. */
  labels: Schema.optionalKey(Labels)
})
export type Allow = typeof Allow.Type

/** The widest scope of a member's key: it starts every run, and changes nothing else. A key without a scope may do what admins do. */
export const memberScope: Allow = { raw: true }

export const isUnrestricted = (allow: Allow | null): boolean => allow === null || Object.keys(allow).length === 0

/** The scope that is stored. A member's key always gets one: a scope like `{"raw": null}` has no rule, so it counts as none. */
export const scopeFor = (role: Role | null, allow: Allow | null): Allow | null =>
  isUnrestricted(allow) ? (role === "member" ? memberScope : null) : allow

/** The rules of an API key, in the version that was read. */
export interface KeyAccess {
  /** Counts the changes of the key. */
  readonly version: bigint
  /** Digest of the token. The refresh of a connected agent replaces the token. */
  readonly token_hash: string
  readonly allow: Allow | null
  readonly budget_id: string | null
  readonly expires_at: Date | null
  /** The keys whose runs it reads: itself, and those that it replaced. Null: all runs of the organization. */
  readonly reads: ReadonlyArray<string> | null
  /** It belongs to an allowance. */
  readonly allowance: boolean
  /** The key that gave the allowance, and those above it. Absent for other keys, and if a person gave it. */
  readonly given_by?: ReadonlyArray<string>
}

/** Who sends a request. `key_id` is null for a session. */
export interface Caller {
  readonly org_id: string
  readonly key_id: string | null
  readonly user_id: string | null
  readonly environment: "test" | "live" | null
  /** True for a session whose user has not verified the e-mail address. */
  readonly pending: boolean
  /** The role of a session's user in the organization. Null for an API key. */
  readonly role: Role | null
  /** The rules of the API key. Null for a session. */
  readonly access: KeyAccess | null
}

/** Whether the organization's money is shown. To an allowance it is not, whatever it reads: it can spend its own money only. */
export const seesWallet = (access: Pick<KeyAccess, "reads" | "allowance"> | null): boolean =>
  access === null || (access.reads === null && !access.allowance)

/** Whether a caller sees a run that the key started. A session, whose access is null, sees every run of its organization. */
export const seesRunsOf = (access: Pick<KeyAccess, "reads"> | null, key_id: string | null): boolean =>
  access === null || access.reads === null || (key_id !== null && access.reads.includes(key_id))

/** What a run asks for, as far as scopes decide about it. */
export interface ScopedRun {
  /** Null for a raw call. */
  readonly capability: string | null
  /** The provider of a raw call, or the pinned one of a capability run. Null if the service chooses. */
  readonly provider: string | null
  readonly max_cost: MicroUsd | null
  /** Whether it acts outside, such as by sending a message. False if that is not known yet. */
  readonly acts: boolean
}

export const allowsProvider = (allow: Allow | null, provider: string): boolean =>
  allow?.providers === undefined || allow.providers.includes(provider)

/** A list of capabilities would be worthless if the same call could be made raw. */
const allowsRaw = (allow: Allow): boolean => allow.raw ?? allow.capabilities === undefined

const listed = (values: ReadonlyArray<string>): string => (values.length === 0 ? "none" : values.join(", "))

/** Why the scope forbids the run, as a sentence. Null if it allows it. */
export const scopeRefusal = (
  allow: Allow | null,
  { capability, provider, max_cost, acts }: ScopedRun
): string | null => {
  if (allow === null) return null
  if (allow.read_only === true && acts)
    return "This API key is read-only: it can read and look up, but not act outside, such as send a message (allow.read_only)."
  if (capability === null && !allowsRaw(allow)) return "This API key can't call raw endpoints (allow.raw)."
  if (capability !== null && allow.capabilities !== undefined && !allow.capabilities.includes(capability))
    return `This API key can't run ${capability}. It can run: ${listed(allow.capabilities)} (allow.capabilities).`
  if (provider !== null && !allowsProvider(allow, provider))
    return `This API key can't call ${provider}. It can call: ${listed(allow.providers ?? [])} (allow.providers).`
  if (max_cost !== null && allow.max_cost !== undefined && max_cost > allow.max_cost)
    return `routing.max_cost is $${usd(max_cost)}, above the $${usd(allow.max_cost)} that this API key may spend on a run (allow.max_cost). Lower it or leave it out.`
  return null
}

/** The label of a key for which a request has another value. Null if there is none. */
export const otherLabel = (labels: Labels, requested: Labels): string | null =>
  Object.keys(labels).find((name) => Object.hasOwn(requested, name) && requested[name] !== labels[name]) ?? null

/** A run's labels with those that its key gives every run, or why the scope forbids them. */
export const pinnedLabels = (
  allow: Allow | null,
  metadata: Labels | null
): { readonly metadata: Labels | null } | { readonly refusal: string } => {
  const labels = allow?.labels
  if (labels === undefined) return { metadata }
  const name = otherLabel(labels, metadata ?? {})
  if (name !== null)
    return {
      refusal: `Runs of this API key have the label ${name} with the value "${labels[name]}" (allow.labels). Leave metadata.${name} out.`
    }
  const all = { ...metadata, ...labels }
  return Object.keys(all).length > labelsMax
    ? {
        refusal: `A run has at most ${labelsMax} labels, and this API key gives it ${Object.keys(labels).length} (allow.labels). Send fewer in metadata.`
      }
    : { metadata: all }
}

/** The cap of a run: its own, or that of the key. */
export const capOf = (allow: Allow | null, max_cost: MicroUsd | null): MicroUsd | null =>
  max_cost ?? allow?.max_cost ?? null
