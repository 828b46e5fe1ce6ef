/**
 * Spans of requests, runs and provider calls, sent over OTLP with the service's log. Off unless `RUNGATE_OTLP_URL` is set.
 *
 * A span has ids, names of the catalog and of routes, and outcomes: never what a caller or a provider wrote. These few spans are begun by
 * hand. Spans of every Effect and statement would cost each run more than the run, and those of HTTP would name whole addresses.
 */
import { Clock, Context, Effect, Exit, Layer, Option, Redacted, type Tracer } from "effect"
import { FetchHttpClient, Headers, HttpTraceContext } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability"
import { Settings } from "../platform/Settings.ts"

export type Attributes = Readonly<Record<string, string | number | null>>

export interface OpenSpan {
  /** The header that continues this span elsewhere (W3C Trace Context). */
  readonly traceparent: string
  /** Attributes that are null are left out. */
  readonly end: (failed: boolean, attributes: Attributes) => void
}

export interface TracesShape {
  /** `parent` is a `traceparent` header. Without a valid one, the span begins a trace. */
  readonly begin: (name: string, kind: Tracer.SpanKind, parent: string | null) => OpenSpan
}

/** Null: no spans are made. */
export const Traces = Context.Reference<TracesShape | null>("rungate/layers/observability/Traces", {
  defaultValue: () => null
})

/** The `traceparent` of the span that the current work belongs to. Null outside of spans. */
export const CurrentTrace = Context.Reference<string | null>("rungate/layers/observability/CurrentTrace", {
  defaultValue: () => null
})

/** Runs work in a span below `parent`. `said` are the attributes of its result. Without traces, it is the work itself. */
export const inSpan =
  <A>(
    traces: TracesShape | null,
    span: { readonly name: string; readonly kind: Tracer.SpanKind; readonly parent: string | null },
    said: (result: A) => { readonly failed: boolean; readonly attributes: Attributes }
  ) =>
  <E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    traces === null
      ? work
      : Effect.suspend(() => {
          const open = traces.begin(span.name, span.kind, span.parent)
          return work.pipe(
            Effect.provideService(CurrentTrace, open.traceparent),
            Effect.onExit((exit) =>
              Effect.sync(() => {
                const { failed, attributes } = Exit.isSuccess(exit)
                  ? said(exit.value)
                  : { failed: true, attributes: {} }
                open.end(failed, attributes)
              })
            )
          )
        })

const tracesOf = (tracer: Tracer.Tracer, clock: Clock.Clock): TracesShape => ({
  begin: (name, kind, header) => {
    const parent = header === null ? Option.none() : HttpTraceContext.w3c(Headers.fromInput({ traceparent: header }))
    const span = tracer.span({
      name,
      parent,
      annotations: Context.empty(),
      links: [],
      startTime: clock.currentTimeNanosUnsafe(),
      kind,
      root: Option.isNone(parent),
      sampled: Option.isNone(parent) || parent.value.sampled
    })
    return {
      traceparent: `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`,
      end: (failed, attributes) => {
        for (const [key, value] of Object.entries(attributes)) if (value !== null) span.attribute(key, value)
        span.end(clock.currentTimeNanosUnsafe(), failed ? Exit.fail("failed") : Exit.void)
      }
    }
  }
})

/** Spans and the log go to `/v1/traces` and `/v1/logs` below the address of the collector. */
export const Tracing = Layer.unwrap(
  Effect.map(Settings, ({ otlp }) => {
    if (otlp === null) return Layer.empty
    const to = (path: string) => ({
      url: `${otlp.url.replace(/\/$/, "")}${path}`,
      headers: Redacted.value(otlp.headers),
      resource: { serviceName: "rungate" }
    })
    const spans = Effect.gen(function* () {
      return tracesOf(yield* OtlpTracer.make(to("/v1/traces")), yield* Clock.Clock)
    })
    return Layer.merge(Layer.effect(Traces, spans), OtlpLogger.layer(to("/v1/logs"))).pipe(
      Layer.provide([OtlpExporter.layerFlusher, OtlpSerialization.layerJson, FetchHttpClient.layer])
    )
  })
)
