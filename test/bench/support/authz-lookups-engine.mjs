// Our lookups of resources for their benchmark, in a process of its own: finds users with about as many results as wanted,
// times the lookup of each and sends what it found.
import { answerInSlices } from '../../../dist/server/adapters/embedded-authz/sliced-answers.js'
import { Checker } from '../../../dist/shared/authz/engine/checker.js'
import { createLookups } from '../../../dist/shared/authz/engine/lookup/lookups.js'
import { TupleIndex } from '../../../dist/shared/authz/engine/tuple-index.js'
import { UNKNOWN } from '../../../dist/shared/authz/engine/verdict.js'
import { compileSchema } from '../../../dist/shared/authz/language/compile.js'
import { parseSchema } from '../../../dist/shared/authz/language/parser.js'
import { createTimeSlices } from '../../../dist/shared/time-slices.js'
import { SCHEMA, questionsOf, tuplesOf, QUESTIONS_A_SUBJECT } from './authz-data.mjs'
import { longestTurn } from './longest-turn.mjs'
import { median } from './report.mjs'

const CANDIDATES = 400
const SEED = 11
const ROUNDS = 15
const TURN_ROUNDS = 5
/** Those of searches: `FEW_MAX` objects, and 20 tuples for each. */
const BOUNDS = { objects: 1_000, tuples: 20_000 }
/** Documents in one folder, for the longest turn of the event loop. */
const MANY = 400_000
/** Tuples that are written between two turns meanwhile. */
const WRITES_A_TURN = 5

const [tuples, ...wanted] = process.argv.slice(2).map(Number)
const model = compileSchema(parseSchema(SCHEMA))
const index = new TupleIndex(model)
let revision = 0
for (const tuple of tuplesOf(tuples)) index.touch(tuple, ++revision)
const lookups = createLookups({ model, index, checker: new Checker(index) })
const holds = () => UNKNOWN

const candidates = [...candidatesOf()].map((subject) => ({ subject, results: found(subject).length }))
process.send({ lookups: wanted.map((results) => timed(closest(results))), turns: await turns() })

/** The longest turns of a lookup that finds many: at once, in slices, and in slices while tuples are written. */
async function turns() {
  const many = new TupleIndex(model)
  const user = 'user:01935b5e-8f3a-7c61-9d0a-000000000000'
  const write = (resource, relation, subject) => many.touch(tupleOf(resource, relation, subject), ++revision)
  const docOf = (at) => `doc:01935b5e-8f3a-7c61-9d0b-${at.toString(16).padStart(12, '0')}`
  write('folder:f', 'viewer', user)
  for (let at = 0; at < MANY; at++) write(docOf(at), 'folder', 'folder:f')
  const { resources, inSteps } = createLookups({ model, index: many, checker: new Checker(many) })
  const asking = { subject: user, relation: 'read', resourceType: 'doc' }
  const slices = createTimeSlices()
  const inSlices = () => answerInSlices(slices, { begin: () => many, steps: () => inSteps.resources(asking, holds) })
  let written = MANY
  const amongWrites = async () => {
    let isOver = false
    const some = () => {
      for (let count = 0; count < WRITES_A_TURN; count++) write(docOf(written++), 'folder', 'folder:f')
      if (!isOver) setImmediate(some)
    }
    setImmediate(some)
    const answer = await inSlices()
    isOver = true
    return answer
  }
  const measured = {}
  for (const [name, work] of Object.entries({
    at_once: () => resources(asking, holds),
    in_slices: inSlices,
    among_writes: amongWrites,
  })) {
    const rounds = []
    for (let round = 0; round < TURN_ROUNDS; round++) rounds.push(await longestTurn(work))
    const expected = name === 'among_writes' ? undefined : MANY
    const count = rounds[0].result.granted.length
    if (expected !== undefined && count !== expected) throw new Error(`${name}: ${count} results`)
    measured[`${name}_longest_turn_ms`] = median(rounds.map(({ longestMs }) => longestMs))
    measured[`${name}_ms`] = median(rounds.map(({ ms }) => ms))
  }
  return { results: MANY, ...measured, written: written - MANY }
}

function tupleOf(resource, relation, subject) {
  const [resourceType, resourceId] = resource.split(':')
  const [subjectType, subjectId] = subject.split(':')
  return {
    resource_type: resourceType,
    resource_id: resourceId,
    relation,
    subject_type: subjectType,
    subject_id: subjectId,
    subject_relation: '',
    caveat_name: '',
    domain_id: null,
  }
}

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
