// Our engine for the authorization benchmarks, in a process of its own, so that memory and compiled code are only its.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readIndexFile, writeIndexFile } from '../../../dist/server/adapters/embedded-authz/index-file.js'
import { Checker } from '../../../dist/shared/authz/engine/checker.js'
import { resolveQuestion } from '../../../dist/shared/authz/engine/resolve-question.js'
import { TupleIndex } from '../../../dist/shared/authz/engine/tuple-index.js'
import { UNKNOWN, YES } from '../../../dist/shared/authz/engine/verdict.js'
import { compileSchema } from '../../../dist/shared/authz/language/compile.js'
import { parseSchema } from '../../../dist/shared/authz/language/parser.js'
import { SCHEMA, questionsOf, tuplesOf } from './authz-data.mjs'
import { median } from './report.mjs'

const ROUNDS = 5
const SECONDS = 1.5
const SLICE = 2_000

const [tuples, questions, seed] = process.argv.slice(2).map(Number)
const model = compileSchema(parseSchema(SCHEMA))
const { index, bytes, touchSeconds } = filled()
const checker = new Checker(index)
const holds = () => UNKNOWN
// As a server is asked: texts out of a parsed body are flat, while those that were just put together are chains of parts.
const asked = JSON.parse(JSON.stringify(questionsOf(tuples, questions, seed)))
const answers = asked.map(isGranted)
const order = Int32Array.from(asked.keys(), (at) => (at * 7919) % asked.length)
const rounds = Array.from({ length: ROUNDS }, speed)

const file = await keptInFile()

process.send({
  ...file,
  tuples: index.edges.size,
  bytesPerTuple: bytes / index.edges.size,
  touchesPerSecond: tuples / touchSeconds,
  checksPerSecond: median(rounds.map(({ perSecond }) => perSecond)),
  checksPerCpuSecond: median(rounds.map(({ perCpuSecond }) => perCpuSecond)),
  ...latency(),
  granted: answers.filter(Boolean).length,
  answers,
})

function filled() {
  const before = memory()
  const made = new TupleIndex(model)
  const startedAt = performance.now()
  let revision = 0
  for (const tuple of tuplesOf(tuples)) made.touch(tuple, ++revision)
  const seconds = (performance.now() - startedAt) / 1000
  return { index: made, touchSeconds: seconds, bytes: memory() - before }
}

/** Writes the index to its own file and reads it back. */
async function keptInFile() {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-index-'))
  try {
    const path = join(directory, 'authz-index')
    const head = { schema: 'bench', mark: 'bench', revision: String(tuples), unknownTuples: 0 }
    const writing = performance.now()
    await writeIndexFile(path, { ...head, image: index.image() }).then(({ commit }) => commit())
    const saveSeconds = (performance.now() - writing) / 1000
    const seconds = []
    for (let round = 0; round < ROUNDS; round++) {
      const startedAt = performance.now()
      const { image } = await readIndexFile(path)
      const again = new TupleIndex(model)
      again.adopt(image)
      seconds.push((performance.now() - startedAt) / 1000)
      if (again.tuples !== index.tuples) throw new Error('the file does not hold what the index did')
    }
    return { savesPerSecond: tuples / saveSeconds, fileLoadsPerSecond: tuples / median(seconds) }
  } finally {
    await rm(directory, { recursive: true })
  }
}

function memory() {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function isGranted(question) {
  return checker.check(resolveQuestion(model, index, question), holds, false) === YES
}

function speed() {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  let checks = 0
  while (performance.now() - startedAt < SECONDS * 1000) {
    for (let count = 0; count < SLICE; count++) isGranted(asked[order[checks++ % asked.length]])
  }
  const cpu = process.cpuUsage(cpuBefore)
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: checks / seconds, perCpuSecond: checks / ((cpu.user + cpu.system) / 1e6) }
}

/** One check at a time, in microseconds. */
function latency() {
  const each = Float64Array.from(order, (at) => {
    const startedAt = performance.now()
    isGranted(asked[at])
    return (performance.now() - startedAt) * 1000
  }).toSorted()
  return { p50: each[each.length >> 1], p99: each[Math.floor(each.length * 0.99)] }
}
