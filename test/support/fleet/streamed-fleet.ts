import pino from 'pino'
import { mounted, type MountedSurface } from '../../../src/server/http/request-context.ts'
import type { EndReason } from '../../../src/server/http/streams/stream-meter.ts'
import { createNodeEvents, type NodeEvents } from '../../../src/server/slices/node-events/service.ts'
import type { EventBus } from '../../../src/server/ports/event-bus.ts'
import { nodeEvents } from '../../../src/shared/contract/node-events.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'
import { startFleet, type Enrolled, type Fleet } from './fleet.ts'
import { requestBytes } from '../network/raw-socket.ts'
import { openRawStream, type RawStream } from '../network/raw-stream.ts'
import type { TestStore } from '../datastores/stores.ts'

/** What the metrics were told. */
export interface Metered {
  open: number
  frames: number
  /** Frames by Domain, as the capacity of Domains counts them. */
  readonly framesOf: Record<string, number>
  readonly ends: EndReason[]
  readonly rejected: string[]
}

/** A fleet whose nodes have event streams. */
export interface StreamedFleet extends Fleet {
  readonly metered: Metered
  readonly port: number
  /** Asks for the stream of a node on a connection of its own, with the node's own key unless another credential is given. */
  follow(node: Enrolled, asking?: Asking): Promise<RawStream>
}

interface Asking {
  readonly as?: string
  readonly lastEventId?: string
  /** `v1` by default. */
  readonly major?: string
}

export interface StreamedOptions {
  readonly keepAliveMs?: number
  /** Serves more over the same service. */
  readonly more?: (events: NodeEvents['handlers'], backend: Backend) => readonly MountedSurface[]
}

/** Follows the bus; streams are kept alive every 60 s unless it is said otherwise. */
export async function startStreamedFleet(
  store: TestStore,
  makeBus: (parts: Backend) => EventBus,
  { keepAliveMs = 60_000, more = () => [] }: StreamedOptions = {},
): Promise<StreamedFleet> {
  const metered: Metered = { open: 0, frames: 0, framesOf: {}, ends: [], rejected: [] }
  const meter = {
    opened: () => void (metered.open += 1),
    frame: () => void (metered.frames += 1),
    ended(reason: EndReason) {
      metered.open -= 1
      metered.ends.push(reason)
    },
    rejected: (code: string) => void metered.rejected.push(code),
  }
  let service: NodeEvents | undefined
  const fleet = await startFleet(store, (parts) => {
    service = createNodeEvents({
      ...parts,
      bus: makeBus(parts),
      meter,
      usage: {
        count(_dimension, domainId, frames) {
          metered.framesOf[domainId] = (metered.framesOf[domainId] ?? 0) + frames
        },
      },
      log: pino({ level: 'silent' }),
      keepAliveMs,
      retryMs: 5,
    })
    return { surfaces: [mounted(nodeEvents, service.handlers), ...more(service.handlers, parts)] }
  })
  await service?.start()
  const port = Number(new URL(fleet.url).port)
  return {
    ...fleet,
    metered,
    port,
    async follow(node, { as = node.nsk, lastEventId, major = 'v1' } = {}) {
      const stream = await openRawStream(port)
      const headers = {
        Authorization: `Bearer ${as}`,
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      }
      stream.send(requestBytes(`GET /${major}/nodes/${node.node_id}/events`, headers))
      return stream
    },
    async stop() {
      await service?.stop()
      await fleet.stop()
    },
  }
}

/** A frame as a reader has it. */
export interface ReadFrame {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The whole frames in what has come; chunk sizes stand between frames and not in them. */
export function framesOf(text: string): readonly ReadFrame[] {
  const frames = text.matchAll(/^id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n/gm)
  return Array.from(frames, ([, id = '', event = '', data = '{}']) => ({ id, event, data: JSON.parse(data) }))
}
