/**
 * The operator's commands: they work on the database itself, with the settings of the service.
 *
 * `catalog import` shows what would change before anything does, and changes all of it or nothing. What they do is loaded when
 * one of them is run (operations.ts, admin.ts …).
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandFailed } from "../cli/terminal/CommandFailed.ts"
import { losses, unknown } from "./outcomeCommands.ts"
import { resourceKinds } from "../../schema/catalog/Endpoint.ts"

const operations = Effect.promise(() => import("./operations.ts"))

/** The compiled file (scripts/compile.ts) sees itself in a file system of its own, where no other file is. */
const compiled = /[$~]bun/i.test(import.meta.dir)

/** Loads what needs files of the package: PostgreSQL, and the catalog that comes with it. */
export const packaged = <A>(load: () => Promise<A>) =>
  Effect.suspend(() =>
    compiled
      ? new CommandFailed({
          message: "This one file has no database and no catalog in it: run this command from the package (npm start).",
          exit_code: 1
        })
      : Effect.promise(load)
  )

export const migrate = Command.make(
  "migrate",
  {
    service_role: Flag.String("service-role").pipe(
      Flag.withDescription("the role that the service connects as: it is given what it needs to run, and nothing more"),
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
    "Bring the database's schema up to date, as its owner (RUNGATE_MIGRATION_DATABASE_URL, else DATABASE_URL)"
  )
)

/** Ten years: all that there is. */
const processorDaysMax = 3_650

export const audit = Command.make(
  "audit",
  {
    days: Flag.Int("processor-days").pipe(
      Flag.withDescription(
        `hold the top-ups of so many days against Stripe's record of payments, where STRIPE_SECRET_KEY is set; 0 leaves it out, ${processorDaysMax} is all of them`
      ),
      Flag.filter(
        (days) => days >= 0 && days <= processorDaysMax,
        (days) => `--processor-days must be from 0 to ${processorDaysMax}, not ${days}`
      ),
      // A look once a month leaves no gap.
      Flag.withDefault(35)
    )
  },
  ({ days }) => Effect.flatMap(operations, (loaded) => loaded.audit(days))
).pipe(
  Command.withDescription(
    "Recompute the books from the ledger; exit code 1 when something does not add up, differs from the payment processor, or when the processor could not be asked"
  )
)

const all = Flag.Boolean("all").pipe(Flag.withDescription("show every line"), Flag.withDefault(false))
const patterns = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.between(0, 100))

const importCommand = Command.make(
  "import",
  {
    location: Argument.String("source").pipe(
      Argument.withDescription("a file or an address: an OpenAPI 2, 3.0 or 3.1 document, or a manifest; or: apify")
    ),
    provider: Flag.String("provider").pipe(Flag.withDescription("whose catalog an OpenAPI document is"), Flag.optional),
    title: Flag.String("title").pipe(Flag.withDescription("the provider's name, when it is new"), Flag.optional),
    sources: Flag.String("sources").pipe(
      Flag.withDescription("folder of the documents that a manifest names"),
      Flag.optional
    ),
    task: Flag.Boolean("task").pipe(Flag.withDescription("bodies are arrays of task objects"), Flag.withDefault(false)),
    include: patterns("include", "only these operations, such as 'GET /v1/*'; may be repeated"),
    exclude: patterns("exclude", "not these operations; may be repeated"),
    dry_run: Flag.Boolean("dry-run").pipe(Flag.withDescription("only show what would change"), Flag.withDefault(false)),
    all
  },
  ({ location, provider, title, sources, task, include, exclude, dry_run, all }) =>
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
            exclude
          },
          dry_run,
          all
        })
    )
).pipe(
  Command.withDescription(
    "Import a provider's raw endpoints: shows the difference, and replaces all of them or nothing"
  )
)

const reset = Command.make("reset", { provider: Argument.String("provider") }, ({ provider }) =>
  Effect.flatMap(
    packaged(() => import("./operations.ts")),
    (loaded) => loaded.resetCatalog(provider)
  )
).pipe(Command.withDescription("Forget a provider's import, and use what the package ships"))

export const catalog = Command.make("catalog").pipe(
  Command.withDescription("Maintain the catalog of raw endpoints"),
  Command.withSubcommands([importCommand, reset])
)

const administration = Effect.promise(() => import("./admin.ts"))

const json = Flag.Boolean("json").pipe(Flag.withDescription("print exact JSON"), Flag.withDefault(false))
const organization = Argument.String("org_id").pipe(
  Argument.withDescription("the organization, as admin orgs shows it")
)

const orgs = Command.make(
  "orgs",
  {
    limit: Flag.Int("limit").pipe(Flag.withDescription("organizations shown, 1 to 1000"), Flag.withDefault(50)),
    search: Flag.String("search").pipe(
      Flag.withDescription("only those with this in their name or a member's e-mail, or with this id"),
      Flag.optional
    ),
    json
  },
  ({ limit, search, json }) =>
    Effect.flatMap(administration, (loaded) => loaded.organizations(Option.getOrNull(search), limit, json))
).pipe(Command.withDescription("List organizations with their wallets, newest first"))

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

const crediting = (name: string, type: "bonus" | "refund", description: string) =>
  Command.make(
    name,
    {
      org_id: organization,
      amount: Argument.String("amount").pipe(Argument.withDescription("in USD, such as 10.00")),
      note: Flag.String("note").pipe(Flag.withDescription("why; the organization reads it in its ledger")),
      reference: Flag.String("reference").pipe(
        Flag.withDescription("what makes it unique: the same one twice books once"),
        Flag.optional
      ),
      yes: Flag.Boolean("yes").pipe(Flag.withDescription("don't ask"), Flag.withDefault(false)),
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
    email: Argument.String("email").pipe(Argument.withDescription("whose; the invitation is for this address only")),
    json
  },
  ({ email, json }) => Effect.flatMap(administration, (loaded) => loaded.invite(email, json))
).pipe(Command.withDescription("Print a link to sign up with: for one address, once, within seven days"))

const revoke = Command.make(
  "revoke",
  { key_id: Argument.String("key_id").pipe(Argument.withDescription("the key, as admin show lists it")), json },
  ({ key_id, json }) => Effect.flatMap(administration, (loaded) => loaded.revoke(key_id, json))
).pipe(Command.withDescription("Revoke an API key, at once and for good"))

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
      Effect.promise(() => import("./createKey.ts")),
      (loaded) => loaded.createKey(given)
    )
).pipe(Command.withDescription("Create an API key for an organization and print it once"))

const reindex = Command.make(
  "reindex-history",
  {
    restart: Flag.Boolean("restart").pipe(
      Flag.withDescription("begin anew instead of going on where an earlier one was broken off"),
      Flag.withDefault(false)
    )
  },
  ({ restart }) => Effect.flatMap(administration, (loaded) => loaded.reindexHistory(restart))
).pipe(
  Command.withDescription(
    "Make the index of history anew from the runs, beside a running service: finds what is missing, corrects, removes"
  )
)

const ownership = Effect.promise(() => import("./resources.ts"))

const kind = Argument.Literals("kind", resourceKinds).pipe(Argument.withDescription(resourceKinds.join(", ")))
const changing = (name: "assign" | "revoke", description: string) =>
  Command.make(
    name,
    {
      org_id: organization,
      kind,
      id: Argument.String("id").pipe(
        Argument.withDescription("an address, a domain, or the provider's id of the account or job")
      ),
      provider: Flag.String("provider").pipe(Flag.withDescription("whose account or job it is"), Flag.optional),
      json
    },
    ({ provider, ...given }) =>
      Effect.flatMap(ownership, (loaded) => loaded[name]({ ...given, provider: Option.getOrNull(provider) }))
  ).pipe(Command.withDescription(description))

const resources = Command.make("resources").pipe(
  Command.withDescription("Assign objects in the shared provider accounts to organizations"),
  Command.withSubcommands([
    changing("assign", "Let an organization's runs name an object: nobody else's may"),
    changing("revoke", "Take an object from an organization, a proven sender too"),
    Command.make(
      "list",
      {
        org_id: organization,
        kind: kind.pipe(Argument.optional),
        limit: Flag.Int("limit").pipe(Flag.withDescription("objects shown, 1 to 1000"), Flag.withDefault(100)),
        json
      },
      ({ org_id, kind, limit, json }) =>
        Effect.flatMap(ownership, (loaded) => loaded.list(org_id, Option.getOrNull(kind), limit, json))
    ).pipe(Command.withDescription("List what an organization owns, newest first"))
  ])
)

export const admin = Command.make("admin").pipe(
  Command.withDescription("Look after organizations: their credit, books and keys"),
  Command.withSubcommands([
    orgs,
    show,
    invite,
    crediting("credit", "bonus", "Grant an organization credit"),
    crediting("refund", "refund", "Give an organization money back"),
    losses,
    unknown,
    reindex,
    resources,
    Command.make("keys").pipe(
      Command.withDescription("Maintain API keys"),
      Command.withSubcommands([createKey, revoke])
    )
  ])
)
