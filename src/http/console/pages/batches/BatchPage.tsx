/** One batch, live: its progress, what it has charged, its results so far, and the buttons that cancel it and retry its blocked rows. */
import { ConfirmAction } from "../../actions/Actions.tsx"
import { useParam } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Id, Money, Status, Time } from "../../parts/Values.tsx"
import { Loaded, Page, Skeleton } from "../../parts/Page.tsx"
import { Downloads } from "./Downloads.tsx"
import { Progress } from "./Progress.tsx"
import { Results } from "./Results.tsx"
import { Retry } from "./Retry.tsx"
import { type Batch, fileOf, useBatch } from "./useBatch.ts"

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
          {!may && (
            <p>Your role is viewer. A member, an admin or an owner can cancel a batch and run its blocked rows.</p>
          )}
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

const BatchPage = () => {
  const batch = useBatch(useParam("batch_id"))
  return (
    <Loaded query={batch} skeleton={<Skeleton lines={8} height={24} />}>
      {(data) => <Shown batch={data} />}
    </Loaded>
  )
}

export default BatchPage
