import { canonical, resolved } from './references.mjs'
import { schemaDifferences } from './schema-differences.mjs'

/** What clients send: parameters and body. */
export function requestDifferences(pair, { documents, report }) {
  const compareSchemas = (schemas, place) =>
    schemaDifferences(schemas, sideWalk({ documents, report }, 'request', place))
  parameters(pair, { documents, report, compareSchemas })
  body(pair, { documents, report, compareSchemas })
}

/** What a comparison of schemas needs: reports become those of one side of the wire, with the place in front. */
export function sideWalk({ documents, report }, side, place) {
  const reportAt = (at) => (name, words) => report(`${side}-${name}`, `${at}: ${words}`)
  return { documents, place, trail: [], reportAt, report: reportAt(place) }
}

function parameters({ base, next }, { documents, report, compareSchemas }) {
  const before = parametersOf(base, documents.base)
  const after = parametersOf(next, documents.next)
  for (const [key, was] of before) {
    const is = after.get(key)
    if (is === undefined) report('parameter-removed', `the ${nameOf(was)} is gone`)
    else sameParameter({ was, is }, { report, compareSchemas })
  }
  for (const [key, is] of after) {
    if (before.has(key)) continue
    if (is.required) report('required-parameter-added', `the required ${nameOf(is)} is new`)
    else report('parameter-added', `the ${nameOf(is)} is new`)
  }
}

function sameParameter({ was, is }, { report, compareSchemas }) {
  const name = nameOf(was)
  if (!was.required && is.required) report('parameter-became-required', `the ${name} became required`)
  if (was.required && !is.required) report('parameter-became-optional', `the ${name} became optional`)
  if (canonical(spelling(was)) !== canonical(spelling(is)))
    report('parameter-changed', `the ${name} is spelt in another way`)
  compareSchemas({ base: was.schema ?? {}, next: is.schema ?? {} }, name)
}

/** How values are laid out in the text. */
function spelling({ style, explode, allowReserved, allowEmptyValue, content }) {
  return { style, explode, allowReserved, allowEmptyValue, content }
}

function nameOf({ in: place, name }) {
  return `${place} parameter ${name}`
}

/** By place and name; those of the path by their position in it. */
function parametersOf({ parameters: all, path }, document) {
  const holes = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name)
  const known = all.map((parameter) => resolved(document, parameter))
  return new Map(known.map((parameter) => [keyOf(parameter, holes), parameter]))
}

function keyOf({ in: place, name }, holes) {
  if (place === 'path') return `path ${holes.indexOf(name)}`
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`
}

function body({ base, next }, { documents, report, compareSchemas }) {
  const was = resolved(documents.base, base.operation.requestBody)
  const is = resolved(documents.next, next.operation.requestBody)
  if (was === undefined || is === undefined) {
    if (is !== undefined) report(is.required ? 'required-request-body-added' : 'request-body-added', 'it takes a body')
    if (was !== undefined) report('request-body-removed', 'it no longer takes a body')
    return
  }
  if (!was.required && is.required) report('request-body-became-required', 'the body became required')
  if (was.required && !is.required) report('request-body-became-optional', 'the body became optional')
  cap({ base, next }, report)
  mediaDifferences(
    { was: was.content, is: is.content },
    { side: 'request', place: 'request body', report, compareSchemas },
  )
}

function cap({ base, next }, report) {
  const [was, is] = [base, next].map(({ operation }) => operation['x-service-body-bytes-max'] ?? Infinity)
  if (is < was) report('request-body-cap-lowered', `the cap of ${was} bytes became ${is}`)
  if (is > was) report('request-body-cap-raised', `the cap of ${was} bytes became ${is}`)
}

/** Compares what each media type holds. */
export function mediaDifferences({ was = {}, is = {} }, { side, place, report, compareSchemas }) {
  for (const media of Object.keys(was)) {
    if (is[media] === undefined) report(`${side}-media-type-removed`, `${place}: ${media} is gone`)
    else compareSchemas({ base: was[media].schema ?? {}, next: is[media].schema ?? {} }, `${place} ${media}`)
  }
  for (const media of Object.keys(is)) {
    if (was[media] === undefined) report(`${side}-media-type-added`, `${place}: ${media} is new`)
  }
}
