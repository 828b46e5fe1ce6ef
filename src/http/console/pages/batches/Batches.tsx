/** All batches, newest first, with their progress. */
import { useMay } from "../../data/session.ts"
import { PagedTable } from "../../lists/PagedList.tsx"
import { ButtonLink } from "../../parts/Button.tsx"
import { CodeBlock } from "../../parts/Copy.tsx"
import { RowLink } from "../../parts/Link.tsx"
import { Empty, PageHead } from "../../parts/Page.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Money, Status, Time } from "../../parts/Values.tsx"
import { type Batch, endedOf, fileOf, useBatches } from "./useBatch.ts"

const columns: ReadonlyArray<Column<Batch>> = [
  {
    title: "Batch",
    cell: (batch) => (
      <RowLink to={`/batches/${batch.id}`} className="wrap-anywhere" title={batch.id}>
        {fileOf(batch) ?? batch.id}
      </RowLink>
    )
  },
  { title: "Status", cell: ({ status }) => <Status status={status} /> },
  {
    title: "Rows",
    cell: (batch) =>
      batch.done
        ? batch.rows.total.toLocaleString("en")
        : `${endedOf(batch).toLocaleString("en")} of ${batch.rows.total.toLocaleString("en")}`,
    align: "right"
  },
  { title: "Succeeded", cell: ({ rows }) => rows.succeeded.toLocaleString("en"), align: "right", wide: true },
  { title: "Blocked", cell: ({ rows }) => rows.blocked.toLocaleString("en"), align: "right", wide: true },
  { title: "Charged", cell: ({ charged }) => <Money amount={charged} />, align: "right" },
  {
    title: "Limit",
    cell: ({ max_total }) => (max_total === null ? "none" : <Money amount={max_total} />),
    align: "right",
    wide: true
  },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} />, align: "right", wide: true }
]

const command =
  "rungate batch people.csv --capability email.find --map full_name=Name,company_domain=Website --max-total 25.00"

const List = () => (
  <PagedTable
    paged={useBatches()}
    label="Batches"
    columns={columns}
    keyOf={({ id }) => id}
    toOf={({ id }) => `/batches/${id}`}
    empty={
      <Empty title="Batches will be here, newest first.">
        <p className="text-muted">
          A batch runs one capability for each row of a CSV, with one limit on what all rows cost together. Start one
          here, or with the command:
        </p>
        <div className="w-full max-w-3xl">
          <CodeBlock label="the command" text={command} />
        </div>
      </Empty>
    }
  />
)

const Batches = () => {
  const may = useMay("batches.create")
  return (
    <>
      <PageHead
        title="Batches"
        actions={
          may && (
            <ButtonLink to="/batches/new" look="primary">
              New batch
            </ButtonLink>
          )
        }
      >
        {!may && "Your role is viewer. A member, an admin or an owner can start a batch."}
      </PageHead>
      <List />
    </>
  )
}

export default Batches
