import { isNoStore } from './no-store.ts'
import type { Operation } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

/** Headers of every answer, whatever the operation. */
export const COMMON_HEADERS = {
  'X-Correlation-Id': { $ref: '#/components/headers/XCorrelationId' },
  'X-Service-API-Version': { $ref: '#/components/headers/XServiceApiVersion' },
}

const NO_STORE = {
  'Cache-Control': { description: '`no-store`: caches must not keep the answer', schema: { type: 'string' } },
}

/** Headers of every answer of an operation. */
export function headersOf(operation: Operation): Json {
  const { deprecated } = operation
  const common = isNoStore(operation) ? { ...COMMON_HEADERS, ...NO_STORE } : COMMON_HEADERS
  if (deprecated === undefined) return common
  const sunset = deprecated.sunset === undefined ? {} : { Sunset: { $ref: '#/components/headers/Sunset' } }
  return { ...common, Deprecation: { $ref: '#/components/headers/Deprecation' }, ...sunset }
}
