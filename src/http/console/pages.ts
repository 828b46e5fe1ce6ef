/**
 * The pages of the console, by the place that lists them. A line here makes a page's address, its entry in the rail and its entry in the
 * palette; the page itself is the file that the line loads, whose default export is a component.
 *
 * The build reads this list too, so that the service answers these addresses with the console (scripts/console.ts).
 */
import * as icons from "lucide-react"
import type { Page } from "./data/page.ts"

/** `icon` and `shortcut` are for pages that a rail lists. */
const page = (path: string, title: string, load: Page["load"], icon?: Page["icon"], shortcut?: string): Page => ({
  path,
  title,
  load,
  icon,
  shortcut
})

const inRail: ReadonlyArray<Page> = [
  {
    path: "/",
    title: "Home",
    access: "both",
    icon: icons.House,
    shortcut: "h",
    load: async () => {
      const front = await import("./pages/start/Front.tsx")
      await front.homeLoaded
      return front
    }
  },
  page("/activity", "Activity", () => import("./pages/activity/Activity.tsx"), icons.Activity, "a"),
  page("/catalog", "Catalog", () => import("./pages/catalog/Catalog.tsx"), icons.BookOpen, "c"),
  page("/batches", "Batches", () => import("./pages/batches/Batches.tsx"), icons.Boxes, "b"),
  page("/history", "History", () => import("./pages/history/History.tsx"), icons.Clock, "y"),
  page("/wallet", "Wallet", () => import("./pages/wallet/Wallet.tsx"), icons.Wallet, "w"),
  page("/usage", "Usage", () => import("./pages/usage/Usage.tsx"), icons.ChartColumn, "u")
]

const inSettings: ReadonlyArray<Page> = [
  page("/settings/keys", "API keys", () => import("./pages/keys/Keys.tsx"), icons.Key, "k"),
  page("/settings/guard", "Spend guard", () => import("./pages/guard/Guard.tsx"), icons.ShieldCheck),
  page("/settings/label-budgets", "Label budgets", () => import("./pages/labelbudgets/LabelBudgets.tsx"), icons.Tag),
  page("/settings/senders", "Senders", () => import("./pages/senders/Senders.tsx"), icons.Mail),
  page("/settings/opt-outs", "Opt-outs", () => import("./pages/optouts/OptOuts.tsx"), icons.CircleHelp),
  page("/settings/webhooks", "Webhooks", () => import("./pages/webhooks/Webhooks.tsx"), icons.Bell),
  page("/settings/members", "Members", () => import("./pages/members/Members.tsx"), icons.Users),
  page("/settings/audit-log", "Audit log", () => import("./pages/auditlog/AuditLog.tsx"), icons.ScrollText),
  page("/settings/referrals", "Referrals", () => import("./pages/referrals/Referrals.tsx"), icons.Gift),
  page(
    "/settings/provider-accounts",
    "Provider accounts",
    () => import("./pages/provideraccounts/ProviderAccounts.tsx"),
    icons.Plug
  ),
  page("/settings/code", "As code", () => import("./pages/configuration/Configuration.tsx"), icons.FileCode),
  page("/settings/account", "Account", () => import("./pages/start/Account.tsx"), icons.CircleUser)
]

const inPalette: ReadonlyArray<Page> = [
  page("/approvals", "Approvals", () => import("./pages/approvals/Approvals.tsx")),
  page("/batches/new", "New batch", () => import("./pages/batches/new/NewBatch.tsx"))
]

/** Of one object, or behind a button. */
const ofOneObject: ReadonlyArray<Page> = [
  page("/runs/$run_id", "Run", () => import("./pages/run/RunPage.tsx")),
  page("/catalog/$capability", "Capability", () => import("./pages/catalog/InspectedPage.tsx")),
  page("/catalog/$provider/$", "Endpoint", () => import("./pages/catalog/InspectedPage.tsx")),
  page("/batches/$batch_id", "Batch", () => import("./pages/batches/BatchPage.tsx")),
  page("/settings/keys/new", "Create an API key", () => import("./pages/keys/NewKey.tsx")),
  page("/settings/keys/new-allowance", "Give an allowance", () => import("./pages/keys/NewAllowance.tsx")),
  page("/settings/keys/$key_id", "API key", () => import("./pages/keys/KeyPage.tsx")),
  page("/settings/webhooks/new", "Add a webhook endpoint", () => import("./pages/webhooks/NewEndpoint.tsx")),
  page("/settings/webhooks/$endpoint_id", "Webhook endpoint", () => import("./pages/webhooks/EndpointPage.tsx")),
  page("/authorize", "Connect an agent", () => import("./pages/authorize/Authorize.tsx"))
]

/** For people without a session. */
const ofStrangers: ReadonlyArray<Page> = [
  page("/sign-in", "Sign in", () => import("./pages/start/SignIn.tsx")),
  page("/sign-up", "Sign up", () => import("./pages/start/SignUp.tsx")),
  page("/forgot", "Forgot your password", () => import("./pages/start/Forgot.tsx")),
  // Addresses of links in e-mails, of invitations and of referrals. Without a console the service has its own pages there (src/http/pages).
  page("/forgot-password", "Forgot your password", () => import("./pages/start/Forgot.tsx")),
  page("/reset-password", "Set a new password", () => import("./pages/start/Reset.tsx")),
  page("/verify-email", "Verify your address", () => import("./pages/start/Verify.tsx")),
  page("/invitation", "Sign up", () => import("./pages/start/SignUp.tsx")),
  page("/join/$code", "Join with a code", () => import("./pages/start/SignUp.tsx")),
  page("/join-organization", "Join an organization", () => import("./pages/start/JoinOrganization.tsx")),
  page("/operator/sign-in", "Operator sign-in", () => import("./pages/operator/SignIn.tsx"))
]

const ofOperator: ReadonlyArray<Page> = [
  page("/operator", "Overview", () => import("./pages/operator/Overview.tsx"), icons.LayoutDashboard, "v"),
  page(
    "/operator/organizations",
    "Organizations",
    () => import("./pages/operator/Organizations.tsx"),
    icons.Building2,
    "o"
  ),
  page("/operator/books", "Books", () => import("./pages/operator/Books.tsx"), icons.BookCheck, "b"),
  page("/operator/queues", "Queues", () => import("./pages/operator/waiting/Queues.tsx"), icons.Layers, "q"),
  page("/operator/providers", "Providers", () => import("./pages/operator/Providers.tsx"), icons.Plug, "p"),
  page("/operator/payments", "Payments", () => import("./pages/operator/Payments.tsx"), icons.CreditCard, "m"),
  page(
    "/operator/unknown",
    "Unknown outcomes",
    () => import("./pages/operator/waiting/Outcomes.tsx"),
    icons.CircleHelp,
    "u"
  ),
  page("/operator/disputes", "Disputes", () => import("./pages/operator/waiting/Disputes.tsx"), icons.Undo2, "d"),
  page("/operator/invitations", "Invitations", () => import("./pages/operator/Invitations.tsx"), icons.MailPlus, "i"),
  page(
    "/operator/opt-outs",
    "Opt-outs",
    async () => ({ default: (await import("./pages/optouts/OptOuts.tsx")).ServiceOptOuts }),
    icons.CircleHelp
  ),
  page("/operator/catalog", "Catalog", () => import("./pages/operator/catalog/Catalog.tsx"), icons.BookOpen, "c"),
  page("/operator/audit-log", "Audit log", () => import("./pages/operator/log/AuditLog.tsx"), icons.ScrollText, "l")
]

/** Pages that other pages of the operator lead to. */
const belowOperator: ReadonlyArray<Page> = [
  page(
    "/operator/organizations/$org_id",
    "Organization",
    () => import("./pages/operator/organization/Organization.tsx")
  ),
  page("/operator/credits", "Provider credits", () => import("./pages/operator/Credits.tsx"))
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
