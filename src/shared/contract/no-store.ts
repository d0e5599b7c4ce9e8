import { z } from 'zod'
import { asZod } from './json-schema.ts'
import { isMedia, type AnySchema, type Operation } from './operation.ts'
import { schemasWithin } from './schemas-within.ts'

/** Whether no answer of the operation may be kept by a cache: the contract forbids it, or an answer shows a secret once. */
export function isNoStore({ noStore, responses }: Operation): boolean {
  const shapes = Object.values(responses).filter((shape) => shape !== null)
  return noStore === true || shapes.some((shape) => !isMedia(shape) && showsOnce(shape))
}

function showsOnce(schema: AnySchema): boolean {
  return schemasWithin(asZod(schema)).some((at) => z.globalRegistry.get(at)?.['x-service-write-once'] === true)
}
