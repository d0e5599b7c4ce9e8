import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { START_MS } from '../../support/server/test-backend.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startLending, type LendingPlane } from '../../support/server/lending.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-00000000ffff'
const NOW = '2026-03-01T08:00:00.000Z'

describe.each(STORES)('Cloud assignments on the $name store', (store) => {
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

    const request = (body: Readonly<Record<string, unknown>>) =>
      plane.call(project.deployer, `POST /v1/projects/${project.id}/cloud-assignments`, body)
    const consumersOf = async () =>
      (await plane.tuplesOf(`cloud:${cloudId}`)).filter((tuple) => tuple.includes(' consumer '))
    const listed = async () =>
      (await plane.call(project.deployer, `GET /v1/projects/${project.id}/cloud-assignments`)).body['items']
    const refusal = ({ status, body }: { status: number; body: Readonly<Record<string, unknown>> }) => [
      status,
      body['code'],
    ]

    it('are requested: stored, announced and audited, with an approval that the Cloud decides', async () => {
      const answer = await plane.requestCloud(project.deployer, project.id, cloudId)
      const { id, approval_id: approvalId } = answer.body
      expect([answer.status, answer.body]).toEqual([
        201,
        {
          id,
          project_id: project.id,
          cloud_id: cloudId,
          state: 'requested',
          materialised: false,
          approval_id: approvalId,
          created_at: NOW,
          updated_at: NOW,
        },
      ])
      const approval = await plane.call(plane.decider, `GET /v1/approvals/${String(approvalId)}`)
      expect(approval.body).toMatchObject({
        kind: 'cloud_assignment',
        object: `cloud_assignment:${String(id)}`,
        domain_id: plane.domainId,
        project_id: project.id,
        requested_by: project.deployer,
        action: { name: 'clouds.lend', operation: 'RequestCloudAssignment' },
      })
      expect(await plane.outbox(answer)).toContainEqual({
        event: 'CloudAssignmentRequested',
        domain_id: plane.domainId,
        aggregate: `cloud_assignment:${String(id)}`,
        payload: { cloud_assignment_id: id, project_id: project.id, cloud_id: cloudId, approval_id: approvalId },
      })
      expect(await plane.audit(answer)).toMatchObject({
        relation: 'cloud_assignment.request',
        object: `project:${project.id}`,
        outcome: 'granted',
      })
      expect(await consumersOf()).toEqual([])
    })

    it.each<readonly [string, Readonly<Record<string, unknown>>, readonly [number, string]]>([
      ['an unknown Cloud', { cloud_id: UNKNOWN }, [404, 'cloud_not_found']],
      ['the zero UUID', { cloud_id: '00000000-0000-0000-0000-000000000000' }, [400, 'invalid_cloud_id']],
      ['no Cloud', {}, [400, 'invalid_cloud_id']],
      ['an unknown member', { cloud_id: UNKNOWN, reason: 'x' }, [400, 'invalid_body']],
    ])('are not requested with %s', async (_, body, refused) => {
      expect(refusal(await request(body))).toEqual(refused)
    })

    it('are approved: the Project consumes the Cloud, and its readers observe it', async () => {
      const reader = await plane.holder(plane.domainId, 'viewer', `project:${project.id}`)
      expect((await plane.call(reader, `GET /v1/clouds/${cloudId}`)).status).toBe(403)
      const id = await plane.lendCloud(project, cloudId)
      expect(await consumersOf()).toEqual([`project:${project.id} consumer cloud:${cloudId}`])
      expect(await listed()).toMatchObject([{ id, state: 'approved', materialised: true }])
      expect((await plane.call(reader, `GET /v1/clouds/${cloudId}`)).status).toBe(200)
      expect((await plane.call(reader, `DELETE /v1/clouds/${cloudId}`)).status).toBe(403)
    })

    it('exist once for a Project and a Cloud while they are requested or approved', async () => {
      const { body } = await plane.requestCloud(project.deployer, project.id, cloudId)
      expect(refusal(await request({ cloud_id: cloudId }))).toEqual([409, 'duplicate_live_assignment'])
      await plane.reject(body['approval_id'])
      expect(await plane.stateOf('cloud', String(body['id']))).toBe('rejected')
      const id = await plane.lendCloud(project, cloudId)
      expect(refusal(await request({ cloud_id: cloudId }))).toEqual([409, 'duplicate_live_assignment'])
      await plane.revoke(project.deployer, 'cloud', id)
      expect((await request({ cloud_id: cloudId })).status).toBe(201)
    })

    it('are not approved once the requester may no longer deploy', async () => {
      const { body } = await plane.requestCloud(project.deployer, project.id, cloudId)
      await plane.change(({ tuples }) => tuples.deleteObject(project.deployer))
      expect(refusal(await plane.approve(body['approval_id']))).toEqual([409, 'approval_stale'])
      expect(await plane.stateOf('cloud', String(body['id']))).toBe('requested')
      expect(await consumersOf()).toEqual([])
    })

    describe('are revoked', () => {
      let id: string
      beforeEach(async () => {
        id = await plane.lendCloud(project, cloudId)
      })

      it.each([
        ['the Cloud', () => plane.root],
        ['the Project', () => project.deployer],
      ])('by %s alone: the right ends, with who did it and why', async (_, who) => {
        const answer = await plane.revoke(who(), 'cloud', id, { reason: 'Moved away' })
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject({ id, state: 'revoked', revoked_by: who(), revoked_reason: 'Moved away' })
        expect(await consumersOf()).toEqual([])
        expect(await plane.outbox(answer)).toEqual([
          {
            event: 'CloudAssignmentRevoked',
            domain_id: plane.domainId,
            aggregate: `cloud_assignment:${id}`,
            payload: { cloud_assignment_id: id, project_id: project.id, cloud_id: cloudId },
          },
        ])
        expect(await plane.audit(answer)).toMatchObject({
          relation: 'cloud_assignment.revoke',
          object: `cloud:${cloudId}`,
          outcome: 'granted',
        })
        expect(refusal(await plane.revoke(who(), 'cloud', id))).toEqual([409, 'illegal_transition'])
      })

      it('by nobody else: openly where the Project may be read, else as if they did not exist', async () => {
        const reader = await plane.holder(plane.domainId, 'viewer', `project:${project.id}`)
        expect(refusal(await plane.revoke(reader, 'cloud', id))).toEqual([403, 'permission_denied'])
        const stranger = await plane.principal(plane.domainId)
        const [there, nowhere] = [
          await plane.revoke(stranger, 'cloud', id),
          await plane.revoke(stranger, 'cloud', UNKNOWN),
        ]
        expect(refusal(there)).toEqual([404, 'cloud_assignment_not_found'])
        const { correlation_id: _one, ...shown } = there.body
        const { correlation_id: _two, ...unknown } = nowhere.body
        expect(shown).toEqual(unknown)
        expect(await consumersOf()).toHaveLength(1)
      })

      it('with a reason of 1 to 1024 characters', async () => {
        const blank = await plane.revoke(plane.root, 'cloud', id, { reason: '  ' })
        expect(refusal(blank)).toEqual([400, 'invalid_decision_reason'])
        const long = await plane.revoke(plane.root, 'cloud', id, { reason: 'x'.repeat(1025) })
        expect(refusal(long)).toEqual([400, 'invalid_decision_reason'])
        expect((await plane.revoke(plane.root, 'cloud', id, { reason: 'x'.repeat(1024) })).status).toBe(200)
      })

      it('not while credentials of the Cloud are lent to the Project or requested, unless that cascades', async () => {
        const [lent, asked] = [await plane.credential(cloudId), await plane.credential(cloudId)]
        const lentId = await plane.lendCredential(project, lent)
        const requested = await plane.request(project.deployer, project.id, { cloud_credential_id: asked })
        const refused = await plane.revoke(plane.root, 'cloud', id)
        expect(refusal(refused)).toEqual([409, 'cloud_assignment_in_use'])
        expect(refused.body['counts']).toEqual({ credential_assignments: 2 })
        expect(refusal(await plane.revoke(plane.root, 'cloud', id, { reason: 'x', cascade: false }))).toEqual([
          409,
          'cloud_assignment_in_use',
        ])
        expect(await plane.stateOf('credential', lentId)).toBe('approved')

        const answer = await plane.revoke(plane.root, 'cloud', id, { reason: 'Closing', cascade: true })
        expect(answer.status).toBe(200)
        expect(await plane.stateOf('credential', lentId)).toBe('revoked')
        expect(await plane.stateOf('credential', String(requested.body['id']))).toBe('rejected')
        expect(await plane.tuplesOf(`cloudcredential:${lent}`)).toEqual([
          `cloud:${cloudId} cloud cloudcredential:${lent}`,
        ])
        expect(await plane.approvalStates(project.id)).toEqual(['approved', 'approved', 'withdrawn'])
        const events = (await plane.outbox(answer)).map(({ event }) => event)
        expect(events).toEqual(['ApprovalWithdrawn', 'CredentialAssignmentRevoked', 'CloudAssignmentRevoked'])
      })

      it('without the credentials that other Projects have, or that are of other Clouds', async () => {
        const [other, otherCloud] = [await plane.projectWithDeployer(), await plane.cloud()]
        await plane.lendCloud(other, cloudId)
        await plane.lendCloud(project, otherCloud)
        const kept = [
          await plane.lendCredential(other, await plane.credential(cloudId)),
          await plane.lendCredential(project, await plane.credential(otherCloud)),
        ]
        expect((await plane.revoke(plane.root, 'cloud', id, { reason: 'x', cascade: true })).status).toBe(200)
        for (const each of kept) expect(await plane.stateOf('credential', each)).toBe('approved')
      })
    })

    it('go with their Cloud: rights and rows are deleted, pending approvals withdrawn', async () => {
      const other = await plane.projectWithDeployer()
      const id = await plane.lendCloud(project, cloudId)
      const { body } = await plane.requestCloud(other.deployer, other.id, cloudId)
      const deleted = await plane.call(plane.root, `DELETE /v1/clouds/${cloudId}`)
      expect(deleted.status).toBe(204)
      expect(await plane.stateOf('cloud', id)).toBeUndefined()
      expect(await plane.tuplesOf(`cloud:${cloudId}`)).toEqual([])
      expect(await plane.approvalStates(other.id)).toEqual(['withdrawn'])
      // Nobody may assign a Cloud that is gone.
      expect(refusal(await plane.approve(body['approval_id']))).toEqual([403, 'permission_denied'])
    })

    describe('GetProviderConfig', () => {
      const config = (as = project.deployer, cloud = cloudId) =>
        plane.call(as, `GET /v1/projects/${project.id}/provider-configs/${cloud}`)

      it('shows the configuration of a Cloud, and names the newest lent credential that is active', async () => {
        await plane.lendCloud(project, cloudId)
        expect((await config()).body['credential']).toBeNull()
        const members = [{}, { secretVersion: 3 }, {}, { expiresAt: new Date(START_MS + 1_000) }]
        const lent: string[] = []
        for (const each of members) {
          const credentialId = await plane.credential(cloudId, each)
          await plane.lendCredential(project, credentialId)
          lent.push(credentialId)
        }
        await plane.credential(cloudId)
        const [, newestActive = '', suspended = '', expired = ''] = lent
        const update = (id: string, to: { state: 'suspended' } | { expires_at: Date }) =>
          plane.db.updateTable('cloud_credentials').set(to).where('id', '=', id).execute()
        await update(suspended, { state: 'suspended' })
        await update(expired, { expires_at: new Date(START_MS) })
        const answer = await config()
        expect([answer.status, answer.body]).toEqual([
          200,
          {
            cloud_id: cloudId,
            slug: expect.any(String),
            provider: 'hetzner',
            provider_config_api_version: 'v1beta1',
            provider_packages: [{ source: 'oci://r.example/hcloud', version: 'v1.4' }],
            endpoint: { api_url: 'https://api.hetzner.example' },
            region_defaults: { location: 'fsn1' },
            credential: { cloud_credential_id: newestActive, secret_version: 3 },
          },
        ])
      })

      it('merges the overrides of a Cloud over the pinned version of its bundle', async () => {
        const bundle = await plane.call(plane.root, 'POST /v1/provider-bundles', {
          slug: `b-${plane.ids.next()}`,
          display_name: 'Base',
          provider: 'hetzner',
          provider_packages: [
            { source: 'oci://r.example/b', version: 'v1' },
            { source: 'oci://r.example/a', version: 'v1' },
          ],
          provider_config_api_version: 'v2',
        })
        const cloud = await plane.call(plane.root, 'POST /v1/clouds', {
          slug: `c-${plane.ids.next()}`,
          display_name: 'Of a bundle',
          provider: 'hetzner',
          endpoint: {},
          provider_bundle_id: bundle.body['id'],
          provider_package_overrides: [{ source: 'oci://r.example/b', version: 'v9' }],
        })
        const id = String(cloud.body['id'])
        await plane.lendCloud(project, id)
        expect((await config(project.deployer, id)).body).toMatchObject({
          provider_config_api_version: 'v2',
          provider_packages: [
            { source: 'oci://r.example/a', version: 'v1' },
            { source: 'oci://r.example/b', version: 'v9' },
          ],
          region_defaults: {},
        })
      })

      it('does not exist for a Cloud that the Project may not use, nor for whoever may not deploy', async () => {
        expect(refusal(await config())).toEqual([404, 'provider_config_not_found'])
        const { body } = await plane.requestCloud(project.deployer, project.id, cloudId)
        expect(refusal(await config())).toEqual([404, 'provider_config_not_found'])
        await plane.approve(body['approval_id'])
        expect((await config()).status).toBe(200)
        const reader = await plane.holder(plane.domainId, 'viewer', `project:${project.id}`)
        expect(refusal(await config(reader))).toEqual([403, 'permission_denied'])
        await plane.revoke(plane.root, 'cloud', body['id'])
        expect(refusal(await config())).toEqual([404, 'provider_config_not_found'])
        expect(refusal(await config(project.deployer, UNKNOWN))).toEqual([404, 'provider_config_not_found'])
      })
    })
  })
})
