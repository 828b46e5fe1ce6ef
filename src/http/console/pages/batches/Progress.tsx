/** How many rows have ended in which way, as one bar and in words, and what they have cost of the limit. */
import { shareOf } from "../../data/money.ts"
import { Link, Panel } from "../../parts/Page.tsx"
import { Money, Status, statusBar } from "../../parts/Values.tsx"
import { type Batch, endedOf } from "./useBatch.ts"

const ends = ["succeeded", "no_match", "failed", "blocked", "invalid", "cancelled"] as const

export const Progress = ({ batch }: { readonly batch: Batch }) => {
  const { rows, charged, max_total, done, id } = batch
  const ended = endedOf(batch)
  const shown = ends.filter((end) => rows[end] > 0)
  return (
    <Panel
      title="Progress"
      actions={
        <span className="text-muted">
          {ended.toLocaleString("en")} of {rows.total.toLocaleString("en")} rows
        </span>
      }
    >
      <div
        role="progressbar"
        aria-label="Rows that have ended"
        aria-valuemin={0}
        aria-valuemax={rows.total}
        aria-valuenow={ended}
        className="flex h-3 overflow-hidden rounded bg-grey-soft"
      >
        {shown.map((end) => (
          <div key={end} className={statusBar(end)} style={{ width: `${(rows[end] / rows.total) * 100}%` }} />
        ))}
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-6 gap-y-2">
        {shown.map((end) => (
          <li key={end}>
            <Link to={`/batches/${id}?status=${end}`} className="inline-flex items-center gap-1.5 hover:underline">
              <span className="font-semibold">{rows[end].toLocaleString("en")}</span> <Status status={end} />
            </Link>
          </li>
        ))}
        {rows.open > 0 && <li className="text-muted">{rows.open.toLocaleString("en")} not ended</li>}
      </ul>
      <p className="mt-4">
        <span className="font-semibold">
          <Money amount={charged} />
        </span>{" "}
        charged{done ? "" : " so far"}
        {max_total === null ? (
          ", without a limit"
        ) : (
          <>
            {" "}
            of at most <Money amount={max_total} /> ({Math.round(shareOf(charged, max_total) * 100)}%)
          </>
        )}
        .
      </p>
      {rows.blocked > 0 && (
        <p className="mt-2 text-amber">
          Blocked rows cost nothing, and can be run again when the batch is finished.{" "}
          <Link to={`/batches/${id}?status=blocked`} className="underline">
            Show why they were blocked
          </Link>
        </p>
      )}
    </Panel>
  )
}
