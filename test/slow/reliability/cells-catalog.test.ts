/**
 * Cells share the imported catalog by their directory: an import and a reset in one cell reach all, of two imports at once one is refused, and a
 * cell serves with what it has while the directory is away, and changes nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { runMain } from "../../chaos/processes.ts"
import { proxyTo } from "../../chaos/proxy.ts"
import { openApi, type OperatorTab, operatorOf, ownPage } from "../../http/operator/operator.ts"
import { type App, startApp, type Tenant, until } from "../../kit/app.ts"
import { freshDatabase } from "../../kit/postgres.ts"

const wait = 600_000

interface Cell {
  readonly app: App
  readonly tab: OperatorTab
  readonly tenant: Tenant
}

describe("the catalog of cells", () => {
  const cells: Array<Cell> = []
  let directory: string
  const start = async (name: string, url: string, beside?: App): Promise<Cell> => {
    const settings = { RUNGATE_CELL: name, RUNGATE_DIRECTORY_URL: url }
    const app = await startApp(beside === undefined ? { settings } : { settings, beside })
    const cell = { app, tab: await operatorOf(app, `grace-${name}`), tenant: await app.tenant() }
    cells.push(cell)
    return cell
  }
  const add = async ({ app }: Cell) => {
    const run = runMain(["admin", "cells", "add", "--url", app.url], app.settings)
    expect([(await run.ended).code, run.errors()]).toEqual([0, expect.any(String)])
  }
  const inDirectory = async (statement: string) => {
    const client = new Client({ connectionString: directory })
    await client.connect()
    const { rows } = await client.query(statement)
    await client.end()
    return rows
  }
  const imports = async ({ tab }: Cell, provider: string, document: string) => {
    const compared = await tab.post("/catalog/imports", { provider, document })
    expect([compared.status, compared.text]).toEqual([200, compared.text])
    return tab.post("/catalog/imports", { provider, document, apply: true, based_on: compared.body.based_on })
  }
  const reset = ({ app, tab }: Cell, provider: string) =>
    app.call(null, "DELETE", `/v1/operator/catalog/imports/${provider}`, {
      headers: { ...ownPage(app), cookie: tab.cookie }
    })
  const statusOf = async ({ app, tenant }: Cell, provider: string, path: string) =>
    (await app.call(tenant.key, "POST", "/v1/inspect", { body: { provider, endpoint: path } })).status
  const reaches = (cell: Cell, provider: string, path: string, status: number) =>
    until(
      `${provider}${path} answers ${status} in ${cell.app.settings["RUNGATE_CELL"]}`,
      () => statusOf(cell, provider, path),
      (now) => now === status,
      20
    )
  const documents = ({ app }: Cell) =>
    app.sql("SELECT provider, revision::text AS revision, document FROM catalog_documents ORDER BY provider")
  const entries = ({ app }: Cell, provider: string) =>
    app.sql("SELECT action, actor_name FROM audit_log WHERE object = $1 ORDER BY entry_id", [provider])

  let a: Cell
  let b: Cell
  beforeAll(async () => {
    directory = await freshDatabase()
    a = await start("a", directory)
    b = await start("b", directory)
  }, wait)
  afterAll(async () => {
    for (const { app } of cells.toReversed()) await app.stop()
  }, wait)

  test("what a cell has imported before is shared when it is added, and a change before is refused", async () => {
    // As from before the directory.
    const document = openApi("/old")
    const refused = await a.tab.post("/catalog/imports", { provider: "older", document })
    expect([refused.status, refused.body.error.code]).toEqual([503, "service_unavailable"])
    expect(refused.body.error.message).toContain("rungate admin cells add")
    const alone = await startApp({ beside: a.app })
    try {
      const cell = { app: alone, tab: await operatorOf(alone), tenant: a.tenant }
      expect((await imports(cell, "older", document)).status).toBe(200)
    } finally {
      await alone.stop()
    }
    await add(a)
    await add(b)
    await reaches(b, "older", "/old", 200)
    expect(await documents(b)).toEqual(await documents(a))
  })

  test("an import and a reset reach every cell, and each log names the operator", async () => {
    expect((await imports(a, "example", openApi("/people"))).body.applied).toBe(true)
    await reaches(a, "example", "/people", 200)
    await reaches(b, "example", "/people", 200)
    expect((await imports(b, "example", openApi("/companies"))).body).toMatchObject({
      added: ["GET /companies"],
      removed: ["GET /people"],
      applied: true
    })
    await reaches(a, "example", "/companies", 200)
    expect((await reset(a, "example")).body.reset).toBe(true)
    await reaches(b, "example", "/companies", 404)
    expect((await reset(b, "example")).body.reset).toBe(false)
    expect((await imports(b, "example", openApi("/companies"))).body.applied).toBe(true)
    const log = [
      { action: "catalog.created", actor_name: "grace-a" },
      { action: "catalog.changed", actor_name: "grace-b" },
      { action: "catalog.removed", actor_name: "grace-a" },
      { action: "catalog.created", actor_name: "grace-b" }
    ]
    for (const cell of [a, b])
      await until(
        "its copy is logged",
        () => entries(cell, "example"),
        (logged) => Bun.deepEquals(logged, log),
        20
      )
  })

  test("of two cells that import one provider at once, one is refused, and both have the other's document", async () => {
    const compared = await a.tab.post("/catalog/imports", { provider: "twice", document: openApi("/a") })
    expect(compared.body.based_on).toBe(null)
    const answers = await Promise.all(
      [a, b].map(({ tab }, n) =>
        tab.post("/catalog/imports", { provider: "twice", document: openApi(n === 0 ? "/a" : "/b"), apply: true })
      )
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const [path, other] = answers[0]?.status === 200 ? ["/a", "/b"] : ["/b", "/a"]
    for (const cell of [a, b]) {
      await reaches(cell, "twice", path, 200)
      expect(await statusOf(cell, "twice", other)).toBe(404)
    }
  })

  test("a new cell gets the whole catalog by itself, and the command imports for all", async () => {
    const c = await start("c", directory)
    await reaches(c, "older", "/old", 200)
    expect(await documents(c)).toEqual(await documents(a))
    const file = `${process.env["TMPDIR"] ?? "/tmp"}/${crypto.randomUUID()}.json`
    await Bun.write(file, openApi("/command"))
    const run = runMain(["catalog", "import", file, "--provider", "example"], c.app.settings)
    expect([(await run.ended).code, run.errors()]).toEqual([0, expect.any(String)])
    await Bun.file(file).delete()
    for (const cell of cells) await reaches(cell, "example", "/command", 200)
  })

  test("a cell starts and serves while the directory is away, and refuses imports and resets", async () => {
    const lonely = await start("b", "postgres://nobody:nothing@127.0.0.1:9/none", b.app)
    expect(await statusOf(lonely, "example", "/command")).toBe(200)
    expect(lonely.app.logs.join("\n")).toMatch(/The directory of the cells does not answer as it must.*ECONNREFUSED/)
    for (const refused of [
      await lonely.tab.post("/catalog/imports", { provider: "example", document: openApi("/other") }),
      await reset(lonely, "example")
    ]) {
      expect([refused.status, refused.body.error.code]).toEqual([503, "service_unavailable"])
      expect(refused.body.error.message).toContain("in all cells or in none")
    }
    const run = runMain(["catalog", "reset", "example"], lonely.app.settings)
    expect([(await run.ended).code === 0, run.errors()]).toEqual([false, expect.stringContaining("does not answer")])
    expect(await statusOf(b, "example", "/command")).toBe(200)
  })

  test("a directory that was restored from an older backup gets what it lacks from the cells", async () => {
    await inDirectory("DELETE FROM rungate_directory.catalog_documents WHERE provider = 'older'")
    await inDirectory(
      "UPDATE rungate_directory.catalog_documents SET revision = revision - 1, document = NULL WHERE provider = 'example'"
    )
    await inDirectory("UPDATE rungate_directory.catalog_documents SET revision = revision - 1 WHERE provider = 'twice'")
    expect((await imports(b, "twice", openApi("/again", "/and-more"))).body.applied).toBe(true)
    await inDirectory(
      "UPDATE rungate_directory.catalog_documents SET revision = revision - 1, endpoints = 0 WHERE provider = 'twice'"
    )
    await add(b)
    const kept = await inDirectory(
      "SELECT provider, endpoints FROM rungate_directory.catalog_documents WHERE document IS NOT NULL ORDER BY 1"
    )
    expect(kept).toEqual([
      { provider: "example", endpoints: 1 },
      { provider: "older", endpoints: 1 },
      { provider: "twice", endpoints: 2 }
    ])
    expect((await imports(b, "example", openApi("/restored"))).body.applied).toBe(true)
    await reaches(a, "example", "/restored", 200)
    await reaches(a, "twice", "/again", 200)
  })

  test("a reset is in the name of who made it, although it copies an import of somebody else first", async () => {
    // Its service does not reach the directory, so it copies nothing before the command does.
    const lonely = await start("d", "postgres://nobody:nothing@127.0.0.1:9/none")
    const { document, revision } = (await documents(a)).find(({ provider }) => provider === "twice") ?? {}
    await lonely.app.sql(
      "INSERT INTO catalog_documents (provider, document, endpoints, revision) VALUES ('twice', $1, 2, $2)",
      [document, revision]
    )
    const run = runMain(["catalog", "reset", "twice"], { ...lonely.app.settings, RUNGATE_DIRECTORY_URL: directory })
    expect([(await run.ended).code, run.errors()]).toEqual([0, expect.any(String)])
    const [row] = await inDirectory(
      "SELECT actor, document FROM rungate_directory.catalog_documents WHERE provider = 'twice'"
    )
    expect([row.document, row.actor.includes("grace")]).toEqual([null, false])
    await reaches(b, "twice", "/again", 404)
  })

  test("an import that this release can't read keeps no other one from coming, and no cell from starting", async () => {
    await inDirectory(`
      INSERT INTO rungate_directory.catalog_documents (provider, document, retired, endpoints, actor, revision)
      VALUES ('newer', '\\x00', '[]', 1, '', 1)`)
    await until(
      "the cell has copied it",
      () => documents(b),
      (rows) => rows.some(({ provider }) => provider === "newer"),
      20
    )
    expect((await imports(b, "example", openApi("/after"))).body.applied).toBe(true)
    await reaches(b, "example", "/after", 200)
    const again = await start("b", directory, b.app)
    expect(await statusOf(again, "example", "/after")).toBe(200)
    expect(again.app.logs.join("\n")).toContain("The import of newer can't be read")
  })

  test("an import counts although the clock of a new directory is behind the cell's last one", async () => {
    await inDirectory("DELETE FROM rungate_directory.catalog_documents WHERE provider = 'example'")
    await b.app.sql("UPDATE catalog_documents SET revision = revision + 1000000000000000 WHERE provider = 'example'")
    expect((await imports(b, "example", openApi("/later"))).body.applied).toBe(true)
    for (const cell of [a, b]) await reaches(cell, "example", "/later", 200)
  })

  test("a directory that falls silent is noticed, and the cell goes on with it when it answers again", async () => {
    const between = await proxyTo(directory, 5432)
    const cell = await start("e", between.url)
    await reaches(cell, "example", "/later", 200)
    between.silence("both")
    const log = () => cell.app.logs.join("\n")
    await until(
      "the silence is logged",
      log,
      (text) => text.includes("The directory of the cells does not answer as it must, so the catalog"),
      30
    )
    const refused = await reset(cell, "example")
    expect([refused.status, refused.body.error.code]).toEqual([503, "service_unavailable"])
    between.heal()
    expect((await imports(b, "example", openApi("/healed"))).body.applied).toBe(true)
    await reaches(cell, "example", "/healed", 200)
    await between.stop()
  })
})
