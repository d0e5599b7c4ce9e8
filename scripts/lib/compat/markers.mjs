const SINCE = 'x-service-deprecated-since'
const SUNSET = 'x-service-sunset'

/**
 * What is wrong with the deprecation markers of a document (S1 Versioning 6), in words.
 *
 * @param check the server's own rule for instants: called with operation id, since and sunset; throws when it would not start
 */
export function markerErrors(document, check) {
  const operations = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item).filter((each) => each?.operationId !== undefined),
  )
  return operations.flatMap((operation) => {
    const wrong = wrongIn(operation, check)
    return wrong === undefined ? [] : [wrong]
  })
}

function wrongIn({ operationId: id, deprecated, [SINCE]: since, [SUNSET]: sunset }, check) {
  if (deprecated !== undefined && typeof deprecated !== 'boolean') return `${id}: deprecated is neither true nor false`
  if (deprecated !== true) {
    const stray = [since === undefined ? [] : [SINCE], sunset === undefined ? [] : [SUNSET]].flat()
    return stray.length === 0 ? undefined : `${id}: ${stray.join(' and ')} without deprecated: true`
  }
  if (since === undefined) return `${id}: deprecated without ${SINCE}`
  try {
    check(id, { since, ...(sunset !== undefined && { sunset }) })
    return undefined
  } catch (error) {
    return error.message
  }
}
