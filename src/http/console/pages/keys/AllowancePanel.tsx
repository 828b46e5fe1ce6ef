/** The money of an allowance, on the page of its key. */
import { useQuery } from "@tanstack/react-query"
import { Money } from "../../parts/Money.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Loaded, Skeleton } from "../../parts/States.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { Spent } from "./Allowances.tsx"
import { RevokeAllowance } from "./RevokeAllowance.tsx"
import { readAllowance } from "./useAllowances.ts"

export const AllowancePanel = ({
  allowance_id,
  may
}: {
  readonly allowance_id: string
  /** Whether the person may revoke allowances. */
  readonly may: boolean
}) => {
  const query = useQuery({
    queryKey: ["keys", "allowance", allowance_id],
    queryFn: () => readAllowance(allowance_id)
  })
  return (
    <Panel title="Allowance">
      <Loaded query={query} skeleton={<Skeleton lines={4} />}>
        {(allowance) => (
          <div className="space-y-4">
            <Spent {...allowance} />
            <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
              <dt className="text-muted">Held</dt>
              <dd>
                <Money amount={allowance.held} />
              </dd>
              <dt className="text-muted">Left</dt>
              <dd>
                <Money amount={allowance.available} />
              </dd>
              <dt className="text-muted">Given by</dt>
              <dd>
                {allowance.parent_id === null ? (
                  "a person"
                ) : (
                  <TextLink to={`/settings/keys/${allowance.parent_id}`} className="break-all">
                    {allowance.parent_id}
                  </TextLink>
                )}
              </dd>
            </dl>
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
