import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../support/server/control-plane.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

interface Change {
  readonly subject: string
  readonly permission: string
  readonly resource: string
  readonly change: string
}

describe.each(STORES)('Explanations and previews on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let project: string
    let projectId: string
    /** Administers the Domain. */
    let admin: string
    /** Administers the Project and may read nothing else. */
    let projectAdmin: string
    let somebody: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: ['authz', 'relationTuples'] })
      domainId = await tenancy.domain()
      projectId = await tenancy.project(domainId)
      project = `project:${projectId}`
      admin = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
      projectAdmin = await tenancy.holder(domainId, 'admin', project)
      somebody = await tenancy.principal(domainId)
    })
    afterAll(() => tenancy.stop())

    const explain = (as: string, subject: string, relation: string, resource = project): Promise<Answer> =>
      tenancy.call(as, 'POST /v1/authz/explain', { subject, relation, resource })
    const impact = (as: string, edits: readonly object[], more: object = {}): Promise<Answer> =>
      tenancy.call(as, 'POST /v1/authz/impact', { edits, ...more })
    const changesOf = ({ body }: Answer) => body['changes'] as readonly Change[]
    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const creating = (subject: string, relation = 'viewer', resource = project) => ({
      kind: 'tuple',
      op: 'create',
      project_id: projectId,
      subject,
      relation,
      resource,
    })
    const everything = async (): Promise<unknown> =>
      (
        await sql`select (select json_agg(tuple order by id) from relation_tuples as tuple) as tuples`.execute(
          tenancy.db,
        )
      ).rows

    it('explain a grant by its tree, and agree with the check', async () => {
      const answer = await explain(admin, projectAdmin, 'deploy')
      const check = await tenancy.call(admin, 'POST /v1/authz/check', {
        subject: projectAdmin,
        relation: 'deploy',
        resource: project,
      })
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        decision: 'allowed',
        relation_path: check.body['relation_path'],
        tree: { kind: 'permission', outcome: 'granted', object: project, name: 'deploy' },
        remedies: [],
      })
      expect(await tenancy.audit(answer)).toMatchObject({
        relation: 'authz.explain',
        object: project,
        outcome: 'granted',
      })
    })

    it.each([
      ['explain', ['subject', 'resource'], {}, ['asked_subject', 'asked_relation']],
      ['lookup-resources', ['subject'], { resource_type: 'project' }, ['asked_relation', 'asked_resource_type']],
      ['lookup-subjects', ['resource'], { subject_type: 'user' }, ['asked_relation', 'asked_subject_type']],
    ])('leave what %s was asked in the audit row', async (operation, members, more, names) => {
      const parts = { subject: somebody, resource: project }
      const named = Object.fromEntries(Object.entries(parts).filter(([member]) => members.includes(member)))
      const answer = await tenancy.call(admin, `POST /v1/authz/${operation}`, { ...named, relation: 'read', ...more })
      expect(answer.status).toBe(200)
      const correlationId = answer.headers.get('x-correlation-id')
      const row = tenancy.audited.find((entry) => entry.correlationId === correlationId)
      const told = {
        asked_subject: somebody,
        asked_relation: 'read',
        asked_resource_type: 'project',
        asked_subject_type: 'user',
      }
      expect(row?.context).toMatchObject(
        Object.fromEntries(Object.entries(told).filter(([name]) => names.includes(name))),
      )
    })

    it('explain a denial, with grants that would allow it and that the caller may see', async () => {
      const answer = await explain(admin, somebody, 'read')
      expect(answer.body).toMatchObject({ decision: 'denied', reason: 'insufficient_relation' })
      const remedies = answer.body['remedies'] as readonly (readonly { subject: string; resource: string }[])[]
      expect(remedies).toContainEqual([{ subject: somebody, relation: 'viewer', resource: project }])
      expect(await tenancy.audit(answer)).toMatchObject({
        outcome: 'permission_denied',
        reason: 'insufficient_relation',
      })
    })

    it('name nothing that the caller may not read: neither the Domain nor the platform', async () => {
      const answer = await explain(projectAdmin, somebody, 'read')
      const text = JSON.stringify(answer.body)
      expect([text.includes(domainId), text.includes('platform:main'), text.includes(admin)]).toEqual([
        false,
        false,
        false,
      ])
      expect(text).toContain('"kind":"hidden"')
      expect(text).toContain(project)
    })

    it('preview a tuple, and change nothing', async () => {
      const before = await everything()
      const answer = await impact(admin, [creating(somebody, 'deployer')])
      expect(answer.status).toBe(200)
      expect(changesOf(answer)).toContainEqual({
        subject: somebody,
        permission: 'deploy',
        resource: project,
        change: 'gains',
      })
      expect(answer.body).toMatchObject({ hidden_count: 0, complete: true, count: changesOf(answer).length })
      expect(await everything()).toEqual(before)
      expect(await tenancy.audit(answer)).toMatchObject({ relation: 'authz.impact', outcome: 'granted' })
    })

    it('list as many changes as were asked for, and count all', async () => {
      const answer = await impact(admin, [creating(somebody, 'admin')], { changes_max: 1 })
      expect(changesOf(answer)).toHaveLength(1)
      expect(Number(answer.body['count'])).toBeGreaterThan(1)
    })

    it('preview a replacement as two edits, the second seeing the first', async () => {
      const made = await tenancy.call(admin, `POST /v1/authz/relation-tuples?project_id=${projectId}`, {
        subject: somebody,
        relation: 'viewer',
        resource: project,
      })
      const tuple_id = String(made.body['id'])
      const away = { kind: 'tuple', op: 'delete', tuple_id }
      expect((await impact(admin, [away, creating(somebody)])).body).toMatchObject({ changes: [], count: 0 })
      expect(codeOf(await impact(admin, [creating(somebody)]))).toEqual([409, 'tuple_already_exists'])
      expect(changesOf(await impact(admin, [away]))).toContainEqual({
        subject: somebody,
        permission: 'read',
        resource: project,
        change: 'loses',
      })
      await tenancy.call(admin, `DELETE /v1/authz/relation-tuples/${tuple_id}`)
    })

    it('preview grants and memberships', async () => {
      const group = await tenancy.group(domainId)
      const joined = { kind: 'membership', op: 'create', group: `group:${group}`, subject: somebody }
      const role = { kind: 'grant', op: 'create', resource: `domain:${domainId}`, relation: 'operator' }
      const answer = await impact(admin, [joined, { ...role, subject: `group:${group}#member` }])
      expect(changesOf(answer)).toContainEqual({
        subject: somebody,
        permission: 'deploy',
        resource: project,
        change: 'gains',
      })
      expect(codeOf(await impact(admin, [{ ...joined, op: 'delete' }]))).toEqual([404, 'group_member_not_found'])
    })

    it('refuse memberships that the identity provider manages, as the writes are refused', async () => {
      const body = { slug: 'mirrored', display_name: 'Mirrored', provider_group: 'somewhere' }
      const { body: group } = await tenancy.call(admin, `POST /v1/domains/${domainId}/groups`, body)
      const edit = { kind: 'membership', group: `group:${String(group['id'])}`, subject: somebody }
      for (const op of ['create', 'delete'])
        expect(codeOf(await impact(admin, [{ ...edit, op }]))).toEqual([409, 'group_managed_by_provider'])
    })

    it('leave out and count what the caller may not read', async () => {
      const group = await tenancy.group(domainId)
      const member = await tenancy.principal(domainId)
      await tenancy.call(admin, `PUT /v1/domains/${domainId}/groups/${group}/members/${member}`)
      const answer = await impact(projectAdmin, [creating(`group:${group}#member`)])
      expect(answer.status).toBe(200)
      expect(JSON.stringify(answer.body)).not.toContain(member)
      expect(Number(answer.body['hidden_count'])).toBeGreaterThan(0)
    })

    it('are refused where the write would be', async () => {
      const stranger = await tenancy.principal(await tenancy.domain())
      expect(codeOf(await impact(projectAdmin, [creating(stranger)]))).toEqual([400, 'invalid_triple'])
      expect(codeOf(await impact(projectAdmin, [creating(somebody, 'viewer', `resource:${NOWHERE}`)]))).toEqual([
        400,
        'resource_not_in_project',
      ])
      expect(codeOf(await impact(projectAdmin, [{ kind: 'tuple', op: 'delete', tuple_id: NOWHERE }]))).toEqual([
        404,
        'tuple_not_found',
      ])
      expect(codeOf(await impact(somebody, [creating(somebody)]))).toEqual([403, 'permission_denied'])
      const grant = { kind: 'grant', op: 'create', subject: somebody, relation: 'viewer' }
      expect(codeOf(await impact(projectAdmin, [{ ...grant, resource: `domain:${domainId}` }]))).toEqual([
        403,
        'permission_denied',
      ])
      expect(codeOf(await impact(admin, [{ ...grant, resource: project }]))).toEqual([400, 'invalid_triple'])
      expect(codeOf(await impact(admin, []))).toEqual([400, 'invalid_body'])
    })
  })
})
