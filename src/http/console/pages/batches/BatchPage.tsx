/** One batch, live: its progress, what it has charged, its results so far, and the buttons that cancel it and retry its blocked rows. */
import { useState } from "react"
import { counted } from "../../../client/Words.ts"
import { ConfirmAction } from "../../actions/Actions.tsx"
import { useParam } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { amountOf, exactDollars, microsOf, shareOf } from "../../data/money.ts"
import { useMay } from "../../data/session.ts"
import { AmountField } from "../../parts/Field.tsx"
import { Denied, Link, LoadedPage, Page, Panel } from "../../parts/Page.tsx"
import { Id, Money, Status, statusBar, Time } from "../../parts/Values.tsx"
import { Downloads, Results } from "./Results.tsx"
import { type Batch, endedOf, ends, fileOf, useBatch } from "./useBatch.ts"

const Progress = ({ batch }: { readonly batch: Batch }) => {
  const { rows, charged, max_total, done, id, approval } = batch
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
      {approval !== undefined && (
        <p className="mt-2 text-amber">
          {counted(approval.waiting, "row waits", "rows wait")} for an approval, and cost nothing before.{" "}
          <Link to="/approvals" className="underline">
            Show what waits
          </Link>
        </p>
      )}
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
const Retry = ({ batch }: { readonly batch: Batch }) => {
  const { id, rows, charged, max_total } = batch
  const [typed, setTyped] = useState<string | null>(null)
  const limit = (typed ?? max_total ?? "").trim()
  const left = (microsOf(limit) ?? 0n) - (microsOf(charged) ?? 0n)
  const count = counted(rows.blocked, "blocked row")
  return (
    <ConfirmAction
      send={() => api.batches.retry({ params: { batch_id: id }, payload: { max_total: limit } })}
      changes={["batch"]}
      word={`Run ${count} again`}
      buttonLook="primary"
      confirm={`Run ${count}${left > 0n ? ` for at most ${exactDollars(amountOf(left))}` : ""}`}
      cancel="Leave them blocked"
      look="primary"
      disabled={left <= 0n}
    >
      <p>
        They run in this batch, and share its limit. Rows that ended otherwise are not run again.{" "}
        <Money amount={charged} /> is charged so far.
      </p>
      <AmountField
        label="Limit of the whole batch in USD"
        name="max_total"
        required
        pattern="\d{1,7}(\.\d{1,6})?"
        value={typed ?? max_total ?? ""}
        onChange={(event) => setTyped(event.target.value)}
        hint="With what is charged already. If the limit blocked the rows, raise it."
        className="max-w-72"
      />
    </ConfirmAction>
  )
}

const Cancel = ({ batch }: { readonly batch: Batch }) => (
  <ConfirmAction
    send={() => api.batches.cancel({ params: { batch_id: batch.id } })}
    changes={["batch"]}
    word="Cancel the batch"
    title="Cancel this batch?"
    cancel="Keep it"
  >
    <p>
      <span className="wrap-anywhere">{fileOf(batch) ?? batch.id}</span>: {batch.rows.open.toLocaleString("en")} of{" "}
      {batch.rows.total.toLocaleString("en")} rows have not ended. Those that have not started will never run.
    </p>
    <p>
      Runs that have started go on to their end and are charged. <Money amount={batch.charged} /> is charged so far.
    </p>
  </ConfirmAction>
)

const Shown = ({ batch }: { readonly batch: Batch }) => {
  const may = useMay("batches.cancel")
  const file = fileOf(batch)
  return (
    <Page
      title={file ?? "Batch"}
      actions={
        <>
          <Downloads batch={batch} />
          {batch.status === "finished" && batch.rows.blocked > 0 && may && <Retry batch={batch} />}
          {!batch.done && batch.status !== "cancelling" && may && <Cancel batch={batch} />}
        </>
      }
      lead={
        <>
          <Denied operation="batches.cancel" />
          <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
            <Status status={batch.status} large />
            <Id id={batch.id} what="the batch's id" />
            <Time at={batch.created_at} />
          </div>
        </>
      }
    >
      <Progress batch={batch} />
      <Results batch={batch} />
    </Page>
  )
}

const BatchPage = () => (
  <LoadedPage query={useBatch(useParam("batch_id"))}>{(data) => <Shown batch={data} />}</LoadedPage>
)

export default BatchPage
