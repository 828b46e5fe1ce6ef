/** The two questions before a purchase or a message: was it bought already, and was it contacted already? */
import type { ReactNode } from "react"
import { counted } from "../../data/words.ts"
import { Bullets, Figure } from "../../lists/Facts.tsx"
import { TextLink } from "../../parts/Page.tsx"
import { Money, Time } from "../../parts/Values.tsx"
import { type Known, runsInWords } from "./useHistory.ts"

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

export const Verdict = ({ history }: { readonly history: Known }) => (
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
