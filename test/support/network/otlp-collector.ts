import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { vi } from 'vitest'

type Attributes = Readonly<Record<string, unknown>>

/** A span as it arrived, its attributes by name. */
export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly kind: number
  readonly status: Readonly<Record<string, unknown>>
  readonly attributes: Attributes
}

/** A collector of spans, as little of one as OTLP over HTTP in JSON takes. */
export interface Collector {
  readonly url: string
  readonly spans: () => readonly CollectedSpan[]
  /** Waits for a span of that name. */
  span(name: string): Promise<CollectedSpan>
  /** What the last batch says of who sends it. */
  readonly resource: () => Attributes
  /** Every body so far. */
  readonly said: () => string
  readonly requests: () => number
  /** From now on answers with that status, or not at all; undefined: takes everything again. */
  refuse(how: Refusal | undefined): void
  close(): Promise<void>
}

interface WireAttribute {
  readonly key: string
  readonly value: {
    readonly stringValue?: string
    readonly intValue?: number
    readonly arrayValue?: { readonly values: readonly { readonly stringValue?: string }[] }
  }
}

interface WireSpan extends Omit<CollectedSpan, 'attributes'> {
  readonly attributes: readonly WireAttribute[]
}

interface WireBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

type Refusal = number | 'never answers'

/** Starts it on a free loopback port. */
export async function startCollector(): Promise<Collector> {
  const bodies: string[] = []
  let refusal: Refusal | undefined
  let requests = 0

  function answer(response: ServerResponse, body: string): void {
    requests += 1
    if (refusal === 'never answers') return
    if (refusal === undefined) bodies.push(body)
    response.writeHead(refusal ?? 200, { 'content-type': 'application/json' }).end('{}')
  }

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.method === 'POST' && request.url === '/v1/traces') answer(response, body)
      else response.writeHead(404).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const batches = (): readonly WireBody['resourceSpans'][number][] =>
    bodies.flatMap((body) => (JSON.parse(body) as WireBody).resourceSpans)
  const spans = (): readonly CollectedSpan[] =>
    batches().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(readSpan)))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    span: (name) =>
      vi.waitFor(
        () => {
          const found = spans().find((span) => span.name === name)
          if (found === undefined) throw new Error(`there is no span ${name}`)
          return found
        },
        { timeout: 10_000 },
      ),
    resource: () => readAttributes(batches().at(-1)?.resource.attributes ?? []),
    said: () => bodies.join('\n'),
    requests: () => requests,
    refuse(how) {
      refusal = how
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function readSpan(span: WireSpan): CollectedSpan {
  return { ...span, attributes: readAttributes(span.attributes) }
}

function readAttributes(attributes: readonly WireAttribute[]): Attributes {
  const read = ({ value }: WireAttribute): unknown =>
    value.stringValue ?? value.intValue ?? value.arrayValue?.values.map(({ stringValue }) => stringValue)
  return Object.fromEntries(attributes.map((attribute) => [attribute.key, read(attribute)]))
}
