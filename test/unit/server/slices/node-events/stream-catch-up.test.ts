import fc from 'fast-check'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { createHub, type Hub } from '../../../../../src/server/slices/node-events/hub.ts'
import type { NodeStream } from '../../../../../src/server/slices/node-events/stream.ts'
import type { Signer } from '../../../../../src/server/ports/signer.ts'
import { depth } from '../../../../support/run/depth.ts'
import { createFaultyBus, type FaultyBus } from '../../../../support/events/faulty-bus.ts'

const NODES = ['node-a', 'node-b'] as const

/** A frame as its reader has it. */
interface Frame {
  readonly id: bigint
  readonly nodeSeq: number
  readonly isResync: boolean
}

/** A reader that comes back with the id that it saw last. */
interface Reader {
  readonly node: string
  readonly frames: Frame[]
  /** The node's last event when it came without having seen any. */
  joinedAt: number
  stream: NodeStream | undefined
}

interface World {
  readonly bus: FaultyBus
  readonly hub: Hub
  readonly readers: Reader[]
}

// Only these are asked for.
const signer = {
  sign: async () => ({ kid: 'k', signature: Buffer.alloc(64) }),
  keys: () => [{ kid: 'k' }],
} as unknown as Signer

async function startWorld(delay: () => Promise<void>): Promise<World> {
  const bus = createFaultyBus()
  const hub = createHub({
    bus,
    catchUpDeps: {
      resync: { signer, clock: { now: () => 0 }, ids: { next: () => 'id' } },
      publishedUpTo: async (nodeId) => bus.all.findLast((event) => event.nodeId === nodeId)?.nodeSeq ?? 0n,
    },
    meter: { opened() {}, frame() {}, ended() {}, rejected() {} },
    usage: { count() {} },
    log: pino({ level: 'silent' }),
    keepAliveMs: 60_000,
    retryMs: 1,
  })
  await hub.start()
  bus.delay = delay
  return { bus, hub, readers: [] }
}

function framesIn(bytes: Uint8Array): Frame[] {
  const found = /^id: (\d+)\nevent: \S+\ndata: (.*)\n\n$/.exec(Buffer.from(bytes).toString())
  if (found === null) return []
  const data = JSON.parse(found[2] ?? '')
  return [{ id: BigInt(found[1] ?? ''), nodeSeq: data.node_seq, isResync: data.payload?.reason === 'resync' }]
}

function newestOf({ bus }: World, nodeId: string): number {
  return Math.max(0, ...bus.all.filter((event) => event.nodeId === nodeId).map(({ nodeSeq }) => Number(nodeSeq)))
}

function connect(world: World, reader: Reader): void {
  const { hub } = world
  const last = reader.frames.at(-1)?.id
  if (last === undefined) reader.joinedAt = newestOf(world, reader.node)
  const stream = hub.open({
    node: { nodeId: reader.node, domainId: 'd' },
    isOwn: true,
    reauthorization: { confirm: () => undefined },
    seq: last ?? hub.position(),
    isClaimed: last !== undefined,
  })
  reader.stream = stream
  stream.start({
    write(bytes) {
      if (stream.isOver) return false
      reader.frames.push(...framesIn(bytes))
      return true
    },
    unsent: () => 0,
    drained: async () => undefined,
    end: () => stream.ended('operation'),
  })
}

function disconnect(reader: Reader): void {
  reader.stream?.ended('reader')
  reader.stream = undefined
}

type Step = (world: World) => void

const node = fc.constantFrom(...NODES)
const readerAt = (index: number, run: (world: World, reader: Reader) => void): Step => {
  return (world) => {
    const reader = world.readers[index % Math.max(1, world.readers.length)]
    if (reader !== undefined) run(world, reader)
  }
}

const publishes = fc.tuple(node, fc.integer({ min: 1, max: 3 })).map(([id, count]): Step => ({ bus }) => {
  for (let one = 0; one < count; one++) bus.add(id)
})
/** More than a stream that is behind keeps, and more than a page. */
const floods = node.map((id): Step => ({ bus }) => {
  for (let one = 0; one < 300; one++) bus.add(id)
})
const joins = node.map((id): Step => (world) => {
  const reader = { node: id, frames: [], joinedAt: 0, stream: undefined }
  world.readers.push(reader)
  connect(world, reader)
})
const leaves = fc.nat(5).map((index) => readerAt(index, (_world, reader) => disconnect(reader)))
const comesBack = fc.nat(5).map((index) =>
  readerAt(index, (world, reader) => {
    disconnect(reader)
    connect(world, reader)
  }),
)
const holds = fc.constant<Step>(({ bus }) => bus.hold())
const releases = fc.constant<Step>(({ bus }) => bus.release())
const loses = fc.constant<Step>(({ bus }) => bus.lose())
/** What no bus should do: whoever has seen an event of the node before finds out by the next one. */
const forgets = fc.constant<Step>((world) => {
  world.bus.forget()
  for (const reader of world.readers) if (reader.frames.length === 0) reader.joinedAt = newestOf(world, reader.node)
})
/**
 * Somebody's late try, and what comes after it. A reader that has seen nothing yet cannot know an event for an old one,
 * nor can one that comes while the late try is the newest that there is.
 */
const repeats = fc.nat(50).map((index): Step => ({ bus, readers }) => {
  const event = bus.all.at(-1 - (index % Math.max(1, bus.all.length)))
  if (event === undefined || bus.isHeld) return
  const hasNewReader = readers.some(({ node: id, frames }) => id === event.nodeId && frames.length === 0)
  if (hasNewReader) return
  bus.repeat(event)
  bus.add(event.nodeId)
})
const outages = fc.boolean().map(
  (isAway): Step =>
    ({ bus }) =>
      bus.setAway(isAway),
)
const prunes = fc.tuple(node, fc.nat(3)).map(
  ([id, kept]): Step =>
    ({ bus }) =>
      bus.prune(id, kept),
)

const common = [
  { weight: 6, arbitrary: publishes },
  { weight: 1, arbitrary: floods },
  { weight: 3, arbitrary: joins },
  { weight: 2, arbitrary: leaves },
  { weight: 4, arbitrary: comesBack },
  { weight: 2, arbitrary: holds },
  { weight: 2, arbitrary: releases },
  { weight: 2, arbitrary: loses },
  { weight: 2, arbitrary: repeats },
  { weight: 1, arbitrary: outages },
]

/** Lets everything come to rest: nothing is held or away, every reader is there, every stream is live. */
async function settle(world: World): Promise<void> {
  world.bus.setAway(false)
  world.bus.release()
  for (const reader of world.readers) if (reader.stream === undefined) connect(world, reader)
  const isDone = (): boolean => world.readers.every(({ stream }) => stream?.isLive === true)
  await expect.poll(isDone, { interval: 1, timeout: 10_000 }).toBe(true)
}

async function play(steps: readonly Step[], turns: readonly number[]): Promise<World> {
  let turn = 0
  /** Answers come in an order of their own. */
  const world = await startWorld(async () => {
    const rounds = turns[(turn += 1) % turns.length] ?? 0
    for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve))
  })
  for (const step of steps) {
    step(world)
    if ((turn += 1) % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await settle(world)
  return world
}

function expectInOrder({ frames }: Reader): void {
  frames.forEach((frame, index) => {
    const before = frames[index - 1]
    if (before === undefined) return
    expect(frame.id, 'ids rise').toBeGreaterThanOrEqual(before.id)
    if (frame.isResync) return expect(frame.nodeSeq).toBeGreaterThanOrEqual(before.nodeSeq)
    return expect(frame.nodeSeq, 'nothing is skipped, nothing twice').toBe(before.nodeSeq + 1)
  })
}

function expectComplete(world: World, { node: id, frames, joinedAt }: Reader): void {
  expect(frames.at(-1)?.nodeSeq ?? joinedAt).toBe(newestOf(world, id))
}

const turns = fc.array(fc.nat(4), { minLength: 1, maxLength: 12 })
/** The seed is fixed unless the tests go deep. */
const RUNS = depth({ ci: 150, deep: 3_000 })
const seeded = depth<{ readonly seed?: number }>({ ci: { seed: 20_260_301 }, deep: {} })

/** Plays the steps, and looks at what every reader has at the end. */
function expectHeld(steps: readonly fc.WeightedArbitrary<Step>[], last: Step, look: (reader: Reader) => void) {
  const taken = fc.array(fc.oneof(...steps), { minLength: 1, maxLength: 40 })
  const property = fc.asyncProperty(taken, turns, async (played, order) => {
    const world = await play([...played, last], order)
    for (const reader of world.readers) {
      look(reader)
      expectInOrder(reader)
      expectComplete(world, reader)
    }
    await world.hub.stop()
  })
  return fc.assert(property, { numRuns: RUNS, ...seeded })
}

const nothing: Step = () => undefined
const hasNoResync = ({ frames }: Reader): void => expect(frames.some(({ isResync }) => isResync)).toBe(false)

describe('a stream that is handed over', () => {
  it('has each event once and in order, whatever is published, lost or away, and whoever comes back', async () => {
    await expectHeld(common, nothing, hasNoResync)
  })

  it('says where events are lost that were not kept, and goes on from there', async () => {
    await expectHeld([...common, { weight: 4, arbitrary: prunes }], nothing, () => undefined)
  })

  it('finds out by the next event what a bus has dropped in silence', async () => {
    const next: Step = ({ bus }) => {
      bus.setAway(false)
      bus.release()
      for (const id of NODES) bus.add(id)
    }
    await expectHeld([...common, { weight: 4, arbitrary: forgets }], next, hasNoResync)
  })
})
