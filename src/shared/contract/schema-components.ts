import { mapReferences, namedSchemasOf, type JsonSchema, type Side } from './json-schema.ts'
import type { AnySchema } from './operation.ts'

/** Collects the named schemas, so that the document defines each once. */
export interface Components {
  /** A reference for a schema with `.meta({ id })`, else the schema itself. */
  referTo(schema: AnySchema, side: Side): JsonSchema
  /** By name, sorted. */
  schemas(): Readonly<Record<string, JsonSchema>>
}

/** A schema of the document, and its direction. */
export interface UsedSchema {
  readonly schema: AnySchema
  readonly side: Side
}

type Named = Map<string, JsonSchema>

/**
 * Names the schemas of a document. One that differs between requests and answers appears twice, the one that
 * is sent as `<name>Input`. One name for two different schemas is a mistake in the contract and throws.
 */
export function componentsOf(used: readonly UsedSchema[]): Components {
  const sides: Record<Side, Named> = { input: new Map(), output: new Map() }
  for (const { schema, side } of used) gather(sides[side], namedSchemasOf(schema, side).named)
  const twofold = namesOfTwo(sides)
  const said: Named = new Map()

  const nameOn = (side: Side, name: string): string => (side === 'input' && twofold.has(name) ? `${name}Input` : name)
  const pointFrom = (side: Side) => (name: string) => ({ $ref: `#/components/schemas/${nameOn(side, name)}` })

  return {
    referTo(schema, side) {
      const { root, named } = namedSchemasOf(schema, side)
      for (const [name, inner] of Object.entries(named)) {
        said.set(nameOn(side, name), mapReferences(inner, pointFrom(side)))
      }
      return mapReferences(root, pointFrom(side))
    },
    schemas: () => Object.fromEntries([...said].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

function gather(into: Named, named: Readonly<Record<string, JsonSchema>>): void {
  for (const [name, schema] of Object.entries(named)) {
    const known = into.get(name)
    if (known !== undefined && !isSame(known, schema)) throw new Error(`two different schemas are called ${name}`)
    into.set(name, schema)
  }
}

/** Ambiguous names: their schemas, or the schemas that they refer to, differ. */
function namesOfTwo({ input, output }: Record<Side, Named>): ReadonlySet<string> {
  const shared = [...input].filter(([name]) => output.has(name))
  const twofold = new Set(shared.filter(([name, schema]) => !isSame(schema, output.get(name))).map(([name]) => name))
  const reaches = (schema: JsonSchema): boolean => referencesIn(schema).some((name) => twofold.has(name))
  for (let grows = true; grows;) {
    const more = shared.filter(([name, schema]) => !twofold.has(name) && reaches(schema))
    for (const [name] of more) twofold.add(name)
    grows = more.length > 0
  }
  return twofold
}

function referencesIn(schema: JsonSchema): readonly string[] {
  const names: string[] = []
  mapReferences(schema, (name) => {
    names.push(name)
    return {}
  })
  return names
}

function isSame(a: JsonSchema, b: JsonSchema | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
