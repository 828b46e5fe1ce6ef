import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fal } from "../../../src/layers/providers/fal.ts"
import { answer, get, offerOf, type Played, post, stage } from "./stage.ts"

const play = stage(fal)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "fal")
const example = (name: string, status = 200, headers = {}): Played =>
  answer(status, readFileSync(join(examples, `${name}.response.json`), "utf8"), headers)
const job = "/fal-ai/flux/requests/764cabcf-b745-4b3e-ae38-1200304cf45b"
const submitted = example("queue_submit")
const queued = example("queue_status.in_queue", 202)
const working = example("queue_status.in_progress", 202)
const completed = example("queue_status.completed")

describe("fal creative.image", () => {
  const input = { prompt: "A serene mountain landscape at losamo", aspect_ratio: "4:3" }

  test("queues once, asks until it is done, fetches the result", async () => {
    const result = example("queue_result.image", 200, { "x-fal-billable-units": "1" })
    const { asked, outcomes, kept, outcome } = await play(
      "creative.image",
      input,
      submitted,
      queued,
      working,
      completed,
      result
    )
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/fal-ai/flux/dev", { prompt: input.prompt, num_images: 1, image_size: "landscape_4_3" }),
        secret: "Key s3cret-of-the/account"
      }),
      ...[1, 2, 3].map(() => expect.objectContaining(get(`${job}/status`, {}))),
      expect.objectContaining(get(job, {}))
    ])
    expect(outcomes.slice(0, -1).map((one) => (one._tag === "Again" ? [one.job, one.afterMillis] : one))).toEqual([
      [true, 1000],
      [true, 1000],
      [true, 1000],
      [true, 0]
    ])
    expect(kept).toEqual([...[1, 2, 3].map(() => ({ path: job, stage: "queued" })), { path: job, stage: "done" }])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        items: [{ url: "https://fal.media/files/abc123.jpg", width: 1024, height: 768, content_type: "image/jpeg" }],
        total: 1,
        next_cursor: null,
        seed: 976168300,
        model: "fal-ai/flux/dev",
        nsfw_flagged: false
      },
      cost: { unit: "USD", amount: "0.025" }
    })
  })

  test("model, count, seed and a picture to start from", () => {
    const { request, serves } = offerOf(fal, "creative.image")
    const schnell = { prompt: "x", model: "fal-ai/flux/schnell", count: 4, seed: 7 }
    expect(request(schnell, { run_id: "run_1" })).toMatchObject({
      path: "/fal-ai/flux/schnell",
      body: { prompt: "x", num_images: 4, seed: 7, image_size: "square_hd" }
    })
    const started = { prompt: "x", reference_image_url: "https://pictures.example/1.jpg" }
    expect(request(started, { run_id: "run_1" })).toMatchObject({
      path: "/fal-ai/flux/dev/image-to-image",
      body: { image_url: "https://pictures.example/1.jpg" }
    })
    expect(serves({ ...started, model: "fal-ai/flux/schnell" })).toBe(false)
  })

  test("more images than asked for are cut, and those without an address are none", async () => {
    const images = [{}, { url: "https://a" }, { url: "https://b" }, { url: "https://c" }]
    const result = answer(200, { images, has_nsfw_concepts: [false, true] })
    const { outcome } = await play("creative.image", { prompt: "x", count: 3 }, submitted, completed, result)
    expect(outcome).toMatchObject({
      output: { items: [{ url: "https://a" }, { url: "https://b" }], nsfw_flagged: true }
    })
    expect(outcome).not.toHaveProperty("cost")
    const none = await play("creative.image", { prompt: "x" }, submitted, completed, answer(200, { images: [] }))
    expect(none.outcome).toMatchObject({ _tag: "NoMatch" })
  })

  test("addresses of other hosts lend their path only, and nothing but a job's path is followed", async () => {
    const elsewhere = { response_url: `https://evil.example${job}` }
    const { asked } = await play("creative.image", input, answer(200, elsewhere), answer(500, "stop"))
    expect(asked[1]?.path).toBe(`${job}/status`)
    for (const response_url of ["https://queue.fal.run/v1/keys", "https://queue.fal.run/a/requests/../keys", "x", 7]) {
      const odd = await play("creative.image", input, answer(200, { response_url }))
      expect(odd.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
      expect(odd.asked).toHaveLength(1)
    }
    const { next } = offerOf(fal, "creative.image")
    expect(() => next({ path: "/v1/keys", stage: "done" }, input, { run_id: "run_1" })).toThrow("names no job")
  })

  test("a restart asks on where the state says", () => {
    const { next } = offerOf(fal, "creative.image")
    const context = { run_id: "run_1" }
    expect(next({ path: job, stage: "queued" }, input, context)).toEqual({ method: "GET", path: `${job}/status` })
    expect(next({ path: job, stage: "done" }, input, context)).toEqual({ method: "GET", path: job })
  })

  const failures = [
    [[example("error.401", 401)], "provider_account"],
    [[example("queue_result.422", 422)], "provider_error"],
    [[answer(429, { detail: "slow down" })], "provider_rate_limited"],
    [[submitted, answer(200, { status: "LOST" })], "invalid_response"],
    [[submitted, completed, example("queue_result.422", 422)], "provider_error"],
    [[submitted, completed, answer(200, { video: {} })], "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.map((one) => one.status).join(", ")} is ${reason}, queued once`, async () => {
      const { asked, outcome } = await play("creative.image", input, ...played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
      expect(asked.filter((one) => one.method === "POST")).toHaveLength(1)
    })
  }

  test("trouble of the queue loses no job that goes on", async () => {
    const result = example("queue_result.image")
    const { outcome, asked } = await play(
      "creative.image",
      input,
      submitted,
      answer(500, "oops"),
      answer(503, "busy"),
      completed,
      answer(502, "gone"),
      result
    )
    expect(outcome?._tag).toBe("Match")
    expect(asked.filter((one) => one.method === "POST")).toHaveLength(1)
    const failed = await play("creative.image", input, submitted, completed, answer(500, { detail: "the model broke" }))
    expect(failed.outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
    const never = await play("creative.image", input, answer(503, "busy"))
    expect(never.outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
    expect(never.asked).toHaveLength(1)
  })

  test("a refusal of the content is a miss", async () => {
    const refusal = answer(422, { detail: [{ loc: ["body", "prompt"], type: "content_policy_violation", msg: "no" }] })
    const { outcome } = await play("creative.image", input, submitted, completed, refusal)
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "the provider's content policy refuses the prompt" })
  })
})

describe("fal creative.video", () => {
  const input = { prompt: "Waves", duration_seconds: 10, aspect_ratio: "16:9" }

  test("a clip", async () => {
    const { asked, outcomes, outcome } = await play(
      "creative.video",
      input,
      submitted,
      working,
      completed,
      example("queue_result.video")
    )
    const model = "fal-ai/kling-video/v1.6/standard/text-to-video"
    expect(asked[0]).toMatchObject(post(`/${model}`, { prompt: "Waves", duration: "10", aspect_ratio: "16:9" }))
    expect(outcomes[0]).toMatchObject({ _tag: "Again", afterMillis: 5000, job: true })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        url: "https://v2.fal.media/files/fb33a862b94d4d7195e610e4cbc5d392_output.mp4",
        content_type: null,
        duration_seconds: 10,
        model
      }
    })
    expect(offerOf(fal, "creative.video").timeoutMillis).toBe(600_000)
  })

  test("from a picture; what the answer tells of its length counts, but not beyond what was asked for", async () => {
    const moved = { prompt: "Waves", image_url: "https://pictures.example/1.jpg" }
    const clip = (duration: number) => answer(200, { video: { url: "https://a", duration } })
    const short = await play("creative.video", moved, submitted, completed, clip(4.2))
    expect(short.asked[0]).toMatchObject({
      path: "/fal-ai/kling-video/v1.6/standard/image-to-video",
      body: { image_url: "https://pictures.example/1.jpg", duration: "5" }
    })
    expect(short.outcome).toMatchObject({ output: { duration_seconds: 4 } })
    const long = await play("creative.video", moved, submitted, completed, clip(60))
    expect(long.outcome).toMatchObject({ output: { duration_seconds: 5 } })
  })

  test("leaves other lengths, shapes and models alone", () => {
    const { serves } = offerOf(fal, "creative.video")
    expect(serves({ prompt: "x" })).toBe(true)
    expect(serves({ prompt: "x", model: "fal-ai/kling-video" })).toBe(true)
    expect(serves({ prompt: "x", duration_seconds: 7 })).toBe(false)
    expect(serves({ prompt: "x", aspect_ratio: "4:3" })).toBe(false)
    expect(serves({ prompt: "x", model: "fal-ai/veo3" })).toBe(false)
  })
})
