/**
 * What somebody has typed into a form, and the JSON that it means. Pure.
 *
 * Texts stay as they were typed, so a number that is being written does not jump. An empty field is left out of the JSON.
 */
import { isRecord } from "../data/json.ts"
import type { Field, ObjectField } from "./schema.ts"

/** By kind of field: a text, a list of drafts, or drafts by member. */
export type Draft = string | ReadonlyArray<Draft> | { readonly [name: string]: Draft }

export interface Meant {
  /** Undefined if nothing was typed. */
  readonly value: unknown
  /** By path in the JSON, such as `titles.0`. */
  readonly problems: ReadonlyArray<readonly [path: string, message: string]>
}

const isList = (draft: Draft): draft is ReadonlyArray<Draft> => Array.isArray(draft)
export const textOf = (draft: Draft | undefined): string => (typeof draft === "string" ? draft : "")
export const itemsOf = (draft: Draft | undefined): ReadonlyArray<Draft> =>
  draft !== undefined && isList(draft) ? draft : []
export const membersOf = (draft: Draft | undefined): Readonly<Record<string, Draft>> =>
  typeof draft === "object" && !isList(draft) ? draft : {}

export const emptyDraft = ({ kind }: Field): Draft => (kind === "object" ? {} : kind === "list" ? [] : "")

const plain = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)

/** A moment as an input for local times has it, to the minute. */
const localTime = (iso: string): string => {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return ""
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A local time as UTC. A text that is no time stays, and the service refuses it by its field. */
const utcOf = (local: string): string => {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? local : time.toISOString()
}

/** The draft that means this JSON. Members that the form does not know are lost, so `fits` says whether there are any. */
export const draftOf = (field: Field, value: unknown): Draft => {
  switch (field.kind) {
    case "object": {
      const members = isRecord(value) ? value : {}
      const filled = field.fields.filter(({ name }) => Object.hasOwn(members, name) && members[name] !== null)
      return Object.fromEntries(filled.map((one) => [one.name, draftOf(one, members[one.name])]))
    }
    case "list":
      return Array.isArray(value) ? value.map((one) => draftOf(field.item, one)) : []
    case "lines":
      return Array.isArray(value) ? value.map(plain).join("\n") : plain(value)
    case "choice":
      return value === undefined || value === null ? "" : JSON.stringify(value)
    case "json":
      return value === undefined ? "" : JSON.stringify(value, null, 2)
    case "time":
      return localTime(plain(value))
    default:
      return plain(value)
  }
}

const meant = (value: unknown): Meant => ({ value, problems: [] })

const under = (name: string | number, { problems }: Meant): Meant["problems"] =>
  problems.map(([path, message]) => [path === "" ? String(name) : `${name}.${path}`, message])

const numberIn = (text: string): Meant => {
  const number = Number(text)
  return text === "" || !Number.isFinite(number) ? { value: text, problems: [["", "must be a number"]] } : meant(number)
}

export const jsonIn = (text: string): Meant => {
  try {
    return meant(JSON.parse(text))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { value: undefined, problems: [["", `is not JSON: ${why}`]] }
  }
}

const listOf = (items: ReadonlyArray<Meant>): Meant => ({
  value: items.length === 0 ? undefined : items.map(({ value }) => value),
  problems: items.flatMap((one, index) => under(index, one))
})

/** The JSON of a draft. */
export const meaningOf = (field: Field, draft: Draft | undefined): Meant => {
  const text = textOf(draft)
  switch (field.kind) {
    case "object": {
      const members = membersOf(draft)
      const all = field.fields.map((one) => [one.name, meaningOf(one, members[one.name])] as const)
      const presentMembers = all.filter(([, { value }]) => value !== undefined)
      return {
        value:
          !field.required &&
          (field.core === undefined
            ? presentMembers.length === 0
            : presentMembers.every(([name]) => name !== field.core))
            ? undefined
            : Object.fromEntries(presentMembers.map(([name, one]) => [name, one.value])),
        problems: all.flatMap(([name, one]) => under(name, one))
      }
    }
    case "list":
      return listOf(itemsOf(draft).map((one) => meaningOf(field.item, one)))
    case "lines": {
      const lines = text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
      return listOf(lines.map((line) => (field.numbers ? numberIn(line) : meant(line))))
    }
    case "text":
      return meant(text === "" ? undefined : text)
    case "number":
      return text.trim() === "" ? meant(undefined) : numberIn(text.trim())
    case "amount": {
      const amount = text.trim().replace(/^\$\s*/, "")
      return meant(amount === "" ? undefined : amount)
    }
    case "time":
      return meant(text === "" ? undefined : utcOf(text))
    case "flag":
      return meant(text === "" ? (field.required ? false : undefined) : text === "true")
    default:
      return text.trim() === "" ? meant(undefined) : jsonIn(text)
  }
}

/** Whether a form's JSON has what the schema needs first: the required members, and those of one group if there are groups. */
export const isComplete = (field: Field, groups: ReadonlyArray<ReadonlyArray<string>>, value: unknown): boolean => {
  if (field.kind !== "object") return value !== undefined
  const members = isRecord(value) ? value : {}
  const has = (name: string) => members[name] !== undefined
  const needed = field.fields.filter(({ required }) => required).map(({ name }) => name)
  return needed.every(has) && (groups.length === 0 || groups.some((names) => names.every(has)))
}

/** One text alone means the same as a list of one, where the schema allows both. */
const asList = (field: Field, value: unknown): unknown => {
  if (field.kind === "lines" && field.single && typeof value === "string") return [value]
  if (field.kind === "list" && Array.isArray(value)) return value.map((one) => asList(field.item, one))
  if (field.kind !== "object" || !isRecord(value)) return value
  const fields = new Map(field.fields.map((one) => [one.name, one]))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const inner = fields.get(name)
      return [name, inner === undefined ? one : asList(inner, one)]
    })
  )
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : isRecord(value)
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, one]) => [name, sorted(one)])
        )
      : value

const same = (one: unknown, other: unknown) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))

/** Whether the form shows all of a JSON value: a value with other members has to be edited as JSON. */
export const fits = (field: Field, value: unknown): boolean =>
  same(meaningOf(field, draftOf(field, value)).value, asList(field, value))

/** What is sent for a member that was emptied, to be refused at its field. Null removes others. */
const emptied: Readonly<Record<string, unknown>> = { text: "", lines: [] }

/**
 * The payload that a form says. With what was there `before`, an optional member that did not change is left out, so that two people who
 * change different members don't undo each other's.
 */
export const payloadOf = (field: ObjectField, draft: Draft, before?: unknown): Readonly<Record<string, unknown>> => {
  const meanings = (typed: Draft) =>
    field.fields.map((one) => [one, meaningOf(one, membersOf(typed)[one.name]).value] as const)
  if (before === undefined)
    return Object.fromEntries(
      meanings(draft).flatMap(([{ name }, value]) => (value === undefined ? [] : [[name, value]]))
    )
  const earlier = new Map(meanings(draftOf(field, before)).map(([{ name }, value]) => [name, value]))
  return Object.fromEntries(
    meanings(draft).flatMap(([{ name, kind, required }, value]) =>
      !required && same(value, earlier.get(name)) ? [] : [[name, value ?? emptied[kind] ?? null]]
    )
  )
}
