import { mapReferences, namedSchemasOf, type JsonSchema, type Side } from './json-schema.ts'
import type { AnySchema } from './operation.ts'

/** Gathers the schemas that have a name, so that the document says each once. */
export interface Components {
  /** A reference for a schema with `.meta({ id })`, else the schema itself. */
  referTo(schema: AnySchema, side: Side): JsonSchema
  /** By name, sorted. */
  schemas(): Readonly<Record<string, JsonSchema>>
}

/** Starts with none. One name for two different schemas is a mistake in the contract and throws. */
export function componentsOf(): Components {
  const gathered = new Map<string, JsonSchema>()
  const pointTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

  function gather(name: string, schema: JsonSchema): void {
    const pointed = mapReferences(schema, pointTo)
    const known = gathered.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(pointed)) {
      throw new Error(`two different schemas are called ${name}`)
    }
    gathered.set(name, pointed)
  }

  return {
    referTo(schema, side) {
      const { root, named } = namedSchemasOf(schema, side)
      for (const [name, inner] of Object.entries(named)) gather(name, inner)
      return mapReferences(root, pointTo)
    },
    schemas: () => Object.fromEntries([...gathered].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}
