/**
 * Definitions of the operator's commands. They work directly on the database, with the settings of the service.
 *
 * The handlers (operations.ts, admin.ts …) are loaded on demand, so that other commands start fast.
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { fail } from "../cli/terminal/exits.ts"
import { json, limitOf } from "./flags.ts"
import { disputes, losses, margins, unknown } from "./outcomeCommands.ts"
import { resourceKinds } from "../../schema/catalog/Endpoint.ts"
import { backup, move, reload, restore } from "./upkeep/commands.ts"
import { boolean, yes } from "../cli/terminal/flags.ts"

const operations = Effect.promise(() => import("./operations.ts"))

/** The compiled file (scripts/compile.ts) runs in a virtual file system without other files. */
const compiled = /[$~]bun/i.test(import.meta.dir)

/** Loads a module that needs files of the package: PostgreSQL and the shipped catalog. */
export const packaged = <A>(load: () => Promise<A>) =>
  Effect.suspend(() =>
    compiled
      ? fail(
          "failed",
          "The compiled file contains no database and no catalog. Run this command from the package (npm start or npx rungate)."
        )
      : Effect.promise(load)
  )

export const migrate = Command.make(
  "migrate",
  {
    service_role: Flag.String("service-role").pipe(
      Flag.withDescription("database role of the service; it gets only the privileges that it needs"),
      Flag.optional
    )
  },
  ({ service_role }) =>
    Effect.flatMap(
      Effect.promise(() => import("./migrate.ts")),
      (loaded) => loaded.migrate(Option.getOrNull(service_role))
    )
).pipe(
  Command.withDescription(
    "Migrate the database schema as its owner (RUNGATE_MIGRATION_DATABASE_URL, default: DATABASE_URL)"
  )
)

/** Ten years. */
const processorDaysMax = 3_650

export const audit = Command.make(
  "audit",
  {
    days: Flag.Int("processor-days").pipe(
      Flag.withDescription(
        `compare the top-ups of this many days with Stripe, if STRIPE_SECRET_KEY is set; 0 skips this, the most is ${processorDaysMax}`
      ),
      Flag.filter(
        (days) => days >= 0 && days <= processorDaysMax,
        (days) => `--processor-days must be from 0 to ${processorDaysMax}, not ${days}`
      ),
      // A monthly audit then leaves no gap.
      Flag.withDefault(35)
    )
  },
  ({ days }) => Effect.flatMap(operations, (loaded) => loaded.audit(days))
).pipe(
  Command.withDescription(
    "Recompute all wallets from the ledger; exit code 1 on an inconsistency, a difference from Stripe, or when Stripe can't be reached"
  )
)

const all = boolean("all", "show every line")
const patterns = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.between(0, 100))

const importCommand = Command.make(
  "import",
  {
    location: Argument.String("source").pipe(
      Argument.withDescription("file or URL of an OpenAPI 2, 3.0 or 3.1 document or a manifest; or: apify")
    ),
    provider: Flag.String("provider").pipe(
      Flag.withDescription("slug of the provider of an OpenAPI document"),
      Flag.optional
    ),
    title: Flag.String("title").pipe(Flag.withDescription("name of a new provider"), Flag.optional),
    sources: Flag.String("sources").pipe(
      Flag.withDescription("folder with the documents of a manifest"),
      Flag.optional
    ),
    task: boolean("task", "request bodies are arrays of task objects"),
    include: patterns("include", "import only these operations, such as 'GET /v1/*'; may be repeated"),
    exclude: patterns("exclude", "skip these operations; may be repeated"),
    allow: patterns("allow", "of apify, import only these actors: owner/name or owner/*; may be repeated"),
    dry_run: boolean("dry-run", "show the changes without applying them"),
    all
  },
  ({ location, provider, title, sources, task, include, exclude, allow, dry_run, all }) =>
    Effect.flatMap(
      packaged(() => import("./operations.ts")),
      (loaded) =>
        loaded.importCatalog({
          request: {
            location,
            provider: Option.getOrNull(provider),
            title: Option.getOrNull(title),
            sources: Option.getOrNull(sources),
            body_type: task ? "task" : "json",
            include,
            exclude,
            allow
          },
          dry_run,
          all
        })
    )
).pipe(Command.withDescription("Import a provider's raw endpoints: shows the changes and applies all of them or none"))

const reset = Command.make("reset", { provider: Argument.String("provider") }, ({ provider }) =>
  Effect.flatMap(
    packaged(() => import("./operations.ts")),
    (loaded) => loaded.resetCatalog(provider)
  )
).pipe(Command.withDescription("Delete a provider's import and use the shipped catalog"))

export const catalog = Command.make("catalog").pipe(
  Command.withDescription("Manage the catalog of raw endpoints"),
  Command.withSubcommands([importCommand, reset])
)

const administration = Effect.promise(() => import("./admin.ts"))

const organization = Argument.String("org_id").pipe(Argument.withDescription("organization id, as admin orgs lists it"))

const createOrganization = Command.make(
  "create",
  { name: Argument.String("name").pipe(Argument.withDescription("name of the organization")), json },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./secrets.ts")),
      (loaded) => loaded.createOrganization(given)
    )
).pipe(Command.withDescription("Create an organization, and print its first API key once"))

const orgs = Command.make(
  "orgs",
  {
    limit: limitOf("organizations", 50),
    search: Flag.String("search").pipe(Flag.withDescription("filter by name, a member's e-mail or id"), Flag.optional),
    json
  },
  ({ limit, search, json }) =>
    Effect.flatMap(administration, (loaded) => loaded.organizations(Option.getOrNull(search), limit, json))
).pipe(
  Command.withDescription("List organizations with their wallets, newest first"),
  Command.withSubcommands([createOrganization])
)

const show = Command.make("show", { org_id: organization, json }, ({ org_id, json }) =>
  Effect.flatMap(
    Effect.promise(() => import("./show.ts")),
    (loaded) => loaded.show(org_id, json)
  )
).pipe(
  Command.withDescription(
    "Show an organization's wallet, keys, ledger and open runs; exit code 1 when its books don't add up"
  )
)

const auditLog = Command.make(
  "audit-log",
  {
    org: Flag.String("org").pipe(Flag.withDescription("only changes in this organization"), Flag.optional),
    action: Flag.String("action").pipe(
      Flag.withDescription("only this action, such as key.revoked, or all that begin with key"),
      Flag.optional
    ),
    actor: Flag.String("actor").pipe(
      Flag.withDescription("only this actor: an id, an e-mail address, person, key, operator or system"),
      Flag.optional
    ),
    limit: limitOf("entries", 50),
    json
  },
  ({ org, action, actor, ...given }) =>
    Effect.flatMap(
      Effect.promise(() => import("./show.ts")),
      (loaded) =>
        loaded.auditLog({
          ...given,
          org: Option.getOrNull(org),
          action: Option.getOrNull(action),
          actor: Option.getOrNull(actor)
        })
    )
).pipe(Command.withDescription("List who changed what, newest first: in one organization, or everywhere"))

const crediting = (name: string, type: "bonus" | "refund", description: string) =>
  Command.make(
    name,
    {
      org_id: organization,
      amount: Argument.String("amount").pipe(Argument.withDescription("in USD, such as 10.00")),
      note: Flag.String("note").pipe(Flag.withDescription("reason; the organization sees it in its ledger")),
      reference: Flag.String("reference").pipe(
        Flag.withDescription("unique reference: the same reference is booked only once"),
        Flag.optional
      ),
      yes,
      json
    },
    ({ reference, ...given }) =>
      Effect.flatMap(administration, (loaded) =>
        loaded.credit({ ...given, type, reference: Option.getOrNull(reference) })
      )
  ).pipe(Command.withDescription(description))

const invite = Command.make(
  "invite",
  {
    email: Argument.String("email").pipe(
      Argument.withDescription("e-mail address; the invitation is only valid for it")
    ),
    json
  },
  ({ email, json }) => Effect.flatMap(administration, (loaded) => loaded.invite(email, json))
).pipe(Command.withDescription("Print a sign-up link for one e-mail address; it works once, for seven days"))

const consoleCommand = Command.make("console", { json }, ({ json }) =>
  Effect.flatMap(
    Effect.promise(() => import("./secrets.ts")),
    (loaded) => loaded.consoleLink(json)
  )
).pipe(Command.withDescription("Print a link that signs in to the operator console; it works once, for ten minutes"))

const revoke = Command.make(
  "revoke",
  { key_id: Argument.String("key_id").pipe(Argument.withDescription("key id, as admin show lists it")), json },
  ({ key_id, json }) => Effect.flatMap(administration, (loaded) => loaded.revoke(key_id, json))
).pipe(Command.withDescription("Revoke an API key immediately and permanently"))

const createKey = Command.make(
  "create",
  {
    org_id: organization,
    name: Flag.String("name").pipe(
      Flag.withDescription("name of the key, as the organization sees it"),
      Flag.withDefault("created by the operator")
    ),
    json
  },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./secrets.ts")),
      (loaded) => loaded.createKey(given)
    )
).pipe(Command.withDescription("Create an API key for an organization and print it once"))

const reindex = Command.make(
  "reindex-history",
  {
    restart: boolean("restart", "start from the beginning instead of continuing an interrupted reindex")
  },
  ({ restart }) => Effect.flatMap(administration, (loaded) => loaded.reindexHistory(restart))
).pipe(
  Command.withDescription(
    "Rebuild the history index from the runs, beside a running service: adds, corrects and removes entries"
  )
)

const migrations = Command.make("migrations", { json }, ({ json }) =>
  Effect.flatMap(
    Effect.promise(() => import("./migrate.ts")),
    (loaded) => loaded.migrations(json)
  )
).pipe(Command.withDescription("Show the schema's version and the progress of background migrations"))

const ownership = Effect.promise(() => import("./resources.ts"))

const kind = Argument.Literals("kind", resourceKinds).pipe(Argument.withDescription(resourceKinds.join(", ")))
const changing = (name: "assign" | "revoke", description: string) =>
  Command.make(
    name,
    {
      org_id: organization,
      kind,
      id: Argument.String("id").pipe(
        Argument.withDescription("e-mail address, domain, or the provider's id of the account or job")
      ),
      provider: Flag.String("provider").pipe(Flag.withDescription("provider of the account or job"), Flag.optional),
      json
    },
    ({ provider, ...given }) =>
      Effect.flatMap(ownership, (loaded) => loaded[name]({ ...given, provider: Option.getOrNull(provider) }))
  ).pipe(Command.withDescription(description))

const resources = Command.make("resources").pipe(
  Command.withDescription("Assign objects in the shared provider accounts to organizations"),
  Command.withSubcommands([
    changing("assign", "Let only this organization's runs use an object"),
    changing("revoke", "Take an object from an organization, including a verified sender"),
    Command.make(
      "list",
      {
        org_id: organization,
        kind: kind.pipe(Argument.optional),
        limit: limitOf("objects", 100),
        json
      },
      ({ org_id, kind, limit, json }) =>
        Effect.flatMap(ownership, (loaded) => loaded.list(org_id, Option.getOrNull(kind), limit, json))
    ).pipe(Command.withDescription("List what an organization owns, newest first"))
  ])
)

const rotate = Command.make("rotate", { json }, ({ json }) =>
  Effect.flatMap(administration, (loaded) => loaded.rotateReceiptKey(json))
).pipe(Command.withDescription("Sign receipts with a new key from now on; older receipts stay valid"))

const resume = Command.make("resume", { org_id: organization, json }, ({ org_id, json }) =>
  Effect.flatMap(administration, (loaded) => loaded.resume(org_id, json))
).pipe(
  Command.withDescription("Let a wallet take runs again that a check of the books has suspended, if its books add up")
)

export const admin = Command.make("admin").pipe(
  Command.withDescription("Manage organizations: credit, ledger and keys"),
  Command.withSubcommands([
    orgs,
    show,
    auditLog,
    consoleCommand,
    invite,
    crediting("credit", "bonus", "Grant credit to an organization"),
    crediting("refund", "refund", "Refund an organization"),
    losses,
    margins,
    unknown,
    resume,
    disputes,
    reindex,
    migrations,
    reload,
    backup,
    restore,
    move,
    resources,
    Command.make("receipts").pipe(
      Command.withDescription("Manage the key that signs receipts"),
      Command.withSubcommands([rotate])
    ),
    Command.make("keys").pipe(Command.withDescription("Manage API keys"), Command.withSubcommands([createKey, revoke]))
  ])
)
