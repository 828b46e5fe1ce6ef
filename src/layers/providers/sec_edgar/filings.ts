/**
 * EDGAR's offer for filings: lists those of one company, or searches the texts of all companies.
 *
 * The list has the latest thousand filings and names files with older ones, which are read until the limit is reached. The search is on
 * another host and covers filings since 2001.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../../schema/catalog/Capability.ts"
import { govFilings, govFilingsDefaultLimit } from "../../../schema/capabilities/gov.filings.ts"
import { inUsd } from "../../../schema/money/Rates.ts"
import { type Call, offer, type Outcome, type Reply } from "../../../schema/catalog/Provider.ts"
import { match, noMatch, refusal, unreadable } from "../kit/outcome.ts"
import { at, list, text, texts, whole } from "../kit/read.ts"
import { cikInDirectory, directoryCall, paddedCik, submissionsCall, unknownCompany } from "./companies.ts"
import { defined } from "../../../schema/defined.ts"

type Input = InputOf<typeof govFilings>

interface Filing {
  readonly company: string | null
  readonly cik: string | null
  readonly form: string | null
  readonly filed_at: string | null
  readonly period: string | null
  readonly accession_number: string | null
  readonly url: string | null
  readonly description: string | null
}

/** Further requests per run. After that, the run ends with the filings found so far. */
const requestsMax = 10
const searchOrigin = "https://efts.sec.gov"
/** EDGAR allows ten requests per second. */
const pauseMillis = 100

type Stage = "directory" | "submissions" | "older" | "search"
const older: Stage = "older"
const stages: ReadonlyArray<Stage> = ["directory", "submissions", "older", "search"]

/** The state between requests: the company, the files still to read, and the filings found so far. */
interface Progress {
  readonly stage: Stage
  readonly cik: string | null
  readonly company: string | null
  readonly files: ReadonlyArray<string>
  readonly from: number
  readonly requests: number
  readonly items: ReadonlyArray<Filing>
}

const initialProgress = (input: Input): Progress => {
  const named = input.cik === undefined && (input.ticker !== undefined || input.company_name !== undefined)
  const stage = named ? "directory" : input.query === undefined ? "submissions" : "search"
  return { stage, cik: input.cik ?? null, company: null, files: [], from: 0, requests: 0, items: [] }
}

const filingOf = (value: unknown): Filing => ({
  company: text(value, "company"),
  cik: text(value, "cik"),
  form: text(value, "form"),
  filed_at: text(value, "filed_at"),
  period: text(value, "period"),
  accession_number: text(value, "accession_number"),
  url: text(value, "url"),
  description: text(value, "description")
})

const progressOf = (state: Schema.Json, input: Input): Progress => {
  const stage = stages.find((one) => one === text(state, "stage"))
  if (stage === undefined) return initialProgress(input)
  return {
    stage,
    cik: text(state, "cik"),
    company: text(state, "company"),
    files: texts(state, "files") ?? [],
    from: whole(state, "from") ?? 0,
    requests: whole(state, "requests") ?? 0,
    items: (list(state, "items") ?? []).map(filingOf)
  }
}

const continueWith = (at: Progress): Outcome<never> => ({
  _tag: "Again",
  state: { ...at, requests: at.requests + 1, files: [...at.files], items: at.items.map((one) => ({ ...one })) },
  afterMillis: pauseMillis,
  job: false
})

const searchCall = (input: Input, cik: string | null, from: number): Call => ({
  method: "GET",
  origin: searchOrigin,
  path: "/LATEST/search-index",
  query: {
    q: input.query,
    forms: input.forms?.join(","),
    ciks: cik === null ? undefined : paddedCik(cik),
    dateRange: input.date_from === undefined && input.date_to === undefined ? undefined : "custom",
    startdt: input.date_from,
    enddt: input.date_to,
    from: from === 0 ? undefined : from
  }
})

const callOf = (at: Progress, input: Input): Call => {
  if (at.stage === "directory") return directoryCall
  if (at.stage === "search") return searchCall(input, at.cik, at.from)
  const [file] = at.files
  if (at.stage === "older" && file !== undefined) return { method: "GET", path: `/submissions/${file}` }
  return submissionsCall(at.cik ?? "")
}

const address = (cik: string | null, accession: string | null, document: string | null): string | null =>
  cik === null || accession === null
    ? null
    : `https://www.sec.gov/Archives/edgar/data/${Number(cik)}/${accession.replaceAll("-", "")}/${document ?? ""}`

/** Reads filings, which arrive as columns: one list per field. */
const filingsIn = (columns: unknown, at: Progress, input: Input): ReadonlyArray<Filing> => {
  const wanted = input.forms?.map((form) => form.toUpperCase())
  return (list(columns, "accessionNumber") ?? []).flatMap((_, row): ReadonlyArray<Filing> => {
    const form = text(columns, "form", row)
    const filed_at = text(columns, "filingDate", row)
    if (wanted !== undefined && !wanted.includes(form?.toUpperCase() ?? "")) return []
    if (input.date_from !== undefined && (filed_at ?? "") < input.date_from) return []
    if (input.date_to !== undefined && (filed_at ?? "9") > input.date_to) return []
    const accession_number = text(columns, "accessionNumber", row)
    return [
      {
        company: at.company,
        cik: at.cik === null ? null : Number(at.cik).toString(),
        form,
        filed_at,
        period: text(columns, "reportDate", row),
        accession_number,
        url: address(at.cik, accession_number, text(columns, "primaryDocument", row)),
        description: text(columns, "primaryDocDescription", row)
      }
    ]
  })
}

/** The files that may have filings of the requested dates. */
const olderFiles = (body: unknown, input: Input): ReadonlyArray<string> =>
  (list(body, "filings", "files") ?? []).flatMap((file) => {
    const name = text(file, "name")
    if (name === null || !/^CIK\d{10}-submissions-\d{3}\.json$/.test(name)) return []
    const last = text(file, "filingTo")
    const first = text(file, "filingFrom")
    if (input.date_from !== undefined && last !== null && last < input.date_from) return []
    return input.date_to !== undefined && first !== null && first > input.date_to ? [] : [name]
  })

const delivered = (items: ReadonlyArray<Filing>, limit: number, total: number | null) =>
  items.length === 0 ? noMatch("no filings") : match({ items: items.slice(0, limit), total, next_cursor: null })

const listed = (reply: Reply, before: Progress, input: Input) => {
  const miss = unknownCompany(reply)
  if (miss !== undefined) return miss
  const first = before.stage === "submissions"
  const columns = first ? at(reply.body, "filings", "recent") : reply.body
  if (list(columns, "accessionNumber") === null) return unreadable("accessionNumber")
  const now = {
    ...before,
    stage: older,
    cik: before.cik ?? text(reply.body, "cik"),
    company: before.company ?? text(reply.body, "name"),
    files: first ? olderFiles(reply.body, input) : before.files.slice(1)
  }
  const items = [...before.items, ...filingsIn(columns, now, input)]
  const limit = input.limit ?? govFilingsDefaultLimit
  if (items.length < limit && now.files.length > 0 && before.requests < requestsMax)
    return continueWith({ ...now, items })
  return delivered(items, limit, now.files.length === 0 ? items.length : null)
}

const searched = (reply: Reply, before: Progress, input: Input) => {
  const hits = list(reply.body, "hits", "hits")
  if (hits === null) return unreadable("hits")
  const total = whole(reply.body, "hits", "total", "value")
  const filings = hits.map((hit): Filing => {
    const source = at(hit, "_source")
    const names = texts(source, "display_names") ?? []
    // Such as "Apple Inc.  (AAPL)  (CIK 0000320193)". An insider's report names the person first, who has no symbol.
    const filer = Math.max(
      0,
      names.findIndex((name) => /\)\s+\(CIK/.test(name))
    )
    const cik = text(source, "ciks", filer)
    const accession_number = text(source, "adsh")
    return {
      company: names[filer]?.replace(/\s\([^]*$/, "").trimEnd() ?? null,
      cik: cik === null ? null : Number(cik).toString(),
      form: text(source, "form") ?? text(source, "file_type"),
      filed_at: text(source, "file_date"),
      period: text(source, "period_ending"),
      accession_number,
      url: address(cik, accession_number, text(hit, "_id")?.split(":")[1] ?? null),
      description: text(source, "file_description")
    }
  })
  const items = [...before.items, ...filings]
  const from = before.from + hits.length
  const limit = input.limit ?? govFilingsDefaultLimit
  if (items.length < limit && hits.length > 0 && from < (total ?? 0) && before.requests < requestsMax) {
    return continueWith({ ...before, stage: "search", from, items })
  }
  return delivered(items, limit, total)
}

export const filings = (note: string) =>
  offer(govFilings, {
    price: inUsd.flat("0"),
    note: `${note} Companies whose stock is not traded are found by their number only.`,
    wraps: ["GET /submissions/CIK{cik}.json", "GET /LATEST/search-index"],
    request: (input) => callOf(initialProgress(input), input),
    next: (state, input) => callOf(progressOf(state, input), input),
    response: (reply, input, state) => {
      const before = progressOf(state, input)
      if (before.stage === "search") return reply.status === 404 ? refusal(reply) : searched(reply, before, input)
      if (before.stage !== "directory") return listed(reply, before, input)
      if (reply.status === 404) return refusal(reply)
      const named = { ...defined({ ticker: input.ticker }), name: input.company_name ?? "" }
      const cik = cikInDirectory(reply.body, named)
      if (cik === undefined) return unreadable("directory of companies")
      if (cik === null) return noMatch("no company of this name or symbol is traded")
      return continueWith({ ...before, stage: input.query === undefined ? "submissions" : "search", cik })
    }
  })
