/** What the organization's runs have about a subject, and subjects as people paste them. */
import { keepPreviousData } from "@tanstack/react-query"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { counted } from "../../../client/Words.ts"

/** Trimmed lines without empty and repeated ones, in the order of the text. */
export const linesOf = (text: string): ReadonlyArray<string> => [
  ...new Set(
    text
      .split(/\r\n?|\n/)
      .map((line) => line.trim())
      .filter((line) => line !== "")
  )
]

export type Known = AnswerOf<"history", "get">
export type Item = Known["items"][number]
export type Row = AnswerOf<"history", "batch">["items"][number]
export type Kind = Known["subject"]["kind"]

/** Kinds of subjects in words. An empty text lets the service detect the kind. */
export const kindWords: ReadonlyArray<readonly [Kind, string]> = [
  ["email", "E-mail address"],
  ["domain", "Domain"],
  ["network", "Profile"],
  ["url", "URL"],
  ["handle", "Handle"],
  ["phone", "Phone number"],
  ["text", "Phrase"]
]
export const kindOf = (text: string | undefined): Kind | null => kindWords.find(([kind]) => kind === text)?.[0] ?? null
export const kindWord = (kind: Kind): string => kindWords.find(([one]) => one === kind)?.[1].toLowerCase() ?? kind

/** The longest subject that the service reads, and the most runs that one answer has. */
export const subjectCharsMax = 2_000
export const runsMax = 200
export const runsShown = 50

export const knownOf = (q: string, kind: Kind | null, limit: number): Promise<Known> =>
  api.history.get({ query: { q, limit, ...(kind === null ? {} : { kind }) } })

export const useHistory = (q: string, kind: Kind | null, limit: number) =>
  useRead(["history", q, kind, limit], () => knownOf(q, kind, limit), {
    // More runs of the same subject: those in sight stay meanwhile. Another subject must not show them.
    placeholderData: (before, query) => (query?.queryKey[1] === q ? keepPreviousData(before) : undefined)
  })

const openStatuses: ReadonlyArray<string> = ["created", "reserved", "queued", "running"]

/** Runs that an erasure reaches, and runs that it leaves because they have not ended. */
export const erasable = ({ count, by_status }: Known): { readonly ended: number; readonly open: number } => {
  const open = openStatuses.reduce((sum, status) => sum + (by_status[status] ?? 0), 0)
  return { ended: count - open, open }
}

export const runsInWords = (count: number): string => counted(count, "run")
