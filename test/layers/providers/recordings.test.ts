/**
 * Answers that operators recorded with `rungate providers check <slug> --record test/layers/providers/recordings`: each adapter still makes
 * of its recordings what it made when they were recorded.
 */
import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { replayed, type Recording } from "../../../src/http/upkeep/providers/recording.ts"
import { providers } from "../../../src/layers/providers/index.ts"

const folder = new URL("./recordings/", import.meta.url)
const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
const recordings = names.map((name): Recording => JSON.parse(readFileSync(new URL(name, folder), "utf8")))

test.each(recordings.map((one) => [`${one.provider} ${one.capability}`, one] as const))("%s", (_name, one) => {
  const offer = providers
    .find(({ slug }) => slug === one.provider)
    ?.offers.find((each) => each.capability === one.capability)
  if (offer === undefined) throw new Error("the offer is gone; remove its recording")
  const outcome = replayed(offer, one.input, one.answer)
  expect(outcome._tag === "Match" ? outcome.output : null).toEqual(one.output)
})

test("every recording names an offer and holds an answer", () => {
  for (const { provider, capability, answer } of recordings)
    expect([provider, capability, answer.status]).toEqual([expect.any(String), expect.any(String), 200])
})
