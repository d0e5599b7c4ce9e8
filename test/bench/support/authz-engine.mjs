// Our engine for the authorization benchmarks, in a process of its own, so that memory and compiled code are only its.
import { Checker } from '../../../dist/shared/authz/engine/checker.js'
import { resolveQuestion } from '../../../dist/shared/authz/engine/resolve-question.js'
import { TupleIndex } from '../../../dist/shared/authz/engine/tuple-index.js'
import { UNKNOWN, YES } from '../../../dist/shared/authz/engine/verdict.js'
import { compileSchema } from '../../../dist/shared/authz/language/compile.js'
import { parseSchema } from '../../../dist/shared/authz/language/parser.js'
import { SCHEMA, eachTupleColumns, questionsOf } from './authz-data.mjs'
import { median } from './report.mjs'

const ROUNDS = 5
const SECONDS = 1.5
const SLICE = 2_000

const [tuples, questions, seed] = process.argv.slice(2).map(Number)
const model = compileSchema(parseSchema(SCHEMA))
const { index, bytes, touchSeconds } = filled()
const checker = new Checker(index)
const holds = () => UNKNOWN
const asked = questionsOf(tuples, questions, seed)
const answers = asked.map(isGranted)
const order = Int32Array.from(asked.keys(), (at) => (at * 7919) % asked.length)
const rounds = Array.from({ length: ROUNDS }, speed)

process.send({
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
  eachTupleColumns(tuples, (tuple) => made.touch(tuple, ++revision))
  const seconds = (performance.now() - startedAt) / 1000
  return { index: made, touchSeconds: seconds, bytes: memory() - before }
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
