/** Every run that names the subject, newest first, on a line of time: messages, purchases, and what only mentions it. */
import { Eye, type LucideIcon, Mail, Receipt } from "lucide-react"
import { exactly } from "../../data/time.ts"
import { Button, Panel, RowLink } from "../../parts/Page.tsx"
import { Badge, Money, Status, Time } from "../../parts/Values.tsx"
import { nameOf } from "../../running/request.ts"
import { type Item, type Known, runsMax } from "./useHistory.ts"

interface Role {
  readonly word: string | null
  readonly tone: "amber" | "green" | "grey"
  readonly shape: LucideIcon
}

const seen: Role = { word: null, tone: "grey", shape: Eye }
const rolesOf = ({ touches, reusable }: Known): ReadonlyMap<string, Role> => {
  const roles = new Map<string, Role>()
  for (const { run_id } of reusable) roles.set(run_id, { word: "bought", tone: "green", shape: Receipt })
  for (const { run_id, channel } of touches)
    roles.set(run_id, { word: `message: ${channel}`, tone: "amber", shape: Mail })
  return roles
}

const inputChars = 160
const short = (value: unknown) => {
  const text = JSON.stringify(value) ?? ""
  return text.length > inputChars ? `${text.slice(0, inputChars)}…` : text
}

const Entry = ({ item, role }: { readonly item: Item; readonly role: Role }) => {
  const { run_id, status, charged, created_at, matched, input, provider } = item
  const Shape = role.shape
  return (
    <li className="grid grid-cols-[5.5rem_1.5rem_minmax(0,1fr)] gap-x-3 max-sm:grid-cols-[1.5rem_minmax(0,1fr)]">
      <span className="pt-1 text-right text-small text-muted max-sm:hidden" title={exactly(created_at)}>
        <Time at={created_at} short />
      </span>
      <span aria-hidden="true" className="flex flex-col items-center">
        <span className="mt-0.5 flex size-6 items-center justify-center rounded-full border border-line-strong bg-panel">
          <Shape size={13} />
        </span>
        <span className="w-px flex-1 bg-line" />
      </span>
      <div className="pb-5">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <RowLink to={`/runs/${run_id}`} title={run_id}>
            {nameOf(item)}
          </RowLink>
          <Status status={status} />
          {role.word !== null && <Badge tone={role.tone}>{role.word}</Badge>}
          {charged !== null && <Money amount={charged} className="text-muted" />}
          <span className="text-small text-muted sm:hidden">
            <Time at={created_at} />
          </span>
        </p>
        <p className="mt-0.5 text-small break-words text-muted">
          {matched.exact ? "named in" : "mentioned in"} the {matched.in}
          {matched.path !== "" && (
            <>
              {" "}
              at <code className="font-mono">{matched.path}</code>
            </>
          )}
          {provider !== null && ` · ${provider}`}
        </p>
        <p className="mt-0.5 truncate font-mono text-small text-muted">{short(input)}</p>
      </div>
    </li>
  )
}

/** `showMore` is null if no more can be shown. */
export const TimeLine = ({
  history,
  showMore
}: {
  readonly history: Known
  readonly showMore: (() => void) | null
}) => {
  const roles = rolesOf(history)
  return (
    <Panel title="Timeline">
      <ol>
        {history.items.map((item) => (
          <Entry key={item.run_id} item={item} role={roles.get(item.run_id) ?? seen} />
        ))}
      </ol>
      {history.truncated && (
        <div className="flex flex-wrap items-center gap-3 text-muted">
          <p>
            The newest {history.items.length} of {history.count.toLocaleString("en")} runs.
            {showMore === null && " Name the subject more exactly, or narrow the time in Activity, to see older ones."}
          </p>
          {showMore !== null && <Button onClick={showMore}>Show {runsMax}</Button>}
        </div>
      )}
    </Panel>
  )
}
