import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { usageError } from '../../errors/cli-error.ts'
import type { Io } from '../../output/io.ts'
import { isRow, memberOf, type Row } from '../../output/members.ts'

/** A policy as a file has it. */
export interface PolicyFile {
  /** The file; place and slug as well where it has several policies. */
  readonly name: string
  /** What a person writes: slug, display name, selector, isolates, rules, tests. */
  readonly members: Row
  /** The revision that it was made from, where the file is what `policies show` printed. */
  readonly revisionId: string | undefined
}

/** Members that the server adds. A file may be what `policies show -o yaml` printed. */
const ADDED: ReadonlySet<string> = new Set([
  'id',
  'domain_id',
  'revision_id',
  'revision',
  'fingerprint',
  'matched_count',
  'vacuous_tests',
  'created_at',
  'updated_at',
  'created_by',
])

/**
 * Reads the policies of a file, `-` for stdin: one in JSON or YAML, or several YAML documents with `---` between them. Throws a
 * usage error for a file that cannot be read or holds something else.
 */
export async function policiesIn(path: string, io: Io): Promise<readonly PolicyFile[]> {
  const name = path === '-' ? 'stdin' : path
  const found = (await documentsIn(await textOf(path, io), name)).filter((one) => one !== null)
  if (found.length === 0) throw usageError(`${name} has no policy`)
  return found.map((document, index) => policyOf(document, found.length > 1 ? placeIn(name, index, document) : name))
}

/** `tiers.yaml, policy 2 (app-in)`. */
function placeIn(name: string, index: number, document: unknown): string {
  const slug = memberOf(document, 'slug')
  return `${name}, policy ${index + 1}${typeof slug === 'string' ? ` (${slug})` : ''}`
}

async function textOf(path: string, io: Io): Promise<string> {
  if (path === '-') return io.stdin.text()
  try {
    return await readFile(resolve(io.cwd, path), 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw usageError(`${path} cannot be read (${code})`)
  }
}

async function documentsIn(text: string, name: string): Promise<readonly unknown[]> {
  const { parseAllDocuments } = await import('yaml')
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  const fault = documents.flatMap(({ errors }) => errors)[0]
  if (fault !== undefined) throw usageError(`${name} is neither JSON nor YAML: ${fault.message.split('\n')[0] ?? ''}`)
  return documents.map((document) => document.toJS() as unknown)
}

function policyOf(document: unknown, name: string): PolicyFile {
  if (!isRow(document)) throw usageError(`${name} must hold an object with the members of a policy`)
  const revisionId = document['revision_id']
  return {
    name,
    members: Object.fromEntries(Object.entries(document).filter(([member]) => !ADDED.has(member))),
    revisionId: typeof revisionId === 'string' ? revisionId : undefined,
  }
}
