/**
 * The columns of all nouns, by their names.
 *
 * A bundler macro, as operations.ts is: the console's bundle holds the finished tables in place of the schemas.
 */
import { Allowance } from "../../schema/nouns/Allowance.ts"
import { Approval, ApprovalRule } from "../../schema/nouns/Approval.ts"
import { ApiKey } from "../../schema/nouns/ApiKey.ts"
import { Batch, BatchResult } from "../../schema/nouns/Batch.ts"
import { InspectedOffer, ListedCapability, ListedEndpoint } from "../../schema/nouns/Catalog.ts"
import { columnsOf, type NounColumns } from "../../schema/Columns.ts"
import { Dispute } from "../../schema/nouns/Dispute.ts"
import { HistoryRow } from "../../schema/nouns/History.ts"
import { Invitation, Member } from "../../schema/nouns/Member.ts"
import { BooksCheck } from "../../schema/nouns/operator/Books.ts"
import { OpenRun, KeyOfOrganization, OperatorOrganization, Person } from "../../schema/nouns/operator/Organization.ts"
import { OperatorPayment, Payment, PaymentMismatch } from "../../schema/nouns/operator/Payment.ts"
import { BillDifference } from "../../schema/nouns/operator/Bill.ts"
import { ProviderCredits } from "../../schema/nouns/operator/Credits.ts"
import { Loss, LossTotal, Margin } from "../../schema/nouns/operator/Provider.ts"
import { Lane, OpenRuns } from "../../schema/nouns/operator/Queues.ts"
import { SignUpInvitation } from "../../schema/nouns/operator/Session.ts"
import { LabelBudget, LabelValue } from "../../schema/nouns/LabelBudget.ts"
import { OptOut } from "../../schema/nouns/OptOut.ts"
import { ProviderAccount } from "../../schema/nouns/ProviderAccount.ts"
import { QuotedOffer } from "../../schema/nouns/Quote.ts"
import { Referral, ReferralCredit, ReferralProgram } from "../../schema/nouns/Referral.ts"
import { ListedRun } from "../../schema/nouns/Run.ts"
import { Sender } from "../../schema/nouns/Sender.ts"
import { OpenSession } from "../../schema/nouns/Session.ts"
import { Passkey } from "../../schema/nouns/Passkey.ts"
import { Transaction } from "../../schema/nouns/Wallet.ts"
import { UsageItem } from "../../schema/nouns/Usage.ts"
import { WebhookEndpoint } from "../../schema/nouns/Webhook.ts"

const nouns = {
  ...{ Approval, ApprovalRule },
  ...{ Allowance, ApiKey, Batch, BatchResult, Dispute, Invitation, ListedRun, Member, OpenSession, ProviderAccount },
  ...{ HistoryRow, InspectedOffer, LabelBudget, LabelValue, ListedCapability, ListedEndpoint, Passkey, QuotedOffer },
  ...{ OptOut, Referral, ReferralCredit, ReferralProgram, Sender, Transaction, UsageItem, WebhookEndpoint },
  ...{ BooksCheck, Lane, Loss, LossTotal, Margin, OpenRun, OpenRuns, KeyOfOrganization, OperatorOrganization },
  ...{ BillDifference, OperatorPayment, Payment, PaymentMismatch, Person, ProviderCredits, SignUpInvitation }
}
export type Nouns = typeof nouns

export const nounColumns = (): Readonly<Record<string, NounColumns>> =>
  Object.fromEntries(Object.entries(nouns).map(([name, noun]) => [name, columnsOf(noun)]))
