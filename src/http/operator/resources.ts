/**
 * Handlers of `rungate admin resources`: assign, revoke and list objects in the shared provider accounts.
 *
 * They write to the database, and every process uses the change from its next run on. Data goes to stdout, messages to stderr.
 */
import { Console, Effect } from "effect"
import type { FlagsOf } from "../cli/terminal/flags.ts"
import type { resourceFlags } from "./flags.ts"
import { asOperator, onDatabase, orgOf } from "./database.ts"
import { harmless } from "../cli/terminal/text.ts"
import { bad, failedWith } from "../cli/terminal/exits.ts"
import { print, table, when } from "./output.ts"
import { CatalogStore } from "../../layers/catalog/CatalogStore.ts"
import { Ownership, type ResourceRow } from "../../layers/runs/Ownership.ts"
import { providers } from "../../layers/providers/index.ts"
import type { ResourceKind } from "../../schema/catalog/Endpoint.ts"
import { isOfProvider, nouns, resourceId } from "../../schema/catalog/Resources.ts"
import { nearest } from "../../schema/nearest.ts"
import { readAddress, sendingDomain } from "../../schema/accounts/Sender.ts"

type ResourceFlags = FlagsOf<typeof resourceFlags>

const domainIn = Effect.fnUntraced(function* (text: string) {
  const read = sendingDomain(text)
  return read._tag === "Domain" ? read.domain : yield* bad(`"${harmless(text)}" ${read.message}.`)
})

/** The id in the form that runs compare. */
const idOf = Effect.fnUntraced(function* (kind: ResourceKind, text: string) {
  if (kind === "domain") return yield* domainIn(text)
  if (kind === "sender") {
    if (!text.includes("@")) return yield* domainIn(text)
    return (
      readAddress(text) ??
      (yield* bad(`"${harmless(text)}" is not an address. It must be ASCII, such as ada@example.com.`))
    )
  }
  return (
    resourceId(kind, text) ??
    (yield* bad(`"${harmless(text)}" is not an id. It must be 1 to 320 visible ASCII characters.`))
  )
})

const providerOf = Effect.fnUntraced(function* ({ kind, provider }: ResourceFlags) {
  if (!isOfProvider(kind))
    return provider === null
      ? null
      : yield* bad(`--provider is only for accounts and jobs. ${nouns[kind]} is the same at every provider.`)
  if (provider === null) return yield* bad(`Give the provider of the ${kind}, such as --provider unipile.`)
  const imported = yield* (yield* CatalogStore).revisions
  const slugs = [...new Set([...providers.map((one) => one.slug), ...imported.keys()])].sort()
  if (slugs.includes(provider)) return provider
  const meant = nearest(provider, slugs)
  const next = meant === null ? `The providers are ${slugs.join(", ")}.` : `Did you mean ${meant}?`
  return yield* bad(`There is no provider "${harmless(provider)}". ${next}`)
})

const view = ({ kind, resource_id, provider, source, created_at }: ResourceRow) => ({
  kind,
  id: resource_id,
  provider,
  source,
  created_at: created_at.toISOString()
})

const change = (flags: ResourceFlags, what: "assign" | "revoke") =>
  Effect.gen(function* () {
    const { org_id, kind, json } = flags
    const { name } = yield* orgOf(org_id)
    const ownership = yield* Ownership
    const assignment = { org_id, kind, id: yield* idOf(kind, flags.id), provider: yield* providerOf(flags) }
    const shown = `${kind} ${assignment.id}${assignment.provider === null ? "" : ` at ${assignment.provider}`}`
    if (what === "assign") {
      const owner = yield* asOperator(ownership.assign(assignment))
      if (owner !== null) {
        return yield* failedWith(
          `${shown} belongs to ${owner}. Nothing was changed. To move it, first run: rungate admin resources revoke ${owner} ${kind} ${assignment.id}${assignment.provider === null ? "" : ` --provider ${assignment.provider}`}`
        )
      }
    } else if (!(yield* asOperator(ownership.revoke(assignment)))) {
      return yield* bad(
        `${shown} does not belong to ${org_id}. List its objects with: rungate admin resources list ${org_id}`
      )
    }
    const status = what === "assign" ? "assigned" : "revoked"
    if (json) return yield* print({ status, ...assignment })
    yield* Console.log(`${status}: ${shown}, ${what === "assign" ? "to" : "from"} ${org_id} (${harmless(name)})`)
  }).pipe(onDatabase)

export const assign = (flags: ResourceFlags) => change(flags, "assign")
export const revoke = (flags: ResourceFlags) => change(flags, "revoke")

export const list = (org_id: string, kind: ResourceKind | null, limit: number, json: boolean) =>
  Effect.gen(function* () {
    yield* orgOf(org_id)
    const ownership = yield* Ownership
    const rows = yield* ownership.list(org_id, kind, limit + 1)
    const items = rows.slice(0, limit).map(view)
    const more = rows.length > limit
    if (json) return yield* print({ items, more })
    const lines = table(items, {
      kind: (one) => one.kind,
      id: (one) => one.id,
      provider: (one) => one.provider,
      source: (one) => one.source,
      since: (one) => when(one.created_at)
    })
    yield* Console.log(lines.join("\n"))
    if (more) yield* Console.error(`More objects exist. Give the kind, or raise --limit (now ${limit}).`)
  }).pipe(onDatabase)
