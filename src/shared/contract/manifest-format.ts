import type { ProblemCode } from '../problems.ts'
import type { ApiMajor } from './api-major.ts'
import type { CliWords } from './cli-words.ts'
import type { Nouns } from './noun-words.ts'
import type { CredentialKind, Deprecation, HttpMethod, Paging } from './operation.ts'

/** The contract as plain JSON: the client and the command line use it, so that a call loads no schema library. */
export interface Manifest {
  /** Version of this format; a reader refuses another. */
  readonly format: 2
  /** Major version of the API, the first path segment. */
  readonly apiVersion: ApiMajor
  /** Names that scopes may use, sorted. */
  readonly surfaces: readonly string[]
  /** Nouns of the command line, with where help lists them and the types of their objects. */
  readonly nouns: Nouns
  /** By operation id, in the order of the contract. */
  readonly index: { readonly [operationId: string]: IndexedOperation }
  /**
   * By operation id, in the order of the contract. Read one by its id and find the id in `index`: the built manifest parses an
   * operation when it is first read, so going through all of them parses all.
   */
  readonly operations: { readonly [operationId: string]: ManifestOperation }
}

/** What an operation is found by. */
export interface IndexedOperation {
  readonly method: HttpMethod
  /** As in `ManifestOperation`. */
  readonly path: string
  /** Absent if the operation has no command. */
  readonly command?: IndexedCommand
  /** It answers with a stream. */
  readonly streams?: true
}

export interface IndexedCommand {
  /** Noun and verb, e.g. `tokens issue`. */
  readonly words: string
  /** One line for help. */
  readonly summary: string
}

export interface ManifestOperation {
  readonly id: string
  readonly surface: string
  readonly method: HttpMethod
  /** With `{member}` holes, each a path member of `params`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** Empty for an open operation. */
  readonly credentials: readonly CredentialKind[]
  /** What a token's scope must allow: `<surface>:<access>`. */
  readonly access: 'read' | 'write'
  /** Whether repeating the call is harmless: GET, PUT, DELETE, and what the contract declares so. */
  readonly idempotent: boolean
  readonly params: readonly ManifestField[]
  readonly query: readonly ManifestField[]
  readonly body?: ManifestBody
  readonly responses: readonly ManifestResponse[]
  /** What JSON answers are, by status, so that a client can distinguish them from those of another server. */
  readonly shapes?: Readonly<Record<string, ManifestShape>>
  readonly paging?: Paging
  /** Every code that the operation may answer with, the implied ones included; sorted. */
  readonly problems: readonly ProblemCode[]
  /** Who makes the call after an approval, where a policy may hold it. */
  readonly approval?: 'server' | 'requester'
  /** Instants are RFC 3339. */
  readonly deprecated?: Deprecation
  /** Relations of its audit rows. */
  readonly audit?: readonly string[]
  readonly cli?: CliWords
}

export interface ManifestBody {
  /** Accepted media types, the preferred one first. */
  readonly media: readonly string[]
  readonly bytesMax: number
  /** False where the body is optional. */
  readonly required: boolean
  /** Members of the object; where the body is one of several objects, of all of them, required only if all require it. */
  readonly fields: readonly ManifestField[]
}

export interface ManifestResponse {
  readonly status: number
  /** `application/json`, another media type, or null for an empty body. */
  readonly media: string | null
  /** It is a stream that one side ends. */
  readonly streams?: true
  /** Dotted paths of members that are shown once and must never be logged, e.g. `token`. */
  readonly writeOnce?: readonly string[]
}

/** A value of an answer as far as code reads it: types and members. Values of an enum may be added, so none are listed. */
export interface ManifestShape {
  readonly type: ManifestType
  readonly nullable?: true
  /** Of an array. */
  readonly items?: ManifestShape
  /** Of an object with known members. */
  readonly fields?: readonly ManifestShapeField[]
  /** Of an object that takes any member name: what each value is. */
  readonly values?: ManifestShape
}

export interface ManifestShapeField extends ManifestShape {
  readonly name: string
  readonly required: boolean
}

/** What a value may be. `json` is any value; the sender writes it as JSON. */
export type ManifestType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'json'

/** The shape of one value. Bounds are inclusive; lengths of strings count code points. */
export interface ManifestValue {
  readonly type: ManifestType
  readonly nullable?: true
  readonly enum?: readonly (string | number)[]
  /** `uuid`, `date-time`, … as JSON Schema names them. */
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  /** Of an array. */
  readonly items?: ManifestValue
  readonly minItems?: number
  readonly maxItems?: number
  /** Of an object with known members. */
  readonly fields?: readonly ManifestField[]
  /** Of an object that takes any member name: what each value is. */
  readonly values?: ManifestValue
}

/** A named value: a path or query member, or a member of a body. */
export interface ManifestField extends ManifestValue {
  readonly name: string
  readonly required: boolean
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  /** Sent and never returned: a secret. */
  readonly writeOnly?: true
}
