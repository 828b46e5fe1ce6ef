/** Cells of a payment, in the list of all and on the page of its organization. */
import type { AnswerOf } from "../../data/api.ts"
import { Id } from "../../parts/Values.tsx"

type Payment = AnswerOf<"operatorOrganizations", "get">["payments"][number]

export const paymentCells = {
  state: ({ state, failure }: Payment) => (failure === null ? state : `${state}: ${failure}`),
  payment_id: ({ session_id, payment_intent, payment_id }: Payment) => (
    <Id id={session_id ?? payment_intent ?? payment_id} what="the payment's id" />
  )
}
