import { compileSchema } from '../../../shared/authz/language/compile.ts'
import { parseSchema } from '../../../shared/authz/language/parser.ts'
import type { Model } from '../../../shared/authz/model.ts'
import { apiName } from '../../../shared/authz/names.ts'
import { BootError } from '../../ports/boot-error.ts'
import { SchemaRefused } from './calls.ts'
import type { Spicedb } from './client.ts'

/** The deployed schema: none, this version's, or that of another version. */
export type Deployed = 'none' | 'ours' | 'other'

/** The names that a schema defines, independent of its formatting. */
function namesOf({ types, caveats }: Model): Set<string> {
  const relations = types.flatMap((type) => [...type.relations, ...type.permissions])
  return new Set([
    ...types.map(({ name }) => name),
    ...relations.map(({ type, engineName }) => `${type.name}#${engineName}`),
    ...[...caveats.keys()].map((name) => `caveat ${name}`),
  ])
}

/** Names that every version of this schema has. A schema without them belongs to another application. */
const OWN_TYPES = ['platform', 'domain', 'project', 'serviceaccount']
const OWN_CAVEATS = ['within_hours', 'from_network', 'strong_auth']

function isOwn(model: Model): boolean {
  const hasTypes = OWN_TYPES.every((type) => model.type(type) !== undefined)
  return hasTypes && OWN_CAVEATS.every((caveat) => model.caveats.has(caveat))
}

/**
 * Writes the schema to SpiceDB, unless it is there. SpiceDB itself refuses a schema that would orphan relationships;
 * nothing is written then.
 * @throws BootError, in one sentence, if SpiceDB has the schema of another application, or relationships that this
 * schema would orphan.
 */
export async function deploySchema(spicedb: Spicedb, schema: string): Promise<Deployed> {
  const deployed = await spicedb.readSchema()
  if (deployed === undefined || deployed.trim() === '') {
    await write(spicedb, schema)
    return 'none'
  }
  const there = read(deployed)
  if (there === undefined || !isOwn(there)) {
    throw new BootError(
      1,
      'The SpiceDB at --spicedb-endpoint holds the schema of something else: give this server a SpiceDB of its own.',
    )
  }
  await write(spicedb, schema)
  return isSame(there, read(schema)) ? 'ours' : 'other'
}

function read(text: string): Model | undefined {
  try {
    return compileSchema(parseSchema(text), apiName)
  } catch {
    // A schema that this version cannot read is not one of its own.
    return undefined
  }
}

function isSame(one: Model, other: Model | undefined): boolean {
  const names = namesOf(one)
  const others = other === undefined ? new Set<string>() : namesOf(other)
  return names.size === others.size && [...names].every((name) => others.has(name))
}

async function write(spicedb: Spicedb, schema: string): Promise<void> {
  try {
    await spicedb.writeSchema(schema)
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error
    throw new BootError(
      1,
      `SpiceDB refuses the authorization schema of this version, and nothing was changed: ${error.message}.`,
    )
  }
}
