import { z } from 'zod'
import { Instant, KiB, uuidField } from './fields.ts'
import {
  CapabilitiesRequest,
  CapabilitiesResponse,
  EndpointRequest,
  EndpointResponse,
  IntegrityViolationsRequest,
  IntegrityViolationsResponse,
  SentInstant,
  StateReportRequest,
  StateReportResponse,
} from './mesh-schemas.ts'
import { defineSurface, open } from './operation.ts'

const node = { id: uuidField('invalid_node_id', 'Node') }
const params = z.strictObject(node)
const reportParams = z.strictObject({
  ...node,
  key: z
    .string()
    .regex(/^[a-z][a-z0-9._-]{0,127}$/)
    .meta({
      problem: 'invalid_report',
      description: 'Begins with a letter; at most 128 of a-z, 0-9, dot, hyphen, underscore',
    }),
})

/** Peers in one report. */
const OBSERVED_MAX = 64

const ObservedEndpointsRequest = z
  .strictObject({
    observed: z
      .array(
        z.strictObject({
          peer_node_id: uuidField('invalid_body', 'The peer that is seen'),
          endpoint: z
            .string()
            .describe('`host:port` from which its packets come, as in a report of the node’s own endpoint'),
        }),
      )
      .min(1)
      .max(OBSERVED_MAX)
      .refine((seen) => new Set(seen.map(({ peer_node_id }) => peer_node_id)).size === seen.length, {
        error: 'names a peer twice',
      })
      .describe('Peers with which the node has a handshake and a direct path, at most 64'),
    reported_at: SentInstant.describe('When the node observed them; within 60 s of the server'),
  })
  .meta({ id: 'ObservedEndpointsRequest', description: 'Where a node sees its peers.' })

const ObservedEndpointsResponse = z
  .object({
    accepted_at: Instant.describe('When the report was accepted'),
    taken: z.int().describe('Observations that the server has as of this report or of a newer one'),
    ignored: z
      .int()
      .describe(
        'Observations of nodes that are no peers of the caller or that enough others observe, and changes beyond 64 in ten seconds',
      ),
  })
  .meta({ id: 'ObservedEndpointsResponse', description: 'How much of a report was taken.' })

const ownNode = open('S0 Authentication 4: a node speaks for itself')

export const nodeObservations = defineSurface('observations', 'What nodes report of themselves', {
  PutNodeEndpoint: {
    method: 'PUT',
    path: '/v1/nodes/{id}/endpoint',
    summary: 'Report the public address of the node',
    description: 'Peers learn the address by an event. It becomes stale without another report.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params,
    body: EndpointRequest,
    bodyBytesMax: 4 * KiB,
    gate: { ...ownNode, ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: {
      relation: 'node_endpoint.record',
      pathGate: 'node_endpoint.path_gate',
      when: 'all',
      object: 'node:{path.id}',
    },
    responses: { 200: EndpointResponse },
    problems: ['endpoint_unparseable', 'endpoint_clock_skew'],
    notProvisioned: 'endpoint_not_provisioned',
  },
  PutNodeObservedEndpoints: {
    method: 'PUT',
    path: '/v1/nodes/{id}/observed-endpoints',
    summary: 'Report where the node sees its peers',
    description:
      'Adds to earlier reports. A peer gets such an address while its own report is a guess, or it has none; one observer cannot replace what two others confirm.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params,
    body: ObservedEndpointsRequest,
    bodyBytesMax: 16 * KiB,
    gate: { ...ownNode, ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'node_observed_endpoints.record', when: 'all', object: 'node:{path.id}' },
    responses: { 200: ObservedEndpointsResponse },
    problems: ['endpoint_unparseable', 'endpoint_clock_skew'],
    notProvisioned: 'endpoint_not_provisioned',
  },
  PutNodeCapabilities: {
    method: 'PUT',
    path: '/v1/nodes/{id}/capabilities',
    summary: 'Report the capabilities of the node',
    description: 'Replaces what was declared before. Absent hooks mean that the node has none.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params,
    body: CapabilitiesRequest,
    bodyBytesMax: 32 * KiB,
    ingest: 'refused',
    gate: { ...ownNode, ownNode: { param: 'id', mismatch: 'forbidden' } },
    audit: { relation: 'node_capabilities.record', when: 'all', object: 'node:{path.id}' },
    responses: { 200: CapabilitiesResponse },
    problems: ['invalid_checksum'],
    notProvisioned: 'capabilities_not_provisioned',
  },
  PostNodeIntegrityViolations: {
    method: 'POST',
    path: '/v1/nodes/{id}/integrity-violations',
    summary: 'Report files and keys that fail an integrity check',
    description: 'Provision the node again after such a report.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params,
    body: IntegrityViolationsRequest,
    bodyBytesMax: 32 * KiB,
    ingest: 'counted',
    gate: { ...ownNode, ownNode: { param: 'id', mismatch: 'forbidden' } },
    audit: { relation: 'node_integrity.report', when: 'all', object: 'node:{path.id}' },
    responses: { 202: IntegrityViolationsResponse },
    problems: ['invalid_batch', 'invalid_checksum'],
    notProvisioned: 'integrity_violations_not_provisioned',
  },
  PutNodeStateReport: {
    method: 'PUT',
    path: '/v1/nodes/{id}/state/reports/{key}',
    summary: 'Store a report of a workload of the node',
    description: 'Shows in the next pull of the node’s state. No event announces it.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params: reportParams,
    body: StateReportRequest,
    bodyBytesMax: 32 * KiB,
    ingest: 'refused',
    gate: { ...ownNode, ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'node_state_report.put', when: 'all', object: 'node:{path.id}' },
    responses: { 200: StateReportResponse },
    problems: ['invalid_report', 'report_limit_exceeded'],
    notProvisioned: 'reports_not_provisioned',
  },
  DeleteNodeStateReport: {
    method: 'DELETE',
    path: '/v1/nodes/{id}/state/reports/{key}',
    summary: 'Delete a report of the node',
    description:
      'Only the node itself may delete its report. Without one under this key, the answer is `report_not_found`.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params: reportParams,
    gate: { ...ownNode, ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'node_state_report.delete', when: 'all', object: 'node:{path.id}' },
    responses: { 204: null },
    problems: ['report_not_found'],
    notProvisioned: 'reports_not_provisioned',
  },
})
