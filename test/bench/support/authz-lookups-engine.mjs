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

function timed(subject) {
  const milliseconds = []
  let results = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    results = found(subject)
    milliseconds.push(performance.now() - startedAt)
  }
  return { subject, results, medianMs: median(milliseconds), bestMs: Math.min(...milliseconds) }
}
