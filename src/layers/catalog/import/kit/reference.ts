/**
 * Resolves `$ref` within the given documents only.
 *
 * References to other files or URLs are never fetched. The importer reports them, and the part accepts any value. This is not
 * a library, because schemas are cyclic, so references must remain as names, and no file or connection may be opened.
 */
import { posix } from "node:path"
import { isRecord } from "./json.ts"
import { shown } from "./warnings.ts"
import type { Source } from "./source.ts"

/** References of a chain, and references that a path leads through. */
const hopsMax = 32
const refCharactersMax = 2_000

export interface Spot {
  /** Index of the document. */
  readonly source: number
  readonly pointer: ReadonlyArray<string>
  readonly node: unknown
}

export interface Problem {
  readonly problem: string
}

export interface References {
  readonly resolve: (from: number, ref: string) => Spot | Problem
  /** The node itself, or the target of its reference. */
  readonly follow: (at: Spot) => Spot | Problem
}

const decoded = (segment: string): string => {
  const plain = segment.replaceAll("~1", "/").replaceAll("~0", "~")
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

const child = (node: unknown, segment: string): unknown => {
  if (Array.isArray(node)) return /^\d{1,9}$/.test(segment) ? node[Number(segment)] : undefined
  return isRecord(node) && Object.hasOwn(node, segment) ? node[segment] : undefined
}

export const refOf = (node: unknown): string | null => {
  const ref = isRecord(node) && Object.hasOwn(node, "$ref") ? node["$ref"] : undefined
  return typeof ref === "string" ? ref : null
}

export const references = (sources: ReadonlyArray<Source>): References => {
  const names = new Map(sources.map((source, index) => [posix.normalize(source.name), index]))

  const documentOf = (from: number, file: string): number | undefined => {
    if (file === "") return from
    const beside = posix.join(posix.dirname(sources[from]?.name ?? ""), file)
    return names.get(posix.normalize(file)) ?? names.get(beside)
  }

  /** `through` counts what the first reference leads through, also on the way of others: each may lead through several. */
  const resolveWithin = (from: number, ref: string, through = { count: 0 }): Spot | Problem => {
    if (ref.length > refCharactersMax) return { problem: `the reference ${shown(ref)} is too long` }
    if (through.count++ > hopsMax)
      return { problem: `the reference ${shown(ref)} leads in a circle, or leads through more than ${hopsMax} others` }
    const at = ref.indexOf("#")
    const file = at < 0 ? ref : ref.slice(0, at)
    const fragment = at < 0 ? "" : ref.slice(at + 1)
    const index = documentOf(from, file)
    const source = index === undefined ? undefined : sources[index]
    if (index === undefined || source === undefined) {
      return { problem: `the reference ${shown(ref)} leads out of the given documents and is not followed` }
    }
    if (fragment !== "" && !fragment.startsWith("/")) {
      return { problem: `the reference ${shown(ref)} names an anchor, which is not supported` }
    }
    let spot: Spot = { source: index, pointer: [], node: source.root }
    for (const segment of fragment.split("/").slice(1).map(decoded)) {
      let node = child(spot.node, segment)
      const between = node === undefined ? refOf(spot.node) : null
      if (between !== null) {
        const next = resolveWithin(spot.source, between, through)
        if ("problem" in next) return next
        spot = next
        node = child(spot.node, segment)
      }
      if (node === undefined) return { problem: `the reference ${shown(ref)} leads nowhere` }
      spot = { source: spot.source, pointer: [...spot.pointer, segment], node }
    }
    return spot
  }

  const follow = (at: Spot): Spot | Problem => {
    let spot = at
    for (let hops = 0; hops < hopsMax; hops++) {
      const ref = refOf(spot.node)
      if (ref === null) return spot
      const next = resolveWithin(spot.source, ref)
      if ("problem" in next) return next
      spot = next
    }
    return { problem: `the reference ${shown(refOf(at.node) ?? "")} leads in a circle` }
  }

  return { resolve: (from, ref) => resolveWithin(from, ref), follow }
}
