import { CHECKS } from './checks.mjs'
import { markerDifferences, operationDifferences } from './operation-differences.mjs'
import { requestDifferences } from './request-differences.mjs'
import { responseDifferences } from './response-differences.mjs'
import { canonical } from './references.mjs'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/**
 * @typedef {object} Finding
 * @property {string} id of the check
 * @property {'ERR' | 'WARN' | 'INFO'} level
 * @property {string} method upper case; `*` for the whole document
 * @property {string} path
 * @property {string} detail where in the operation, and what
 */

/**
 * What changed from one contract to the next, for those who rely on it.
 *
 * @param documents `base` and `next`, OpenAPI 3.1
 * @returns {Finding[]} in the order of the paths, the gravest first in each
 * @throws Error when a reference leads nowhere
 */
export function differences(documents) {
  const findings = []
  const [base, next] = [operationsOf(documents.base), operationsOf(documents.next)]
  for (const [key, was] of base) {
    const is = next.get(key)
    const report = reporter(findings, was)
    if (is === undefined) report('operation-removed', `${was.operation.operationId} is gone`)
    else compare({ was, is }, { documents, report })
  }
  for (const [key, is] of next) {
    if (!base.has(key)) reporter(findings, is)('operation-added', `${is.operation.operationId} is new`)
  }
  if (canonical(documents.base.servers ?? []) !== canonical(documents.next.servers ?? [])) {
    reporter(findings, { method: '*', path: '/v1/' })('servers-changed', 'servers changed')
  }
  return inOrder(findings)
}

function compare({ was, is }, { documents, report }) {
  if (was.path !== is.path) report('path-parameter-renamed', `${was.path} became ${is.path}`)
  const pair = { base: was, next: is }
  for (const part of [operationDifferences, markerDifferences, requestDifferences, responseDifferences]) {
    part(pair, { documents, report })
  }
}

/** Operations by method and path; names of path members do not count, for they are not on the wire. */
function operationsOf(document) {
  const found = new Map()
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS.filter((each) => item[each] !== undefined)) {
      const operation = item[method]
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
      const key = `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
      found.set(key, { method: method.toUpperCase(), path, operation, parameters, document })
    }
  }
  return found
}

/** Adds findings about one operation. @throws Error for a check that there is none of. */
export function reporter(findings, { method, path }) {
  return (id, detail) => {
    const level = CHECKS[id]
    if (level === undefined) throw new Error(`there is no check ${id}`)
    findings.push({ id, level, method, path, detail })
  }
}

const LEVELS = ['ERR', 'WARN', 'INFO']

/** By path and method, the gravest first. */
export function inOrder(findings) {
  const place = ({ path, method }) => `${path} ${method}`
  const order = (a, b) => (place(a) < place(b) ? -1 : Number(place(a) > place(b)))
  return findings.toSorted((a, b) => order(a, b) || LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}
