// Event streams, each with one event in every wave: what of the bus's events gets to readers, against a bare server of
// node:http with the same readers, the two in turn. `--streams=N` takes another number than 10,000.
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { nextMessage, start } from './support/children.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { roundsOf } from './support/rounds.mjs'

const STREAMS = 10_000
const ROUNDS = 9
const GOALS = { ratio: 0.8, memory: 1.3, p99Ms: 150 }

export async function run(args) {
  const asked = args.find((arg) => arg.startsWith('--streams='))?.slice('--streams='.length)
  const streams = Number(asked ?? STREAMS)
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const nodes = await nextMessage(start('sse-ctl.mjs', [String(streams), directory, 'register']))
  const measured = { execArgv: ['--expose-gc'] }
  const bare = await openSide(start('sse-bare.mjs', [String(streams)], measured), streams)
  const ours = start('sse-ctl.mjs', [String(streams), directory], measured)
  ours.send(nodes)
  const ctl = await openSide(ours, streams)
  // The first wave compiles.
  for (const side of [bare, ctl, bare, ctl]) await wave(side)
  const rounds = []
  const times = roundsOf(args, ROUNDS)
  for (let count = 0; count < times; count++) rounds.push({ bare: await wave(bare), ctl: await wave(ctl) })
  for (const { server, readers } of [bare, ctl]) {
    await readers.ask('close')
    await server.ask('close')
  }
  await rm(directory, { recursive: true, force: true })
  report({ streams, rounds, bare, ctl })
}

/** A server with its readers, all of them there; `bytes` is what a stream takes. */
async function openSide(child, streams) {
  const server = await speak(child)
  const readers = await speak(start('sse-readers.mjs', []))
  const before = await server.ask('memory')
  const open = await readers.ask('open', server.ready)
  if (open !== streams) throw new Error(`${open} streams are open, not ${streams}`)
  const bytes = ((await server.ask('memory')) - before) / streams
  return { server, readers, bytes, streams }
}

/** Questions to a child and their answers. */
async function speak(child) {
  const waiting = new Map()
  let asked = 0
  child.on('message', ([id, answer]) => waiting.get(id)?.(answer))
  const next = (id) => new Promise((resolve) => waiting.set(id, resolve))
  const ready = await next('ready')
  return {
    ready,
    ask(question, argument) {
      asked += 1
      const answer = next(asked)
      child.send([asked, question, argument])
      return answer
    },
  }
}

async function wave({ server, readers, streams }) {
  await readers.ask('expect')
  const { startedAt, cpuMs } = await server.ask('wave')
  const arrivals = (await readers.ask('arrivals')).toSorted()
  if (arrivals.length !== streams) throw new Error(`${arrivals.length} events came, not ${streams}`)
  const after = (share) => arrivals[Math.ceil(share * streams) - 1] - startedAt
  return {
    perSecond: streams / (after(1) / 1000),
    p50Ms: after(0.5),
    p99Ms: after(0.99),
    cpuUs: (cpuMs * 1000) / streams,
  }
}

function report({ streams, rounds, bare, ctl }) {
  const of = (side, figure) => median(rounds.map((each) => each[side][figure]))
  const record = {
    bench: 'sse',
    streams,
    bare_per_s: Math.round(of('bare', 'perSecond')),
    ctl_per_s: Math.round(of('ctl', 'perSecond')),
    ratio: round(median(rounds.map((each) => each.ctl.perSecond / each.bare.perSecond))),
    ratio_goal: GOALS.ratio,
    bare_cpu_us: round(of('bare', 'cpuUs')),
    ctl_cpu_us: round(of('ctl', 'cpuUs')),
    bare_p99_ms: round(of('bare', 'p99Ms')),
    ctl_p50_ms: round(of('ctl', 'p50Ms')),
    ctl_p99_ms: round(of('ctl', 'p99Ms')),
    p99_goal_ms: GOALS.p99Ms,
    bare_bytes: Math.round(bare.bytes),
    ctl_bytes: Math.round(ctl.bytes),
    memory_ratio: round(ctl.bytes / bare.bytes),
    memory_goal: GOALS.memory,
    cores: availableParallelism(),
    load: loadavg().map(round),
  }
  printTable(
    [
      'streams',
      'bare/s',
      'ctl/s',
      'ratio',
      'goal',
      'p99 ms',
      'goal',
      'CPU us bare, ctl',
      'bytes bare, ctl',
      'ratio',
      'goal',
    ],
    [
      [
        streams,
        record.bare_per_s,
        record.ctl_per_s,
        record.ratio,
        `>= ${GOALS.ratio}`,
        record.ctl_p99_ms,
        `<= ${GOALS.p99Ms}`,
        `${record.bare_cpu_us}, ${record.ctl_cpu_us}`,
        `${record.bare_bytes}, ${record.ctl_bytes}`,
        record.memory_ratio,
        `<= ${GOALS.memory}`,
      ],
    ],
  )
  printRecord(record)
}
