/**
 * Answers as the shared reading holds them: one file per payload, whose provenance is told in its index.
 */
import { readFileSync } from "node:fs"
import { answer, type Played } from "./stage.ts"

/** The payload `<name>.response.json` of a provider. */
export const example = (provider: string, name: string, status = 200, headers: Record<string, string> = {}): Played => {
  const file = new URL(`../../../../shared/specs/examples/${provider}/${name}.response.json`, import.meta.url)
  const text = readFileSync(file, "utf8")
  // What is no JSON is kept as its text.
  const { _text } = Object(JSON.parse(text))
  return answer(status, typeof _text === "string" ? _text : text, headers)
}

/** A payload that the review of the providers found: `examples-2/<name>.json`, and where it is from in `SOURCES.md` beside it. */
export const reviewed = (name: string): ReturnType<typeof JSON.parse> =>
  JSON.parse(readFileSync(new URL(`../../../../shared/specs/examples-2/${name}.json`, import.meta.url), "utf8"))

/** The same with some of its fields changed. */
export const altered = (provider: string, name: string, change: (body: unknown) => unknown, status = 200): Played =>
  answer(status, change(JSON.parse(example(provider, name).body)))
