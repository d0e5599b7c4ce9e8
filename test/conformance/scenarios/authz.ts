import type { audit } from '../../../src/shared/contract/audit.ts'
import type { authz } from '../../../src/shared/contract/authz.ts'
import type { meta } from '../../../src/shared/contract/meta.ts'
import type { Scenarios } from '../scenario.ts'
import type { Made, World } from '../world.ts'

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
  async PostAuthzImpact(world) {
    const { root, projectId, identityId, domainId } = world
    const subject = `serviceaccount:${identityId}`
    const { id: tuple_id } = await bindGroup(world)
    const { id: grant_id } = await bindGroup(world, 'Domain')
    const { id: group_id } = await makeGroup(world)
    const resource = `domain:${domainId}`
    const variants = [
      { kind: 'tuple', op: 'delete', tuple_id },
      { kind: 'grant', op: 'create', subject, relation: 'viewer', resource },
      { kind: 'grant', op: 'delete', resource, tuple_id: grant_id },
      { kind: 'membership', op: 'create', group: `group:${group_id}`, subject },
    ] as const
    const edit = {
      kind: 'tuple',
      op: 'create',
      project_id: projectId,
      subject,
      relation: 'deployer',
      resource: `project:${projectId}`,
    } as const
    return {
      input: { body: { edits: [edit] } },
      variants: variants.map((one) => ({ body: { edits: [one] } })),
      as: root,
    }
  },
  PostAuthzReconcile: ({ root, nobody }) => ({ input: {}, as: root, lesser: nobody }),
}

function makeGroup({ domainId, make, name }: World): Promise<Made> {
  return make('CreateGroup', { id: domainId, body: { slug: name(), display_name: 'A group' } })
}

/** Gives the members of a new group a role on the Project, or on the Domain. */
async function bindGroup(world: World, where: 'Project' | 'Domain' = 'Project'): Promise<Made> {
  const { domainId, projectId, make } = world
  const body = { subject: `group:${(await makeGroup(world)).id}#member`, relation: 'viewer' }
  if (where === 'Domain') return make('CreateDomainGrant', { id: domainId, body })
  const resource = `project:${projectId}`
  return make('CreateRelationTuple', { project_id: projectId, body: { ...body, resource } })
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
