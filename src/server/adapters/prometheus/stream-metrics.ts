import { Counter, Gauge, type Registry } from 'prom-client'

/** Counts event streams. There are few reasons and codes. */
export interface StreamMetrics {
  opened(): void
  frame(): void
  ended(reason: string): void
  rejected(code: string): void
}

/** Registers the counters of event streams. */
export function createStreamMetrics(registry: Registry): StreamMetrics {
  const registers = [registry]
  const open = new Gauge({ name: 'event_streams_open', help: 'Event streams that this process serves now', registers })
  const ends = new Counter({
    name: 'event_stream_ends_total',
    help: 'Event streams that ended: left by the reader, slow, drain, refused, unconfirmed or failed',
    labelNames: ['reason'],
    registers,
  })
  const rejected = new Counter({
    name: 'event_stream_rejections_total',
    help: 'Event streams that were asked for and not opened, by the code of the answer',
    labelNames: ['code'],
    registers,
  })
  // Counted here, and passed on when the metrics are read: the library would look up the labels for each frame.
  let frames = 0
  const sent = new Counter({
    name: 'event_stream_frames_total',
    help: 'Events handed to the sockets of event streams',
    registers: [],
    collect() {
      this.reset()
      this.inc(frames)
    },
  })
  registry.registerMetric(sent)

  return {
    opened: () => open.inc(),
    frame() {
      frames += 1
    },
    ended(reason) {
      open.dec()
      ends.inc({ reason })
    },
    rejected: (code) => rejected.inc({ code }),
  }
}
