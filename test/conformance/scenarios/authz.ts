import type { audit } from '../../../src/shared/contract/audit.ts'
import type { authz } from '../../../src/shared/contract/authz.ts'
import type { meta } from '../../../src/shared/contract/meta.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

export const authzScenarios: Scenarios<World, typeof authz> = {
  async PostAuthzCheck({ root, make, projectId }) {
    const { subject } = await make('GetAuthWhoami', {})
    return { input: { body: { subject, relation: 'manage', resource: `project:${projectId}` } }, as: root }
  },
  async PostAuthzLookupResources({ root, make }) {
    const { subject } = await make('GetAuthWhoami', {})
    return { input: { body: { subject, relation: 'manage', resource_type: 'project' } }, as: root }
  },
  PostAuthzLookupSubjects: ({ root, projectId }) => ({
    input: { body: { subject_type: 'serviceaccount', relation: 'manage', resource: `project:${projectId}` } },
    as: root,
  }),
  async PostAuthzExplain({ root, make, projectId }) {
    const { subject } = await make('GetAuthWhoami', {})
    return { input: { body: { subject, relation: 'manage', resource: `project:${projectId}` } }, as: root }
  },
  PostAuthzImpact: ({ root, projectId, identityId }) => ({
    input: {
      body: {
        edits: [
          {
            kind: 'tuple',
            op: 'create',
            project_id: projectId,
            subject: `serviceaccount:${identityId}`,
            relation: 'deployer',
            resource: `project:${projectId}`,
          },
        ],
      },
    },
    as: root,
  }),
  PostAuthzReconcile: ({ root, nobody }) => ({ input: {}, as: root, lesser: nobody }),
}

export const auditScenarios: Scenarios<World, typeof audit> = {
  GetAudit: ({ root, nobody, domainId }) => ({ input: { domain_id: domainId }, as: root, lesser: nobody }),
  GetAuditVerify: ({ root, nobody, domainId }) => ({ input: { domain_id: domainId }, as: root, lesser: nobody }),
  GetAuditExport: ({ root, nobody, domainId }) => ({
    input: { domain_id: domainId, since: '2026-01-01T00:00:00Z', rows: '100' },
    as: root,
    lesser: nobody,
  }),
}

export const metaScenarios: Scenarios<World, typeof meta> = {
  async GetOpenapi({ nobody, node }) {
    return { input: {}, as: nobody, also: [{ as: (await node()).nsk }] }
  },
  GetDocs: () => ({ input: {} }),
  GetDocsAsset: () => ({ input: { asset: 'redoc.standalone.js' } }),
}
