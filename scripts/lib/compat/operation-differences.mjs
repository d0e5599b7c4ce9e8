import { canonical, resolved } from './references.mjs'

/** What an operation is called, who may call it. */
export function operationDifferences({ base, next }, { report }) {
  const [was, is] = [base.operation, next.operation]
  if (was.operationId !== is.operationId) {
    report('operation-renamed', `${was.operationId} became ${is.operationId}`)
  }
  const [scopeWas, scopeIs] = [was['x-service-scope'], is['x-service-scope']]
  if (scopeWas !== scopeIs) report('scope-changed', `the scope ${scopeWas} became ${scopeIs}`)
  const [gateWas, gateIs] = [was['x-service-gate'], is['x-service-gate']].map((gate) => withoutReason(gate))
  if (gateWas !== gateIs) report('gate-changed', `the gate ${gateWas} became ${gateIs}`)
  credentials({ base, next }, report)
}

/** Why a gate is open is prose. */
function withoutReason(gate) {
  return canonical(gate?.open === undefined ? (gate ?? {}) : { ...gate, open: true })
}

/** Any one of the alternatives will do; none at all is open. */
function credentials({ base, next }, report) {
  const [before, after] = [base, next].map(alternativesOf)
  if (before.size === 0 || after.size === 0) {
    if (after.size > 0) report('credential-demanded', `open before, it takes ${names(after)}`)
    if (before.size > 0) report('credential-no-longer-demanded', 'it is open from now on')
    return
  }
  for (const [name, scheme] of before) {
    if (!after.has(name)) report('credential-removed', `${name} is no longer taken`)
    else if (after.get(name) !== scheme) report('credential-changed', `${name} is presented in another way`)
  }
  for (const name of after.keys()) if (!before.has(name)) report('credential-added', `${name} is taken, too`)
}

/** Each alternative by name, with what its schemes say. An alternative without a scheme makes it open. */
function alternativesOf({ operation, document }) {
  const alternatives = operation.security ?? document.security ?? []
  if (alternatives.some((schemes) => Object.keys(schemes).length === 0)) return new Map()
  return new Map(
    alternatives.map((schemes) => [
      Object.keys(schemes).toSorted().join(' and '),
      canonical(Object.keys(schemes).map((name) => presented(document, name))),
    ]),
  )
}

/** How a credential travels; what it looks like is prose. */
function presented(document, name) {
  const { bearerFormat: _, ...scheme } = resolved(document, document.components?.securitySchemes?.[name]) ?? {}
  return scheme
}

function names(alternatives) {
  return [...alternatives.keys()].join(', ')
}

/** The announcements of an end (S1 Versioning 6). */
export function markerDifferences({ base, next }, { report }) {
  const [was, is] = [base.operation, next.operation]
  if (was.deprecated !== true && is.deprecated === true) report('deprecation-added', 'it is deprecated from now on')
  if (was.deprecated === true && is.deprecated !== true) report('deprecation-removed', 'it is no longer deprecated')
  sunset(was['x-service-sunset'], is['x-service-sunset'], report)
}

function sunset(before, after, report) {
  if (before === after) return
  const words = `its sunset ${before ?? 'none'} became ${after ?? 'none'}`
  if (before === undefined) report('sunset-added', words)
  // No sunset is the latest of all.
  else report(Date.parse(after ?? '9999-12-31') < Date.parse(before) ? 'sunset-earlier' : 'sunset-later', words)
}
