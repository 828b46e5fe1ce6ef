/** Allowances: what each has spent, holds and has left, when it ends, and who gave it. */
import { useMay } from "../../data/session.ts"
import { Meter } from "../../forms/Meter.tsx"
import { PagedTable } from "../../lists/PagedList.tsx"
import { ButtonLink } from "../../parts/Button.tsx"
import { Empty, Panel } from "../../parts/Page.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Badge, Money, Time } from "../../parts/Values.tsx"
import { KeyLink, KeyName } from "./KeyName.tsx"
import { scopeWords } from "./KeyState.tsx"
import { RevokeAllowance } from "./RevokeAllowance.tsx"
import { type Allowance, useAllowances } from "./useAllowances.ts"

export const Spent = ({ spent, amount }: Pick<Allowance, "spent" | "amount">) => (
  <div className="space-y-1">
    <div>
      <Money amount={spent} /> of <Money amount={amount} />
    </div>
    <Meter spent={spent} limit={amount} label="Part of the allowance that is spent" />
  </div>
)

/** `names` are those of keys, by their ids. */
const columnsOf = (names: ReadonlyMap<string, string>, may: boolean): ReadonlyArray<Column<Allowance>> => [
  {
    title: "Name",
    cell: (key) => <KeyName {...key} />
  },
  {
    title: "State",
    cell: ({ status }) => <Badge tone={status === "active" ? "green" : "grey"}>{status}</Badge>
  },
  { title: "Spent", cell: (allowance) => <Spent {...allowance} /> },
  { title: "Held", cell: ({ held }) => <Money amount={held} />, align: "right", wide: true },
  { title: "Left", cell: ({ available }) => <Money amount={available} />, align: "right" },
  { title: "Expires", cell: ({ expires_at }) => (expires_at === null ? "never" : <Time at={expires_at} />) },
  { title: "May run", cell: scopeWords, wide: true },
  {
    title: "Given by",
    cell: ({ parent_id }) =>
      parent_id === null ? "a person" : <KeyLink id={parent_id} name={names.get(parent_id) ?? "a key"} />,
    wide: true
  },
  ...(may
    ? [
        {
          title: "Actions",
          cell: (allowance: Allowance) => allowance.status === "active" && <RevokeAllowance allowance={allowance} />,
          align: "right" as const
        }
      ]
    : [])
]

export const Allowances = ({
  names,
  showsEnded
}: {
  readonly names: ReadonlyMap<string, string>
  readonly showsEnded: boolean
}) => {
  const may = useMay("allowances.create")
  const paged = useAllowances()
  const items = paged.items?.filter(({ status }) => showsEnded || status === "active") ?? null
  return (
    <Panel
      title="Allowances"
      className="mt-6"
      actions={may && <ButtonLink to="/settings/keys/new-allowance">Give an allowance</ButtonLink>}
    >
      <p className="mb-3 text-muted">
        An allowance is a key with an amount of the wallet's money, which is held for it at once. What is unused returns
        when it ends.
      </p>
      <PagedTable
        paged={{ ...paged, items }}
        label="Allowances of the organization"
        columns={columnsOf(names, may)}
        keyOf={({ id }) => id}
        empty={
          <Empty title={showsEnded ? "Allowances will be here." : "No allowance is in use."}>
            <p className="text-muted">Give one to each agent that may spend some of your money.</p>
          </Empty>
        }
      />
    </Panel>
  )
}
