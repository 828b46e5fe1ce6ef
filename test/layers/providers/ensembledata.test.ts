import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ensembledata } from "../../../src/layers/providers/ensembledata.ts"
import { conforms } from "./conformance.ts"
import { answer, get, offerOf, type Played, stage } from "./stage.ts"

const play = stage(ensembledata)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads")
const units = (amount: string) => ({ units_charged: amount })
const example = (name: string, status = 200, headers = {}): Played =>
  answer(status, readFileSync(join(examples, "ensembledata", `${name}.response.json`), "utf8"), headers)
const others = (name: string) =>
  JSON.parse(readFileSync(join(examples, "scrapecreators", `${name}.response.json`), "utf8"))
const conforming = (capability: string, input: unknown) =>
  conforms(ensembledata, offerOf(ensembledata, capability).request(input, { run_id: "run_1" }))
const token = "s3cret-of-the/account"

describe("ensembledata social.profile", () => {
  test("tiktok", async () => {
    const input = { platform: "tiktok", handle: "@daviddobrik" }
    const { asked, outcome } = await play("social.profile", input, example("tt.user.info", 200, units("1")))
    expect(asked).toEqual([expect.objectContaining(get("/apis/tt/user/info", { username: "daviddobrik", token }))])
    expect(conforming("social.profile", input)).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        platform: "tiktok",
        handle: "daviddobrik",
        name: "DAVID DOBRIK",
        bio: null,
        followers: 25400000,
        following: 150,
        posts_count: 600,
        verified: true,
        avatar_url: null,
        url: "https://www.tiktok.com/@daviddobrik",
        external_links: [],
        email: null,
        category: null
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("instagram, in both of the platform's shapes", async () => {
    const input = { platform: "instagram", url: "https://www.instagram.com/jane/reels" }
    const graph = answer(200, others("v1.instagram.profile"), units("2"))
    const { asked, outcome } = await play("social.profile", input, graph)
    expect(asked[0]).toMatchObject({ path: "/apis/instagram/user/info", query: { username: "jane" } })
    expect(conforming("social.profile", input)).toEqual([])
    expect(outcome).toMatchObject({
      output: { handle: "modamo", followers: 25116 },
      cost: { unit: "credit", amount: "2" }
    })
    const flat = { username: "jane", full_name: "Jane", follower_count: 7, media_count: 3 }
    const second = await play("social.profile", input, answer(200, { data: flat }))
    expect(second.outcome).toMatchObject({ output: { handle: "jane", followers: 7, posts_count: 3 } })
  })

  test("x and youtube", async () => {
    const x = { platform: "x", handle: "Vikalu" }
    const found = await play("social.profile", x, answer(200, { data: others("v1.twitter.profile") }))
    expect(found.asked[0]).toMatchObject({ path: "/apis/twitter/user/info", query: { name: "Vikalu" } })
    expect(conforming("social.profile", x)).toEqual([])
    expect(found.outcome).toMatchObject({ output: { handle: "Vikalu", followers: 377608 } })
    const youtube = { platform: "youtube", handle: "nasa" }
    const channel = { channel_id: "SATA_DiR1FfKNvjuUpBHmylQ", title: "NASA", subscriber_count: "12" }
    const seen = await play("social.profile", youtube, answer(200, { data: channel }))
    expect(seen.asked[0]?.query).toEqual({ browseId: "https://www.youtube.com/@nasa", from_url: "true", token })
    expect(conforming("social.profile", youtube)).toEqual([])
    expect(seen.outcome).toMatchObject({
      output: { name: "NASA", followers: 12, url: "https://www.youtube.com/channel/SATA_DiR1FfKNvjuUpBHmylQ" }
    })
  })

  test("misses and failures; an answer with data is one, whatever the status", async () => {
    const input = { platform: "tiktok", handle: "nobody" }
    const gone = await play("social.profile", input, answer(404, { detail: "User not found" }, units("1")))
    expect(gone.outcome).toEqual({ _tag: "NoMatch", detail: "no account found", cost: { unit: "credit", amount: "1" } })
    const path = await play("social.profile", input, answer(404, { detail: "Not Found" }))
    expect(path.outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
    const odd = await play("social.profile", input, answer(422, { data: { user: { uniqueId: "nobody" } } }))
    expect(odd.outcome?._tag).toBe("Match")
    const failures = [
      [example("error.429", 429), "provider_rate_limited"],
      [example("error.491", 491), "provider_account"],
      [answer(493, { detail: "Subscription expired" }), "provider_account"],
      [answer(500, "oops"), "provider_error"],
      [answer(200, { data: {} }), "invalid_response"]
    ] as const
    for (const [played, reason] of failures) {
      const { outcome } = await play("social.profile", input, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
    }
  })

  test("reports its units", () => {
    const reply = { status: 404, headers: units("0"), text: "", body: {} }
    expect(ensembledata.measured(reply)).toEqual({ unit: "credit", amount: "0" })
    expect(ensembledata.measured({ ...reply, headers: {} })).toBeNull()
  })
})

describe("ensembledata social.posts", () => {
  test("tiktok: pages by cursor, cut pages are read on", async () => {
    const input = { platform: "tiktok", handle: "nasa", limit: 1 }
    const { aweme_list } = others("v3.tiktok.profile.videos")
    const page = answer(200, { data: aweme_list, nextCursor: 1748286476000 }, units("1"))
    const { asked, outcome } = await play("social.posts", input, page)
    expect(asked[0]).toMatchObject(get("/apis/tt/user/posts", { username: "nasa", depth: "1", token }))
    expect(conforming("social.posts", input)).toEqual([])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: { items: [{ id: "7517114944362499342", likes: 59605 }] },
      cost: { unit: "credit", amount: "1" }
    })
    const all = await play("social.posts", { ...input, limit: 50 }, page)
    expect(Object(all.outcome).output.next_cursor).toBe("ensembledata:0.1748286476000")
    const next = await play("social.posts", { ...input, cursor: "ensembledata:0.1748286476000" }, page)
    expect(next.asked[0]?.query).toMatchObject({ start_cursor: "1748286476000" })
  })

  test("instagram: the number of the account, then its posts; the cursor remembers the number", async () => {
    const input = { platform: "instagram", handle: "jane", limit: 2 }
    const node = {
      id: "9",
      shortcode: "AbC",
      edge_media_to_caption: { edges: [{ node: { text: "Hi" } }] },
      edge_media_preview_like: { count: 3 },
      taken_at_timestamp: 1700000000,
      display_url: "https://pictures.example/1.jpg"
    }
    const account = answer(200, { data: { pk: "173560420", username: "jane" } }, units("2"))
    const page = answer(200, { data: { posts: [{ node }], last_cursor: "QVFC" } }, units("1.5"))
    const { asked, outcomes, outcome } = await play("social.posts", input, account, page)
    expect(asked.map((one) => one.path)).toEqual(["/apis/instagram/user/info", "/apis/instagram/user/posts"])
    expect(asked[1]?.query).toEqual({ user_id: "173560420", depth: "1", chunk_size: "2", token })
    expect(outcomes[0]).toMatchObject({ _tag: "Again", job: false })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [
          {
            id: "9",
            url: "https://www.instagram.com/p/AbC/",
            text: "Hi",
            created_at: "2023-11-14T22:13:20.000Z",
            likes: 3,
            comments: null,
            shares: null,
            views: null,
            media: ["https://pictures.example/1.jpg"]
          }
        ],
        total: null,
        next_cursor: "ensembledata:0.173560420/QVFC"
      },
      cost: { unit: "credit", amount: "3.5" }
    })
    const second = await play("social.posts", { ...input, cursor: "ensembledata:0.173560420/QVFC" }, page)
    expect(second.asked.map((one) => one.query)).toEqual([
      { user_id: "173560420", depth: "1", chunk_size: "2", start_cursor: "QVFC", token }
    ])
    const offer = offerOf(ensembledata, "social.posts")
    expect(conforming("social.posts", input)).toEqual([])
    expect(conforms(ensembledata, offer.next({ account: "173560420" }, input, { run_id: "run_1" }))).toEqual([])
  })

  test("x: one page, which is cut by the cursor", async () => {
    const input = { platform: "x", handle: "levelsio", limit: 1 }
    const account = answer(200, { data: { rest_id: "1589985301", id: "VXNl" } })
    const { tweets } = others("v1.twitter.user-tweets")
    const page = answer(200, { data: [tweets[0], tweets[0]] })
    const { asked, outcome } = await play("social.posts", input, account, page)
    expect(asked[1]).toMatchObject({ path: "/apis/twitter/user/tweets", query: { id: "1589985301" } })
    expect(outcome).toMatchObject({ output: { items: [{ likes: 1722 }], next_cursor: "ensembledata:1.1589985301/" } })
    const rest = await play("social.posts", { ...input, cursor: "ensembledata:1.1589985301/" }, page)
    expect(rest.asked.map((one) => one.path)).toEqual(["/apis/twitter/user/tweets"])
    expect(rest.outcome).toMatchObject({ output: { items: [{ likes: 1722 }], next_cursor: null } })
  })

  test("no account, no posts, no list", async () => {
    const input = { platform: "x", handle: "nobody" }
    const strange = await play("social.posts", input, answer(200, { data: { rest_id: "../1" } }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    const gone = await play("social.posts", input, answer(404, { detail: "User does not exist" }))
    expect(gone.outcome?._tag).toBe("NoMatch")
    const none = await play("social.posts", { platform: "tiktok", handle: "a" }, answer(200, { data: [] }))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no posts" })
    const odd = await play("social.posts", { platform: "tiktok", handle: "a" }, answer(200, { data: "x" }))
    expect(odd.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})
