/**
 * What pages need to know of the contract: its operations, by group and name, and words.
 *
 * Bundler macros: the console's bundle holds the finished tables in place of the contract and its schemas, which are ten times as large.
 */
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { allows, type Role, roles } from "../../schema/accounts/Role.ts"
import { type EventKind, eventWords } from "../../schema/events/Event.ts"
import { type EntryType, entryWords } from "../../schema/wallet/Wallet.ts"
import { Api } from "../api/Api.ts"
import { Rights } from "../api/shapes/Rights.ts"

const eachOperation = (use: (group: string, endpoint: HttpApiEndpoint.Top) => void) =>
  HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint: ({ group, endpoint }) => use(group.identifier, endpoint) })

/** Method and path, as `POST /v1/run`. */
export const operations = (): Record<string, Record<string, string>> => {
  const table: Record<string, Record<string, string>> = {}
  eachOperation((group, { identifier, method, path }) => {
    table[group] = { ...table[group], [identifier]: `${method} ${path}` }
  })
  return table
}

/** The roles that may call what not every role may call, such as `runs.run`. */
export const allowedRoles = (): Record<string, ReadonlyArray<Role>> => {
  const table: Record<string, ReadonlyArray<Role>> = {}
  eachOperation((group, { identifier, annotations }) => {
    const role = Context.getOrUndefined(annotations, Rights)?.role ?? "viewer"
    if (role !== "viewer") table[`${group}.${identifier}`] = roles.filter((one) => allows(one, role))
  })
  return table
}

export const wordsOfEvents = (): Readonly<Record<EventKind, string>> => eventWords
export const wordsOfEntries = (): Readonly<Record<EntryType, string>> => entryWords
