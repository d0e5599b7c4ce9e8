import { jsonSchemaOf } from '../../src/shared/contract/json-schema.ts'
import type { Operation } from '../../src/shared/contract/operation.ts'
import { PROBLEMS, type ProblemCode } from '../../src/shared/problems.ts'
import { operationAt, type Placed } from './placed.ts'
import { denialOf } from './rules/access.ts'
import type { ValidCall } from './scenario.ts'

type Input = ValidCall['input']

/** The member of a call that names an object. */
export interface Naming {
  readonly source: 'path' | 'query' | 'body'
  readonly member: string
}

/** An object that calls of an operation name, and that the contract can delete. */
export interface NamedObject extends Naming {
  readonly deletion: Placed
  /** Whether that input names one. */
  readonly isNamedIn: (input: Input) => boolean
  /** The input with what a call of the deletion named in its place. */
  readonly rename: (input: Input, deleted: Input) => Input
}

const holesOf = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** Objects that an operation names in path, query and body, as far as the contract has a DELETE for them. */
export function namedObjects(operation: Operation, contract: readonly Placed[]): readonly NamedObject[] {
  return [...inPath(operation, contract), ...inMembers(operation, contract)]
}

/** Each beginning of the path that is the path of a DELETE. PUT makes what its own path names, and DELETE has a rule of its own. */
function inPath({ method, path }: Operation, contract: readonly Placed[]): readonly NamedObject[] {
  const ends = [...path.matchAll(/\}/g)].map(({ index }) => index + 1)
  const prefixes = ends.map((end) => path.slice(0, end))
  const named = method === 'PUT' || method === 'DELETE' ? prefixes.filter((prefix) => prefix !== path) : prefixes
  return named.flatMap((prefix) => {
    const deletion = operationAt(contract, 'DELETE', prefix)
    if (deletion === undefined) return []
    const [names, deletedNames] = [holesOf(prefix), holesOf(deletion.operation.path)]
    return {
      source: 'path' as const,
      member: names.at(-1) ?? '',
      deletion,
      isNamedIn: () => true,
      rename: (input: Input, deleted: Input) => ({
        ...input,
        ...Object.fromEntries(names.map((name, index) => [name, deleted[deletedNames[index] ?? '']])),
      }),
    }
  })
}

/** Members such as `project_id`, where the contract has `DELETE /v1/projects/{id}`. A GET other than a list takes them as a filter. */
function inMembers({ method, paging, query, body }: Operation, contract: readonly Placed[]): readonly NamedObject[] {
  const isFilter = method === 'GET' && paging === undefined
  const queried = query === undefined || isFilter ? [] : Object.keys(jsonSchemaOf(query, 'input').properties ?? {})
  const sent = body === undefined ? [] : Object.keys(jsonSchemaOf(body, 'input').properties ?? {})
  const members = [
    ...queried.map((member) => ({ source: 'query' as const, member })),
    ...sent.map((member) => ({ source: 'body' as const, member })),
  ]
  return members.flatMap((naming) => {
    const [, noun] = /^(\w+)_id$/.exec(naming.member) ?? []
    const deletion = operationAt(contract, 'DELETE', `/v1/${noun}s/{id}`)
    return deletion === undefined ? [] : namedBy(naming, deletion)
  })
}

function namedBy({ source, member }: Naming, deletion: Placed): NamedObject {
  const [hole = ''] = holesOf(deletion.operation.path)
  // A body is an object: the contract has no others.
  const at = (input: Input): Input => (source === 'query' ? input : ((input['body'] ?? {}) as Input))
  return {
    source,
    member,
    deletion,
    isNamedIn: (input) => at(input)[member] !== undefined,
    rename(input, deleted) {
      const named = { ...at(input), [member]: deleted[hole] }
      return source === 'query' ? named : { ...input, body: named }
    },
  }
}

/** Members about which the handler asks a relation, although the gate does not name them. */
const ASKED_BY_HANDLER: Readonly<Record<string, { readonly member: string; readonly clause: string }>> = {
  CreateJoinToken: {
    member: 'node_id',
    clause: 'a join token for a node needs node-operate on it, before the node is looked for',
  },
  CreateMediatedSession: { member: 'node_id', clause: 'decision 0036: a session needs read on its node' },
}

/** Operations that answer a missing object which the body names with a code other than that of a missing one. */
const UNPROCESSABLE: Readonly<Record<string, { readonly code: ProblemCode; readonly clause: string }>> = {
  RequestCredentialAssignment: {
    code: 'cloud_not_usable_in_project',
    clause: 'decisions 12: an unknown credential, or one of a Cloud that the Project may not use, is 422 alike',
  },
}

interface Answering {
  readonly id: string
  readonly operation: Operation
  readonly problems: readonly ProblemCode[]
}

/**
 * The codes of a call that names a missing object: its denial where every leg of the gate asks about that object, since
 * nobody holds a relation on it, else the declared codes. None where the operation declares none.
 */
export function missingCodes(
  { id, operation, problems }: Answering,
  { source, member }: Naming,
  credential = '',
): readonly ProblemCode[] {
  const { ownNode, anyOf = [] } = operation.gate
  const isOwn = ownNode?.param === member && credential.startsWith('nsk_')
  const isAsked = anyOf.length > 0 && anyOf.every(({ object }) => object.includes(`{${source}.${member}}`))
  if (isOwn || isAsked || ASKED_BY_HANDLER[id]?.member === member) return [denialOf(operation, credential)]
  const unprocessable = source === 'body' ? UNPROCESSABLE[id] : undefined
  if (unprocessable !== undefined) return [unprocessable.code]
  const codes = problems.filter((code) => PROBLEMS[code].status === 404 && code.endsWith('_not_found'))
  const own = codes.filter((code) => code === member.replace(/_id$/, '_not_found'))
  return own.length > 0 && source === 'body' ? own : codes
}
