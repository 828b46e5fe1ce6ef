/**
 * Spoils a provider's good answer: bytes that are no JSON, JSON that reads the same and is written oddly, and JSON whose values are of
 * other types. What it spoils is real, so everything around the fault is what the adapter expects.
 */
type Json = ReturnType<typeof JSON.parse>

const html = "<!doctype html><html><body>Scheduled maintenance</body></html>"
const bytes = (...parts: ReadonlyArray<string | ReadonlyArray<number>>): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(parts.flatMap((part) => [...(typeof part === "string" ? Buffer.from(part) : part)]))

/** The text cut behind the first letter of its first string, if it has one. */
const insideString = (good: string): readonly [string, string] => {
  const at = good.search(/"[^"\\]/)
  return at < 0 ? [`${good}"`, '"'] : [good.slice(0, at + 2), good.slice(at + 2)]
}

/** Bytes that no reader of JSON takes. Each is a failure of the provider. */
export const broken: Readonly<Record<string, (good: string) => string | Uint8Array<ArrayBuffer>>> = {
  "a page": () => html,
  nothing: () => "",
  "cut in the middle": (good) => good.trimEnd().slice(0, Math.max(1, Math.floor(good.trimEnd().length / 2))),
  NaN: (good) => `{"value":NaN,"all":${good}}`,
  "NaN for a value": (good) =>
    /": ?-?\d/.test(good) ? good.replace(/(": ?)-?\d[\d.eE+-]*/, "$1NaN") : `[${good},NaN]`,
  "a byte that is no UTF-8": (good) => bytes(insideString(good)[0], [0xff], insideString(good)[1]),
  "half a character": (good) => bytes(insideString(good)[0], [0xed, 0xa0, 0x80], insideString(good)[1]),
  "two values": (good) => `${good}\n${good}`,
  "a comma too many": (good) => good.trimEnd().replace(/.$/s, ",$&")
}

/** Every name of every object twice, the true value last, as most readers take it. */
const doubled = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(doubled).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).flatMap(([name, child]) => [
    `${JSON.stringify(name)}:null`,
    `${JSON.stringify(name)}:${doubled(child)}`
  ])
  return `{${fields.join(",")}}`
}

/** JSON that means the same: the run must come to the same result. */
export const odd: Readonly<Record<string, (good: string) => string>> = {
  "a byte order mark": (good) => `\ufeff${good}`,
  "every name twice": (good) => doubled(JSON.parse(good)),
  "escaped letters": (good) =>
    JSON.stringify(JSON.parse(good)).replace(
      /[^\x20-\x7e]/g,
      (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
    )
}

const everywhere = (value: Json, change: (leaf: Json) => Json): Json => {
  if (Array.isArray(value)) return value.map((one) => everywhere(one, change))
  if (typeof value !== "object" || value === null) return change(value)
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, everywhere(child, change)]))
}

/** JSON of the right shape whose values are of other types. Never a crash; what is delivered keeps to the published schema. */
export const mistyped: Readonly<Record<string, (good: string) => string>> = {
  "another kind of whole": () => '[{"ok":[true]},7]',
  "text for numbers, numbers for text": (good) =>
    JSON.stringify(everywhere(JSON.parse(good), (leaf) => (typeof leaf === "string" ? 7 : "7 x"))),
  "objects for values": (good) => JSON.stringify(everywhere(JSON.parse(good), (leaf) => ({ is: leaf }))),
  "lists for values": (good) => JSON.stringify(everywhere(JSON.parse(good), (leaf) => [leaf])),
  "null for values": (good) => JSON.stringify(everywhere(JSON.parse(good), () => null)),
  "huge and hostile values": (good) =>
    JSON.stringify(everywhere(JSON.parse(good), (leaf) => (typeof leaf === "number" ? -1e308 : `\u0000\ud800${leaf}`)))
}
