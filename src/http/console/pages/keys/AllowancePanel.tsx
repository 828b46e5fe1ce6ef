/** The money of an allowance, on the page of its key. */
import { NounFacts } from "../../lists/nouns.tsx"
import { Loaded, Panel, Skeleton } from "../../parts/Page.tsx"
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
            <NounFacts
              noun="Allowance"
              one={allowance}
              only={["held", "available", "parent_id"]}
              cells={{ parent_id: ({ parent_id: id }) => (id === null ? "a person" : <KeyLink id={id} />) }}
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
