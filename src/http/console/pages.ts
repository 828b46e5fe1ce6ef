/**
 * The pages of the console. A line here makes a page's address, its entry in the rail and its entry in the palette; the page itself is the
 * file that the line loads, whose default export is a component.
 *
 * The build reads this list too, so that the service answers these addresses with the console (scripts/console.ts).
 */
import type { Page } from "./data/page.ts"

export const pages: ReadonlyArray<Page> = [
  {
    path: "/",
    title: "Home",
    access: "both",
    place: "rail",
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
    place: "rail",
    icon: "activity",
    shortcut: "a",
    load: () => import("./pages/activity/Activity.tsx")
  },
  { path: "/runs/$run_id", title: "Run", load: () => import("./pages/run/RunPage.tsx") },
  {
    path: "/catalog",
    title: "Catalog",
    place: "rail",
    icon: "catalog",
    shortcut: "c",
    load: () => import("./pages/catalog/Catalog.tsx")
  },
  { path: "/catalog/$capability", title: "Capability", load: () => import("./pages/catalog/CapabilityPage.tsx") },
  { path: "/catalog/$provider/$", title: "Endpoint", load: () => import("./pages/catalog/EndpointPage.tsx") },
  {
    path: "/batches",
    title: "Batches",
    place: "rail",
    icon: "batches",
    shortcut: "b",
    load: () => import("./pages/batches/Batches.tsx")
  },
  {
    path: "/batches/new",
    title: "New batch",
    place: "palette",
    load: () => import("./pages/batches/new/NewBatch.tsx")
  },
  { path: "/batches/$batch_id", title: "Batch", load: () => import("./pages/batches/BatchPage.tsx") },
  {
    path: "/history",
    title: "History",
    place: "rail",
    icon: "history",
    shortcut: "y",
    load: () => import("./pages/history/History.tsx")
  },
  {
    path: "/wallet",
    title: "Wallet",
    place: "rail",
    icon: "wallet",
    shortcut: "w",
    load: () => import("./pages/wallet/Wallet.tsx")
  },
  {
    path: "/usage",
    title: "Usage",
    place: "palette",
    icon: "usage",
    shortcut: "u",
    load: () => import("./pages/usage/Usage.tsx")
  },
  {
    path: "/settings/keys",
    title: "API keys",
    place: "settings",
    icon: "key",
    shortcut: "k",
    load: () => import("./pages/keys/Keys.tsx")
  },
  { path: "/settings/keys/new", title: "Create an API key", load: () => import("./pages/keys/NewKey.tsx") },
  {
    path: "/settings/keys/new-allowance",
    title: "Give an allowance",
    load: () => import("./pages/keys/NewAllowance.tsx")
  },
  { path: "/settings/keys/$key_id", title: "API key", load: () => import("./pages/keys/KeyPage.tsx") },
  {
    path: "/settings/guard",
    title: "Spend guard",
    place: "settings",
    icon: "guard",
    load: () => import("./pages/guard/Guard.tsx")
  },
  {
    path: "/settings/senders",
    title: "Senders",
    place: "settings",
    icon: "senders",
    load: () => import("./pages/senders/Senders.tsx")
  },
  {
    path: "/settings/webhooks",
    title: "Webhooks",
    place: "settings",
    icon: "webhooks",
    load: () => import("./pages/webhooks/Webhooks.tsx")
  },
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
  {
    path: "/settings/members",
    title: "Members",
    place: "settings",
    icon: "members",
    load: () => import("./pages/members/Members.tsx")
  },
  {
    path: "/settings/audit-log",
    title: "Audit log",
    place: "settings",
    icon: "audit",
    load: () => import("./pages/auditlog/AuditLog.tsx")
  },
  {
    path: "/settings/referrals",
    title: "Referrals",
    place: "settings",
    icon: "referrals",
    load: () => import("./pages/referrals/Referrals.tsx")
  },
  {
    path: "/settings/provider-accounts",
    title: "Provider accounts",
    place: "settings",
    icon: "provider",
    load: () => import("./pages/provideraccounts/ProviderAccounts.tsx")
  },
  {
    path: "/settings/account",
    title: "Account",
    place: "settings",
    icon: "account",
    load: () => import("./pages/start/Account.tsx")
  },
  { path: "/sign-in", title: "Sign in", access: "public", load: () => import("./pages/start/SignIn.tsx") },
  { path: "/sign-up", title: "Sign up", access: "public", load: () => import("./pages/start/SignUp.tsx") },
  {
    path: "/sign-up/$code",
    title: "Join with a code",
    access: "public",
    load: () => import("./pages/start/SignUp.tsx")
  },
  { path: "/forgot", title: "Forgot your password", access: "public", load: () => import("./pages/start/Forgot.tsx") },
  { path: "/reset", title: "Set a new password", access: "public", load: () => import("./pages/start/Reset.tsx") },
  { path: "/verify", title: "Verify your address", access: "public", load: () => import("./pages/start/Verify.tsx") },
  {
    path: "/join",
    title: "Join an organization",
    access: "public",
    load: () => import("./pages/start/JoinOrganization.tsx")
  },
  // Addresses of links in e-mails, of invitations and of referrals. Without a console the service has its own pages there (src/http/pages).
  {
    path: "/forgot-password",
    title: "Forgot your password",
    access: "public",
    load: () => import("./pages/start/Forgot.tsx")
  },
  {
    path: "/reset-password",
    title: "Set a new password",
    access: "public",
    load: () => import("./pages/start/Reset.tsx")
  },
  {
    path: "/verify-email",
    title: "Verify your address",
    access: "public",
    load: () => import("./pages/start/Verify.tsx")
  },
  { path: "/invitation", title: "Sign up", access: "public", load: () => import("./pages/start/SignUp.tsx") },
  { path: "/join/$code", title: "Join with a code", access: "public", load: () => import("./pages/start/SignUp.tsx") },
  {
    path: "/join-organization",
    title: "Join an organization",
    access: "public",
    load: () => import("./pages/start/JoinOrganization.tsx")
  },
  {
    path: "/authorize",
    title: "Connect an agent",
    load: () => import("./pages/authorize/Authorize.tsx")
  },
  {
    path: "/operator/sign-in",
    title: "Operator sign-in",
    access: "public",
    load: () => import("./pages/operator/SignIn.tsx")
  },
  {
    path: "/operator",
    title: "Overview",
    access: "operator",
    place: "operator",
    icon: "overview",
    shortcut: "v",
    load: () => import("./pages/operator/Overview.tsx")
  },
  {
    path: "/operator/organizations",
    title: "Organizations",
    access: "operator",
    place: "operator",
    icon: "organizations",
    shortcut: "o",
    load: () => import("./pages/operator/Organizations.tsx")
  },
  {
    path: "/operator/organizations/$org_id",
    title: "Organization",
    access: "operator",
    load: () => import("./pages/operator/organization/Organization.tsx")
  },
  {
    path: "/operator/books",
    title: "Books",
    access: "operator",
    place: "operator",
    icon: "books",
    shortcut: "b",
    load: () => import("./pages/operator/Books.tsx")
  },
  {
    path: "/operator/queues",
    title: "Queues",
    access: "operator",
    place: "operator",
    icon: "queues",
    shortcut: "q",
    load: () => import("./pages/operator/waiting/Queues.tsx")
  },
  {
    path: "/operator/providers",
    title: "Providers",
    access: "operator",
    place: "operator",
    icon: "provider",
    shortcut: "p",
    load: () => import("./pages/operator/Providers.tsx")
  },
  {
    path: "/operator/payments",
    title: "Payments",
    access: "operator",
    place: "operator",
    icon: "payments",
    shortcut: "m",
    load: () => import("./pages/operator/Payments.tsx")
  },
  {
    path: "/operator/unknown",
    title: "Unknown outcomes",
    access: "operator",
    place: "operator",
    icon: "unknown",
    shortcut: "u",
    load: () => import("./pages/operator/waiting/Outcomes.tsx")
  },
  {
    path: "/operator/disputes",
    title: "Disputes",
    access: "operator",
    place: "operator",
    icon: "disputes",
    shortcut: "d",
    load: () => import("./pages/operator/waiting/Disputes.tsx")
  },
  {
    path: "/operator/invitations",
    title: "Invitations",
    access: "operator",
    place: "operator",
    icon: "invitations",
    shortcut: "i",
    load: () => import("./pages/operator/Invitations.tsx")
  },
  {
    path: "/operator/catalog",
    title: "Catalog",
    access: "operator",
    place: "operator",
    icon: "catalog",
    shortcut: "c",
    load: () => import("./pages/operator/catalog/Catalog.tsx")
  },
  {
    path: "/operator/audit-log",
    title: "Audit log",
    access: "operator",
    place: "operator",
    icon: "audit",
    shortcut: "l",
    load: () => import("./pages/operator/log/AuditLog.tsx")
  }
]
