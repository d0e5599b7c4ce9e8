import { inOrder, reporter } from './differences.mjs'
import { sideWalk } from './request-differences.mjs'
import { schemaDifferences } from './schema-differences.mjs'

/**
 * What changed in what nodes are sent, for those who rely on it: the payloads of events are held to the rules of answers
 * (S1 Versioning 3), and so are the formats of the agent protocol, of which nothing may become looser either: a node that takes
 * bytes apart cannot tolerate others.
 *
 * @param documents `base` and `next`, as docs/contract/events.json is
 * @returns {import('./differences.mjs').Finding[]} at the operations that deliver them, with the type or format in the detail
 */
export function eventDifferences(documents) {
  const findings = []
  for (const kind of [EVENT, FORMAT, WEBHOOK]) compareAll(kind, documents, findings)
  return inOrder(findings)
}

const EVENT = {
  word: 'event',
  check: 'event',
  of: ({ events = {}, operation }) => mapped(events, (schema) => ({ schema, operation })),
  reported: (report) => report,
}

const FORMAT = {
  word: 'format',
  check: 'node-format',
  of: ({ formats = {} }) => formats,
  reported: (report) => (check, detail) => report(LOOSER.has(check) ? 'node-format-loosened' : check, detail),
}

/** The bodies of webhooks, which their readers tolerate as they tolerate events. */
const WEBHOOK = {
  ...EVENT,
  word: 'webhook',
  of: ({ webhooks = {} }) => mapped(webhooks, (schema) => ({ schema, operation: 'POST /v1/domains/{id}/webhooks' })),
}

/** Readers of answers tolerate these. */
const LOOSER = new Set([
  'response-enum-dropped',
  'response-pattern-changed',
  'response-pattern-dropped',
  'response-format-dropped',
  'response-bound-loosened',
])

function compareAll(kind, documents, findings) {
  const [base, next] = [kind.of(documents.base), kind.of(documents.next)]
  for (const [name, was] of Object.entries(base)) {
    const is = next[name]
    const report = reporter(findings, placeOf(was))
    const place = `${kind.word} ${name}`
    if (is === undefined) report(`${kind.check}-removed`, `${place} is gone`)
    else compare({ was, is }, { kind, documents, report, place })
  }
  for (const [name, is] of Object.entries(next)) {
    if (base[name] === undefined) reporter(findings, placeOf(is))(`${kind.check}-added`, `${kind.word} ${name} is new`)
  }
}

function compare({ was, is }, { kind, documents, report, place }) {
  if (was.operation !== is.operation) {
    report(`${kind.check}-moved`, `${place} moved from ${was.operation} to ${is.operation}`)
  }
  const walk = sideWalk({ documents, report: kind.reported(report) }, 'response', place)
  schemaDifferences({ base: was.schema, next: is.schema }, walk)
}

/** An exception names an HTTP method and a path: those of the operation. */
function placeOf({ operation }) {
  const [method, path] = operation.split(' ')
  return { method, path }
}

function mapped(record, make) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, make(value)]))
}
