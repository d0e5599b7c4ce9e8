import {
  createTraceState,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span as OtelSpan,
  type Tracer,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { randomUUID } from 'node:crypto'
import type { Span, SpanBeginning, TraceParent, Tracing } from '../../ports/tracing.ts'

export interface OtlpTracingOptions {
  readonly endpoint: string
  /** How long the collector may take for a batch, ms; undefined: the value of the standard variable. */
  readonly timeoutMs: number | undefined
  /** Of this server, for `service.version`. */
  readonly version: string
  /** Called with every failed export, full queue and invalid variable. */
  readonly onFailure: (cause: string) => void
}

/** Spans on their way to a collector. */
export interface OtlpTracing extends Tracing {
  /** Exports the queued spans within the given time, and ends. Never throws. */
  close(deadlineMs: number): Promise<void>
}

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER } as const

/**
 * Exports spans by OTLP over HTTP in JSON. Sampler, limits, headers, time-outs and queue are those of the standard
 * variables; the queue holds 2,048 spans by default, and drops new ones when it is full.
 */
export function createOtlpTracing(options: OtlpTracingOptions): OtlpTracing {
  listenToLibrary(options.onFailure)
  const { endpoint: url, timeoutMs } = options
  const exporter = new OTLPTraceExporter({ url, ...(timeoutMs !== undefined && { timeoutMillis: timeoutMs }) })
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'ctl',
        'service.version': options.version,
        'service.instance.id': randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }))
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] })
  const tracer = provider.getTracer('ctl', options.version)
  return {
    begin: (name, beginning) => spanOver(tracer, begin(tracer, name, beginning)),
    close: (deadlineMs) =>
      withinDeadline(provider.shutdown(), deadlineMs).catch((error: unknown) => options.onFailure(String(error))),
  }
}

/** The library reports failures on its own channel. A process has one such channel. */
function listenToLibrary(onFailure: (cause: string) => void): void {
  const ignore = (): void => undefined
  const hear = (said: string): void => onFailure(messageOf(said))
  const logger = { error: hear, warn: hear, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

/** Errors arrive as JSON with their stack. */
function messageOf(said: string): string {
  try {
    const { message } = JSON.parse(said) as { readonly message?: unknown }
    return typeof message === 'string' ? message : said
  } catch {
    return said
  }
}

function begin(tracer: Tracer, name: string, { kind, parent, attributes }: SpanBeginning): OtelSpan {
  return tracer.startSpan(name, { kind: KINDS[kind], attributes }, below(parent))
}

function below(parent: TraceParent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const { traceId, spanId, flags, state } = parent
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & TraceFlags.SAMPLED,
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  })
}

function spanOver(tracer: Tracer, span: OtelSpan): Span {
  const { traceId, spanId } = span.spanContext()
  return {
    marks: { trace_id: traceId, span_id: spanId },
    async child(name, work) {
      const child = tracer.startSpan(name, {}, trace.setSpan(ROOT_CONTEXT, span))
      try {
        return await work()
      } catch (error) {
        // Its message may hold what a caller sent.
        fail(child, error instanceof Error ? error.name : 'unknown')
        throw error
      } finally {
        child.end()
      }
    },
    end(attributes, error) {
      span.setAttributes(attributes)
      if (error !== undefined) fail(span, error)
      span.end()
    },
  }
}

function fail(span: OtelSpan, kind: string): void {
  span.setAttribute('error.type', kind)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

async function withinDeadline(work: Promise<void>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the last spans were not taken within ${deadlineMs} ms`)), deadlineMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
