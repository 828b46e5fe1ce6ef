/**
 * The pages of the console, by the place that lists them. A line here makes a page's address, its entry in the rail and its entry in the
 * palette; the page itself is the file that the line loads, whose default export is a component.
 *
 * The build reads this list too, so that the service answers these addresses with the console (scripts/console.ts).
 */
import type { Page } from "./data/page.ts"

const inRail: ReadonlyArray<Page> = [
  {
    path: "/",
    title: "Home",
    access: "both",
    icon: "home",
    shortcut: "h",
    load: async () => {
      const front = await import("./pages/start/Front.tsx")
      await front.homeLoaded
      return front
    }
  },
  {
    path: "/activity",
    title: "Activity",
    icon: "activity",
    shortcut: "a",
    load: () => import("./pages/activity/Activity.tsx")
  },
  {
    path: "/catalog",
    title: "Catalog",
    icon: "catalog",
    shortcut: "c",
    load: () => import("./pages/catalog/Catalog.tsx")
  },
  {
    path: "/batches",
    title: "Batches",
    icon: "batches",
    shortcut: "b",
    load: () => import("./pages/batches/Batches.tsx")
  },
  {
    path: "/history",
    title: "History",
    icon: "history",
    shortcut: "y",
    load: () => import("./pages/history/History.tsx")
  },
  { path: "/wallet", title: "Wallet", icon: "wallet", shortcut: "w", load: () => import("./pages/wallet/Wallet.tsx") },
  { path: "/usage", title: "Usage", icon: "usage", shortcut: "u", load: () => import("./pages/usage/Usage.tsx") }
]

const inSettings: ReadonlyArray<Page> = [
  {
    path: "/settings/keys",
    title: "API keys",
    icon: "key",
    shortcut: "k",
    load: () => import("./pages/keys/Keys.tsx")
  },
  { path: "/settings/guard", title: "Spend guard", icon: "guard", load: () => import("./pages/guard/Guard.tsx") },
  {
    path: "/settings/label-budgets",
    title: "Label budgets",
    icon: "label",
    load: () => import("./pages/labelbudgets/LabelBudgets.tsx")
  },
  { path: "/settings/senders", title: "Senders", icon: "senders", load: () => import("./pages/senders/Senders.tsx") },
  { path: "/settings/opt-outs", title: "Opt-outs", icon: "unknown", load: () => import("./pages/optouts/OptOuts.tsx") },
  {
    path: "/settings/webhooks",
    title: "Webhooks",
    icon: "webhooks",
    load: () => import("./pages/webhooks/Webhooks.tsx")
  },
  { path: "/settings/members", title: "Members", icon: "members", load: () => import("./pages/members/Members.tsx") },
  {
    path: "/settings/audit-log",
    title: "Audit log",
    icon: "audit",
    load: () => import("./pages/auditlog/AuditLog.tsx")
  },
  {
    path: "/settings/referrals",
    title: "Referrals",
    icon: "referrals",
    load: () => import("./pages/referrals/Referrals.tsx")
  },
  {
    path: "/settings/provider-accounts",
    title: "Provider accounts",
    icon: "provider",
    load: () => import("./pages/provideraccounts/ProviderAccounts.tsx")
  },
  {
    path: "/settings/code",
    title: "As code",
    icon: "code",
    load: () => import("./pages/configuration/Configuration.tsx")
  },
  { path: "/settings/account", title: "Account", icon: "account", load: () => import("./pages/start/Account.tsx") }
]

const inPalette: ReadonlyArray<Page> = [
  { path: "/approvals", title: "Approvals", load: () => import("./pages/approvals/Approvals.tsx") },
  { path: "/batches/new", title: "New batch", load: () => import("./pages/batches/new/NewBatch.tsx") }
]

/** Of one object, or behind a button. */
const ofOneObject: ReadonlyArray<Page> = [
  { path: "/runs/$run_id", title: "Run", load: () => import("./pages/run/RunPage.tsx") },
  { path: "/catalog/$capability", title: "Capability", load: () => import("./pages/catalog/CapabilityPage.tsx") },
  { path: "/catalog/$provider/$", title: "Endpoint", load: () => import("./pages/catalog/EndpointPage.tsx") },
  { path: "/batches/$batch_id", title: "Batch", load: () => import("./pages/batches/BatchPage.tsx") },
  { path: "/settings/keys/new", title: "Create an API key", load: () => import("./pages/keys/NewKey.tsx") },
  {
    path: "/settings/keys/new-allowance",
    title: "Give an allowance",
    load: () => import("./pages/keys/NewAllowance.tsx")
  },
  { path: "/settings/keys/$key_id", title: "API key", load: () => import("./pages/keys/KeyPage.tsx") },
  {
    path: "/settings/webhooks/new",
    title: "Add a webhook endpoint",
    load: () => import("./pages/webhooks/NewEndpoint.tsx")
  },
  {
    path: "/settings/webhooks/$endpoint_id",
    title: "Webhook endpoint",
    load: () => import("./pages/webhooks/EndpointPage.tsx")
  },
  { path: "/authorize", title: "Connect an agent", load: () => import("./pages/authorize/Authorize.tsx") }
]

/** For people without a session. */
const ofStrangers: ReadonlyArray<Page> = [
  { path: "/sign-in", title: "Sign in", load: () => import("./pages/start/SignIn.tsx") },
  { path: "/sign-up", title: "Sign up", load: () => import("./pages/start/SignUp.tsx") },
  { path: "/sign-up/$code", title: "Join with a code", load: () => import("./pages/start/SignUp.tsx") },
  { path: "/forgot", title: "Forgot your password", load: () => import("./pages/start/Forgot.tsx") },
  { path: "/reset", title: "Set a new password", load: () => import("./pages/start/Reset.tsx") },
  { path: "/verify", title: "Verify your address", load: () => import("./pages/start/Verify.tsx") },
  { path: "/join", title: "Join an organization", load: () => import("./pages/start/JoinOrganization.tsx") },
  // Addresses of links in e-mails, of invitations and of referrals. Without a console the service has its own pages there (src/http/pages).
  { path: "/forgot-password", title: "Forgot your password", load: () => import("./pages/start/Forgot.tsx") },
  { path: "/reset-password", title: "Set a new password", load: () => import("./pages/start/Reset.tsx") },
  { path: "/verify-email", title: "Verify your address", load: () => import("./pages/start/Verify.tsx") },
  { path: "/invitation", title: "Sign up", load: () => import("./pages/start/SignUp.tsx") },
  { path: "/join/$code", title: "Join with a code", load: () => import("./pages/start/SignUp.tsx") },
  {
    path: "/join-organization",
    title: "Join an organization",
    load: () => import("./pages/start/JoinOrganization.tsx")
  },
  { path: "/operator/sign-in", title: "Operator sign-in", load: () => import("./pages/operator/SignIn.tsx") }
]

const ofOperator: ReadonlyArray<Page> = [
  {
    path: "/operator",
    title: "Overview",
    icon: "overview",
    shortcut: "v",
    load: () => import("./pages/operator/Overview.tsx")
  },
  {
    path: "/operator/organizations",
    title: "Organizations",
    icon: "organizations",
    shortcut: "o",
    load: () => import("./pages/operator/Organizations.tsx")
  },
  {
    path: "/operator/books",
    title: "Books",
    icon: "books",
    shortcut: "b",
    load: () => import("./pages/operator/Books.tsx")
  },
  {
    path: "/operator/queues",
    title: "Queues",
    icon: "queues",
    shortcut: "q",
    load: () => import("./pages/operator/waiting/Queues.tsx")
  },
  {
    path: "/operator/providers",
    title: "Providers",
    icon: "provider",
    shortcut: "p",
    load: () => import("./pages/operator/Providers.tsx")
  },
  {
    path: "/operator/payments",
    title: "Payments",
    icon: "payments",
    shortcut: "m",
    load: () => import("./pages/operator/Payments.tsx")
  },
  {
    path: "/operator/unknown",
    title: "Unknown outcomes",
    icon: "unknown",
    shortcut: "u",
    load: () => import("./pages/operator/waiting/Outcomes.tsx")
  },
  {
    path: "/operator/disputes",
    title: "Disputes",
    icon: "disputes",
    shortcut: "d",
    load: () => import("./pages/operator/waiting/Disputes.tsx")
  },
  {
    path: "/operator/invitations",
    title: "Invitations",
    icon: "invitations",
    shortcut: "i",
    load: () => import("./pages/operator/Invitations.tsx")
  },
  {
    path: "/operator/opt-outs",
    title: "Opt-outs",
    icon: "unknown",
    load: () => import("./pages/operator/OptOuts.tsx")
  },
  {
    path: "/operator/catalog",
    title: "Catalog",
    icon: "catalog",
    shortcut: "c",
    load: () => import("./pages/operator/catalog/Catalog.tsx")
  },
  {
    path: "/operator/audit-log",
    title: "Audit log",
    icon: "audit",
    shortcut: "l",
    load: () => import("./pages/operator/log/AuditLog.tsx")
  }
]

/** Pages that other pages of the operator lead to. */
const belowOperator: ReadonlyArray<Page> = [
  {
    path: "/operator/organizations/$org_id",
    title: "Organization",
    load: () => import("./pages/operator/organization/Organization.tsx")
  },
  { path: "/operator/credits", title: "Provider credits", load: () => import("./pages/operator/Credits.tsx") }
]

const placed = (place: NonNullable<Page["place"]>, pages: ReadonlyArray<Page>): ReadonlyArray<Page> =>
  pages.map((page) => ({ ...page, place }))
const opened = (access: NonNullable<Page["access"]>, pages: ReadonlyArray<Page>): ReadonlyArray<Page> =>
  pages.map((page) => ({ ...page, access }))

export const pages: ReadonlyArray<Page> = [
  ...placed("rail", inRail),
  ...placed("palette", inPalette),
  ...placed("settings", inSettings),
  ...ofOneObject,
  ...opened("public", ofStrangers),
  ...placed("operator", opened("operator", ofOperator)),
  ...opened("operator", belowOperator)
]
