import { v1 } from '@authzed/authzed-node'
import { problem } from '../../../shared/problems.ts'
import { answerTo, codeOf, NOT_FOUND, schemaRefusal, unanswered, wholeStream } from './calls.ts'
import {
  consistencyOf,
  contextOf,
  objectOf,
  plainRelationship,
  subjectOf,
  updateOf,
  type CaveatContext,
  type Freshness,
  type ObjectName,
  type Relationship,
} from './messages.ts'
import { traceOf, type Trace } from './trace.ts'

/** The address of SpiceDB and the security of its connection. */
export interface SpicedbAddress {
  /** `host:port`. */
  readonly endpoint: string
  /** The preshared key. */
  readonly token: string
  /** `ca`: the trusted certificates in PEM; the root certificates of Node if absent. */
  readonly security: { readonly kind: 'plaintext' | 'tls'; readonly ca?: Buffer | undefined }
}

/** `touch` creates the relationship or replaces its caveat. `delete` removes it, whatever its caveat is. */
export interface RelationshipEdit {
  readonly op: 'touch' | 'delete'
  readonly relationship: Relationship
}

interface Asked {
  readonly permission: string
  readonly freshness: Freshness
  /** Values for caveats. The answer is conditional if a caveat lacks one. */
  readonly context?: CaveatContext | undefined
}

export interface CheckRequest extends Asked {
  readonly resource: ObjectName
  readonly subject: ObjectName
  /** Whether to return the trace of the decision; SpiceDB then does not use its caches. */
  readonly tracing: boolean
}

export interface CheckResponse {
  readonly permissionship: 'yes' | 'no' | 'conditional'
  /** Present when it was asked for. */
  readonly trace: Trace | undefined
}

export interface ResourcesRequest extends Asked {
  readonly resourceType: string
  readonly subject: ObjectName
  /** The most results that are of use: one more ends the lookup, which then has the time of a check. Default: all. */
  readonly max?: number
}

export interface SubjectsRequest extends Asked {
  readonly subjectType: string
  readonly resource: ObjectName
}

/** A result of a lookup; `conditional` where it depends on caveats that were not decided. */
export interface Found {
  readonly id: string
  readonly isConditional: boolean
}

/**
 * The calls of SpiceDB that this server uses, each with a deadline.
 * @throws Problem `authz_unavailable`, `internal` where data is nested too deep; CaveatFailed.
 */
export interface Spicedb {
  check(request: CheckRequest): Promise<CheckResponse>
  /** Writes all edits or none. Resolves with the token of the write. */
  write(edits: readonly RelationshipEdit[]): Promise<string>
  /** Resolves when it answers, whatever it answers. */
  ping(): Promise<void>
  /** Undefined if SpiceDB has no schema. */
  readSchema(): Promise<string | undefined>
  /** @throws SchemaRefused, with the message of SpiceDB. */
  writeSchema(text: string): Promise<void>
  /** Every relationship of resources of the type, in pages, as fresh as can be. */
  relationships(resourceType: string): AsyncIterable<readonly Relationship[]>
  /** With `max`, at most one more result than that. */
  lookupResources(request: ResourcesRequest): Promise<readonly Found[]>
  lookupSubjects(request: SubjectsRequest): Promise<readonly Found[]>
  close(): void
}

const CALL_MS = 2_000
const SCHEMA_MS = 10_000
const STREAM_MS = 30_000
/** Maximum of results in one answer, by SpiceDB's default settings. */
const PAGE = 1_000

/** Reconnects within a second after an outage, and gives up an unnoticed dead connection after 15 s. */
const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
}

const { HAS_PERMISSION, NO_PERMISSION, CONDITIONAL_PERMISSION } = v1.CheckPermissionResponse_Permissionship
const PERMISSIONSHIPS = new Map<v1.CheckPermissionResponse_Permissionship, CheckResponse['permissionship']>([
  [HAS_PERMISSION, 'yes'],
  [NO_PERMISSION, 'no'],
  [CONDITIONAL_PERMISSION, 'conditional'],
])

function connect({ endpoint, token, security }: SpicedbAddress): v1.ZedClientInterface {
  const { SECURE, INSECURE_PLAINTEXT_CREDENTIALS } = v1.ClientSecurity
  if (security.kind === 'tls' && security.ca !== undefined)
    return v1.NewClientWithCustomCert(token, endpoint, security.ca, undefined, CHANNEL)
  const kind = security.kind === 'tls' ? SECURE : INSECURE_PLAINTEXT_CREDENTIALS
  return v1.NewClient(token, endpoint, kind, undefined, CHANNEL)
}

const within = (ms: number) => ({ deadline: Date.now() + ms })

const refuse = (error: unknown): never => {
  throw unanswered(error)
}

const found = (id: string, permissionship: v1.LookupPermissionship): Found => ({
  id,
  isConditional: permissionship !== v1.LookupPermissionship.HAS_PERMISSION,
})

/** Connects on first use, and reconnects whenever the connection is lost. */
export function openSpicedb(address: SpicedbAddress): Spicedb {
  const client = connect(address)
  return { ...checks(client), ...schemas(client), ...lookups(client), close: () => client.close() }
}

function checks(client: v1.ZedClientInterface): Pick<Spicedb, 'check' | 'write'> {
  return {
    async check({ resource, permission, subject, freshness, context, tracing }) {
      const request = v1.CheckPermissionRequest.create({
        consistency: consistencyOf(freshness),
        resource: objectOf(resource),
        permission,
        subject: subjectOf({ ...subject, relation: '' }),
        withTracing: tracing,
        ...contextOf(context),
      })
      const answer = await answerTo<v1.CheckPermissionResponse>((done) =>
        client.checkPermission(request, within(CALL_MS), done),
      ).catch(refuse)
      const permissionship = PERMISSIONSHIPS.get(answer.permissionship)
      if (permissionship === undefined) throw problem('authz_unavailable')
      const trace = answer.debugTrace?.check
      return { permissionship, trace: trace && traceOf(trace) }
    },
    async write(edits) {
      const updates = edits.map(({ op, relationship }) => updateOf(op, relationship))
      const request = v1.WriteRelationshipsRequest.create({ updates })
      const answer = await answerTo<v1.WriteRelationshipsResponse>((done) =>
        client.writeRelationships(request, within(CALL_MS), done),
      ).catch(refuse)
      if (answer.writtenAt === undefined) throw problem('authz_unavailable')
      return answer.writtenAt.token
    },
  }
}

function schemas(
  client: v1.ZedClientInterface,
): Pick<Spicedb, 'ping' | 'readSchema' | 'writeSchema' | 'relationships'> {
  async function readSchema(deadlineMs: number): Promise<string | undefined> {
    try {
      const read = await answerTo<v1.ReadSchemaResponse>((done) => client.readSchema({}, within(deadlineMs), done))
      return read.schemaText
    } catch (error) {
      if (codeOf(error) === NOT_FOUND) return undefined
      throw unanswered(error)
    }
  }

  return {
    ping: async () => void (await readSchema(CALL_MS)),
    readSchema: () => readSchema(SCHEMA_MS),
    async writeSchema(schema) {
      try {
        await answerTo<v1.WriteSchemaResponse>((done) => client.writeSchema({ schema }, within(SCHEMA_MS), done))
      } catch (error) {
        throw schemaRefusal(error)
      }
    },
    async *relationships(resourceType) {
      let after: v1.Cursor | undefined
      for (;;) {
        const request = v1.ReadRelationshipsRequest.create({
          consistency: consistencyOf(undefined),
          relationshipFilter: v1.RelationshipFilter.create({ resourceType }),
          optionalLimit: PAGE,
          ...(after && { optionalCursor: after }),
        })
        const page = await wholeStream<v1.ReadRelationshipsResponse>(
          client.readRelationships(request, within(STREAM_MS)),
        ).catch(refuse)
        yield page.flatMap(({ relationship }) => (relationship === undefined ? [] : [plainRelationship(relationship)]))
        if (page.length < PAGE) return
        after = page.at(-1)?.afterResultCursor
      }
    },
  }
}

function lookups(client: v1.ZedClientInterface): Pick<Spicedb, 'lookupResources' | 'lookupSubjects'> {
  return {
    async lookupResources({ resourceType, permission, subject, freshness, context, max = Infinity }) {
      const all: Found[] = []
      const pageMs = max === Infinity ? STREAM_MS : CALL_MS
      let after: v1.Cursor | undefined
      for (;;) {
        const limit = Math.min(PAGE, max + 1 - all.length)
        const request = v1.LookupResourcesRequest.create({
          consistency: consistencyOf(freshness),
          resourceObjectType: resourceType,
          permission,
          subject: subjectOf({ ...subject, relation: '' }),
          optionalLimit: limit,
          ...contextOf(context),
          ...(after && { optionalCursor: after }),
        })
        const page = await wholeStream<v1.LookupResourcesResponse>(
          client.lookupResources(request, within(pageMs)),
        ).catch(refuse)
        for (const { resourceObjectId, permissionship } of page) all.push(found(resourceObjectId, permissionship))
        if (page.length < limit || all.length > max) return all
        after = page.at(-1)?.afterResultCursor
      }
    },
    async lookupSubjects({ subjectType, permission, resource, freshness, context }) {
      const request = v1.LookupSubjectsRequest.create({
        consistency: consistencyOf(freshness),
        resource: objectOf(resource),
        permission,
        subjectObjectType: subjectType,
        ...contextOf(context),
      })
      const page = await wholeStream<v1.LookupSubjectsResponse>(
        client.lookupSubjects(request, within(STREAM_MS)),
      ).catch(refuse)
      return page.flatMap(({ subject }) =>
        subject === undefined ? [] : [found(subject.subjectObjectId, subject.permissionship)],
      )
    },
  }
}
