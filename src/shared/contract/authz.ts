import { z } from 'zod'
import { defineSurface, open, OPERATOR } from './operation.ts'
import { KiB } from './fields.ts'

const Part = (describe: string) => z.string().max(512).min(1).meta({ problem: 'invalid_triple', description: describe })

/** Names of facts that caveats may use. Values are dropped unread: they come from the server (decisions: Caveats). */
const CaveatContext = z
  .record(z.string().max(128), z.unknown())
  .describe('Names of the facts that caveats may use; values are ignored')

const RebacCheckRequest = z
  .strictObject({
    subject: Part('Acting subject, <type>:<id>'),
    relation: Part('Relation or permission to evaluate'),
    resource: Part('Object that it is evaluated on, <type>:<id>'),
    caveat_context: CaveatContext.optional(),
  })
  .meta({ id: 'RebacCheckRequest' })

const RebacCheckResponse = z
  .object({
    decision: z.enum(['allowed', 'denied']),
    relation_path: z
      .array(z.string())
      .optional()
      .describe('Relations traversed by a grant; empty for a direct binding'),
    reason: z.enum(['granted', 'out_of_scope', 'insufficient_relation', 'caveat_violation', 'unknown']).optional(),
    correlation_id: z.string(),
  })
  .meta({ id: 'RebacCheckResponse' })

export const authz = defineSurface('authz', 'Questions to the authorization model', {
  PostAuthzCheck: {
    method: 'POST',
    path: '/v1/authz/check',
    summary: 'Ask whether a subject holds a relation on an object',
    description: 'A denial is an answer, not an error: the status is 200 for both.',
    credentials: OPERATOR,
    access: 'read',
    idempotent: true,
    body: RebacCheckRequest,
    bodyBytesMax: 8 * KiB,
    gate: open('S0 Authorization surface: any caller may ask; answers across Domains are denied without platform read'),
    audit: { relation: 'authz.check', when: 'all', object: '{body.resource}' },
    responses: { 200: RebacCheckResponse },
    problems: ['invalid_triple', 'authz_unavailable'],
    notProvisioned: 'authz_not_provisioned',
    cli: {
      command: 'authz check',
      args: ['subject', 'relation', 'resource'],
      refs: { subject: 'subjects' },
      custom: true,
    },
  },
})
