/** The whole contract under `/v1`. The OpenAPI document, the handlers and the typed client are derived from it. */
import { HttpApi, OpenApi } from "effect/http-api"
import { ConfigurationApi } from "./Configuration.ts"
import { CatalogApi } from "./Catalog.ts"
import { Malformed, RequestChecks } from "./shapes/Common.ts"
import { completed } from "./document/Document.ts"
import { DiscoveryApi } from "./Discovery.ts"
import { BrowserSessionsApi } from "./accounts/BrowserSessions.ts"
import { EventsApi } from "./Events.ts"
import { HistoryApi } from "./History.ts"
import { KeysApi } from "./accounts/Keys.ts"
import { QuotesApi } from "./Quotes.ts"
import { BatchesApi } from "./Batches.ts"
import { AuditLogApi } from "./accounts/AuditLog.ts"
import { AuthorizationApi } from "./accounts/Authorization.ts"
import { InvitationsApi, MembersApi } from "./accounts/Members.ts"
import { OperatorBooksApi } from "./operator/Books.ts"
import { OperatorAuditLogApi } from "./operator/AuditLog.ts"
import { OperatorCatalogApi } from "./operator/Catalog.ts"
import { OperatorCreditsApi } from "./operator/Credits.ts"
import { OperatorImpersonationApi } from "./operator/Impersonation.ts"
import { OperatorOptOutsApi, OptOutsApi } from "./OptOuts.ts"
import { OperatorInvitationsApi } from "./operator/Invitations.ts"
import { OperatorDisputesApi } from "./operator/Disputes.ts"
import { OperatorOutcomesApi } from "./operator/Outcomes.ts"
import { OperatorPaymentsApi } from "./operator/Payments.ts"
import { OperatorProvidersApi } from "./operator/Providers.ts"
import { OperatorOrganizationsApi } from "./operator/Organizations.ts"
import { OperatorQueuesApi } from "./operator/Queues.ts"
import { OperatorSessionsApi } from "./operator/Sessions.ts"
import { RecoveryApi } from "./accounts/Recovery.ts"
import { AllowancesApi } from "./accounts/Allowances.ts"
import { PasskeysApi } from "./accounts/Passkeys.ts"
import { ProviderAccountsApi } from "./accounts/ProviderAccounts.ts"
import { ReceiptsApi } from "./Receipts.ts"
import { ReferralsApi } from "./Referrals.ts"
import { RunsApi } from "./Runs.ts"
import { ApprovalsApi } from "./accounts/Approvals.ts"
import { LabelBudgetsApi } from "./accounts/LabelBudgets.ts"
import { SendersApi } from "./accounts/Senders.ts"
import { SessionsApi } from "./accounts/Sessions.ts"
import { TopUpsApi } from "./TopUps.ts"
import { ServiceApi } from "./Service.ts"
import { DisputesApi } from "./Disputes.ts"
import { SimulationsApi } from "./Simulations.ts"
import { UsageApi } from "./Usage.ts"
import { WebhooksApi } from "./Webhooks.ts"
import { WalletApi } from "./Wallet.ts"

/** Unknown fields are refused, because a typo in max_cost must not cost money. */
export const parseOptions = { onExcessProperty: "error", errors: "all" } as const

export class Api extends HttpApi.make("rungate")
  .add(RunsApi)
  .add(BatchesApi)
  .add(QuotesApi)
  .add(ReceiptsApi)
  .add(SimulationsApi)
  .add(DisputesApi)
  .add(HistoryApi)
  .add(DiscoveryApi)
  .add(CatalogApi)
  .add(WalletApi)
  .add(UsageApi)
  .add(TopUpsApi)
  .add(ReferralsApi)
  .add(KeysApi)
  .add(AllowancesApi)
  .add(LabelBudgetsApi)
  .add(ApprovalsApi)
  .add(OptOutsApi)
  .add(ConfigurationApi)
  .add(SendersApi)
  .add(MembersApi)
  .add(InvitationsApi)
  .add(AuditLogApi)
  .add(SessionsApi)
  .add(BrowserSessionsApi)
  .add(ServiceApi)
  .add(RecoveryApi)
  .add(PasskeysApi)
  .add(EventsApi)
  .add(WebhooksApi)
  .add(ProviderAccountsApi)
  .add(AuthorizationApi)
  .add(OperatorSessionsApi)
  .add(OperatorOrganizationsApi)
  .add(OperatorImpersonationApi)
  .add(OperatorBooksApi)
  .add(OperatorQueuesApi)
  .add(OperatorOutcomesApi)
  .add(OperatorDisputesApi)
  .add(OperatorInvitationsApi)
  .add(OperatorOptOutsApi)
  .add(OperatorPaymentsApi)
  .add(OperatorProvidersApi)
  .add(OperatorCreditsApi)
  .add(OperatorCatalogApi)
  .add(OperatorAuditLogApi)
  .prefix("/v1")
  .middleware(Malformed)
  .middleware(RequestChecks)
  .annotate(HttpApi.ParseOptions, parseOptions)
  .annotate(HttpApi.HeadersParseOptions, {})
  .annotate(OpenApi.Transform, completed)
  .annotateMerge(
    OpenApi.annotations({
      title: "Rungate",
      version: "1",
      description:
        "One API and one prepaid wallet for data and outreach providers: discover, inspect and run, and pay for what was delivered."
    })
  ) {}
