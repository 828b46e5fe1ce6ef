/**
 * A command as a row: its flags, its request and its help come from an operation of the contract. The row says what the contract can't:
 * words for a person, what needs a confirmation, and how the answer looks at a terminal.
 */
import { Clock, Context, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { OpenApi } from "effect/http-api"
import { Credentials } from "../state/Credentials.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import { consent } from "../terminal/consent.ts"
import { yes } from "../terminal/flags.ts"
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
import { pageFlags, readList } from "./pages.ts"
import { asPerson } from "./person.ts"
import { json, jsonl } from "./show.ts"

type Needs = Client | Credentials | Screen
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

/** Prints an answer, or fails with its error. */
export type Show = (answer: Answer, shown: Shown) => Effect.Effect<void, CommandFailed, Needs>

type NamesOf<S> = [S] extends [never] ? never : keyof Wire<S> & string

export interface Row<E extends Operation> {
  /** Left out, it is the summary of the operation. */
  readonly about?: string
  readonly alias?: string
  readonly examples?: ReadonlyArray<Command.Command.Example>
  /** A field's help in the place of the contract's, a flag or argument of its own, or `false`: no flag fills the field. */
  readonly fields?: {
    readonly [name in NamesOf<E["~Params"]> | NamesOf<E["~Query"]> | NamesOf<E["~Payload"]>]?: string | Typed | false
  }
  /** `session`: with the session of the profile. `person`: with it when the key may not. */
  readonly as?: "session" | "person"
  /** Asked before the request. `{name}` is the field of this name. */
  readonly confirm?: string | ((fields: Fields) => string)
  readonly how?: Pick<Ask, "seconds" | "headers">
  readonly show: Show
}

/** What a list's items are called: the last word of its path. */
const itemsOf = (path: string) => (path.split("/").at(-1) ?? "items").replaceAll("-", " ")

/** Replaces `{name}` by the field of this name. */
export const filled = (sentence: string, fields: Fields): string =>
  sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name]))

/** Flags and arguments of the fields that have any, by the fields' names. */
const typedFields = (
  fields: ReadonlyArray<Field>,
  words: Readonly<Record<string, string | Typed | false | undefined>>
): Readonly<Record<string, Typed>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const word = words[field.name]
      return word === false ? [] : [[field.name, typeof word === "object" ? word : typedOf(field, word)]]
    })
  )

/** Fields in their places. A name that the contract does not list, such as `metadata.campaign`, belongs to the query. */
const partsOf = (all: ReadonlyArray<Field>, fields: Fields): Parts => {
  const parts: Record<string, object> = all.some(({ place }) => place === "payload") ? { payload: {} } : {}
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
export const rowWith = <const Name extends string, E extends Operation, F extends Command.Command.Config>(
  name: Name,
  operation: E,
  flags: F,
  fill: (
    given: Command.Command.Config.InferValue<F>,
    context: { readonly fields: Fields; readonly now: number }
  ) => Effect.Effect<Fields, CommandFailed, Needs>,
  row: Row<E>
) => {
  const { about, alias, examples = [], confirm, as, how } = row
  const all = fieldsOf(operation)
  const isPaged = all.some((field) => field.name === "cursor")
  const command = Command.make(
    name,
    {
      fields: typedFields(isPaged ? all.filter((field) => !paging.includes(field.name)) : all, row.fields ?? {}),
      flags,
      ...(isPaged ? { page: pageFlags(itemsOf(operation.path)), jsonl } : {}),
      ...(confirm === undefined ? {} : { yes }),
      json
    },
    Effect.fnUntraced(function* ({ fields: typed, flags, page, jsonl = false, yes = false, json }) {
      const screen = yield* Screen
      const now = yield* Clock.currentTimeMillis
      const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== null))
      const fields: Fields = { ...given, ...(yield* fill(flags, { fields: given, now })) }
      const session = as === "session" ? { token: yield* (yield* Credentials).session } : {}
      if (confirm !== undefined)
        yield* consent(typeof confirm === "string" ? filled(confirm, fields) : confirm(fields), { yes })
      const parts = partsOf(all, fields)
      const ask = (other: Pick<Ask, "token">) => send(operation, parts, { ...how, ...session, ...other })
      const answer =
        page !== undefined
          ? yield* readList(requestOf(operation, parts).path, page, session.token)
          : yield* as === "person" ? asPerson(ask) : ask({})
      yield* row.show(answer, { json, jsonl, screen, now, fields })
    })
  )
  const described = Command.withDescription(
    command,
    about ?? Option.getOrElse(Context.getOption(operation.annotations, OpenApi.Summary), () => name)
  )
  return Command.withExamples(alias === undefined ? described : Command.withAlias(described, alias), examples)
}

/** A command all of whose flags are fields of the operation. */
export const row = <const Name extends string, E extends Operation>(name: Name, operation: E, row: Row<E>) =>
  rowWith(name, operation, {}, () => Effect.succeed({}), row)
