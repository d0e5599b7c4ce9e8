import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { START_MS } from '../../support/server/test-backend.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startLending, type LendingPlane } from '../../support/server/lending.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-00000000ffff'
const NOW = '2026-03-01T08:00:00.000Z'

describe.each(STORES)('Credential assignments on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let plane: LendingPlane
    let cloudId: string
    let project: { readonly id: string; readonly deployer: string }
    beforeAll(async () => {
      plane = await startLending(store)
    })
    afterAll(() => plane.stop())
    beforeEach(async () => {
      cloudId = await plane.cloud()
      project = await plane.projectWithDeployer()
    })

    /** Requests as the deployer; resolves with the status and code, or the status alone. */
    const codeOf = async (body: Readonly<Record<string, unknown>>) => {
      const { status, body: answer } = await plane.request(project.deployer, project.id, body)
      return [status, answer['code']]
    }
    const usesOf = async (credentialId: string) =>
      (await plane.tuplesOf(`cloudcredential:${credentialId}`)).filter((tuple) => tuple.includes(' uses '))
    const listed = async (as = project.deployer, query = '') =>
      plane.call(as, `GET /v1/projects/${project.id}/credential-assignments${query}`)

    describe('RequestCredentialAssignment', () => {
      it('stores the request, adds an approval that the Cloud decides, announces and audits it', async () => {
        await plane.lendCloud(project, cloudId)
        const credentialId = await plane.credential(cloudId)
        const answer = await plane.request(project.deployer, project.id, { cloud_credential_id: credentialId })
        expect(answer.status).toBe(201)
        const { id, approval_id: approvalId } = answer.body
        expect(answer.body).toEqual({
          id,
          project_id: project.id,
          cloud_credential_id: credentialId,
          state: 'requested',
          materialised: false,
          approval_id: approvalId,
          created_at: NOW,
          updated_at: NOW,
        })
        const approval = await plane.call(plane.decider, `GET /v1/approvals/${String(approvalId)}`)
        expect(approval.body).toMatchObject({
          kind: 'credential_assignment',
          object: `credential_assignment:${String(id)}`,
          domain_id: plane.domainId,
          project_id: project.id,
          state: 'pending-approval',
          requested_by: project.deployer,
          action: { name: 'credentials.lend', operation: 'RequestCredentialAssignment' },
        })
        expect(await plane.outbox(answer)).toContainEqual({
          event: 'CredentialAssignmentRequested',
          domain_id: plane.domainId,
          aggregate: `credential_assignment:${String(id)}`,
          payload: {
            credential_assignment_id: id,
            project_id: project.id,
            cloud_credential_id: credentialId,
            approval_id: approvalId,
          },
        })
        expect(await plane.audit(answer)).toEqual({
          relation: 'credential_assignment.request',
          object: `project:${project.id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: plane.domainId,
        })
        expect(await usesOf(credentialId)).toEqual([])
      })

      it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
        ['both targets', { cloud_credential_id: UNKNOWN, cloud_id: UNKNOWN }, 'ambiguous_credential_target'],
        ['no target', {}, 'invalid_body'],
        ['a member it does not know', { cloud_id: UNKNOWN, reason: 'x' }, 'invalid_body'],
        ['a malformed credential id', { cloud_credential_id: 'x' }, 'invalid_cloud_credential_id'],
        [
          'the zero credential',
          { cloud_credential_id: '00000000-0000-0000-0000-000000000000' },
          'invalid_cloud_credential_id',
        ],
        ['a malformed Cloud id', { cloud_id: 'x' }, 'invalid_cloud_id'],
        ['a credential that is null', { cloud_credential_id: null }, 'invalid_cloud_credential_id'],
      ])('refuses %s', async (_, body, code) => {
        expect(await codeOf(body)).toEqual([400, code])
      })

      it('refuses a body of more than 8 KiB', async () => {
        expect(await codeOf({ cloud_id: 'x'.repeat(8 * 1024) })).toEqual([413, 'request_body_too_large'])
      })

      it('answers an unknown credential and one of a Cloud that the Project may not use alike', async () => {
        const credentialId = await plane.credential(cloudId)
        expect(await codeOf({ cloud_credential_id: UNKNOWN })).toEqual([422, 'cloud_not_usable_in_project'])
        expect(await codeOf({ cloud_credential_id: credentialId })).toEqual([422, 'cloud_not_usable_in_project'])
        expect(await codeOf({ cloud_id: UNKNOWN })).toEqual([422, 'cloud_not_usable_in_project'])
        expect(await codeOf({ cloud_id: cloudId })).toEqual([422, 'cloud_not_usable_in_project'])
      })

      it('refuses before the Cloud is approved for the Project, and after it was taken back', async () => {
        const credentialId = await plane.credential(cloudId)
        const requested = await plane.requestCloud(project.deployer, project.id, cloudId)
        expect(await codeOf({ cloud_credential_id: credentialId })).toEqual([422, 'cloud_not_usable_in_project'])
        await plane.approve(requested.body['approval_id'])
        await plane.revoke(plane.root, 'cloud', requested.body['id'])
        expect(await codeOf({ cloud_credential_id: credentialId })).toEqual([422, 'cloud_not_usable_in_project'])
      })

      it.each([
        ['suspended', { state: 'suspended' }],
        ['revoked', { state: 'revoked' }],
        ['expired just now', { expiresAt: new Date(START_MS) }],
      ] as const)('refuses a credential that is %s', async (_, members) => {
        await plane.lendCloud(project, cloudId)
        const credentialId = await plane.credential(cloudId, members)
        expect(await codeOf({ cloud_credential_id: credentialId })).toEqual([422, 'credential_not_assignable'])
        expect(await codeOf({ cloud_id: cloudId })).toEqual([422, 'no_eligible_credential_for_cloud'])
      })

      it('takes the newest credential of a Cloud that can be lent', async () => {
        await plane.lendCloud(project, cloudId)
        await plane.credential(cloudId)
        const newest = await plane.credential(cloudId, { expiresAt: new Date(START_MS + 1) })
        await plane.credential(cloudId, { state: 'suspended' })
        await plane.credential(cloudId, { expiresAt: new Date(START_MS - 1) })
        const answer = await plane.request(project.deployer, project.id, { cloud_id: cloudId })
        expect([answer.status, answer.body['cloud_credential_id']]).toEqual([201, newest])
        expect(await codeOf({ cloud_id: cloudId })).toEqual([409, 'duplicate_live_assignment'])
      })

      it('refuses a second one while one is requested or approved, and takes one after it has ended', async () => {
        await plane.lendCloud(project, cloudId)
        const body = { cloud_credential_id: await plane.credential(cloudId) }
        const first = await plane.request(project.deployer, project.id, body)
        expect(await codeOf(body)).toEqual([409, 'duplicate_live_assignment'])
        await plane.approve(first.body['approval_id'])
        expect(await codeOf(body)).toEqual([409, 'duplicate_live_assignment'])
        await plane.revoke(project.deployer, 'credential', first.body['id'])
        const second = await plane.request(project.deployer, project.id, body)
        expect(second.status).toBe(201)
        await plane.reject(second.body['approval_id'])
        expect(await plane.stateOf('credential', String(second.body['id']))).toBe('rejected')
        expect((await plane.request(project.deployer, project.id, body)).status).toBe(201)
        expect(await plane.approvalStates(project.id)).toEqual(['approved', 'approved', 'rejected', 'pending-approval'])
      })

      it('lends one credential to several Projects', async () => {
        const other = await plane.projectWithDeployer()
        const credentialId = await plane.credential(cloudId)
        for (const each of [project, other]) {
          await plane.lendCloud(each, cloudId)
          await plane.lendCredential(each, credentialId)
        }
        expect(await usesOf(credentialId)).toEqual(
          [project.id, other.id].map((id) => `project:${id} uses cloudcredential:${credentialId}`).toSorted(),
        )
      })

      it('is refused to whoever may not deploy in the Project', async () => {
        const reader = await plane.holder(plane.domainId, 'viewer', `project:${project.id}`)
        const { status, body } = await plane.request(reader, project.id, { cloud_id: cloudId })
        expect([status, body['code']]).toEqual([403, 'permission_denied'])
      })
    })

    describe('the decision', () => {
      it('lends the credential: every check grants it, and the list says so', async () => {
        await plane.lendCloud(project, cloudId)
        const credentialId = await plane.credential(cloudId)
        const id = await plane.lendCredential(project, credentialId)
        expect(await usesOf(credentialId)).toEqual([`project:${project.id} uses cloudcredential:${credentialId}`])
        expect((await listed()).body['items']).toMatchObject([{ id, state: 'approved', materialised: true }])
      })

      it('is stale once the requester may no longer deploy, and leaves the request waiting', async () => {
        await plane.lendCloud(project, cloudId)
        const credentialId = await plane.credential(cloudId)
        const { body } = await plane.request(project.deployer, project.id, { cloud_credential_id: credentialId })
        await plane.change(({ tuples }) => tuples.deleteObject(project.deployer))
        const decided = await plane.approve(body['approval_id'])
        expect([decided.status, decided.body['code']]).toEqual([409, 'approval_stale'])
        expect(await plane.stateOf('credential', String(body['id']))).toBe('requested')
        expect(await usesOf(credentialId)).toEqual([])
      })

      it.each([
        [{ state: 'suspended' }, 'credential_not_assignable'],
        [{ state: 'revoked' }, 'credential_not_assignable'],
        [{ expires_at: new Date(START_MS) }, 'credential_not_assignable'],
      ] as const)('is refused for a credential that is %j by then, and can be taken again', async (set, code) => {
        await plane.lendCloud(project, cloudId)
        const credentialId = await plane.credential(cloudId)
        const { body } = await plane.request(project.deployer, project.id, { cloud_credential_id: credentialId })
        const update = (to: { state?: 'active' | 'suspended' | 'revoked'; expires_at?: Date | null }) =>
          plane.db.updateTable('cloud_credentials').set(to).where('id', '=', credentialId).execute()
        await update(set)
        const refused = await plane.approve(body['approval_id'])
        expect([refused.status, refused.body['code']]).toEqual([422, code])
        expect(await plane.stateOf('credential', String(body['id']))).toBe('requested')
        await update({ state: 'active', expires_at: null })
        expect((await plane.approve(body['approval_id'])).status).toBe(200)
        expect(await plane.stateOf('credential', String(body['id']))).toBe('approved')
      })

      it('is refused while the Project may not use the Cloud', async () => {
        const cloudAssignment = await plane.lendCloud(project, cloudId)
        const { body } = await plane.request(project.deployer, project.id, {
          cloud_credential_id: await plane.credential(cloudId),
        })
        const update = (state: 'approved' | 'rejected') =>
          plane.db.updateTable('cloud_assignments').set({ state }).where('id', '=', cloudAssignment).execute()
        await update('rejected')
        const refused = await plane.approve(body['approval_id'])
        expect([refused.status, refused.body['code']]).toEqual([422, 'cloud_not_usable_in_project'])
        await update('approved')
        expect((await plane.approve(body['approval_id'])).status).toBe(200)
      })

      it("is not the requester's own, whatever credential presents them", async () => {
        const presentedAs = `browser.${project.deployer}`
        plane.callers.add(project.deployer, plane.domainId, { presentedAs })
        await plane.lendCloud(project, cloudId)
        const credentialId = await plane.credential(cloudId)
        const assigner = {
          subject: project.deployer,
          relation: 'assigner',
          resource: `cloudcredential:${credentialId}`,
        }
        await plane.change(({ tuples }) => tuples.create(assigner, { domainId: null, projectId: null }))
        const { body } = await plane.request(project.deployer, project.id, { cloud_credential_id: credentialId })
        const own = await plane.call(presentedAs, `POST /v1/approvals/${String(body['approval_id'])}/approve`, {})
        expect([own.status, own.body['code']]).toEqual([403, 'self_approval_denied'])
      })

      it('that is withdrawn by the requester ends the assignment as rejected', async () => {
        await plane.lendCloud(project, cloudId)
        const { body } = await plane.request(project.deployer, project.id, {
          cloud_credential_id: await plane.credential(cloudId),
        })
        const withdrawn = await plane.call(
          project.deployer,
          `POST /v1/approvals/${String(body['approval_id'])}/withdraw`,
        )
        expect(withdrawn.status).toBe(200)
        expect(await plane.stateOf('credential', String(body['id']))).toBe('rejected')
      })
    })

    describe('ListCredentialAssignments', () => {
      it('lists in the order of creation, and binds its cursor to the caller', async () => {
        await plane.lendCloud(project, cloudId)
        const ids: string[] = []
        for (let count = 0; count < 3; count++)
          ids.push(await plane.lendCredential(project, await plane.credential(cloudId)))
        const first = await listed(project.deployer, '?limit=2')
        const next = String(first.body['next_cursor'])
        expect((first.body['items'] as { id: string }[]).map(({ id }) => id)).toEqual(ids.slice(0, 2))
        const rest = await listed(project.deployer, `?limit=2&cursor=${next}`)
        expect((rest.body['items'] as { id: string }[]).map(({ id }) => id)).toEqual(ids.slice(2))
        const foreign = await listed(plane.root, `?limit=2&cursor=${next}`)
        expect([foreign.status, foreign.body['code']]).toEqual([403, 'cursor_binding_mismatch'])
      })

      it('takes a limit out of range as the nearest one', async () => {
        expect((await listed(project.deployer, '?limit=0')).status).toBe(200)
        expect((await listed(project.deployer, '?limit=1000')).status).toBe(200)
      })
    })

    describe('RevokeCredentialAssignment', () => {
      let credentialId: string
      let id: string
      beforeEach(async () => {
        await plane.lendCloud(project, cloudId)
        credentialId = await plane.credential(cloudId)
        id = await plane.lendCredential(project, credentialId)
      })
      const contextOf = async (answer: { headers: Headers }) =>
        (
          await plane.db
            .selectFrom('audit')
            .select('context')
            .where('correlation_id', '=', answer.headers.get('x-correlation-id') ?? '')
            .executeTakeFirst()
        )?.context

      it('takes the right back, keeps who did it and why, announces and audits it', async () => {
        const reason = `${'r'.repeat(1023)}é`
        const answer = await plane.revoke(project.deployer, 'credential', id, { reason })
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject({
          id,
          state: 'revoked',
          materialised: false,
          revoked_by: project.deployer,
          revoked_reason: reason,
        })
        expect(await usesOf(credentialId)).toEqual([])
        expect((await listed()).body['items']).toMatchObject([{ id, state: 'revoked', materialised: false }])
        expect(await plane.outbox(answer)).toEqual([
          {
            event: 'CredentialAssignmentRevoked',
            domain_id: plane.domainId,
            aggregate: `credential_assignment:${id}`,
            payload: { credential_assignment_id: id, project_id: project.id, cloud_credential_id: credentialId },
          },
        ])
        expect(await plane.audit(answer)).toMatchObject({
          relation: 'credential_assignment.revoke',
          object: `cloudcredential:${credentialId}`,
          outcome: 'granted',
        })
      })

      it('says in the audit row which of the two parties granted', async () => {
        expect(await contextOf(await plane.revoke(project.deployer, 'credential', id))).toEqual({
          granted_by: 'project',
        })
        const again = await plane.lendCredential(project, credentialId)
        expect(await contextOf(await plane.revoke(plane.root, 'credential', again))).toEqual({
          granted_by: 'credential',
        })
      })

      it('refuses others openly, with one row that names the credential and the missing deploy', async () => {
        const reader = await plane.holder(plane.domainId, 'viewer', `project:${project.id}`)
        const before = plane.audited.length
        const answer = await plane.revoke(reader, 'credential', id)
        expect([answer.status, answer.body['code']]).toEqual([403, 'permission_denied'])
        expect(answer.body['missing_relation']).toEqual({
          object: `cloudcredential:${credentialId}`,
          relation: 'deploy',
          subject: reader,
        })
        expect(plane.audited.slice(before)).toMatchObject([
          {
            relation: 'credential_assignment.revoke',
            object: `cloudcredential:${credentialId}`,
            outcome: 'permission_denied',
            context: { missing_relation: 'deploy' },
          },
        ])
        expect(await usesOf(credentialId)).toHaveLength(1)
      })

      it.each([
        ['blank', { reason: ' \t\n' }],
        ['empty', { reason: '' }],
        ['of 1025 characters', { reason: 'x'.repeat(1025) }],
        ['missing', {}],
      ])('refuses a reason that is %s', async (_, body) => {
        const answer = await plane.revoke(project.deployer, 'credential', id, body)
        expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_decision_reason'])
      })

      it('answers an unknown assignment with 404 before it asks who calls', async () => {
        const nobody = await plane.principal(plane.domainId)
        const answer = await plane.revoke(nobody, 'credential', UNKNOWN)
        expect([answer.status, answer.body['code']]).toEqual([404, 'credential_assignment_not_found'])
        const malformed = await plane.revoke(nobody, 'credential', 'x')
        expect([malformed.status, malformed.body['code']]).toEqual([400, 'invalid_credential_assignment_id'])
      })

      it('revokes only what is approved', async () => {
        await plane.revoke(project.deployer, 'credential', id)
        const again = await plane.revoke(project.deployer, 'credential', id)
        expect([again.status, again.body['code']]).toEqual([409, 'illegal_transition'])
        const { body } = await plane.request(project.deployer, project.id, { cloud_credential_id: credentialId })
        const requested = await plane.revoke(plane.root, 'credential', body['id'])
        expect([requested.status, requested.body['code']]).toEqual([409, 'illegal_transition'])
        expect(await plane.stateOf('credential', String(body['id']))).toBe('requested')
      })
    })

    it('go with their Project, whose pending approvals are withdrawn', async () => {
      await plane.lendCloud(project, cloudId)
      const [lent, asked] = [await plane.credential(cloudId), await plane.credential(cloudId)]
      await plane.lendCredential(project, lent)
      const { body } = await plane.request(project.deployer, project.id, { cloud_credential_id: asked })
      expect((await plane.call(plane.root, `DELETE /v1/projects/${project.id}`)).status).toBe(204)
      const approval = await plane.call(project.deployer, `GET /v1/approvals/${String(body['approval_id'])}`)
      expect(approval.body['state']).toBe('withdrawn')
      expect(await plane.stateOf('credential', String(body['id']))).toBeUndefined()
      expect(await plane.tuplesOf(`project:${project.id}`)).toEqual([])
    })
  })
})
