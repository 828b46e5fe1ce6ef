/** The contract of the books of all wallets: audits now and before, and signed heads of the ledger. */
import { HttpApiGroup } from "effect/http-api"
import { Books, BooksAudit, BooksCheck } from "../../../schema/nouns/operator/Books.ts"
import { forOperators } from "./OperatorAuth.ts"

export class OperatorBooksApi extends HttpApiGroup.make("operatorBooks").add(
  forOperators(
    "Read recorded audits",
    "The last audits of all wallets, the wallets that are suspended, and up to which day the ledger's heads are signed."
  ).get("get", "/operator/books", { success: Books }),
  forOperators(
    "Audit all wallets now",
    "Recomputes every wallet from the ledger in one snapshot. Large books take minutes, and the answer is kept for twenty times as long. It records nothing."
  ).get("audit", "/operator/books/audit", {
    success: BooksAudit
  }),
  forOperators(
    "Record an audit of all wallets",
    "Audits all wallets, or takes the answer that is kept, and records the result. Every customer reads it as last_full_check. rungate audit also compares with the payment processor."
  ).post("check", "/operator/books/checks", {
    success: BooksCheck
  })
) {}
