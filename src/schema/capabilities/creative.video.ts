/**
 * creative.video: a short clip made from a prompt, or from a picture that it sets in motion.
 *
 * Metered by the second. Making one takes minutes, costs money and can't be undone, so it runs at most once.
 */
import { Schema } from "effect"
import { capability } from "../catalog/Capability.ts"
import { aspectRatios, promptLengthMax } from "./creative.image.ts"
import * as Field from "./fields.ts"
import { orNull } from "./shapes.ts"

/** Seconds when the input names none: what the price quotes and what every adapter asks for. */
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
      "Base price plus a price per second of video delivered, never for more seconds than asked for (5 when left out). A call that makes no video costs nothing."
  },
  platforms: [],
  input: Schema.Struct({
    prompt: Field.text("What the video should show", promptLengthMax),
    image_url: Schema.optionalKey(Field.text("Address of a picture to set in motion", 2048)),
    duration_seconds: Schema.optionalKey(Field.limit("Length in whole seconds, 5 when left out", secondsMax)),
    aspect_ratio: Schema.optionalKey(
      Schema.Literals(aspectRatios).annotate({ description: "Width to height, the model's own when left out" })
    ),
    // Segments begin with a letter or digit, so that no model can name a path of another kind.
    model: Schema.optionalKey(
      Schema.String.annotate({
        description: "The model's id at the provider, such as fal-ai/kling-video; routing chooses when left out"
      }).check(Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,40}(\/[a-z0-9][a-z0-9._-]{0,40}){0,5}$/u))
    )
  }),
  output: Schema.Struct({
    url: orNull(Schema.String, "Where to fetch the video; providers keep it for a limited time"),
    content_type: Schema.NullOr(Schema.String),
    duration_seconds: Schema.Int.annotate({
      description: "Whole seconds delivered, which are charged; 0 without a video"
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
    "Say more plainly what the video should show.",
    ...(input.image_url === undefined ? [] : ["Leave out image_url, or check that it is public."]),
    ...(input.model === undefined ? [] : ["Leave out model."])
  ]
})
