import { schemasOf } from './schemas.mjs'

const SINCE = 'x-service-deprecated-since'
const SUNSET = 'x-service-sunset'
const SUCCESSOR = 'x-service-successor'

/** How long S1 Versioning 3 has clients served after an announcement, at least. */
const NOTICE_MONTHS = 12

/**
 * @typedef {object} Judge
 * @property {(id: string, marker: any) => unknown} check the server's own rule for markers; throws where it would not start
 * @property {number} nowMs
 */

/**
 * What is wrong with the deprecation markers of the contract (S1 Versioning 6), in words. Errors fail, warnings do not.
 *
 * @param contract `openapi` and `events`, the two documents
 * @param {Judge} judge
 * @returns {{ errors: string[], warnings: string[] }}
 */
export function judgeMarkers({ openapi, events }, judge) {
  const operations = operationsOf(openapi)
  const verdicts = [
    ...operations.map(({ operation, key }) => ofOperation({ operation, key }, { operations, judge })),
    ...schemasOf(openapi, events).map(({ place, schema }) => ofSchema(place, schema, judge)),
  ]
  return {
    errors: verdicts.flatMap(({ errors }) => errors),
    warnings: verdicts.flatMap(({ warnings }) => warnings),
  }
}

function operationsOf({ paths = {} }) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, each]) => each?.operationId !== undefined)
      .map(([method, operation]) => ({ operation, key: `${method.toUpperCase()} ${path}` })),
  )
}

const FINE = { errors: [], warnings: [] }
const failing = (...errors) => ({ errors, warnings: [] })

function ofOperation({ operation, key }, { operations, judge }) {
  const { operationId: id, [SUCCESSOR]: successor } = operation
  const verdict = ofMarked(id, operation, judge)
  if (operation.deprecated !== true || verdict.errors.length > 0) return verdict
  const found = operations.find((each) => each.key === successor)
  if (successor === key) return failing(`${id}: it is its own successor`)
  if (found === undefined && isOfThisMajor(successor, key)) return failing(`${id}: there is no successor ${successor}`)
  const isRetired = found?.operation.deprecated === true
  const retired = isRetired ? [`${id}: its successor ${successor} is deprecated, too`] : []
  return { ...verdict, warnings: [...verdict.warnings, ...retired] }
}

/** The document of one major does not show the operations of another. */
function isOfThisMajor(successor, key) {
  const majorOf = (words) => words.split('/')[1]
  return majorOf(successor) === majorOf(key)
}

/** A member has no header; its successor is named in words, for it may be anywhere. */
function ofSchema(place, schema, judge) {
  return ofMarked(place, schema, {
    ...judge,
    check: (id, marker) => judge.check(id, { ...marker, successor: undefined }),
  })
}

function ofMarked(id, { deprecated, [SINCE]: since, [SUNSET]: sunset, [SUCCESSOR]: successor }, judge) {
  if (deprecated !== undefined && typeof deprecated !== 'boolean') {
    return failing(`${id}: deprecated is neither true nor false`)
  }
  const markers = { [SINCE]: since, [SUNSET]: sunset, [SUCCESSOR]: successor }
  if (deprecated !== true) return ofStray(id, markers)
  const missing = [SINCE, SUCCESSOR].filter((name) => markers[name] === undefined)
  if (missing.length > 0) return failing(...missing.map((name) => `${id}: deprecated without ${name}`))
  if (typeof successor !== 'string' || successor.trim() === '') return failing(`${id}: ${SUCCESSOR} names nothing`)
  try {
    judge.check(id, { since, successor, ...(sunset !== undefined && { sunset }) })
  } catch (error) {
    return failing(error.message)
  }
  return { errors: [], warnings: sunset === undefined ? [] : ofSunset(id, { since, sunset }, judge.nowMs) }
}

function ofStray(id, markers) {
  const stray = Object.keys(markers).filter((name) => markers[name] !== undefined)
  return stray.length === 0 ? FINE : failing(`${id}: ${stray.join(' and ')} without deprecated: true`)
}

function ofSunset(id, { since, sunset }, nowMs) {
  const earliest = new Date(since)
  earliest.setUTCMonth(earliest.getUTCMonth() + NOTICE_MONTHS)
  const sunsetMs = Date.parse(sunset)
  return [
    ...(sunsetMs < earliest.getTime()
      ? [`${id}: its sunset is less than ${NOTICE_MONTHS} months after its since`]
      : []),
    ...(sunsetMs <= nowMs ? [`${id}: its sunset has passed; nothing changes for callers until it is removed`] : []),
  ]
}
