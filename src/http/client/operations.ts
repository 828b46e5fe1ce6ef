/**
 * What pages need to know of the contract: its operations, by group and name, and words.
 *
 * Bundler macros: the console's bundle holds the finished tables in place of the contract and its schemas, which are ten times as large.
 */
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { allows, type Role, roles } from "../../schema/accounts/Role.ts"
import { doubtSentences } from "../../schema/catalog/Doubt.ts"
import { type EventKind, eventWords } from "../../schema/events/Event.ts"
import { statuses } from "../../schema/runs/Run.ts"
import { type EntryType, entryWords } from "../../schema/wallet/Wallet.ts"
import { Api } from "../api/Api.ts"
import { Rights } from "../api/shapes/Common.ts"

export const eachOperation = (use: (group: string, endpoint: HttpApiEndpoint.Top) => void) =>
  HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint: ({ group, endpoint }) => use(group.identifier, endpoint) })

/** Method and path, as `POST /v1/run`. */
export const operations = (): Record<string, Record<string, string>> => {
  const table: Record<string, Record<string, string>> = {}
  eachOperation((group, { identifier, method, path }) => {
    table[group] = { ...table[group], [identifier]: `${method} ${path}` }
  })
  return table
}

/** Who may call what not every role may call, such as `runs.run`: the roles, and a sentence for others. */
export const restrictedOperations = () => {
  const table: Record<string, { readonly roles: ReadonlyArray<Role>; readonly words: string }> = {}
  const either = new Intl.ListFormat("en-GB", { type: "disjunction" })
  eachOperation((group, { identifier, annotations }) => {
    const role = Context.getOrUndefined(annotations, Rights)?.role ?? "viewer"
    if (role === "viewer") return
    const allowed = roles.filter((one) => allows(one, role))
    const who = either.format(allowed.map((one) => (/^[aeiou]/.test(one) ? `an ${one}` : `a ${one}`)))
    const summary = Context.getOrUndefined(annotations, OpenApi.Summary) ?? ""
    const what = `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`.replace(/\byour\b/, "the organization's")
    table[`${group}.${identifier}`] = {
      roles: allowed,
      words: `${who.charAt(0).toUpperCase()}${who.slice(1)} can ${what}.`
    }
  })
  return table
}

export const runStatuses = (): ReadonlyArray<string> => statuses
export const wordsOfEvents = (): Readonly<Record<EventKind, string>> => eventWords
export const wordsOfEntries = (): Readonly<Record<EntryType, string>> => entryWords
/** Why the outcome of a call is unknown. */
export const wordsOfDoubts = (): Readonly<Record<string, string>> => doubtSentences
