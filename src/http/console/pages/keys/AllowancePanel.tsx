/** The money of an allowance, on the page of its key. */
import { Facts } from "../../lists/Facts.tsx"
import { Loaded, Panel, Skeleton } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { Spent } from "./Allowances.tsx"
import { KeyLink } from "./KeyName.tsx"
import { RevokeAllowance } from "./RevokeAllowance.tsx"
import { useAllowance } from "./useAllowances.ts"

export const AllowancePanel = ({
  allowance_id,
  may
}: {
  readonly allowance_id: string
  /** Whether the person may revoke allowances. */
  readonly may: boolean
}) => {
  const query = useAllowance(allowance_id)
  return (
    <Panel title="Allowance">
      <Loaded query={query} skeleton={<Skeleton lines={4} />}>
        {(allowance) => (
          <div className="space-y-4">
            <Spent {...allowance} />
            <Facts
              facts={[
                ["Held", <Money amount={allowance.held} />],
                ["Left", <Money amount={allowance.available} />],
                ["Given by", allowance.parent_id === null ? "a person" : <KeyLink id={allowance.parent_id} />]
              ]}
            />
            <p className="text-muted">
              An allowance can't be changed or rotated. To give another amount or scope, revoke it and give a new one.
            </p>
            {may && allowance.status === "active" && <RevokeAllowance allowance={allowance} />}
          </div>
        )}
      </Loaded>
    </Panel>
  )
}
