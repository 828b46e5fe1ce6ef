/**
 * Visits the strings and numbers of any JSON value in document order, with what the fields around each value say about it.
 *
 * Depth and number of values are limited. A path is built only when the visitor asks for it.
 */
import { shortened } from "../json/StorableText.ts"
import { callingCode, countryCalled, type Place } from "./Countries.ts"
import { entryOf, type Field, fieldOf, nameless } from "./Field.ts"
import { isRecord } from "../json/Json.ts"
import { platformCalled } from "./Platforms.ts"

/** Ten times the depth of real results, and shallow enough for the stack. */
const depthMax = 100
/** Twice the size of a page of a thousand results with a hundred values each. */
const nodesMax = 200_000
/** An object with more names is a map: its names are data and do not describe their values. */
const fieldsMax = 500
const pathMax = 400
const partMax = 100

const ordinary = /^[A-Za-z_$][\w$-]*$/

const joined = (path: string, name: string): string => {
  const part = shortened(name, partMax)
  const whole = ordinary.test(part) ? (path === "" ? part : `${path}.${part}`) : `${path}[${JSON.stringify(part)}]`
  return shortened(whole, pathMax)
}
const indexed = (path: string, index: number): string => (path.length > pathMax ? path : `${path}[${index}]`)

/** What the fields around a value say about it. Nearer fields win. */
export interface Around {
  readonly place: Place | null
  readonly platform: string | null
  readonly parent: Field
}

const nothingAround: Around = { place: null, platform: null, parent: nameless }

export type Visit = (value: string | number, field: Field, around: Around, path: () => string) => void

/** An object, with what the names of its fields say about their values. */
interface Fields {
  readonly json: Readonly<Record<string, unknown>>
  readonly names: ReadonlyArray<string>
  /** One per name. Empty for a map. */
  readonly fields: ReadonlyArray<Field>
}

/** The context of the values in an object: country and platform from the object itself, or else from the objects around it. */
const aroundOf = ({ json, names, fields }: Fields, field: Field, outer: Around): Around => {
  let place: Place | null = null
  let rank = 0
  let platform: string | null = null
  for (let index = 0; index < fields.length; index++) {
    const { tellsAround, country, calling, tellsPlatform } = fields[index] ?? nameless
    if (!tellsAround) continue
    const value = json[names[index] ?? ""]
    if (typeof value === "string" || typeof value === "number") {
      if (tellsPlatform && platform === null && typeof value === "string") platform = platformCalled(value)
      const named = country > rank && typeof value === "string" ? countryCalled(value) : null
      const dialled = named === null && calling && rank === 0 ? callingCode(value) : null
      if (named !== null || dialled !== null) {
        place = named ?? dialled
        rank = named === null ? 0 : country
      }
    }
  }
  if (place === null) place = locationOf(json)
  const outerDescribes = outer.parent.phone || outer.parent.host || outer.parent.handle
  const parent = field.generic && outerDescribes ? outer.parent : field
  const inName = field.platform !== null && !field.phone ? field.platform : null
  return { place: place ?? outer.place, platform: platform ?? inName ?? outer.platform, parent }
}

const countryNames = ["country_code", "countryCode", "country"]
/** The country of a location beside the value: `{"phone": …, "location": {"country": "DE"}}` */
const locationOf = (json: Readonly<Record<string, unknown>>): Place | null => {
  const location = json["location"] ?? json["address"]
  if (!isRecord(location)) return null
  for (const name of countryNames) {
    const value = location[name]
    const place = typeof value === "string" ? countryCalled(value) : null
    if (place !== null) return place
  }
  return null
}

/** Visits the values in document order. False if the value exceeds a limit. */
export const walk = (json: unknown, visit: Visit, name?: (name: string, path: () => string) => void): boolean => {
  let nodes = 0
  let complete = true
  /** The names and indexes down to the current value, and a cache of the paths that were asked for. */
  const parts: Array<string | number> = []
  const paths: Array<string | null> = [""]
  const pathOf = (depth: number): string => {
    const cached = paths[depth] ?? null
    if (cached !== null) return cached
    const part = parts[depth] ?? ""
    const outer = pathOf(depth - 1)
    const path = typeof part === "number" ? indexed(outer, part) : joined(outer, part)
    paths[depth] = path
    return path
  }
  let here = 0
  const path = () => pathOf(here)
  const enter = (part: string | number, depth: number) => {
    parts[depth] = part
    paths[depth] = null
    here = depth
  }
  const step = (value: unknown, field: Field, around: Around, depth: number): void => {
    if (++nodes > nodesMax) {
      complete = false
      return
    }
    if (typeof value === "string" || typeof value === "number") return visit(value, field, around, path)
    if (typeof value !== "object" || value === null) return
    if (depth >= depthMax) {
      complete = false
      return
    }
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        if (nodes > nodesMax) return
        enter(index, depth + 1)
        step(value[index], field, around, depth + 1)
      }
      return
    }
    if (!isRecord(value)) return
    const names = Object.keys(value)
    const fields = names.length <= fieldsMax ? names.map(fieldOf) : []
    const inner = aroundOf({ json: value, names, fields }, field, around)
    for (let index = 0; index < names.length; index++) {
      if (nodes > nodesMax) return
      const part = names[index] ?? ""
      const inside = fields[index] ?? entryOf(part)
      enter(part, depth + 1)
      if (inside.subject) name?.(part, path)
      step(value[part], inside, inner, depth + 1)
    }
  }
  step(json, nameless, nothingAround, 0)
  return complete
}
