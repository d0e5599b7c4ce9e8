import { z } from 'zod'

/** A schema and all schemas inside it, each once. */
export function schemasWithin(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  const found = new Set<z.core.$ZodType>()
  const visit = (at: z.core.$ZodType): void => {
    if (found.has(at)) return
    found.add(at)
    for (const inner of innerSchemas(at)) visit(inner)
  }
  visit(schema)
  return [...found]
}

function innerSchemas(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return Object.values<z.core.$ZodType>(schema.shape)
  if (schema instanceof z.ZodUnion) return schema.def.options
  if (schema instanceof z.ZodArray) return [schema.def.element]
  if (schema instanceof z.ZodRecord) return [schema.def.valueType]
  if (schema instanceof z.ZodPipe) return [schema.def.in, schema.def.out]
  if (schema instanceof z.ZodCatch) return [schema.def.innerType]
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
  return wraps ? [schema.def.innerType] : []
}
