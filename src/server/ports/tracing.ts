/** The position of a request in the trace that its caller began (W3C Trace Context, `traceparent` and `tracestate`). */
export interface TraceParent {
  /** 32 lower-case hex digits, not all of them 0. */
  readonly traceId: string
  /** 16 lower-case hex digits, not all of them 0: the span of the caller. */
  readonly spanId: string
  /** 0 to 255; the lowest bit says that the caller records. */
  readonly flags: number
  /** `tracestate` as it came, at most 512 characters; undefined where there was none. */
  readonly state: string | undefined
}

/** Members of every log record of a request that belongs to a trace. */
export interface TraceMarks {
  readonly trace_id: string
  /** The span of this server where spans are exported, else that of the caller. */
  readonly span_id: string
}

/** What a span tells, by the names of the OpenTelemetry semantic conventions. Never a credential or a body. */
export type SpanAttributes = Readonly<Record<string, string | number | string[]>>

/** A span that has begun. */
export interface Span {
  readonly marks: TraceMarks
  /** Runs the work within a span below this one; if the work fails, the span records the failure, which is thrown again. */
  child<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Ends it. `error` is the kind of a failure of this server's; undefined where it did its part. */
  end(attributes: SpanAttributes, error: string | undefined): void
}

export interface SpanBeginning {
  /** `server` answers a request, `consumer` takes what was left in a queue. */
  readonly kind: 'server' | 'consumer'
  /** The trace goes on from here; a new one begins where it is undefined. */
  readonly parent: TraceParent | undefined
  readonly attributes: SpanAttributes
}

/** Records what the server does, for a caller that collects it. Nothing here throws or waits. */
export interface Tracing {
  begin(name: string, beginning: SpanBeginning): Span
}
