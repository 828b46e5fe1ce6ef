/** Looks up a pasted list: one row for each subject, in the order of the list, and the same as CSV. */
import { useState } from "react"
import { onForm, SaveButton, textIn, useAction } from "../../actions/Actions.tsx"
import { type AnswerOf, api } from "../../data/api.ts"
import { save } from "../../data/save.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { FormProblem, Select, TextArea } from "../../parts/Field.tsx"
import { Button, RowLink, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Money, Time } from "../../parts/Values.tsx"
import { type Kind, kindOf, kindWord, kindWords, linesOf, type Row } from "./useHistory.ts"

const addressOf = ({ query, kind }: Row) =>
  `/history?${new URLSearchParams({ q: query, ...(kind === null ? {} : { kind }) })}`

const Contacted = ({ row: { contacted, last_contact, last_unknown } }: { readonly row: Row }) => {
  if (contacted && last_contact !== null)
    return (
      <span className="text-amber">
        yes, <TextLink to={`/runs/${last_contact.run_id}`}>{last_contact.channel}</TextLink>,{" "}
        <Time at={last_contact.created_at} />
      </span>
    )
  if (last_unknown !== undefined)
    return (
      <span className="text-violet">
        perhaps, <TextLink to={`/runs/${last_unknown.run_id}`}>outcome unknown</TextLink>
      </span>
    )
  return "no"
}

const columns = columnsOf("HistoryRow", {
  query: (row) => (
    <>
      <RowLink to={addressOf(row)} className="wrap-anywhere">
        {row.query}
      </RowLink>
      {row.error !== undefined && <span className="block break-words text-red">{row.error.message}</span>}
    </>
  ),
  kind: ({ kind }) => (kind === null ? "" : kindWord(kind)),
  count: ({ count, error }) => (error === undefined ? count.toLocaleString("en") : ""),
  contacted: (row) => (row.error === undefined ? <Contacted row={row} /> : ""),
  reusable: ({ reusable }) =>
    reusable === null ? (
      ""
    ) : (
      <>
        <TextLink to={`/runs/${reusable.run_id}`}>{reusable.capability ?? reusable.endpoint ?? "a result"}</TextLink>{" "}
        <Money amount={reusable.charged} />
      </>
    )
})

/** Of one request to the API, and of one list here. */
const perRequest = 200
const subjectsMax = 2_000

const lookUp = async (subjects: ReadonlyArray<string>, kind: Kind | null) => {
  const parts: Array<AnswerOf<"history", "batch">> = []
  for (let at = 0; at < subjects.length; at += perRequest)
    parts.push(await api.history.batch({ payload: { subjects: subjects.slice(at, at + perRequest), kind } }))
  const sum = (name: "seen" | "unseen" | "contacted") => parts.reduce((all, part) => all + part[name], 0)
  const items = parts.flatMap((part) => part.items)
  return { items, seen: sum("seen"), unseen: sum("unseen"), contacted: sum("contacted") }
}

const Found = ({ answer }: { readonly answer: Awaited<ReturnType<typeof lookUp>> }) => {
  const { items, seen, unseen, contacted } = answer
  const unreadable = items.length - seen - unseen
  return (
    <section aria-label="What was found" className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p role="status">
          {seen} on record, {unseen} new, {contacted} contacted
          {unreadable > 0 && `, ${unreadable} that can't be read as this kind`}.
        </p>
        <SaveButton send={async () => save((await import("./manyCsv.ts")).manyCsv(items), "history.csv")}>
          Export CSV
        </SaveButton>
      </div>
      <DataTable label="Subjects" rows={items} columns={columns} toOf={addressOf} />
    </section>
  )
}

export const Many = ({ text }: { readonly text: string }) => {
  const [count, setCount] = useState(linesOf(text).length)
  const lookup = useAction((form: FormData) => lookUp(linesOf(textIn(form, "subjects")), kindOf(textIn(form, "kind"))))
  const tooMany = count > subjectsMax
  return (
    <div className="space-y-6">
      <form onSubmit={onForm((form) => lookup.mutate(form))} className="space-y-3">
        <TextArea
          label="Subjects, one a line"
          name="subjects"
          data-search
          required
          rows={8}
          defaultValue={text}
          placeholder={"ada@example.com\nexample.com\n+44 20 7946 0000"}
          onChange={(event) => setCount(linesOf(event.target.value).length)}
          hint={
            <span className={tooMany ? "text-red" : ""}>
              {count.toLocaleString("en")} of at most {subjectsMax.toLocaleString("en")} different lines. Free.
            </span>
          }
        />
        <div className="flex flex-wrap items-end gap-2">
          <Select label="Kind" name="kind" options={[["", "Detect it"], ...kindWords]} className="max-w-44" />
          <Button type="submit" look="primary" busy={lookup.isPending} disabled={tooMany || count === 0}>
            Look up {count === 0 ? "" : count.toLocaleString("en")} {count === 1 ? "subject" : "subjects"}
          </Button>
        </div>
        <FormProblem error={lookup.error} />
      </form>
      {lookup.data !== undefined && <Found answer={lookup.data} />}
    </div>
  )
}
