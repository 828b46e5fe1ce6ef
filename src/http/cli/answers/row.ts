/**
 * A command as a row: its flags, its request and its help come from an operation of the contract. The row says what the contract can't:
 * words for a person, what needs a confirmation, and how the answer looks at a terminal.
 */
import { Clock, Context, Effect, Option, type Stdio } from "effect"
import { Command } from "effect/cli"
import { OpenApi } from "effect/http-api"
import { CommandName, type KeyUse, Rights } from "../../api/shapes/Common.ts"
import { Credentials } from "../state/Credentials.ts"
import type { CommandFailed } from "../terminal/exits.ts"
import { consent } from "../terminal/consent.ts"
import { boolean, type Examples, withExamples, yes } from "../terminal/flags.ts"
import { Screen, type ScreenShape } from "../terminal/Screen.ts"
import type { Answer, Ask, Client } from "./Client.ts"
import {
  type Field,
  fieldsOf,
  type Operation,
  type Parts,
  requestOf,
  send,
  type Typed,
  typedOf,
  type Wire
} from "./operation.ts"
import { all as allFlag, pageFlags, readList, showCsv } from "./pages.ts"
import { json, jsonl } from "./show.ts"

type Needs = Client | Credentials | Screen | Stdio.Stdio
/** They have flags of their own (pages.ts). */
const paging = ["limit", "cursor"]

type Fields = Readonly<Record<string, unknown>>

/** What is known when the answer is there. */
export interface Shown {
  readonly json: boolean
  readonly jsonl: boolean
  readonly screen: ScreenShape
  /** In milliseconds since 1970. */
  readonly now: number
  /** The fields of the request. */
  readonly fields: Fields
}

/** Prints an answer, or fails with its error. `flags` are those that are no field. */
export type Show<Flags = unknown> = (
  answer: Answer,
  shown: Shown,
  flags: Flags
) => Effect.Effect<void, CommandFailed, Needs>

type NamesOf<S> = [S] extends [never] ? never : keyof Wire<S> & string

export interface Row<E extends Operation, Flags = unknown> {
  /** Left out, name and words are those of the operation in the contract. */
  readonly name?: string
  readonly about?: string
  /** Left out, `list` has the alias `ls`, and `remove` has `rm`. */
  readonly alias?: string
  readonly examples?: Examples
  /**
   * A field's help in the place of the contract's, a flag or argument of its own, or `false`: no flag fills the field. Left out, the help of an
   * id in the path names the command that lists such ids.
   */
  readonly fields?: {
    readonly [name in NamesOf<E["~Params"]> | NamesOf<E["~Query"]> | NamesOf<E["~Payload"]>]?: string | Typed | false
  }
  /** Asked before the request. `{name}` is the field of this name. */
  readonly confirm?: string | ((fields: Fields) => string)
  /** Longer than the timeout of other requests. */
  readonly seconds?: number
  /** With an Idempotency-Key the request is sent again after a lost connection, and counts once. */
  readonly once?: true
  /** What a page has, where the path does not say it. */
  readonly items?: string
  /** `items`: a list without pages. `whole`: all pages at once. `limited`: no --all. Others have pages if the operation has. */
  readonly lists?: "items" | "whole" | "limited"
  /** The list is answered as CSV too. */
  readonly csv?: true
  readonly show: Show<Flags>
}

/** The last word of a list's path. */
const itemsOf = (path: string) => path.split(/[/-]/).at(-1) ?? "items"

/**
 * Sends a request with the user's key, and again with their session when the service requires a session (HTTP 403).
 *
 * A key from the environment is never replaced, because it may belong to another organization than the session.
 */
const asPerson = Effect.fnUntraced(function* (
  ask: (as: Pick<Ask, "token">) => Effect.Effect<Answer, CommandFailed, Client>
) {
  const { session, source } = yield* Credentials
  const answer = yield* ask({})
  if (answer.status !== 403 || source !== "profile") return answer
  const token = yield* Effect.option(session)
  return token._tag === "None" ? answer : yield* ask({ token: token.value })
})

/** What a person may do where their key may not. */
const personal: ReadonlyArray<KeyUse> = ["changes", "mints", "revokes"]

/** Replaces `{name}` by the field of this name. */
export const filled = (sentence: string, fields: Fields): string =>
  sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name]))

const aliases: Readonly<Record<string, string>> = { list: "ls", remove: "rm" }

/** Flags and arguments of the fields that have any, by the fields' names. `group` is the command above. */
const typedFields = (
  fields: ReadonlyArray<Field>,
  group: string,
  words: Readonly<Record<string, string | Typed | false | undefined>>
): Readonly<Record<string, Typed>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const isId = field.place === "params" && field.name.endsWith("_id")
      const word = words[field.name] ?? (isId ? `id from ${group} list` : undefined)
      return word === false ? [] : [[field.name, typeof word === "object" ? word : typedOf(field, word)]]
    })
  )

const isGiven = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0)

/** What was given: a flag that was left out is null or an empty list. */
export const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)))

/** Fields in their places. A name that the contract does not list, such as `metadata.campaign`, belongs to the query. */
const partsOf = (operation: Operation, all: ReadonlyArray<Field>, fields: Fields): Parts => {
  const parts: Record<string, object> = operation.payload.size > 0 ? { payload: {} } : {}
  for (const [name, value] of Object.entries(fields)) {
    const place = all.find((field) => field.name === name)?.place ?? "query"
    parts[place] = { ...parts[place], [name]: value }
  }
  return parts
}

/**
 * A command with flags of its own. `fill` makes fields of what was typed; a field that it sets wins. Null is sent as null there, and a flag
 * that is left out adds no field.
 */
export const rowWith = <E extends Operation, F extends Command.Command.Config>(
  operation: E,
  flags: F,
  fill: (
    given: Command.Command.Config.InferValue<F>,
    context: { readonly fields: Fields; readonly now: number; readonly json: boolean }
  ) => Effect.Effect<Fields, CommandFailed, Needs>,
  row: Row<E, Command.Command.Config.InferValue<F>>
) => {
  const { about, examples = {}, confirm, seconds, lists } = row
  // What needs no credential states no rights.
  const keys = Context.getOrUndefined(operation.annotations, Rights)?.keys ?? "reads"
  const words = Context.get(operation.annotations, CommandName).split(" ")
  const name = row.name ?? words.at(-1) ?? ""
  const alias = row.alias ?? aliases[name]
  const group = words.slice(0, -1).join(" ")
  const all = fieldsOf(operation)
  const hasPages = all.some((field) => field.name === "cursor")
  const isPaged = hasPages && (lists === undefined || lists === "limited")
  const command = Command.make(
    name,
    {
      fields: typedFields(
        hasPages ? all.filter((field) => !paging.includes(field.name)) : all,
        group,
        row.fields ?? {}
      ),
      flags,
      ...(isPaged ? { page: pageFlags(row.items ?? itemsOf(operation.path), row.csv) } : {}),
      ...(isPaged && lists === undefined ? { all: allFlag } : {}),
      ...(confirm === undefined ? {} : { yes }),
      ...(row.csv === undefined ? {} : { csv: boolean("csv", "print CSV with a header line") }),
      json,
      ...(isPaged || lists !== undefined ? { jsonl } : {})
    },
    Effect.fnUntraced(function* ({
      fields: typed,
      flags,
      page,
      all: isWhole = false,
      csv = false,
      jsonl = false,
      yes = false,
      json
    }) {
      const screen = yield* Screen
      const now = yield* Clock.currentTimeMillis
      const typedFields = present(typed)
      const session = keys === "people" ? { token: yield* (yield* Credentials).session } : {}
      const fields: Fields = { ...typedFields, ...(yield* fill(flags, { fields: typedFields, now, json })) }
      if (confirm !== undefined)
        yield* consent(typeof confirm === "string" ? filled(confirm, fields) : confirm(fields), { yes })
      const parts = partsOf(operation, all, fields)
      const { path } = requestOf(operation, parts)
      if (csv) return yield* showCsv(path, page ?? null, { json, jsonl })
      const how = {
        ...(seconds === undefined ? {} : { seconds }),
        ...(row.once === undefined ? {} : { headers: { "idempotency-key": `cli_${crypto.randomUUID()}` } }),
        ...session
      }
      const ask = (other: Pick<Ask, "token">) => send(operation, parts, { ...how, ...other })
      const answer =
        page !== undefined
          ? yield* readList(path, { ...page, all: isWhole }, session.token)
          : lists === "whole"
            ? yield* readList(path, { limit: null, cursor: null, all: true })
            : yield* personal.includes(keys) ? asPerson(ask) : ask({})
      yield* row.show(answer, { json, jsonl, screen, now, fields }, flags)
    })
  )
  const summary = Option.getOrElse(Context.getOption(operation.annotations, OpenApi.Summary), () => "")
  const description = Option.getOrElse(Context.getOption(operation.annotations, OpenApi.Description), () => "")
  const help = `${summary}. ${description.replace(/session token/g, "session (rungate login)")}`
  return command.pipe(
    Command.withDescription(about ?? help.replace(/\.\s*$/, "")),
    Command.withShortDescription(about ?? summary),
    withExamples(examples),
    (one) => (alias === undefined ? one : Command.withAlias(one, alias))
  )
}

/** A command all of whose flags are fields of the operation. */
export const row = <E extends Operation>(operation: E, row: Row<E>) =>
  rowWith(operation, {}, () => Effect.succeed({}), row)

/** Shows the answer of a command that is no row. */
export const shownAs = Effect.fnUntraced(function* (
  show: Show,
  answer: Answer,
  { json, jsonl = false, fields = {} }: { readonly json: boolean; readonly jsonl?: boolean; readonly fields?: Fields }
) {
  const [screen, now] = [yield* Screen, yield* Clock.currentTimeMillis]
  yield* show(answer, { json, jsonl, screen, now, fields }, null)
})
