/** People at the terminal: inviting, joining, roles, removing, and the log of it all; by pipe and for a person. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, startApp } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let app: App
const homes: Array<Home> = []
beforeAll(async () => {
  app = await startApp()
})
afterAll(async () => {
  for (const home of homes) home.remove()
  await app.stop()
})

const password = "correct horse battery"
const someone = () => {
  const home = newHome({ RUNGATE_URL: app.url })
  homes.push(home)
  return home
}
const drawn = async (home: Home, line: string) => {
  const terminal = home.terminal(line)
  await terminal.ended
  return Bun.stripANSI(terminal.seen())
}

test("a rule's conditions and switches are set to false, and to labels, as they are typed", async () => {
  const owner = someone()
  const signUp = "rungate login --sign-up --email rules@example.com --organization Rules --password-stdin"
  await owner.shell(signUp, {}, `${password}\n`)
  const rule = async (line: string) => (await owner.shell(`rungate approval-rules ${line}`)).body
  const added = await rule("add rule --raw=false --self-approval --label customer=acme --label campaign=spring")
  expect(added).toMatchObject({ raw: false, self_approval: true, labels: { customer: "acme", campaign: "spring" } })
  expect(await rule(`update ${added.id} --active=false --self-approval=false --label customer=bolt`)).toMatchObject({
    ...{ raw: false, self_approval: false, active: false },
    labels: { customer: "bolt" }
  })
  expect(await rule(`update ${added.id} --role owner`)).toMatchObject({ raw: false, active: false, role: "owner" })
})

test("an owner invites, the invited person joins, gets a role and is removed, and the log tells it", async () => {
  const [owner, ada] = [someone(), someone()]
  const signUp = "rungate login --sign-up --email owner@example.com --organization Acme --password-stdin"
  await owner.shell(signUp, {}, `${password}\n`)
  expect(await drawn(owner, "rungate invite list")).toContain("There are no open invitations")
  const invited = await owner.shell("rungate invite ada@example.com --role viewer")
  expect([invited.code, invited.body]).toEqual([
    0,
    expect.objectContaining({ email: "ada@example.com", role: "viewer" })
  ])
  expect(await drawn(owner, "rungate invite list")).toMatch(
    /inv_\w+ +ada@example\.com +owner@example\.com +viewer +open/
  )
  const told = await drawn(owner, "rungate invite ada@example.com")
  expect(told).toContain("/join-organization?token=rg_join_")
  const token = /token=(rg_join_\w+)/.exec(told)?.[1] ?? expect.unreachable("there is no link")

  const joined = await ada.shell(`rungate login --join ${token} --password-stdin`, {}, `${password}\n`)
  expect([joined.code, joined.err]).toEqual([0, expect.stringContaining("Signed in to Acme")])
  expect((await ada.shell("rungate whoami")).body.session).toMatchObject({ email: "ada@example.com", role: "member" })
  const again = await someone().shell(`rungate login --join ${token} --password-stdin`, {}, `${password}\n`)
  expect([again.code, again.err]).toEqual([5, expect.stringContaining("Ask the person who invited you")])

  const listed = await owner.shell("rungate members list")
  const { id } = listed.body.items.find((one: { email: string }) => one.email === "ada@example.com")
  expect(await drawn(owner, "rungate members list")).toMatch(
    /ID +ADDRESS +MEMBER SINCE +ROLE[^]*usr_\w+ +ada@example\.com +\d+ s ago +member/
  )
  const refused = await ada.shell(`rungate members set-role ${id} owner`)
  expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("needs the role owner, and yours is member")])
  expect(refused.err).toContain("rungate members list")
  expect(await drawn(owner, `rungate members set-role ${id} admin`)).toContain(`${id} has the role admin now.`)
  const key = (await ada.shell("rungate keys create ci --json")).body
  const unsure = await owner.shell(`rungate members remove ${id}`)
  expect([unsure.code, unsure.err]).toEqual([5, expect.stringContaining("--yes")])
  expect(await drawn(owner, `rungate members remove ${id} --yes`)).toContain(
    `Removed ${id}. These keys are revoked: ${key.id}.`
  )
  expect((await ada.shell("rungate members list")).code).toBe(4)

  const entries = (await owner.shell("rungate audit-log --action member --jsonl")).out.trim().split("\n")
  expect(entries.map((line) => JSON.parse(line).action)).toEqual([
    "member.removed",
    "member.changed",
    "member.created",
    "member.created"
  ])
  expect(await drawn(owner, "rungate audit-log --action member.changed --actor owner@example.com")).toMatch(
    /WHEN +WHO +FROM +ACTION +OBJECT +CHANGE[^]*owner@\S+ +127\.0\.0\.1 +member\.changed +usr_\S+ +role: member →\s+admin/
  )
  expect(await drawn(owner, "rungate audit-log --from 2020-01-01 --to 2020-01-02")).toContain("no such changes")
})

test("an invitation is withdrawn, a person chooses the organization, and wrong flags say what to do", async () => {
  const [owner, other] = [someone(), someone()]
  const signUp = (email: string, name: string) =>
    `rungate login --sign-up --email ${email} --organization ${name} --password-stdin`
  await owner.shell(signUp("one@example.com", "One"), {}, `${password}\n`)
  await other.shell(signUp("two@example.com", "Two"), {}, `${password}\n`)
  const { body } = await owner.shell("rungate invite gone@example.com")
  expect(await drawn(owner, `rungate invite withdraw ${body.id}`)).toContain("no longer works")
  const link = (await owner.shell("rungate invite two@example.com")).body.link
  const token = new URL(link).searchParams.get("token")
  await other.shell(`rungate login --join ${token} --password-stdin`, {}, `${password}\n`)
  const { id } = (await other.shell("rungate whoami")).body.session.organization
  const signIn = (more: string) =>
    other.shell(`rungate login --email two@example.com --password-stdin ${more}`, {}, `${password}\n`)
  expect((await signIn("")).err).toContain("Signed in to Two")
  expect((await signIn(`--organization-id ${id}`)).err).toContain("Signed in to One")
  expect((await signIn("--organization-id org_none")).code).toBe(5)
  const none = await owner.shell("rungate invite")
  expect([none.code, none.err]).toEqual([5, expect.stringContaining("rungate invite ada@example.com")])
  const both = await owner.shell(`rungate login --join x --sign-up --password-stdin`, {}, "x\n")
  expect(both.code).toBe(5)
})
