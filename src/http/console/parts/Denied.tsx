/** What only some roles may do. Others read who may, in the words of the contract. */
import type { ReactNode } from "react"
import type { OperationId } from "../../client/Browser.ts"
import { useDenied } from "../data/session.ts"

/** Says who may. Nothing to those. */
export const Denied = ({ operation }: { readonly operation: OperationId }) => {
  const denied = useDenied(operation)
  return denied === null ? null : <p className="text-muted">{denied}</p>
}

export const Allowed = ({ operation, children }: { readonly operation: OperationId; readonly children: ReactNode }) =>
  useDenied(operation) === null ? children : <Denied operation={operation} />
