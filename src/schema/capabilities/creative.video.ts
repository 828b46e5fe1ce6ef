/**
 * creative.video: a short video generated from a prompt or from an image.
 *
 * Metered per second. Generating takes minutes, costs money and can't be undone, so it acts at most once.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { aspectRatios, promptLengthMax } from "./creative.image.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** The default duration. The quote is for as many seconds, and every adapter requests as many. */
export const creativeVideoDefaultSeconds = 5
const secondsMax = 30

export const creativeVideo = capability({
  slug: "creative.video",
  title: "Generate a video",
  category: "creative",
  description:
    "Generates a short video clip from a text prompt, or animates a picture, with a generative AI model. Takes minutes: expect 202 and poll the run.",
  tags: [
    ...["creative", "video", "clip", "movie", "animation", "animate", "generate", "generation", "text to video"],
    ...["image to video", "ai video", "ad creative", "reel", "short", "kling", "sora", "veo", "runway", "prompt"]
  ],
  status: "live",
  billing: {
    model: "metered",
    bills_no_match: false,
    description:
      "Base price plus a price per second of video delivered, never for more seconds than asked for (5 by default). A call that makes no video costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    prompt: Field.text("What the video should show", promptLengthMax),
    image_url: Schema.optionalKey(Field.text("URL of an image to animate", 2048)),
    duration_seconds: Schema.optionalKey(Field.limit("Length in whole seconds, 5 by default", secondsMax)),
    aspect_ratio: Schema.optionalKey(
      Schema.Literals(aspectRatios).annotate({ description: "Ratio of width to height, by default the model's own" })
    ),
    // Segments begin with a letter or digit, so that a model id can't change the path of the request (such as "..").
    model: Schema.optionalKey(
      Schema.String.annotate({
        description: "The model's id at the provider, such as fal-ai/kling-video; routing chooses one by default"
      }).check(Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,40}(\/[a-z0-9][a-z0-9._-]{0,40}){0,5}$/u))
    )
  }),
  output: Schema.Struct({
    url: orNull(Schema.String, "URL of the video; providers keep it for a limited time"),
    content_type: Schema.NullOr(Schema.String),
    duration_seconds: Schema.Int.annotate({
      description: "Number of delivered seconds, which are charged; 0 without a video"
    }),
    model: orNull(Schema.String, "The model that was used")
  }),
  example: { prompt: "Waves roll onto a beach at dawn", duration_seconds: 5, aspect_ratio: "16:9" },
  matched: (output) => output.url !== null,
  results: (output) => output.duration_seconds,
  requested: (input) => input.duration_seconds ?? creativeVideoDefaultSeconds,
  side_effect: true,
  simulate: ({ input, seed, partial }) => {
    const seconds = (input.duration_seconds ?? creativeVideoDefaultSeconds) - (partial ? 1 : 0)
    return {
      url: seconds === 0 ? null : `https://media.example/video/${seed}.mp4`,
      content_type: seconds === 0 ? null : "video/mp4",
      duration_seconds: seconds,
      model: input.model ?? "simulated-video"
    }
  },
  missHints: (input) => [
    "Describe more clearly what the video should show.",
    ...(input.image_url === undefined ? [] : ["Leave out image_url, or check that it is public."]),
    ...(input.model === undefined ? [] : ["Leave out model."])
  ]
})
