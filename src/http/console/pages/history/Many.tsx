/** Looks up a pasted list: one row for each subject, in the order of the list, and the same as CSV. */
import { useMutation } from "@tanstack/react-query"
import { Download } from "lucide-react"
import { useState } from "react"
import { onForm, textIn } from "../../actions/forms.ts"
import { api } from "../../data/api.ts"
import { save } from "../../data/save.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { FormProblem, inputLook, Select } from "../../parts/Field.tsx"
import { linesOf } from "./lines.ts"
import { ManyTable } from "./ManyTable.tsx"
import { type Kind, kindOf, kindWords, type Row } from "./useHistory.ts"

/** Of one request to the API, and of one list here. */
const perRequest = 200
const subjectsMax = 2_000

interface Answer {
  readonly items: ReadonlyArray<Row>
  readonly seen: number
  readonly unseen: number
  readonly contacted: number
}

const lookUp = async (subjects: ReadonlyArray<string>, kind: Kind | null): Promise<Answer> => {
  let all: Answer = { items: [], seen: 0, unseen: 0, contacted: 0 }
  for (let at = 0; at < subjects.length; at += perRequest) {
    const part = await api.history.batch({ payload: { subjects: subjects.slice(at, at + perRequest), kind } })
    all = {
      items: [...all.items, ...part.items],
      seen: all.seen + part.seen,
      unseen: all.unseen + part.unseen,
      contacted: all.contacted + part.contacted
    }
  }
  return all
}

const Found = ({ answer }: { readonly answer: Answer }) => {
  const { items, seen, unseen, contacted } = answer
  const unreadable = items.length - seen - unseen
  const download = useMutation({
    mutationFn: async () => save((await import("./manyCsv.ts")).manyCsv(items), "history.csv"),
    onSuccess: () => announce("Saved."),
    onError: (error) => announce(error.message)
  })
  return (
    <section aria-label="What was found" className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p role="status">
          {seen} on record, {unseen} new, {contacted} contacted
          {unreadable > 0 && `, ${unreadable} that can't be read as this kind`}.
        </p>
        <Button busy={download.isPending} onClick={() => download.mutate()}>
          <Download size={14} aria-hidden="true" /> Export CSV
        </Button>
      </div>
      <ManyTable items={items} />
    </section>
  )
}

export const Many = ({ text }: { readonly text: string }) => {
  const [count, setCount] = useState(linesOf(text).length)
  const found = useMutation({
    mutationFn: (form: FormData) => lookUp(linesOf(textIn(form, "subjects")), kindOf(textIn(form, "kind")))
  })
  const tooMany = count > subjectsMax
  return (
    <div className="space-y-6">
      <form onSubmit={onForm((form) => found.mutate(form))} className="space-y-3">
        <div>
          <label htmlFor="subjects" className="mb-1 block font-medium">
            Subjects, one a line
          </label>
          <textarea
            id="subjects"
            name="subjects"
            data-search
            required
            rows={8}
            defaultValue={text}
            spellCheck={false}
            placeholder={"ada@example.com\nexample.com\n+44 20 7946 0000"}
            aria-describedby="subjects-count"
            onChange={(event) => setCount(linesOf(event.target.value).length)}
            className={`${inputLook} font-mono text-small`}
          />
          <p id="subjects-count" className={`mt-1 text-small ${tooMany ? "text-red" : "text-muted"}`}>
            {count.toLocaleString("en")} of at most {subjectsMax.toLocaleString("en")} different lines. Free.
          </p>
        </div>
        <div className="flex flex-wrap items-end gap-2">
          <Select label="Kind" name="kind" options={[["", "Detect it"], ...kindWords]} className="max-w-44" />
          <Button type="submit" look="primary" busy={found.isPending} disabled={tooMany || count === 0}>
            Look up {count === 0 ? "" : count.toLocaleString("en")} {count === 1 ? "subject" : "subjects"}
          </Button>
        </div>
        <FormProblem error={found.error} />
      </form>
      {found.data !== undefined && <Found answer={found.data} />}
    </div>
  )
}
