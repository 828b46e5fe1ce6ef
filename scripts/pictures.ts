/**
 * `bun scripts/pictures.ts`: makes the pictures of README anew: docs/terminal.svg, a recording, and docs/console.png, the run of it in the console.
 *
 * It does what a new user does: starts the service in an empty folder, types the commands, and opens the link that the start printed. A test
 * says when the recording no longer shows what the commands print. The second picture needs a Chromium (chromium-headless-shell).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium } from "playwright-core"
import { demoEmail } from "../src/schema/accounts/AccountMail.ts"
import { record, svgOf, type Typed } from "./pictures/terminal.ts"

const root = join(import.meta.dir, "..")

/** The run that README shows. */
export const commands: ReadonlyArray<Typed> = [
  { command: "rungate discover find the work email of a person --limit 3" },
  {
    command: 'rungate run email.find full_name="Ada Lovelace" company_domain=example.com',
    answer: ["[y/N]", "y"]
  },
  { command: "rungate wallet transactions --limit 3" }
]
export const label =
  "A terminal: rungate finds a capability, says what it may cost, runs it, and shows the ledger entries"

const sizes = { width: 1280, height: 860 }

/** The run's page, as the demo's user sees it. */
const consolePicture = async (link: string, runId: string): Promise<Uint8Array> => {
  const places = ["chromium-headless-shell", "chromium", "google-chrome"]
  const executablePath = places.map((name) => Bun.which(name)).find((path) => path !== null) ?? ""
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] })
  try {
    const page = await browser.newPage({ viewport: sizes, colorScheme: "light", reducedMotion: "reduce" })
    await page.goto(link)
    const password = crypto.randomUUID()
    await page.getByLabel("New password").fill(password)
    await page.getByRole("button", { name: "Set the password" }).click()
    await page.getByRole("link", { name: "Sign in" }).click()
    await page.getByLabel("E-mail address").fill(demoEmail)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Home" }).waitFor()
    await page.goto(new URL(`/runs/${runId}`, link).href)
    await page.getByRole("heading", { level: 1 }).waitFor()
    await page.waitForFunction(() => document.querySelector(".skeleton, [aria-busy=true]") === null)
    await page.getByText(runId).first().waitFor()
    return await page.screenshot()
  } finally {
    await browser.close()
  }
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), "rungate-pictures-"))
  const env = {
    PATH: `${join(root, "scripts")}:${process.env["PATH"] ?? "/usr/bin:/bin"}`,
    HOME: folder,
    TERM: "xterm-256color",
    PORT: "0"
  }
  const service = Bun.spawn([join(root, "scripts", "rungate"), "serve"], {
    cwd: folder,
    env,
    stdout: "pipe",
    stderr: "inherit"
  })
  try {
    let said = ""
    for await (const chunk of service.stdout.pipeThrough(new TextDecoderStream())) {
      said += chunk
      if (said.includes("/v1/wallet/transactions")) break
    }
    const part = (pattern: RegExp) => pattern.exec(said)?.[0] ?? ""
    const user = { ...env, RUNGATE_URL: part(/http:\/\/127\.0\.0\.1:\d+/), RUNGATE_API_KEY: part(/rg_test_\w+/) }
    // The first command after a change of the sources builds the bundle.
    await Bun.spawn(["rungate", "--version"], { env: user, stdout: "ignore" }).exited
    const lines = await record(commands, user, folder)
    writeFileSync(join(root, "docs", "terminal.svg"), svgOf(lines, label))
    const runId = /run_\w+/.exec(Bun.stripANSI(lines.map(({ text }) => text).join("\n")))?.[0] ?? ""
    writeFileSync(join(root, "docs", "console.png"), await consolePicture(part(/http:\S+reset\S+/), runId))
  } finally {
    service.kill("SIGTERM")
    await service.exited
    rmSync(folder, { recursive: true, force: true })
  }
}
