import { resolved } from './references.mjs'
import { mediaDifferences, sideWalk } from './request-differences.mjs'
import { schemaDifferences } from './schema-differences.mjs'

const PROBLEM = 'application/problem+json'
/** The answer of a call that waits for an approval: additive, since only a policy of the operator brings it about (S1). */
const HELD = '202'

/** What clients are answered: successes, problems and their headers. */
export function responseDifferences({ base, next }, { documents, report }) {
  const before = responsesOf(base.operation, documents.base)
  const after = responsesOf(next.operation, documents.next)
  for (const [status, was] of Object.entries(before)) {
    const is = after[status]
    if (is === undefined) gone(status, report)
    else answer({ status, was, is }, { documents, report })
  }
  const isHoldable = next.operation['x-service-dual-control'] !== undefined
  for (const [status, is] of Object.entries(after)) {
    if (before[status] !== undefined) continue
    if (isHoldable && status === HELD) report('held-answer-added', `${status} is new: a call may be held for approval`)
    else added({ status, is }, report)
  }
  codes(before, after, report)
}

function responsesOf({ responses = {} }, document) {
  return Object.fromEntries(Object.entries(responses).map(([status, each]) => [status, resolved(document, each)]))
}

/** Of `default`, too: it stands for refusals that come before any operation. */
function isProblem(status) {
  return !/^[123]/.test(status)
}

function gone(status, report) {
  if (isProblem(status)) report('problem-status-removed', `${status} is gone`)
  else report('success-status-removed', `${status} is gone`)
}

function added({ status, is }, report) {
  if (!isProblem(status)) report('success-status-added', `${status} is new`)
  else if (is.content?.[PROBLEM] === undefined)
    report('problem-document-lost', `${status} is new and no problem document`)
  else report('problem-status-added', `${status} is new`)
}

function answer({ status, was, is }, { documents, report }) {
  const place = `response ${status}`
  const isLost = isProblem(status) && was.content?.[PROBLEM] !== undefined && is.content?.[PROBLEM] === undefined
  if (isLost) report('problem-document-lost', `${place} is no problem document any more`)
  const walked = isProblem(status) && !isLost ? ofProblems(report) : report
  const compareSchemas = (schemas, at) =>
    schemaDifferences(schemas, sideWalk({ documents, report: walked }, 'response', at))
  const media = isLost ? {} : { was: was.content, is: is.content }
  mediaDifferences(media, { side: 'response', place, report, compareSchemas })
  headers({ was: was.headers, is: is.headers }, { place, documents, report, compareSchemas })
}

/** Another shape that is a problem document, too, is what clients expect of every refusal (S1 Versioning 2). */
function ofProblems(report) {
  return (check, detail) => report(check === 'response-alternative-added' ? 'problem-shape-added' : check, detail)
}

function headers({ was = {}, is = {} }, { place, documents, report, compareSchemas }) {
  const [before, after] = [was, is].map(byLowerCase)
  for (const [key, [name, header]] of before) {
    if (!after.has(key)) {
      report('response-header-removed', `${place}: the header ${name} is gone`)
      continue
    }
    const [base, next] = [resolved(documents.base, header), resolved(documents.next, after.get(key)[1])]
    compareSchemas({ base: base.schema ?? {}, next: next.schema ?? {} }, `${place} header ${name}`)
  }
  for (const [key, [name]] of after) {
    if (!before.has(key)) report('response-header-added', `${place}: the header ${name} is new`)
  }
}

function byLowerCase(all) {
  return new Map(Object.entries(all).map(([name, header]) => [name.toLowerCase(), [name, header]]))
}

/** A code keeps its status: another one would mean something else (S1 Versioning 3). */
function codes(before, after, report) {
  const [was, is] = [before, after].map(statusesByCode)
  for (const [code, status] of was) {
    const now = is.get(code)
    if (now === undefined) report('problem-code-removed', `${code} is no longer answered`)
    else if (now !== status) report('problem-code-moved', `${code} moved from ${status} to ${now}`)
  }
  for (const [code, status] of is)
    if (!was.has(code)) report('problem-code-added', `${code} is answered with ${status}`)
}

function statusesByCode(responses) {
  return new Map(
    Object.entries(responses).flatMap(([status, { 'x-service-codes': all = [] }]) => all.map((code) => [code, status])),
  )
}
