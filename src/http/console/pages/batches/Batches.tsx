/** All batches, newest first, with their progress. */
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { Denied, NewLink, Page, RowLink } from "../../parts/Page.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { endedOf, fileOf, useBatches } from "./useBatch.ts"

const columns = columnsOf("Batch", {
  id: (batch) => (
    <RowLink to={`/batches/${batch.id}`} className="wrap-anywhere" title={batch.id}>
      {fileOf(batch) ?? batch.id}
    </RowLink>
  ),
  "rows.total": (batch) =>
    `${batch.done ? "" : `${endedOf(batch).toLocaleString("en")} of `}${batch.rows.total.toLocaleString("en")}`
})

const command =
  "rungate batch people.csv --capability email.find --map full_name=Name,company_domain=Website --max-total 25.00"

const Batches = () => (
  <Page
    actions={
      <NewLink operation="batches.create" to="/batches/new" look="primary">
        New batch
      </NewLink>
    }
    lead={<Denied operation="batches.create" />}
  >
    <PagedTable
      paged={useBatches()}
      label="Batches"
      columns={columns}
      toOf={({ id }) => `/batches/${id}`}
      empty="Batches will be here, newest first."
      hint={
        <>
          <p className="text-muted">
            A batch runs one capability for each row of a CSV, with one limit on what all rows cost together. Start one
            here, or with the command:
          </p>
          <div className="w-full max-w-3xl">
            <CodeBlock label="the command" text={command} />
          </div>
        </>
      }
    />
  </Page>
)

export default Batches
