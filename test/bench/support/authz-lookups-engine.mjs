// Our lookups of resources for their benchmark, in a process of its own: finds users with about as many results as wanted,
// times the lookup of each and sends what it found.
import { Checker } from '../../../dist/shared/authz/engine/checker.js'
import { createLookups } from '../../../dist/shared/authz/engine/lookup/lookups.js'
import { TupleIndex } from '../../../dist/shared/authz/engine/tuple-index.js'
import { UNKNOWN } from '../../../dist/shared/authz/engine/verdict.js'
import { compileSchema } from '../../../dist/shared/authz/language/compile.js'
import { parseSchema } from '../../../dist/shared/authz/language/parser.js'
import { SCHEMA, questionsOf, tuplesOf, QUESTIONS_A_SUBJECT } from './authz-data.mjs'
import { median } from './report.mjs'

const CANDIDATES = 400
const SEED = 11
const ROUNDS = 15
/** Those of searches: `FEW_MAX` objects, and 20 tuples for each. */
const BOUNDS = { objects: 1_000, tuples: 20_000 }

const [tuples, ...wanted] = process.argv.slice(2).map(Number)
const model = compileSchema(parseSchema(SCHEMA))
const index = new TupleIndex(model)
let revision = 0
for (const tuple of tuplesOf(tuples)) index.touch(tuple, ++revision)
const lookups = createLookups({ model, index, checker: new Checker(index) })
const holds = () => UNKNOWN

const candidates = [...candidatesOf()].map((subject) => ({ subject, results: found(subject).length }))
process.send(wanted.map((results) => timed(closest(results))))

function found(subject) {
  return lookups.resources({ subject, relation: 'read', resourceType: 'doc' }, holds).granted
}

function* candidatesOf() {
  const questions = questionsOf(tuples, CANDIDATES * QUESTIONS_A_SUBJECT, SEED)
  for (let at = 0; at < questions.length; at += QUESTIONS_A_SUBJECT) yield questions[at].subject
}

function closest(results) {
  const distance = (each) => Math.abs(Math.log((each.results + 1) / results))
  return candidates.toSorted((a, b) => distance(a) - distance(b))[0].subject
}

/** The median time of a lookup that gives up beyond the bounds of a search, in ms. */
function bounded(subject) {
  const milliseconds = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    lookups.fewResources({ subject, relation: 'read', resourceType: 'doc' }, holds, BOUNDS)
    milliseconds.push(performance.now() - startedAt)
  }
  return median(milliseconds)
}

function timed(subject) {
  const milliseconds = []
  const cpuMilliseconds = []
  let results = []
  for (let round = 0; round < ROUNDS; round++) {
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    results = found(subject)
    milliseconds.push(performance.now() - startedAt)
    const { user, system } = process.cpuUsage(cpuBefore)
    cpuMilliseconds.push((user + system) / 1000)
  }
  return {
    subject,
    results,
    medianMs: median(milliseconds),
    cpuMs: median(cpuMilliseconds),
    bestMs: Math.min(...milliseconds),
    boundedMs: bounded(subject),
  }
}
