/** The states of a list: it loads, failed, is empty, is shown in part, or in full. A table is the usual form of its rows. */
import type { ReactNode } from "react"
import { Button } from "../parts/Button.tsx"
import { Failed, Skeleton } from "../parts/States.tsx"
import { type Column, DataTable } from "../parts/Table.tsx"
import type { Paged } from "./usePaged.ts"

export const PagedList = <A,>({
  paged,
  empty,
  children
}: {
  readonly paged: Paged<A>
  /** In place of no rows. */
  readonly empty: ReactNode
  readonly children: (items: ReadonlyArray<A>) => ReactNode
}) => {
  const { items, error, hasMore, isReading, more, again } = paged
  if (items === null)
    return error === null ? <Skeleton lines={6} height={28} /> : <Failed error={error} retry={again} />
  if (items.length === 0 && !hasMore) return empty
  return (
    <div className="space-y-3">
      {/* A page whose rows are all filtered out is not the end of the list. */}
      {items.length === 0 ? <p className="text-muted">None among the newest.</p> : children(items)}
      {error !== null && <Failed error={error} retry={more} />}
      {hasMore && error === null && (
        <Button busy={isReading} onClick={more}>
          Show more
        </Button>
      )}
    </div>
  )
}

export const PagedTable = <A,>({
  paged,
  empty,
  ...table
}: {
  readonly paged: Paged<A>
  readonly empty: ReactNode
  readonly label: string
  readonly columns: ReadonlyArray<Column<A>>
  readonly keyOf: (row: A) => string
  readonly toOf?: (row: A) => string
}) => (
  <PagedList paged={paged} empty={empty}>
    {(rows) => <DataTable rows={rows} {...table} />}
  </PagedList>
)
