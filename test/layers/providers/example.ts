/**
 * Answers as providers give them: one file per payload in test/fixtures/payloads, whose sources SOURCES.json names.
 *
 * The shapes are the providers', the values are made up.
 */
import { readFileSync } from "node:fs"
import { answer, type Played } from "./stage.ts"

/** The payload `<name>.response.json` of a provider. */
export const example = (provider: string, name: string, status = 200, headers: Record<string, string> = {}): Played => {
  const file = new URL(`../../fixtures/payloads/${provider}/${name}.response.json`, import.meta.url)
  const text = readFileSync(file, "utf8")
  // What is no JSON is kept as its text.
  const { _text } = Object(JSON.parse(text))
  return answer(status, typeof _text === "string" ? _text : text, headers)
}

/** A payload that a review of the providers found. */
export const reviewed = (name: string): ReturnType<typeof JSON.parse> =>
  JSON.parse(readFileSync(new URL(`../../fixtures/payloads/reviewed/${name}.json`, import.meta.url), "utf8"))

/** The same with some of its fields changed. */
export const altered = (provider: string, name: string, change: (body: unknown) => unknown, status = 200): Played =>
  answer(status, change(JSON.parse(example(provider, name).body)))
