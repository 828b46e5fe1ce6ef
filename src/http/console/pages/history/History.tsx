/** History: what the organization already knows of a person, company or page, before it buys or writes again. */
import { Search as SearchShape } from "lucide-react"
import { type ClipboardEvent, type ReactNode, useState } from "react"
import { counted } from "../../../client/Words.ts"
import { onForm, textIn } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { Bullets, Figure } from "../../lists/Facts.tsx"
import { Field, Select } from "../../parts/Field.tsx"
import { Button, Empty, Loaded, PageHead, Skeleton, TextLink } from "../../parts/Page.tsx"
import { Id, Money, Time } from "../../parts/Values.tsx"
import { Erase } from "./Erase.tsx"
import { Many } from "./Many.tsx"
import { TimeLine } from "./TimeLine.tsx"
import {
  type Kind,
  kindOf,
  kindWord,
  kindWords,
  type Known,
  linesOf,
  runsInWords,
  runsMax,
  runsShown,
  subjectCharsMax,
  useHistory
} from "./useHistory.ts"

const Contacted = ({ history }: { readonly history: Known }) => {
  const { last_contact, last_unknown, last_touch } = history
  if (last_contact !== null)
    return (
      <Figure title="Contacted" value="Yes" look="text-amber">
        <TextLink to={`/runs/${last_contact.run_id}`}>{last_contact.capability}</TextLink>,{" "}
        <Time at={last_contact.created_at} />
        {last_unknown !== undefined && ". Another attempt has an unknown outcome; see below."}
      </Figure>
    )
  if (last_unknown !== undefined)
    return (
      <Figure title="Contacted" value="Perhaps" look="text-violet">
        The outcome of <TextLink to={`/runs/${last_unknown.run_id}`}>{last_unknown.capability}</TextLink>,{" "}
        <Time at={last_unknown.created_at} />, is unknown. Check before you write again.
      </Figure>
    )
  return (
    <Figure title="Contacted" value="No">
      {last_touch === null ? (
        "No message through this service names it."
      ) : (
        <>
          <TextLink to={`/runs/${last_touch.run_id}`}>A message</TextLink> mentions it, and went to somebody else.
        </>
      )}
    </Figure>
  )
}

const Bought = ({ history: { reusable } }: { readonly history: Known }) => (
  <Figure
    title="Bought"
    value={reusable.length === 0 ? "No" : counted(reusable.length, "result")}
    look={reusable.length === 0 ? "" : "text-green"}
  >
    {reusable.length === 0 ? (
      "No paid lookup was about it."
    ) : (
      <ul>
        {reusable.map(({ run_id, capability, endpoint, charged, created_at }) => (
          <li key={run_id}>
            <TextLink to={`/runs/${run_id}`}>{capability ?? endpoint ?? run_id}</TextLink> for{" "}
            <Money amount={charged} />, <Time at={created_at} />
          </li>
        ))}
      </ul>
    )}
  </Figure>
)

/** Where a hint of the service names a request of the API, a page shows a link. */
const named = /(?:GET \/v1\/runs\/)?(run_[0-9a-z]+)|GET \/v1\/runs\?status=running/g

/** Between the texts is the run of each request, or undefined for the list of runs. */
const linked = (text: string): ReactNode =>
  text.split(named).map((part: string | undefined, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <TextLink key={index} to={part === undefined ? "/activity?status=running" : `/runs/${part}`}>
        {part ?? "Activity"}
      </TextLink>
    )
  )

const Verdict = ({ history }: { readonly history: Known }) => (
  <>
    <div className="grid gap-4 sm:grid-cols-3">
      <Contacted history={history} />
      <Bought history={history} />
      <Figure title="On record" value={runsInWords(history.count)}>
        <Money amount={history.charged} /> charged
        {history.first_seen !== null && history.last_seen !== null && (
          <>
            {" "}
            · first <Time at={history.first_seen} />, last <Time at={history.last_seen} />
          </>
        )}
      </Figure>
    </div>
    {history.hints.length > 0 && (
      <section aria-label="What this means">
        <Bullets items={history.hints.map(linked)} className="pl-5 text-muted" />
      </section>
    )}
  </>
)

/** The box for one subject. A text of several lines that is pasted into it becomes a list of subjects. */
const SearchBox = ({ onMany }: { readonly onMany: (text: string) => void }) => {
  const [{ q = "", kind = "" }, change] = useFilters()
  const search = (form: FormData) => change({ q: textIn(form, "q").trim(), kind: textIn(form, "kind") }, { push: true })
  const pasted = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData("text")
    if (linesOf(text).length < 2) return
    event.preventDefault()
    onMany(text)
  }
  return (
    // The key fills the fields anew when the address changes, such as with the back button.
    <form key={`${kind} ${q}`} role="search" onSubmit={onForm(search)} className="flex flex-wrap items-end gap-2">
      <Field
        label="E-mail address, domain, profile, URL, handle, phone number or phrase"
        name="q"
        data-search
        required
        maxLength={subjectCharsMax}
        defaultValue={q}
        placeholder="ada@example.com"
        autoComplete="off"
        spellCheck={false}
        onPaste={pasted}
        className="min-w-60 flex-1"
      />
      <Select
        label="Kind"
        name="kind"
        defaultValue={kind}
        options={[["", "Detect it"], ...kindWords]}
        className="max-w-44"
      />
      <Button type="submit" look="primary">
        <SearchShape size={14} aria-hidden="true" /> Look up
      </Button>
    </form>
  )
}

const Subject = ({ q, kind }: { readonly q: string; readonly kind: Kind | null }) => {
  const [limit, setLimit] = useState(runsShown)
  const query = useHistory(q, kind, limit)
  return (
    <Loaded query={query} skeleton={<Skeleton lines={6} height={28} />}>
      {(history) => (
        <div className="space-y-6">
          <div className="flex flex-wrap items-center justify-between gap-3">
            <p>
              <span className="text-muted">Read as {kindWord(history.subject.kind)}: </span>
              <Id id={history.subject.normalized} what="the subject" />
            </p>
            <Erase subject={history.subject} />
          </div>
          {history.count === 0 ? (
            <Empty title="Nothing is on record.">
              No run of your organization has this subject in its input or result. Messages that were sent outside of
              this service are not known here.
            </Empty>
          ) : (
            <>
              <Verdict history={history} />
              <TimeLine history={history} showMore={limit < runsMax ? () => setLimit(runsMax) : null} />
            </>
          )}
        </div>
      )}
    </Loaded>
  )
}

const History = () => {
  const [{ q = "", kind = "", list = "" }, change] = useFilters()
  const [pasted, setPasted] = useState("")
  const showList = (text: string) => {
    setPasted(text)
    change({ list: "1" }, { push: true })
  }
  const actions =
    list === "" ? (
      <Button onClick={() => showList(q)}>Look up a list</Button>
    ) : (
      <Button onClick={() => change({ list: "" }, { push: true })}>Look up one subject</Button>
    )
  return (
    <>
      <PageHead actions={actions}>
        Was this person, company or page bought or contacted before? Looking is free.
      </PageHead>
      {list === "" ? (
        <div className="space-y-6">
          <SearchBox onMany={showList} />
          {q !== "" && <Subject key={`${kind} ${q}`} q={q} kind={kindOf(kind)} />}
          {q === "" && (
            <p className="text-muted">
              All spellings of a subject are one: <code className="font-mono">Ada@Example.com</code> is{" "}
              <code className="font-mono">ada@example.com</code>, and a domain includes its addresses and pages. Paste
              several lines to look up a list.
            </p>
          )}
        </div>
      ) : (
        <Many text={pasted} />
      )}
    </>
  )
}

export default History
